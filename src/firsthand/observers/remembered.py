"""A text model that remembers: every answer is kept on disk, so nothing is asked twice.

The key of an answer is the hash of everything that it depends on: the identity of the model (weights, tokenizer, number
format) and the whole conversation with its codes. Without a model behind it, it answers from memory only; that is how a
stored trace is rescored without loading a model.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from firsthand.errors import ObserverError
from firsthand.observers.base import Message, TextModel
from firsthand.trials.canonical import digest
from firsthand.trials.files import storage_error


class RememberedModel:
    """Wraps a text model with a memory in a JSON Lines file.

    Args:
        name: Name of the observer that it serves.
        path: File of the memory; made when first needed.
        identity: What identifies the model; part of every key.
        model: The model, or ``None`` to answer from memory only.
    """

    def __init__(self, name: str, path: Path, identity: str, model: TextModel | None) -> None:
        self.name = name
        self.identity = identity
        self._path, self._model = path, model
        self._known = _read(path)

    def contrasts(self, conversations: Sequence[Sequence[Message]], codes: Sequence[tuple[str, str]]) -> list[float]:
        """As :meth:`TextModel.contrasts`; answers that are known are not asked for again.

        Raises:
            ObserverError: If an answer is not known and there is no model to ask.
        """
        keys = [
            digest([self.identity, [list(m) for m in conversation], list(pair)])
            for conversation, pair in zip(conversations, codes, strict=True)
        ]
        places = {key: i for i, key in enumerate(keys) if key not in self._known}
        new = list(places.values())
        if new:
            if self._model is None:
                raise ObserverError(
                    f"{len(new)} answers of observer {self.name!r} are not stored with this run.",
                    "Run the audit again to the end; rescoring does not load models.",
                )
            found = self._model.contrasts([conversations[i] for i in new], [codes[i] for i in new])
            self._remember({keys[i]: value for i, value in zip(new, found, strict=True)})
        return [self._known[key] for key in keys]

    def _remember(self, found: dict[str, float]) -> None:
        self._known.update(found)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as handle:
                handle.write("\n" + "".join(json.dumps([key, value]) + "\n" for key, value in found.items()))
                handle.flush()
                os.fsync(handle.fileno())
        except OSError as error:
            raise storage_error(self._path, error) from error


def _read(path: Path) -> dict[str, float]:
    """Every whole line of a memory; a line torn by a kill is left out and asked for again."""
    known: dict[str, float] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else ():
        try:
            key, value = json.loads(line)
            known[key] = float(value)
        except (ValueError, TypeError):
            continue
    return known
