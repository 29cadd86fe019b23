"""Runs: a shared prefix computed once, and rows that continue it.

A prefix batch holds rows of equal length. Rows that continue it may differ in length: they are padded on the right,
where causal attention cannot see the padding, and read at their own last token. The cache of a prefix is indexed into a
new cache for every use, so the prefix itself is never written to.
"""

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel
from transformers.cache_utils import DummyLayer, DynamicLayer, DynamicSlidingWindowLayer

from firsthand.engine.anatomy import Anatomy, refuse_training, unwrapped
from firsthand.engine.edits import Capture, Edit, Extent, check_plan
from firsthand.engine.hooks import intervened
from firsthand.errors import EngineError


@dataclass(frozen=True)
class Prefix:
    """Keys and values of equally long rows, with whatever edits they were computed under.

    Attributes:
        cache: The model's cache; never written to.
        rows: Number of rows.
        length: Tokens in each row.
        model: The model that computed it, the only one that may continue it.
    """

    cache: DynamicCache
    rows: int
    length: int
    model: PreTrainedModel

    def branch(self, rows: Sequence[int]) -> DynamicCache:
        """A new cache whose row ``i`` is this prefix's row ``rows[i]``; it shares no memory that is written to."""
        fresh = copy.copy(self.cache)
        fresh.layers = [copy.copy(layer) for layer in self.cache.layers]
        fresh.batch_select_indices(torch.tensor(list(rows), dtype=torch.long))  # on the CPU: it may index any device
        return fresh


@dataclass(frozen=True)
class RunOutput:
    """What a run returns.

    Attributes:
        logprobs_RV: Log-probabilities over the full vocabulary after each row's last token, ``[rows, vocabulary]``,
            float32 on the CPU.
        captures: Readings by name, ``[rows, hidden]``, float32 on the CPU.
    """

    logprobs_RV: Tensor
    captures: dict[str, Tensor]


@torch.no_grad()
def run_prefix(
    model: PreTrainedModel,
    anatomy: Anatomy,
    tokens: Sequence[Sequence[int]],
    edits: Sequence[Edit] = (),
    captures: Sequence[Capture] = (),
    *,
    prefix: Prefix | None = None,
    prefix_rows: Sequence[int] | None = None,
) -> tuple[Prefix, dict[str, Tensor]]:
    """Compute equally long rows once, to be continued by :func:`run_rows` or by a longer prefix.

    The model must stay as it is for as long as the prefix is used: weights and adapters are not compared.

    Args:
        model: The model, in evaluation mode.
        anatomy: Its parts.
        tokens: Token ids, all rows equally long.
        edits: Edits within these tokens, at absolute positions.
        captures: Readings within these tokens, at absolute positions.
        prefix: What the rows continue, if anything; it is not changed.
        prefix_rows: For each row, the row of the prefix that it continues; by default row ``i`` continues row ``i``.

    Returns:
        The prefix (with what it continues), and the readings by name, ``[rows, hidden]`` float32 on the CPU.

    Raises:
        EngineError: If rows differ in length, the model cannot take or continue them, or an edit or reading cannot be
            carried out exactly.
    """
    lengths = {len(row) for row in tokens}
    if len(lengths) != 1 or 0 in lengths:
        raise EngineError(
            "The rows of a shared prefix must be equally long and not empty.", "Group rows by length first."
        )
    width, start = lengths.pop(), 0 if prefix is None else prefix.length
    length = start + width
    _check_input(model, tokens, length)
    check_plan(edits, captures, Extent(start, (length,) * len(tokens), anatomy.hidden_size, anatomy.n_layers))
    ids = torch.tensor([list(row) for row in tokens], device=model.device)
    cache = _branch(model, prefix, prefix_rows, len(tokens)) or _new_cache(model)
    with intervened(anatomy, edits, captures, start, (len(tokens), width)) as readings:
        _last_logits(model, ids, [width] * len(tokens), cache)
    if any(layer.get_seq_length() != length for layer in cache.layers if not isinstance(layer, DummyLayer)):
        raise EngineError(
            f"{type(unwrapped(model)).__name__} did not fill the cache it was given, so a prefix cannot be continued.",
            "Run whole rows without a prefix.",
        )
    return Prefix(cache, len(tokens), length, model), dict(readings)


@torch.no_grad()
def run_rows(
    model: PreTrainedModel,
    anatomy: Anatomy,
    tokens: Sequence[Sequence[int]],
    edits: Sequence[Edit] = (),
    captures: Sequence[Capture] = (),
    *,
    prefix: Prefix | None = None,
    prefix_rows: Sequence[int] | None = None,
) -> RunOutput:
    """Run rows, on top of a prefix if one is given, and read the distribution after the last token of each.

    Args:
        model: The model, in evaluation mode.
        anatomy: Its parts.
        tokens: Token ids of each row after the prefix, of any lengths.
        edits: Edits within these tokens, at absolute positions.
        captures: Readings within these tokens, at absolute positions.
        prefix: What the rows continue.
        prefix_rows: For each row, the row of the prefix that it continues; by default row ``i`` continues row ``i``.

    Returns:
        Log-probabilities and readings.

    Raises:
        EngineError: If a row is empty, rows and prefix do not match, the model cannot take the tokens, an edit or
            reading cannot be carried out exactly, or the log-probabilities are not numbers.
    """
    if not tokens or any(len(row) == 0 for row in tokens):
        raise EngineError("A run needs at least one row, and each row at least one token.", "Leave empty rows out.")
    start = 0 if prefix is None else prefix.length
    ends = tuple(start + len(row) for row in tokens)
    _check_input(model, tokens, max(ends))
    check_plan(edits, captures, Extent(start, ends, anatomy.hidden_size, anatomy.n_layers))
    cache = _branch(model, prefix, prefix_rows, len(tokens))
    width = max(len(row) for row in tokens)
    ids = torch.tensor([[*row, *([row[-1]] * (width - len(row)))] for row in tokens], device=model.device)
    with intervened(anatomy, edits, captures, start, (len(tokens), width)) as readings:
        logits_RV = _last_logits(model, ids, [len(row) for row in tokens], cache)
    return RunOutput(torch.log_softmax(logits_RV, dim=-1).cpu(), dict(readings))


def can_share_prefix(model: PreTrainedModel) -> bool:
    """Whether :func:`run_prefix` works with this model; where not, whole rows can still be run."""
    try:
        _new_cache(model)
    except EngineError:
        return False
    return True


def _check_input(model: PreTrainedModel, tokens: Sequence[Sequence[int]], end: int) -> None:
    """Refuse a model with live dropout, and tokens that it has no embedding or no position for."""
    refuse_training(model)
    config = model.config.get_text_config(decoder=True)
    known, longest = len(model.get_input_embeddings().weight), getattr(config, "max_position_embeddings", None)
    if not all(0 <= token < known for row in tokens for token in row):
        raise EngineError(f"A token id is not one of the model's {known}.", "Use the model's own tokenizer.")
    if longest is not None and end > longest:
        raise EngineError(
            f"A row of {end} tokens is longer than the {longest} this model can take.", "Shorten the prompt."
        )


def _new_cache(model: PreTrainedModel) -> DynamicCache:
    """An empty cache that keeps every token of every layer, so that it can be branched.

    A sliding window is left to the attention mask. A cache that drops tokens by itself goes wrong for a model whose
    configuration names a window which its attention does not use.

    Raises:
        EngineError: If the model keeps anything else than keys and values (a recurrent state is written to in place).
    """
    name = type(unwrapped(model)).__name__
    if getattr(unwrapped(model), "_is_stateful", False) or not _names(model) & {"cache", "past_key_values"}:
        raise EngineError(
            f"{name} keeps no cache of keys and values, so a prefix cannot be continued.",
            "Run whole rows without a prefix.",
        )
    cache = DynamicCache(config=model.config)
    cache.layers = [DynamicLayer() if type(layer) is DynamicSlidingWindowLayer else layer for layer in cache.layers]
    other = {type(layer).__name__ for layer in cache.layers if type(layer) not in (DynamicLayer, DummyLayer)}
    if other:
        raise EngineError(
            f"{name} keeps {', '.join(sorted(other))} in its cache, from which a prefix cannot be continued exactly.",
            "Run whole rows without a prefix.",
        )
    return cache


def _branch(
    model: PreTrainedModel, prefix: Prefix | None, prefix_rows: Sequence[int] | None, rows: int
) -> DynamicCache | None:
    if prefix is None:
        if prefix_rows is not None:
            raise EngineError("prefix_rows was given without a prefix.", "Give the prefix too.")
        return None
    if prefix.model is not model:
        raise EngineError("The prefix was computed by another model.", "Compute it with the model that continues it.")
    chosen = list(range(rows)) if prefix_rows is None else list(prefix_rows)
    if len(chosen) != rows or not all(0 <= r < prefix.rows for r in chosen):
        raise EngineError(
            f"prefix_rows {chosen} do not name one of {prefix.rows} prefix rows for each of {rows} rows.",
            "Correct them.",
        )
    return prefix.branch(chosen)


def _last_logits(model: PreTrainedModel, ids_RT: Tensor, lengths: Sequence[int], cache: DynamicCache | None) -> Tensor:
    """Logits after each row's last token, ``[rows, vocabulary]`` float32; no others where the model can do so."""
    accepted, rows = _names(model), torch.arange(len(lengths))
    arguments: dict[str, Any] = {"input_ids": ids_RT, "use_cache": cache is not None}
    if cache is not None:
        # Transformers renames ``past_key_values`` to ``cache``; a model takes one of the two.
        arguments["cache" if "cache" in accepted else "past_key_values"] = cache
    kept = list(range(ids_RT.shape[1]))
    if "logits_to_keep" in accepted:
        kept = sorted({length - 1 for length in lengths})
        arguments["logits_to_keep"] = torch.tensor(kept, device=ids_RT.device)
    logits_RKV = model(**arguments).logits
    if logits_RKV.shape[:2] != (len(lengths), len(kept)):
        raise EngineError(
            f"{type(unwrapped(model)).__name__} returned logits of {list(logits_RKV.shape[:2])} (rows, positions) "
            f"where {[len(lengths), len(kept)]} were asked for.",
            "This architecture is not supported; please report its class.",
        )
    where = torch.tensor([kept.index(length - 1) for length in lengths])
    logits_RV: Tensor = logits_RKV[rows, where].float()
    if bool(logits_RV.isnan().any() or logits_RV.isposinf().any()):
        raise EngineError(f"The model's logits overflowed in {logits_RKV.dtype}.", "Use a smaller dose, or float32.")
    return logits_RV


def _names(model: PreTrainedModel) -> set[str]:
    """Names of the arguments that the model's own forward takes."""
    return set(inspect.signature(unwrapped(model).forward).parameters)
