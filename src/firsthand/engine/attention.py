"""Attention over a prefix that many rows share, without copying it.

Rows are packed one behind the other in one sequence. Each token attends to the keys of its prefix (all tokens of all
rows that share one as a single long query) and to the earlier tokens of its own row; the two results are merged by
their log-sum-exps, which is exact. This is registered as an attention implementation of Transformers, so a model's own
forward runs unchanged, and which keys a token may see is asked of the mask function that the model itself builds for
each kind of layer (full, sliding window, chunked), evaluated at absolute positions.

Nothing is cached by the model: keys and values are kept here, by attention module, in a :class:`Memory` that is never
written to once made, or in a :class:`Tail` that grows while a row is being generated.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, causal_mask_function
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from firsthand.engine.kernels import attend
from firsthand.engine.layout import Layout
from firsthand.errors import EngineError

NAME: Final = "firsthand_shared"
KeysValues = tuple[Tensor, Tensor]

_KNOWN: Final = frozenset({"position_ids", "cache_position"})
"""Tensors that models hand on to any attention, and that say nothing which masks and keys do not."""


@dataclass(frozen=True, eq=False)
class Memory:
    """Keys and values of finished rows.

    Attributes:
        layers: By attention module, keys and values ``[rows, key heads, slots, head width]``.
        positions_BP: Absolute position of each slot, -1 where it is empty ``[rows, slots]``.
    """

    layers: Mapping[nn.Module, KeysValues]
    positions_BP: Tensor

    def select(self, rows: Tensor) -> "Memory":
        """The memory of some of the rows, copied."""
        layers = {m: (k[rows.to(k.device)], v[rows.to(v.device)]) for m, (k, v) in self.layers.items()}
        return Memory(layers, self.positions_BP[rows])

    def emptied(self) -> "Memory":
        """As many rows that hold nothing yet."""
        return Memory({m: (k[:, :, :0], v[:, :, :0]) for m, (k, v) in self.layers.items()}, self.positions_BP[:, :0])

    def followed_by(self, other: "Memory") -> "Memory":
        """Each row's keys and values followed by the other's."""
        layers = {
            m: (torch.cat([k, other.layers[m][0]], 2), torch.cat([v, other.layers[m][1]], 2))
            for m, (k, v) in self.layers.items()
        }
        return Memory(layers, torch.cat([self.positions_BP, other.positions_BP], 1))


class Tail:
    """Keys and values of rows that are still growing; room is doubled when it runs out."""

    def __init__(self, memory: Memory) -> None:
        self._layers = dict(memory.layers)
        self._used = dict.fromkeys(memory.layers, memory.positions_BP.shape[1])
        self.positions_RK = memory.positions_BP

    def keep(self, rows: Tensor) -> None:
        """Drop every row but these."""
        self._layers = {m: (k[rows.to(k.device)], v[rows.to(v.device)]) for m, (k, v) in self._layers.items()}
        self.positions_RK = self.positions_RK[rows]

    def extend(self, module: nn.Module, key_RHSD: Tensor, value_RHSD: Tensor) -> KeysValues:
        """Add tokens to a module's keys and values, and return all of them."""
        used, (keys, values) = self._used[module], self._layers[module]
        end = used + key_RHSD.shape[2]
        if end > keys.shape[2]:
            keys, values = (_with_room(x, 2 * end) for x in (keys, values))
            self._layers[module] = keys, values
        keys[:, :, used:end], values[:, :, used:end] = key_RHSD, value_RHSD
        self._used[module] = end
        return keys[:, :, :end], values[:, :, :end]


def _with_room(tensor: Tensor, slots: int) -> Tensor:
    larger = tensor.new_zeros((*tensor.shape[:2], slots, tensor.shape[3]))
    larger[:, :, : tensor.shape[2]] = tensor
    return larger


@dataclass(frozen=True, eq=False)
class _Masks:
    """What may be seen: ``None`` is everything (prefix, by group) or what is not later (own)."""

    prefix: tuple[Tensor | None, ...]
    own_RSK: Tensor | None


@dataclass(frozen=True, eq=False)
class _Group:
    """Prefix rows that about as many tokens continue.

    Attributes:
        rows: The rows of the prefix ``[rows]``, or ``None`` for all of them in order.
        tokens: Places of the tokens that continue each ``[rows, most tokens]``, padded; ``None`` for all in order.
    """

    rows: Tensor | None
    tokens: Tensor | None

    def of(self, tensor: Tensor) -> Tensor:
        """The group's rows of something that has one entry for each row of the prefix."""
        return tensor if self.rows is None else tensor[self.rows.to(tensor.device)]


@dataclass(eq=False)
class SharedPass:
    """One pass with shared attention.

    Attributes:
        layout: Its packed rows.
        prefix: What the rows continue, if anything.
        prefix_rows: For each row the row of the prefix, sorted; ``None`` where all continue row 0.
        tail: What each row holds after the prefix and before these tokens, if anything; it grows.
        record: Whether keys and values of these tokens are kept.
    """

    layout: Layout
    prefix: Memory | None = None
    prefix_rows: tuple[int, ...] | None = None
    tail: Tail | None = None
    record: bool = False
    recorded: dict[nn.Module, KeysValues] = field(default_factory=dict)
    _masks: list[_Masks] = field(default_factory=list)

    def __post_init__(self) -> None:
        layout = self.layout
        if self.tail is not None:
            new = torch.where(layout.inside, layout.positions[layout.rectangle], -1)
            self.tail.positions_RK = torch.cat([self.tail.positions_RK, new], 1)
        self._groups: list[_Group] = [_Group(None, None)]
        self._home_N: Tensor | None = None
        if self.prefix_rows is not None:
            self._groups, self._home_N = _grouped(layout, self.prefix_rows, len(self.prefix_memory.positions_BP))

    @property
    def prefix_memory(self) -> Memory:
        """The prefix, which must be there."""
        if self.prefix is None:
            raise EngineError("Rows of a prefix were named, but no prefix was given.", "Give the prefix too.")
        return self.prefix

    def memory(self) -> Memory:
        """What was recorded, by row."""
        layout = self.layout
        layers = {m: (_rows(k, layout), _rows(v, layout)) for m, (k, v) in self.recorded.items()}
        return Memory(layers, torch.where(layout.inside, layout.positions[layout.rectangle], -1))

    def mask(self, mask_function: Callable[..., Tensor], device: torch.device) -> Tensor:
        """Work out what may be seen, and return a handle under which :meth:`attention` finds it again."""
        self._masks.append(_Masks(self._prefix_mask(mask_function, device), self._own_mask(mask_function, device)))
        # Its number is its last dimension, which survives being copied to another device.
        return torch.ones(1, 1, 1, len(self._masks), dtype=torch.bool, device=device)

    def _prefix_mask(self, mask_function: Callable[..., Tensor], device: torch.device) -> tuple[Tensor | None, ...]:
        if self.prefix is None:
            return ()
        found = []
        for group in self._groups:
            slots_BP, query = group.of(self.prefix.positions_BP), self.layout.positions
            query_BN = query[None] if group.tokens is None else query[group.tokens]
            seen = (slots_BP >= 0)[:, None]
            if mask_function is not causal_mask_function:
                zero = torch.zeros((), dtype=torch.long)
                seen = seen & mask_function(zero, zero, query_BN[:, :, None], slots_BP[:, None, :])
            found.append(None if bool(seen.all()) else seen.expand(-1, query_BN.shape[1], -1).to(device))
        return tuple(found)

    def _own_mask(self, mask_function: Callable[..., Tensor], device: torch.device) -> Tensor | None:
        layout = self.layout
        if self.tail is None and mask_function is causal_mask_function:
            return None
        query_RS = layout.positions[layout.rectangle]
        slots_RK = torch.where(layout.inside, query_RS, -1) if self.tail is None else self.tail.positions_RK
        zero = torch.zeros((), dtype=torch.long)
        seen = mask_function(zero, zero, query_RS[:, :, None], slots_RK[:, None, :]) & (slots_RK >= 0)[:, None]
        return seen.to(device)

    def attention(
        self,
        module: nn.Module,
        query_HND: Tensor,
        key_GND: Tensor,
        value_GND: Tensor,
        handle: Tensor | None,
        scale: float,
        softcap: float | None,
        sink_H: Tensor | None,
    ) -> Tensor:
        """Attend to prefix and own row, and merge, ``[tokens, heads, value width]``."""
        if handle is None or handle.shape[:3] != (1, 1, 1) or handle.shape[3] > len(self._masks):
            raise EngineError(
                f"{type(module).__name__} changes the attention mask that it is given.", "Run rows without sharing."
            )
        masks = self._masks[handle.shape[3] - 1]
        if self.record:
            self.recorded[module] = key_GND, value_GND
        out, lse = self._own(module, query_HND, key_GND, value_GND, masks.own_RSK, scale, softcap)
        if self.prefix is not None:
            before, lse_before = self._prefix(module, query_HND, masks.prefix, scale, softcap)
            out = torch.lerp(out, before, torch.sigmoid(lse_before - lse)[..., None].to(out.dtype))
            lse = torch.logaddexp(lse, lse_before)
        if sink_H is not None:
            out = out * torch.sigmoid(lse - sink_H.float())[..., None].to(out.dtype)
        return out

    def _own(
        self,
        module: nn.Module,
        query_HND: Tensor,
        key_GND: Tensor,
        value_GND: Tensor,
        mask: Tensor | None,
        scale: float,
        softcap: float | None,
    ) -> KeysValues:
        query, key, value = (_rows(x, self.layout) for x in (query_HND, key_GND, value_GND))
        if self.tail is not None:
            key, value = self.tail.extend(module, key, value)
        mask = None if mask is None else mask.to(query.device)
        out, lse = attend(query, key, value, mask, scale, softcap, causal=mask is None)
        return _packed(out, self.layout), _packed(lse, self.layout)

    def _prefix(
        self,
        module: nn.Module,
        query_HND: Tensor,
        masks: tuple[Tensor | None, ...],
        scale: float,
        softcap: float | None,
    ) -> KeysValues:
        keys, values = self.prefix_memory.layers[module]
        outs, lses = [], []
        for group, mask in zip(self._groups, masks, strict=True):
            query = query_HND[None] if group.tokens is None else query_HND[:, group.tokens].transpose(0, 1)
            seen = None if mask is None else mask.to(query.device)
            out, lse = attend(query, group.of(keys), group.of(values), seen, scale, softcap, causal=False)
            outs.append(out.transpose(1, 2).flatten(0, 1))
            lses.append(lse.transpose(1, 2).flatten(0, 1))
        out, lse = torch.cat(outs), torch.cat(lses)
        return (out, lse) if self._home_N is None else (out[self._home_N], lse[self._home_N])


def _grouped(layout: Layout, prefix_rows: tuple[int, ...], rows: int) -> tuple[list[_Group], Tensor]:
    """Tokens by the prefix row that they continue, and where each token is in the groups laid one behind the other.

    Rows that about as many tokens continue form a group, so that little is padded, and rows that none continues are in
    none.
    """
    owner_N = torch.tensor(prefix_rows).repeat_interleave(torch.tensor(layout.lengths))
    count = torch.bincount(owner_N, minlength=rows)
    size = torch.where(count > 0, count.clamp_min(1).float().log2().ceil().long(), -1)
    order = torch.argsort(owner_N, stable=True)
    first = count.cumsum(0) - count
    home_N, groups, begin = torch.empty_like(owner_N), [], 0
    for bucket in sorted(set(size[size >= 0].tolist())):
        members = (size == bucket).nonzero()[:, 0]
        width = int(count[members].max())
        column = torch.arange(width)
        inside = column[None] < count[members][:, None]
        places = order[first[members][:, None] + torch.minimum(column[None], count[members][:, None] - 1)]
        home_N[places[inside]] = (begin + torch.arange(places.numel()).view(places.shape))[inside]
        begin += places.numel()
        every = len(members) == rows
        groups.append(_Group(None if every else members, places))
    return groups, home_N


def _rows(x_HND: Tensor, layout: Layout) -> Tensor:
    """From packed to ``[rows, heads, longest, width]``; a view where rows are equally long."""
    x_NHD = x_HND.transpose(0, 1)
    if layout.even:
        return x_NHD.reshape(len(layout.rows), -1, *x_NHD.shape[1:]).transpose(1, 2)
    return x_NHD[layout.rectangle].transpose(1, 2)


def _packed(x: Tensor, layout: Layout) -> Tensor:
    """From ``[rows, heads, longest, ...]`` to ``[tokens, heads, ...]``."""
    by_row = x.transpose(1, 2)
    return by_row.flatten(0, 1) if layout.even else by_row[layout.inside]


_CURRENT: ContextVar[SharedPass | None] = ContextVar("shared pass", default=None)


def _current() -> SharedPass:
    state = _CURRENT.get()
    if state is None:
        raise EngineError("Shared attention was called outside a run.", "Set another attention implementation.")
    return state


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **further: Any,
) -> tuple[Tensor, None]:
    strange = [name for name, value in further.items() if isinstance(value, Tensor) and name not in _KNOWN]
    if strange or further.get("is_causal") is False:
        raise EngineError(
            f"{type(module).__name__} attends by more than keys and masks ({', '.join(strange) or 'not causally'}).",
            "Run rows without sharing.",
        )
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    out_NHD = _current().attention(module, query[0], key[0], value[0], attention_mask, scale, softcap, s_aux)
    return out_NHD[None], None


def _mask(*_: Any, mask_function: Callable[..., Tensor], device: Any = "cpu", **__: Any) -> Tensor:
    return _current().mask(mask_function, torch.device(device))


ALL_ATTENTION_FUNCTIONS.register(NAME, _attention)
ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, _mask)


@contextmanager
def shared_attention(model: PreTrainedModel, state: SharedPass) -> Iterator[SharedPass]:
    """Let a model attend by ``state``; its own implementation is put back on any exit."""
    configs = {id(m.config): m.config for m in model.modules() if hasattr(m, "config")}
    before = {key: getattr(c, "_attn_implementation_internal", None) for key, c in configs.items()}
    token = _CURRENT.set(state)
    try:
        for config in configs.values():
            config._attn_implementation_internal = NAME
        yield state
    finally:
        _CURRENT.reset(token)
        for key, config in configs.items():
            config._attn_implementation_internal = before[key]
