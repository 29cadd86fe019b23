"""Whether a model's attention may be shared between rows: tried once, and believed only if the numbers agree.

No list of architectures decides. A short prefix is continued by rows of different lengths, once by shared attention and
once by the model's own, and the logits have to agree. What some families do besides attending to keys (recurrent
states, biases by distance, keys of other layers, positional factors that depend on the length) makes the two differ or
fails, and the model is then run whole.
"""

import logging
import weakref
from typing import Final

import torch
from torch import Tensor

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.attention import SharedPass
from firsthand.engine.edits import Row
from firsthand.engine.forward import arguments_of, forward
from firsthand.engine.layout import Layout
from firsthand.errors import EngineError

_log = logging.getLogger("firsthand.engine")
_LENGTH_DEPENDENT: Final = ("dynamic", "longrope")
_TOLERANCE: Final = {torch.float64: 1e-9, torch.float32: 1e-4}
_COARSE: Final = 5e-2
_REFUSALS: "weakref.WeakKeyDictionary[Anatomy, str]" = weakref.WeakKeyDictionary()


def can_share(anatomy: Anatomy) -> bool:
    """Whether rows of this model can continue a common prefix without running it again."""
    return not refusal_to_share(anatomy)


def refusal_to_share(anatomy: Anatomy) -> str:
    """Why this model's attention cannot be shared, or an empty text; tried once, and told once as a warning."""
    if anatomy not in _REFUSALS:
        _REFUSALS[anatomy] = reason = _try(anatomy)
        if reason:
            _log.warning(
                "%s: %s Rows are run whole through all %d blocks instead: the results are the same, each row costs as "
                "much as its whole prompt.",
                anatomy.name,
                reason,
                len(anatomy.blocks),
            )
    return _REFUSALS[anatomy]


@torch.no_grad()
def _try(anatomy: Anatomy) -> str:
    model = anatomy.model
    config = model.config.get_text_config(decoder=True)
    if "position_ids" not in arguments_of(model):
        return "it takes no explicit positions."
    if getattr(config, "num_kv_shared_layers", 0):
        return "some of its layers use the keys of other layers."
    if getattr(config, "hidden_size_per_layer_input", 0):
        return "its layers get inputs of their own beside the residual stream."
    if getattr(config, "index_topk", None):
        return "an index of its own chooses the keys that a token attends to."
    rope = getattr(config, "rope_parameters", None) or {}
    kinds = {r.get("rope_type") for r in (rope, *rope.values()) if isinstance(r, dict)}
    if kinds & set(_LENGTH_DEPENDENT):
        return f"its rotary positions ({', '.join(sorted(str(k) for k in kinds))}) depend on the length of a row."
    try:
        shared, own = _both(anatomy, int(config.vocab_size))
    except Exception as error:  # noqa: BLE001 - whatever a family raises, it cannot be shared
        return f"its attention cannot be replaced ({type(error).__name__}: {error})."
    largest = float((shared - own).abs().max() / own.abs().max())
    if not largest <= _TOLERANCE.get(model.dtype, _COARSE):
        return f"shared and own attention differ by {largest:.1e} of the largest logit."
    return ""


def _both(anatomy: Anatomy, size: int) -> tuple[Tensor, Tensor]:
    """Logits of three short rows after a prefix, by shared attention and by the model's own."""
    begin = tuple((7 * i + 3) % size for i in range(5))
    ends = [tuple((11 * i + 5 * n) % size for i in range(n + 1)) for n in (1, 3, 1)]
    layout = Layout((begin,), (0,), packed=True)
    state = SharedPass(layout, record=True)
    forward(anatomy, [Row(begin)], layout, state, logits=False)
    if not state.recorded:
        raise EngineError("Its attention does not go through the registry of Transformers.", "Run rows whole.")
    rows = [Row(end) for end in ends]
    packed = Layout.of(rows, [len(begin)] * len(rows), packed=True)
    shared = forward(anatomy, rows, packed, SharedPass(packed, state.memory())).logits_EV
    whole = [Row((*begin, *end)) for end in ends]
    own = forward(anatomy, whole, Layout.of(whole, [0] * len(whole), packed=False)).logits_EV
    return shared, own
