"""Runs: a shared prefix computed once, and rows that continue it.

A prefix batch holds rows of equal length. Rows that continue it may differ in length: they are padded on the right, where
causal attention cannot see the padding, and read at their own last token. The cache of a prefix is indexed into a new
cache for every use, so the prefix itself is never written to.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.edits import Capture, Edit, check_plan
from firsthand.engine.hooks import intervened
from firsthand.errors import EngineError


@dataclass(frozen=True)
class Prefix:
    """Keys and values of equally long rows, with whatever edits they were computed under.

    Attributes:
        cache: The model's cache; never written to.
        rows: Number of rows.
        length: Tokens in each row.
    """

    cache: DynamicCache
    rows: int
    length: int

    def branch(self, rows: Sequence[int]) -> DynamicCache:
        """A new cache whose row ``i`` is this prefix's row ``rows[i]``; it shares no memory that is written to."""
        index = torch.tensor(list(rows), dtype=torch.long)
        fresh = copy.copy(self.cache)
        fresh.layers = [copy.copy(layer) for layer in self.cache.layers]
        first = next((layer.keys for layer in fresh.layers if getattr(layer, "keys", None) is not None), None)
        fresh.batch_select_indices(index if first is None else index.to(first.device))
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


@torch.inference_mode()
def run_prefix(
    model: PreTrainedModel,
    anatomy: Anatomy,
    tokens: Sequence[Sequence[int]],
    edits: Sequence[Edit] = (),
    captures: Sequence[Capture] = (),
) -> tuple[Prefix, dict[str, Tensor]]:
    """Compute equally long rows once, to be continued by :func:`run_rows`.

    Args:
        model: The model, in evaluation mode.
        anatomy: Its parts.
        tokens: Token ids, all rows equally long.
        edits: Edits within these tokens.
        captures: Readings within these tokens.

    Returns:
        The prefix, and the readings by name.

    Raises:
        EngineError: If rows differ in length, or an edit or reading cannot be carried out exactly.
    """
    lengths = {len(row) for row in tokens}
    if len(lengths) != 1 or 0 in lengths:
        raise EngineError("The rows of a shared prefix must be equally long and not empty.", "Group rows by length first.")
    length = lengths.pop()
    check_plan(edits, captures, len(tokens), [length] * len(tokens), 0, anatomy.hidden_size, anatomy.n_layers)
    ids = torch.tensor([list(row) for row in tokens], device=model.device)
    cache = DynamicCache(config=model.config)
    with intervened(anatomy, edits, captures, 0) as readings:
        model(input_ids=ids, use_cache=True, logits_to_keep=1, **_cache_argument(model, cache))
    return Prefix(cache, len(tokens), length), dict(readings)


@torch.inference_mode()
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
        EngineError: If a row is empty, rows and prefix do not match, or an edit or reading cannot be carried out
            exactly.
    """
    if not tokens or any(len(row) == 0 for row in tokens):
        raise EngineError("A run needs at least one row, and each row at least one token.", "Leave empty rows out.")
    start = 0 if prefix is None else prefix.length
    rows = list(range(len(tokens))) if prefix_rows is None else list(prefix_rows)
    if prefix is not None and (len(rows) != len(tokens) or not all(0 <= r < prefix.rows for r in rows)):
        raise EngineError(f"prefix_rows {rows} do not name one of {prefix.rows} prefix rows for each row.", "Correct them.")
    ends = [start + len(row) for row in tokens]
    check_plan(edits, captures, len(tokens), ends, start, anatomy.hidden_size, anatomy.n_layers)
    width = max(len(row) for row in tokens)
    ids = torch.tensor([[*row, *([row[-1]] * (width - len(row)))] for row in tokens], device=model.device)
    last = sorted({len(row) - 1 for row in tokens})
    keep = torch.tensor(last, device=model.device)
    cache = None if prefix is None else prefix.branch(rows)
    with intervened(anatomy, edits, captures, start) as readings:
        extra = {} if cache is None else _cache_argument(model, cache)
        logits = model(input_ids=ids, use_cache=cache is not None, logits_to_keep=keep, **extra).logits
    where = torch.tensor([last.index(len(row) - 1) for row in tokens], device=logits.device)
    chosen = logits[torch.arange(len(tokens), device=logits.device), where].float()
    return RunOutput(torch.log_softmax(chosen, dim=-1).cpu(), dict(readings))


def _cache_argument(model: PreTrainedModel, cache: DynamicCache) -> dict[str, DynamicCache]:
    """The keyword under which this model takes a cache: ``cache`` since Transformers 5, ``past_key_values`` before."""
    import inspect

    target = model.get_base_model() if hasattr(model, "get_base_model") else model
    names = inspect.signature(target.forward).parameters
    return {"cache" if "cache" in names else "past_key_values": cache}
