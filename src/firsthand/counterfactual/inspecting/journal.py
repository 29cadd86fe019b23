"""Responses that have arrived for batches that are not complete yet.

A batch may take many calls. What a call gave is written here before anything is made of it, so that a run that is
killed loses the calls that were in flight, and no other. Complete batches are kept by whoever asked for them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from firsthand.counterfactual.inspecting.ledger import append
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.responses import Response


class Arrived(Part):
    """What one call gave.

    Attributes:
        key: Key of the batch.
        first: Number of its first response within the batch.
        responses: The responses.
    """

    key: str
    first: int
    responses: tuple[Response, ...]


class Journal:
    """Responses of incomplete batches, in a file if one is given.

    Args:
        path: The file, one line a call.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._held: dict[str, dict[int, Response]] = {}
        for arrived in _read(path) if path is not None else ():
            self._hold(arrived)

    def note(self, key: str, first: int, responses: Sequence[Response]) -> None:
        """Write down what a call gave.

        Raises:
            TraceError: If the file cannot be written to.
        """
        arrived = Arrived(key=key, first=first, responses=tuple(responses))
        if self._path is not None:
            append(self._path, arrived.model_dump_json(exclude_defaults=True))
            self._hold(arrived)

    def held(self, key: str) -> Mapping[int, Response]:
        """Responses of a batch that have arrived, by their number."""
        return self._held.get(key, {})

    def done(self, key: str) -> None:
        """Forget a batch that is kept elsewhere; its lines stay in the file."""
        self._held.pop(key, None)

    def _hold(self, arrived: Arrived) -> None:
        batch = self._held.setdefault(arrived.key, {})
        for number, response in enumerate(arrived.responses, arrived.first):
            batch.setdefault(number, response)


def _read(path: Path) -> list[Arrived]:
    found: list[Arrived] = []
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            found.append(Arrived.model_validate_json(line))
        except ValidationError:  # the line that was being written when a run was killed
            continue
    return found
