"""Tools are read-only, and every reading shows it: the target before and after must be the same to the bit.

A predictor that could change the target would run the experiment whose result it is to foretell (arXiv 2608.16747,
section 3.2). A tool has no way to edit that the engine gives it; but a tool is Python, and Python may register a hook
or write to a weight. So before and after each reading a *fingerprint* of the target is taken: the bits of every
parameter and buffer (their sum, as integers), where they lie, every hook of every module and
every global one, every method that was put in place of a module's own, modes, adapters, attention, and what the target
says to a few tokens. A tool gets a copy of the question, which must be what it was afterwards. Whatever differs is
named and raised; it is not mended, since nobody can tell what else was done.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn.modules import module as modules

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.altered import AlteredError
from firsthand.counterfactual.tools.reading import Reading, Takes, Tool
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine.anatomy import state_of_weights
from firsthand.engine.locks import held

_HOOKS: Final = tuple(
    name for name, value in vars(nn.Module()).items() if name.endswith("_hooks") and hasattr(value, "keys")
)


class Guarded:
    """A tool whose every reading is checked to have changed nothing.

    Args:
        tool: The tool.
        subject: The target that it reads.
    """

    def __init__(self, tool: Tool, subject: Subject) -> None:
        self.tool, self._subject = tool, subject
        self._bits: list[tuple[str, int]] = []
        self._places: object = None

    @property
    def name(self) -> str:
        """As the tool's."""
        return self.tool.name

    @property
    def description(self) -> str:
        """As the tool's."""
        return self.tool.description

    @property
    def identity(self) -> str:
        """As the tool's."""
        return self.tool.identity

    @property
    def takes(self) -> Takes:
        """As the tool's."""
        return self.tool.takes

    def read(self, question: Question, positions: Sequence[int], ask: str) -> tuple[Reading, ...]:
        """Readings, if they left everything as it was.

        Raises:
            AlteredError: If target or question is not what it was, whether or not the tool raised an error besides.
        """
        copied, shown = question.model_copy(deep=True), question.model_dump_json()
        with held(self._subject.loaded.model):
            before = self._fingerprint(before=True)
            try:
                read = self.tool.read(copied, tuple(positions), ask)
            finally:
                _compare(self.name, before, self._afterwards())
        if copied.model_dump_json() != shown or question.model_dump_json() != shown:
            raise _altered(self.name, "the question that it was given")
        return read

    def _afterwards(self) -> dict[str, Any]:
        try:
            return self._fingerprint(before=False)
        except Exception as error:
            raise _altered(self.name, f"the target, which does not run any more ({type(error).__name__})") from error

    def _fingerprint(self, *, before: bool) -> dict[str, Any]:
        """With the bits of all weights; those of the reading before are known if nothing was written since."""
        found = fingerprint(self._subject)
        if not (before and self._bits and found["a weight"] == self._places):
            self._bits, self._places = _bits(self._subject.loaded.model), found["a weight"]
        return {**found, "the bits of a weight": self._bits}


def fingerprint(subject: Subject) -> dict[str, Any]:
    """Everything about a target that a reading must leave as it was, by what it is, but for the bits of its weights."""
    model = subject.loaded.model
    kinds: dict[str, Any] = {
        "a hook": [_hooks(one) for one in model.modules()],
        "a global hook": [list(value) for name, value in sorted(vars(modules).items()) if name.startswith("_global_")
                          and hasattr(value, "keys")],
        "a module": [(name, type(one)) for name, one in model.named_modules()],
        "a method of a module": [_put_in_place(one) for one in model.modules()],
        "training mode": [one.training for one in model.modules()],
        "how attention is computed": model.config._attn_implementation,
        "a weight": _places(model),
        "the adapters": state_of_weights(model),
        "what the target says": _said(subject),
    }  # fmt: skip
    return kinds


def _compare(tool: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    for what, was in before.items():
        if after[what] != was:
            raise _altered(tool, f"{what} of the target")


def _altered(tool: str, what: str) -> AlteredError:
    return AlteredError(
        f"The tool {tool!r} changed {what}; tools may only read.",
        "Leave this tool out and load the target anew; nothing that it has read is kept.",
    )


def _hooks(module: nn.Module) -> list[list[tuple[int, int]]]:
    return [[(key, id(hook)) for key, hook in getattr(module, name).items()] for name in _HOOKS]


def _put_in_place(module: nn.Module) -> list[tuple[str, int]]:
    """Functions of the object itself, which hide those of its class."""
    return sorted((name, id(value)) for name, value in vars(module).items() if callable(value))


def _tensors(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from model.named_parameters()
    yield from model.named_buffers()


@torch.no_grad()
def _bits(model: nn.Module) -> list[tuple[str, int]]:
    """For every tensor the sum of its bits, eight bytes at a time: a pass over memory, and no more."""
    sums = []
    for name, tensor in _tensors(model):
        flat = tensor.detach().contiguous().flatten()
        whole = flat.numel() * flat.element_size() % 8 == 0
        words = flat.view(torch.int64) if whole and len(flat) else flat.view(torch.uint8)
        sums.append((name, int(words.sum(dtype=torch.int64))))
    return sums


def _places(model: nn.Module) -> list[tuple[str, int, int, bool, str]]:
    """Where every tensor lies, how often it was written to, and what it is."""
    return [(n, t.data_ptr(), t._version, t.requires_grad, str(t.dtype)) for n, t in _tensors(model)]


@torch.no_grad()
def _said(subject: Subject) -> bytes:
    """What the target says to a few tokens, to the bit."""
    model = subject.loaded.model
    size = int(model.config.get_text_config(decoder=True).vocab_size)
    ids = torch.tensor([[size // 2, size // 3, size // 5]], device=model.device)
    logits: Tensor = model(input_ids=ids, use_cache=False).logits[0, -1]
    return logits.float().cpu().numpy().tobytes()
