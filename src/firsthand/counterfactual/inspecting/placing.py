"""From what a request asks to edits at places of a rendered prompt."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from firsthand.counterfactual.inspecting.asking import AskedEdit, FromFile, FromSeed, FromValues, Vector
from firsthand.counterfactual.inspecting.chat import Chat
from firsthand.engine import Edit, Operation, parse_site
from firsthand.errors import CounterfactualError, EngineError
from firsthand.states.tensor_files import read_tensors
from firsthand.trials.randomness import stream


def placed(edits: Sequence[AskedEdit], chat: Chat, hidden: int) -> tuple[Edit, ...]:
    """The edits, at the positions of a prompt.

    Args:
        edits: What was asked.
        chat: The prompt.
        hidden: Width of the residual stream.

    Raises:
        CounterfactualError: If a text is not in the prompt, or there more than once and none is named; if a vector's
            file is not the one that was meant.
        EngineError: If a site is not one, or a text has no tokens of its own.
        StatesError: If a vector's file cannot be read.
    """
    return tuple(
        Edit(
            parse_site(one.site),
            _positions(one, chat),
            _vector(one.vector, hidden),
            Operation(one.operation),
            one.strength,
            one.timing,
        )
        for one in edits
    )


def _positions(asked: AskedEdit, chat: Chat) -> tuple[int, ...]:
    if asked.positions == "all":
        return tuple(range(len(chat.tokens)))
    if asked.text is None:
        return asked.positions or ()
    begins = [i for i in range(len(chat.text)) if chat.text.startswith(asked.text, i)]
    if not begins or (asked.which is None and len(begins) > 1) or (asked.which or 0) >= len(begins):
        raise CounterfactualError(
            f"The text {asked.text[:60]!r} stands {len(begins)} times in the rendered prompt.",
            "Mark a text that is there, and say by 'which' which of several is meant.",
        )
    begin = begins[asked.which or 0]
    end = begin + len(asked.text)
    span = tuple(i for i, (a, b) in enumerate(chat.offsets) if a < end and b > begin and b > a)
    covered = chat.text[chat.offsets[span[0]][0] : chat.offsets[span[-1]][1]] if span else ""
    if covered.strip() != asked.text.strip():
        raise EngineError(
            f"The text {asked.text[:60]!r} has no tokens of its own: those that hold it read {covered[:60]!r}.",
            "Mark whole words.",
        )
    return span


def _vector(asked: Vector, hidden: int) -> Tensor:
    match asked:
        case FromSeed():
            drawn = stream("direction", asked.seed).standard_normal(hidden)
            return torch.from_numpy(drawn / np.linalg.norm(drawn)).float()
        case FromValues():
            return torch.tensor(asked.values)
        case FromFile():
            return _read(asked)


def _read(asked: FromFile) -> Tensor:
    path = Path(asked.file)
    _, tensors = read_tensors(path)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != asked.sha256:
        raise CounterfactualError(
            f"{path} is not the file that was meant: its SHA-256 is {found}.", "Give the file's own, or another file."
        )
    if asked.tensor not in tensors:
        raise CounterfactualError(
            f"{path} holds no tensor {asked.tensor!r}, but {', '.join(sorted(tensors)) or 'none'}.", "Name one of them."
        )
    return tensors[asked.tensor].float()
