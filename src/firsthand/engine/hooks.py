"""Carries out edits and readings in a forward pass, and accounts for every one.

At each site one hook first takes the readings that are to see no edit of that site, then makes the edits of all rows in
the order in which each row gives them, then takes the other readings; so a reading is the same however edits and
readings were listed. Edits are vectorised over rows: as many distinct vectors as rows cost no more than one.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.edits import Capture, Edit, Operation, Row
from firsthand.engine.sites import Site, Stream
from firsthand.errors import EngineError


class Places(Protocol):
    """Finds tokens in the residual stream of a pass (see :class:`firsthand.engine.layout.Layout`)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Batch and sequence length."""
        ...

    def place(self, row: int, position: int) -> int:
        """Index in the stream seen as ``[places, hidden]``."""
        ...


@dataclass(eq=False)
class _Step:
    """One operation at many places: the ``k``-th edit of every row that has one there."""

    operation: Operation
    places: list[int] = field(default_factory=list)
    vectors: list[int] = field(default_factory=list)
    strengths: list[float] = field(default_factory=list)


@dataclass(eq=False)
class _Reading:
    """Places to be read, and whose they are."""

    places: list[int] = field(default_factory=list)
    owners: list[tuple[int, Capture]] = field(default_factory=list)


class _SiteHook:
    """Everything that happens at one site in one pass."""

    def __init__(self, site: Site, shape: tuple[int, int, int], sink: list[tuple[int, str, Tensor]]) -> None:
        self.site, self.shape, self.sink = site, shape, sink
        self.steps: dict[tuple[int, Operation], _Step] = {}
        self.before, self.after = _Reading(), _Reading()
        self._vectors: dict[int, int] = {}
        self._stack: list[Tensor] = []
        self.calls = 0

    def add_edit(self, rank: int, edit: Edit, places: Sequence[int]) -> None:
        """Plan an edit, the ``rank``-th of its row at this site."""
        step = self.steps.setdefault((rank, edit.operation), _Step(edit.operation))
        if id(edit.vector_H) not in self._vectors:
            self._vectors[id(edit.vector_H)] = len(self._stack)
            self._stack.append(edit.vector_H)
        step.places += places
        step.vectors += [self._vectors[id(edit.vector_H)]] * len(places)
        step.strengths += [edit.strength] * len(places)

    def add_capture(self, row: int, capture: Capture, places: Sequence[int]) -> None:
        """Plan a reading."""
        reading = self.before if capture.when == "before" else self.after
        reading.places += places
        reading.owners.append((row, capture))

    def apply(self, given: Any, owner: nn.Module, *, in_place: bool = False) -> Tensor:
        """Read and edit the residual stream."""
        self.calls += 1
        if not isinstance(given, Tensor) or tuple(given.shape) != self.shape:
            raise EngineError(
                f"{type(owner).__name__} has no residual stream of [rows, tokens, hidden] = {list(self.shape)} at "
                f"{self.site}.",
                "Edits and readings of this architecture are not supported; please report its class.",
            )
        hidden: Tensor = given
        self._read(self.before, hidden)
        if self.steps:
            hidden = hidden if in_place else hidden.clone()
            vectors_UH = torch.stack(self._stack).to(hidden.device)
            for _, step in sorted(self.steps.items(), key=lambda item: item[0][0]):
                self._edit(step, hidden, vectors_UH)
        self._read(self.after, hidden)
        return hidden

    def _edit(self, step: _Step, hidden: Tensor, vectors_UH: Tensor) -> None:
        flat, places = hidden.flatten(0, 1), torch.tensor(step.places, device=hidden.device)
        exact = torch.promote_types(torch.promote_types(hidden.dtype, vectors_UH.dtype), torch.float32)
        vector = vectors_UH[torch.tensor(step.vectors, device=hidden.device)].to(exact)
        strength = torch.tensor(step.strengths, dtype=exact, device=hidden.device)[:, None]
        old = flat[places]
        new = _OPERATIONS[step.operation](old, vector, strength)
        _check_finite(new, self.site)
        if hidden.is_contiguous():
            flat[places] = new
        else:
            width = hidden.shape[1]
            hidden[places // width, places % width] = new

    def _read(self, reading: _Reading, hidden: Tensor) -> None:
        if not reading.places:
            return
        picked = hidden.flatten(0, 1)[torch.tensor(reading.places, device=hidden.device)]
        _check_finite(picked, self.site)
        exact = picked.to(torch.promote_types(picked.dtype, torch.float32)).cpu()
        parts = torch.split(exact, [len(capture.positions) for _, capture in reading.owners])
        for (row, capture), part in zip(reading.owners, parts, strict=True):
            self.sink.append((row, capture.name, part))


def _add(old: Tensor, vector: Tensor, strength: Tensor) -> Tensor:
    return old + (strength * vector).to(old.dtype)


def _add_scaled(old: Tensor, vector: Tensor, strength: Tensor) -> Tensor:
    norm: Tensor = torch.linalg.vector_norm(old.to(vector.dtype), dim=-1, keepdim=True)
    unit: Tensor = torch.nn.functional.normalize(vector, dim=-1, eps=0.0)
    return old + (strength * norm * unit).to(old.dtype)


def _replace(old: Tensor, vector: Tensor, strength: Tensor) -> Tensor:
    return torch.lerp(old.to(vector.dtype), vector, strength).to(old.dtype)


def _project_out(old: Tensor, vector: Tensor, strength: Tensor) -> Tensor:
    along = (old.to(vector.dtype) * vector).sum(-1, keepdim=True) / vector.square().sum(-1, keepdim=True)
    return (old.to(vector.dtype) - strength * along * vector).to(old.dtype)


_OPERATIONS = {
    Operation.ADD: _add,
    Operation.ADD_SCALED: _add_scaled,
    Operation.REPLACE: _replace,
    Operation.PROJECT_OUT: _project_out,
}


def _check_finite(values: Tensor, site: Site) -> None:
    if not bool(values.isfinite().all()):
        raise EngineError(
            f"The residual stream at {site} is not finite in {values.dtype}.", "Use a smaller dose, or float32."
        )


@contextmanager
def intervened(anatomy: Anatomy, rows: Sequence[Row], layout: Places) -> Iterator[list[dict[str, Tensor]]]:
    """Install the edits and readings of one forward pass.

    Args:
        anatomy: The model's parts.
        rows: Rows with their edits and readings, whose tokens are all in this pass.
        layout: Where their tokens lie in it.

    Yields:
        For each row its readings by name, ``[positions, hidden]`` float32 on the CPU, filled in by the pass.

    Raises:
        EngineError: If a block has no such site; in the pass, if it returns something else than a residual stream of
            the pass's shape, or one that is not finite where it is edited or read; on a normal exit, if an edited or
            read site was not passed exactly once.
    """
    sink: list[tuple[int, str, Tensor]] = []
    hooks: dict[Site, _SiteHook] = {}

    def at(site: Site) -> _SiteHook:
        return hooks.setdefault(site, _SiteHook(site, (*layout.shape, anatomy.hidden_size), sink))

    for number, row in enumerate(rows):
        ranks: dict[Site, int] = {}
        for edit in row.edits:
            if not edit.positions:
                continue
            rank = ranks[edit.site] = ranks.get(edit.site, -1) + 1
            at(edit.site).add_edit(rank, edit, [layout.place(number, p) for p in edit.positions])
        for capture in row.captures:
            at(capture.site).add_capture(number, capture, [layout.place(number, p) for p in capture.positions])
    readings: list[dict[str, Tensor]] = [{} for _ in rows]
    handles: list[RemovableHandle] = []
    try:
        for hook in hooks.values():
            handles.append(_install(anatomy, hook))  # noqa: PERF401 - those already made are removed if one is refused
        yield readings
        for hook in hooks.values():
            if hook.calls != 1:
                raise EngineError(
                    f"The pass went through {hook.site} {hook.calls} times, so its edits were not made exactly once.",
                    "Use a model that runs each block once a pass, without sharing blocks between layers.",
                )
        for number, name, part in sink:
            readings[number][name] = part
    finally:
        for handle in handles:
            handle.remove()


def _install(anatomy: Anatomy, hook: _SiteHook) -> RemovableHandle:
    block = anatomy.blocks[hook.site.layer]
    if hook.site.stream is Stream.POST:
        return block.register_forward_hook(lambda module, _, output: _on_output(hook, module, output))
    if hook.site.stream is Stream.PRE:
        return block.register_forward_pre_hook(
            lambda module, args, kwargs: _on_input(hook, module, args, kwargs), with_kwargs=True
        )
    child = anatomy.midpoints[hook.site.layer]
    if child is None:
        raise EngineError(
            f"{type(block).__name__} has no {hook.site}: its attention and feed-forward part run side by side, or the "
            "stream between them could not be told apart.",
            "Use resid_pre or resid_post.",
        )
    return child.register_forward_pre_hook(
        lambda module, args, kwargs: _on_midpoint(hook, module, args, kwargs), with_kwargs=True
    )


def _on_output(hook: _SiteHook, module: nn.Module, output: Any) -> Any:
    if isinstance(output, tuple):
        return (hook.apply(output[0], module), *output[1:])
    return hook.apply(output, module)


def _on_input(hook: _SiteHook, module: nn.Module, args: Any, kwargs: Any) -> Any:
    if args:
        return (hook.apply(args[0], module), *args[1:]), kwargs
    return args, {**kwargs, "hidden_states": hook.apply(kwargs.get("hidden_states"), module)}


def _on_midpoint(hook: _SiteHook, module: nn.Module, args: Any, kwargs: Any) -> None:
    """The residual is added from the very tensor that the child is given, so it is edited where it lies."""
    hook.apply(args[0] if args else next(iter(kwargs.values()), None), module, in_place=True)
