"""The next token of each row, drawn so that a row gives the same text whatever batch it is in.

A row's draw is one uniform number, which its seed and step name, and the inverse of its distribution's cumulative
function in order of token id. Nothing else enters: neither the other rows, nor their order, nor a generator that is
passed along. The order of ids is fixed, so logits that differ in their last digits (as those of another batch size do)
move only draws at the very boundary of two tokens, or at the edge of a truncation.

What is drawn from is what ``model.generate(do_sample=True)`` would draw from: the same settings, carried out by
Transformers' own processors in its own order.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor
from transformers import (
    GenerationConfig,
    LogitsProcessorList,
    MinPLogitsWarper,
    PreTrainedModel,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from firsthand.errors import EngineError
from firsthand.trials.randomness import stream

_USED: Final = frozenset({"temperature", "top_k", "top_p", "min_p", "repetition_penalty"})

_WITHOUT_EFFECT: Final = frozenset().union(
    # Where a text ends is for engine.stopping and its caller.
    {"max_length", "max_new_tokens", "stop_strings"},
    {"bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"},
    # How the computation is laid out.
    {"do_sample", "use_cache", "cache_implementation", "cache_config", "max_cache_len", "low_memory"},
    {"compile_config", "disable_compile", "continuous_batching_config", "prefill_chunk_size"},
    # What is handed back. Normalising shifts all logits of a row alike, and broken logits are refused here anyway.
    {"num_return_sequences", "output_attentions", "output_hidden_states", "output_scores", "output_logits"},
    {"return_dict_in_generate", "renormalize_logits", "remove_invalid_values"},
    # Used only together with several beams or with an assistant, each of which is refused by itself.
    {"early_stopping", "length_penalty", "is_assistant", "num_assistant_tokens", "num_assistant_tokens_schedule"},
    {"assistant_confidence_threshold", "assistant_lookbehind", "target_lookbehind", "max_matching_ngram_size"},
    # Where the configuration came from.
    {"transformers_version"},
)
"""Settings of a generation configuration that do not bear on which token is drawn."""

_BATCHED: Final = (TemperatureLogitsWarper, TopKLogitsWarper)
"""Processors that divide or compare only: a row's result is the same to the last digit whatever batch it is in."""

_OFF: Final = {"guidance_scale": 1, "min_new_tokens": 0, "penalty_alpha": 0}
"""Values that switch a setting off, of those settings for which Transformers has no default of its own."""


@dataclass(frozen=True)
class Sampling:
    """From which distribution tokens are drawn. ``None`` switches a setting off.

    Attributes:
        temperature: Divides the logits; above 0.
        top_k: Keep this many likeliest tokens (and those tied with the last of them); 0 is off.
        top_p: Keep the likeliest tokens that together reach this probability; above 0, at most 1.
        min_p: Keep tokens at least this fraction as likely as the likeliest; between 0 and 1.
        repetition_penalty: Makes tokens of the history, the prompt's included, less likely; above 0, and 1 is off.
        greedy: Take the likeliest token. As in ``generate(do_sample=False)``, only the repetition penalty still counts.

    Raises:
        EngineError: If a setting is out of its range.
    """

    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    greedy: bool = False

    def __post_init__(self) -> None:
        if self.temperature is not None and not (_is_number(self.temperature) and self.temperature > 0):
            raise EngineError(
                f"A temperature of {self.temperature!r} leaves nothing to draw from.",
                "Use a temperature above 0, or greedy=True for the likeliest token.",
            )
        if self.top_k is not None and (type(self.top_k) is not int or self.top_k < 0):
            raise EngineError(f"top_k is {self.top_k!r}.", "Use a whole number of tokens, or 0 to keep them all.")
        if self.top_p is not None and not (_is_number(self.top_p) and 0 < self.top_p <= 1):
            raise EngineError(f"top_p is {self.top_p!r}.", "Use a probability above 0 and at most 1.")
        if self.min_p is not None and not (_is_number(self.min_p) and 0 <= self.min_p <= 1):
            raise EngineError(f"min_p is {self.min_p!r}.", "Use a fraction between 0 and 1.")
        if self.repetition_penalty is not None and not (
            _is_number(self.repetition_penalty) and self.repetition_penalty > 0
        ):
            raise EngineError(
                f"repetition_penalty is {self.repetition_penalty!r}.", "Use a number above 0; 1 is no penalty."
            )


@dataclass(frozen=True, eq=False)
class Drawn:
    """The next token of each row.

    Attributes:
        tokens_R: Token ids, ``[rows]``, int64, on the CPU.
        sampled_logprobs_R: Their log-probabilities under the distribution that was drawn from, in float64; 0 if greedy.
        model_logprobs_R: Their log-probabilities under the model itself: temperature 1, nothing penalised or cut off.
    """

    tokens_R: Tensor
    sampled_logprobs_R: Tensor
    model_logprobs_R: Tensor


def default_sampling(model: PreTrainedModel) -> Sampling:
    """What ``model.generate(do_sample=True)`` would sample from, if it were given nothing else.

    Settings that the model's generation configuration leaves open take Transformers' own defaults, of which one is not
    neutral: ``top_k`` is 50.

    Args:
        model: A model that can generate.

    Raises:
        EngineError: If the model cannot generate, or its generation configuration asks for what is not carried out
            here: several beams, forced, forbidden or biased tokens, a least length, watermarks, guidance, and the like.
    """
    if not model.can_generate():
        raise EngineError(f"{type(model).__name__} cannot generate text.", "Use a causal language model.")
    try:
        # Merging the configuration with Transformers' defaults is left to Transformers, so that it cannot differ.
        config, _ = model._prepare_generation_config(None, do_sample=True)
    except ValueError as error:
        raise EngineError(
            f"Transformers refuses the generation configuration of this model: {error}",
            "Mend model.generation_config, or say how to sample.",
        ) from error
    defaults = {**GenerationConfig._get_default_generation_params(), **_OFF}
    # Entries that Transformers does not know are without effect in generate() too, hence the names of a bare one.
    names = [name for name in vars(GenerationConfig()) if not name.startswith("_")]
    for name in sorted(set(names) - _USED - _WITHOUT_EFFECT):
        value = getattr(config, name)
        if value is not None and value is not False and value != defaults.get(name):
            raise EngineError(
                f"The generation configuration of this model sets {name}={value!r}, which is not carried out here.",
                f"Set model.generation_config.{name} to None, or say how to sample.",
            )
    return Sampling(**{name: getattr(config, name) for name in _USED})


def warped_scores(logits_RV: Tensor, sampling: Sampling, history: Sequence[Sequence[int]]) -> Tensor:
    """The logits of the distribution that is drawn from; what is cut off has -inf.

    Args:
        logits_RV: The model's logits, ``[rows, vocabulary]``, of any floating type and on any device.
        sampling: Which distribution.
        history: For each row its token ids so far, prompt and generated, without padding. Only a repetition penalty
            looks at them.

    Returns:
        ``[rows, vocabulary]``, float32 as in ``generate``, on the CPU.

    Raises:
        EngineError: If the logits are broken or the history does not fit them (see :func:`next_tokens`).
    """
    return _warped(_checked(logits_RV, history), sampling, history)


def next_tokens(
    logits_RV: Tensor,
    seeds: Sequence[int],
    step: int | Sequence[int],
    sampling: Sampling,
    history: Sequence[Sequence[int]],
) -> Drawn:
    """Draw the next token of each row.

    Args:
        logits_RV: The model's logits, ``[rows, vocabulary]``.
        seeds: The seed of each row. Rows of the same seed, step and distribution get the same token.
        step: How many tokens were drawn before this one, for all rows or for each.
        sampling: From which distribution.
        history: For each row its token ids so far, prompt and generated, without padding.

    Returns:
        One token a row with its log-probabilities. Of several likeliest tokens, greedy takes the lowest id.

    Raises:
        EngineError: If seeds, steps or history are not one a row, a token of the history is negative, a logit is not a
            number or infinitely large, a row allows no token, or the logits overflow under ``sampling``.
    """
    rows = logits_RV.shape[0]
    steps = [step] * rows if isinstance(step, int) else list(step)
    if len(seeds) != rows or len(steps) != rows:
        raise EngineError(
            f"There are {rows} rows of logits, but {len(seeds)} seeds and {len(steps)} steps.",
            "Give one of each for every row.",
        )
    logits_RV = _checked(logits_RV, history)
    scores_RV = _warped(logits_RV, sampling, history)
    tokens, sampled, plain = [], [], []
    kept = None if sampling.greedy else _kept(scores_RV)
    for row, (logits_V, seed, number) in enumerate(zip(logits_RV, seeds, steps, strict=True)):
        if kept is None:
            token, logprob = _greedy(scores_RV[row])
        else:
            token, logprob = _draw(*kept[row], uniform(seed, number))
        tokens.append(token)
        sampled.append(logprob)
        plain.append(float(logits_V[token].double() - logits_V.double().logsumexp(0)))
    return Drawn(
        tokens_R=torch.tensor(tokens, dtype=torch.long),
        sampled_logprobs_R=torch.tensor(sampled, dtype=torch.float64),
        model_logprobs_R=torch.tensor(plain, dtype=torch.float64),
    )


def uniform(seed: int, step: int) -> float:
    """The number in [0, 1) that decides one token: the same one for every distribution, on every machine."""
    return float(stream("next token", int(seed), int(step)).random())


def _kept(scores_RV: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Of each row the ids that may be drawn, ascending, and their scores."""
    kept_RV = scores_RV > -torch.inf
    # Ascending by row and then by id, so that one look at the batch finds what a look at each row would.
    counts = kept_RV.sum(1).tolist()
    ids, scores = torch.split(kept_RV.nonzero()[:, 1], counts), torch.split(scores_RV[kept_RV], counts)
    return list(zip(ids, scores, strict=True))


def _draw(ids_K: Tensor, scores_K: Tensor, number: float) -> tuple[int, float]:
    """The first id at which the cumulative probability exceeds ``number``, and its log-probability."""
    logprobs_K = torch.log_softmax(scores_K.double(), 0)
    cumulative_K = logprobs_K.exp().cumsum(0)
    # The number is at most 1 - 2**-53, so its product with the total stays below the total after rounding too: there
    # always is a first such id, and as the sum grows there, it is not one of probability 0.
    index = int(torch.searchsorted(cumulative_K, number * cumulative_K[-1], right=True))
    return int(ids_K[index]), float(logprobs_K[index])


def _greedy(scores_V: Tensor) -> tuple[int, float]:
    return int((scores_V == scores_V.max()).nonzero()[0, 0]), 0.0


def _warped(logits_RV: Tensor, sampling: Sampling, history: Sequence[Sequence[int]]) -> Tensor:
    size, scores_RV = logits_RV.shape[1], logits_RV.clone()
    for processor in _processors(sampling):
        if isinstance(processor, _BATCHED):
            scores_RV = processor(torch.empty(len(history), 0, dtype=torch.long), scores_RV)
            continue
        for row, before in enumerate(history):
            # One row at a time: sums and sorts of several rows at once may be laid out by their number. The id beyond
            # the vocabulary is one that the penalty ignores; it stands in for an empty history.
            scores_RV[row] = processor(torch.tensor([[*before, size]]), scores_RV[row : row + 1])[0]
    if _has_broken(scores_RV):
        raise EngineError(
            f"The logits overflow under {sampling}.",
            "Use a larger temperature, or greedy=True for the likeliest token.",
        )
    return scores_RV


def _processors(sampling: Sampling) -> LogitsProcessorList:
    """Transformers' processors, in the order in which ``generate`` applies them."""
    processors = LogitsProcessorList()
    if sampling.repetition_penalty is not None and sampling.repetition_penalty != 1:
        processors.append(RepetitionPenaltyLogitsProcessor(float(sampling.repetition_penalty)))
    if sampling.greedy:
        return processors
    if sampling.temperature is not None and sampling.temperature != 1:
        processors.append(TemperatureLogitsWarper(float(sampling.temperature)))
    if sampling.top_k:
        processors.append(TopKLogitsWarper(sampling.top_k))
    if sampling.top_p is not None and sampling.top_p < 1:
        processors.append(TopPLogitsWarper(float(sampling.top_p)))
    if sampling.min_p:
        processors.append(MinPLogitsWarper(float(sampling.min_p)))
    return processors


def _checked(logits_RV: Tensor, history: Sequence[Sequence[int]]) -> Tensor:
    """The logits as ``generate`` takes them, in float32, if every row is a distribution and has a history."""
    logits_RV = logits_RV.detach().to("cpu", torch.float32)
    if len(history) != logits_RV.shape[0]:
        raise EngineError(
            f"There are {logits_RV.shape[0]} rows of logits, but {len(history)} histories.",
            "Give the tokens so far of every row.",
        )
    if any(min(before, default=0) < 0 for before in history):
        raise EngineError("A history holds a negative token id.", "Give token ids alone, without padding.")
    if _has_broken(logits_RV):
        raise EngineError("A logit is not a finite number.", "Use a smaller dose, or float32.")
    if bool((logits_RV.amax(1) == -torch.inf).any()):
        raise EngineError("A row of logits allows no token at all.", "Use a smaller dose, or float32.")
    return logits_RV


def _has_broken(scores_RV: Tensor) -> bool:
    """Whether a score is not a number or infinitely large, which the largest of its row shows."""
    largest_R = scores_RV.amax(1)
    return bool((largest_R.isnan() | largest_R.isposinf()).any())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
