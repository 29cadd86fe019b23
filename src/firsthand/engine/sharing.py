"""Whether rows of a model may share attention, and start in the middle: tried once, and believed only if numbers agree.

No list of architectures decides. A prefix, longer than the model's windows and blocks, is continued by rows of
different lengths, once by shared attention and once by the model's own; and the rows are started in the middle and at
the end of the model from the stream of a clean pass. Next-token distributions have to agree. What some families do
besides attending to keys (recurrent states, biases by distance, keys or outputs of other layers, positional factors
that depend on the length) makes them differ or fails, and the model is then run whole. Traits that no short trial could
show are looked up in the configuration.
"""

import logging
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.attention import SharedPass
from firsthand.engine.edits import Capture, Edit, Operation, Row
from firsthand.engine.forward import Start, arguments_of, forward
from firsthand.engine.layout import Layout
from firsthand.engine.sites import resid_post, resid_pre
from firsthand.errors import EngineError

_log = logging.getLogger("firsthand.engine")
_LENGTH_DEPENDENT: Final = ("dynamic", "longrope")
_LAYERS: Final = frozenset({"full_attention", "sliding_attention", "chunked_attention"})
_SPANS: Final = ("sliding_window", "attention_chunk_size", "window_size", "block_size")
_TOLERANCE: Final = {torch.float64: 1e-8, torch.float32: 2e-4}
_LONGEST_TRIAL: Final = 192
_LEAST_TRIAL: Final = 5


@dataclass(frozen=True)
class Refusals:
    """Why a model cannot do something; an empty text where it can.

    Attributes:
        share: Let rows share attention.
        resume: Start in the middle.
    """

    share: str
    resume: str


_KNOWN: "weakref.WeakKeyDictionary[Anatomy, Refusals]" = weakref.WeakKeyDictionary()


def can_share(anatomy: Anatomy) -> bool:
    """Whether rows of this model can continue a common prefix without running it again."""
    return not refusals(anatomy).share


def refusal_to_share(anatomy: Anatomy) -> str:
    """Why rows of this model cannot share attention; an empty text where they can."""
    return refusals(anatomy).share


def can_resume(anatomy: Anatomy) -> bool:
    """Whether a pass of this model can start in the middle, from the residual stream alone."""
    return not refusals(anatomy).resume


def refusals(anatomy: Anatomy) -> Refusals:
    """Why this model cannot share or resume; tried once, and told once as a warning."""
    if anatomy not in _KNOWN:
        with torch.no_grad():
            trial = _trial(anatomy)
            share = _by_configuration(anatomy) or _tried(anatomy, trial, "its attention cannot be replaced", _sharing)
            resume = _tried(anatomy, trial, "it cannot start in the middle", _resuming)
        _KNOWN[anatomy] = Refusals(share, resume)
        if share:
            _log.warning(
                "%s: %s Rows are run whole through all %d blocks instead: the results are the same, each row costs as "
                "much as its whole prompt.",
                anatomy.name,
                share,
                len(anatomy.blocks),
            )
    return _KNOWN[anatomy]


def _by_configuration(anatomy: Anatomy) -> str:
    """What a configuration gives away."""
    config = anatomy.model.config.get_text_config(decoder=True)
    if "position_ids" not in arguments_of(anatomy.model):
        return "it takes no explicit positions."
    if getattr(config, "num_kv_shared_layers", 0):
        return "some of its layers use the keys of other layers."
    if getattr(config, "hidden_size_per_layer_input", 0):
        return "its layers get inputs of their own beside the residual stream."
    if getattr(config, "attn_temperature_tuning", False):  # beyond 8,192 tokens, so that no short trial would notice
        return "it scales queries by their place in a pass."
    if any(value for name, value in vars(config).items() if name.startswith("index_")):
        return "an index of its own chooses the keys that a token attends to."
    other = set(getattr(config, "layer_types", None) or ()) - _LAYERS
    if other:
        return f"some of its layers do something else than attending to keys ({', '.join(sorted(other))})."
    rope = getattr(config, "rope_parameters", None) or {}
    kinds = {r.get("rope_type") for r in (rope, *rope.values()) if isinstance(r, dict)}
    if kinds & set(_LENGTH_DEPENDENT):
        return f"its rotary positions ({', '.join(sorted(str(k) for k in kinds))}) depend on the length of a row."
    return ""


@dataclass(frozen=True)
class _Trial:
    """Rows that continue a prefix, what the model itself says after each of them, and what may be rounding, in nats."""

    begin: tuple[int, ...]
    ends: tuple[tuple[int, ...], ...]
    own: Tensor
    allowed: float


def _trial(anatomy: Anatomy) -> _Trial:
    config = anatomy.model.config.get_text_config(decoder=True)
    size, longest = int(config.vocab_size), getattr(config, "max_position_embeddings", None) or _LONGEST_TRIAL
    spans = [value for name in _SPANS if isinstance(value := getattr(config, name, None), int) and value > 0]
    wanted = min(spans, default=0) + _LEAST_TRIAL
    length = max(_LEAST_TRIAL, min(wanted if wanted <= _LONGEST_TRIAL else _LEAST_TRIAL, longest - 5))
    begin = tuple((7 * i + 3) % size for i in range(length))
    ends = tuple(tuple((11 * i + 5 * n) % size for i in range(n + 1)) for n in (1, 3, 1))
    whole = [Row((*begin, *end)) for end in ends]
    own = forward(anatomy, whole, Layout.of(whole, [0] * len(whole), packed=False)).logits_EV
    allowed = _TOLERANCE.get(anatomy.model.dtype)
    return _Trial(begin, ends, own, 2 * _noise(anatomy, whole, own) if allowed is None else allowed)


def _noise(anatomy: Anatomy, whole: Sequence[Row], own: Tensor) -> float:
    """What a disturbance of the embedding by one unit in its last place does, or a run alone instead of in a batch."""
    unit = float(torch.finfo(anatomy.model.dtype).eps)
    vector_H = torch.randn(anatomy.hidden_size, generator=torch.Generator().manual_seed(0))
    others = []
    for row in whole:
        everywhere = tuple(range(len(row.tokens)))
        jiggled = Row(row.tokens, (Edit(resid_pre(0), everywhere, vector_H, Operation.ADD_SCALED, unit),))
        others.append([forward(anatomy, [r], Layout.of([r], [0], packed=False)).logits_EV for r in (row, jiggled)])
    return max(_apart(torch.cat(way), own) for way in zip(*others, strict=True))


def _sharing(anatomy: Anatomy, trial: _Trial) -> list[Tensor]:
    """Logits of the rows by shared attention."""
    layout = Layout((trial.begin,), (0,), packed=True)
    state = SharedPass(layout, record=True)
    forward(anatomy, [Row(trial.begin)], layout, state, logits=False)
    if not state.recorded:
        raise EngineError("Its attention does not go through the registry of Transformers.", "Run rows whole.")
    rows = [Row(end) for end in trial.ends]
    packed = Layout.of(rows, [len(trial.begin)] * len(rows), packed=True)
    return [forward(anatomy, rows, packed, SharedPass(packed, state.memory())).logits_EV]


def _resuming(anatomy: Anatomy, trial: _Trial) -> list[Tensor]:
    """Logits of the rows, started in the middle and at the end of the model."""
    stages = sorted({max(1, anatomy.n_layers // 2), anatomy.n_layers})
    rows = [Row((*trial.begin, *end)) for end in trial.ends]
    width = max(len(row.tokens) for row in rows)
    padded = [Row((*row.tokens, *([row.tokens[-1]] * (width - len(row.tokens))))) for row in rows]
    captures = tuple(Capture(str(stage), resid_post(stage - 1), tuple(range(width))) for stage in stages)
    clean = [Row(row.tokens, captures=captures) for row in padded]
    readings = forward(anatomy, clean, Layout.of(clean, [0] * len(clean), packed=False), logits=False).readings
    found = []
    for stage in stages:
        stream = torch.stack([reading[str(stage)] for reading in readings])
        layout = Layout.of(rows, [0] * len(rows), packed=False)
        found.append(forward(anatomy, rows, layout, start=Start(stage, stream)).logits_EV)
    return found


def _tried(anatomy: Anatomy, trial: _Trial, fails: str, way: Callable[[Anatomy, _Trial], list[Tensor]]) -> str:
    """Why a way of running the rows may not be believed."""
    try:
        found = way(anatomy, trial)
    except Exception as error:  # noqa: BLE001 - whatever a family raises, it cannot be done
        return f"{fails} ({type(error).__name__}: {error})."
    largest = max(_apart(logits, trial.own) for logits in found)
    if not largest <= trial.allowed:
        return f"{fails}: likely tokens' log-probabilities differ by {largest:.1e} nats."
    return ""


def _apart(one: Tensor, other: Tensor) -> float:
    """Largest difference of log-probabilities, over tokens that are not next to impossible."""
    a, b = torch.log_softmax(one.double(), -1), torch.log_softmax(other.double(), -1)
    return float((a - b).abs()[b > -20.0].max())
