"""Everything that a run pays for, in one file of the run's folder: responses, verdicts, and what was made of them.

Each batch of responses is kept under :meth:`~firsthand.counterfactual.responses.Request.key`, each batch's verdicts
under the hash of the behaviour and of the program that judges it, and that key. A row is written in one transaction
right after the call came back and before anything is made of it: a run that is killed loses the calls that were in
flight, and the same command goes on from there without asking for anything twice.

The file is an SQLite database in WAL mode with ``synchronous=FULL``: a row is on the disk when its call returns, also
if the power fails. That costs a few milliseconds beside a call that costs seconds. The connection holds SQLite's own
exclusive lock, which the system releases however the process ends, so a second process is refused and none is left out
by a lock that nobody holds.
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self, TypeVar

from pydantic import ValidationError

from firsthand.counterfactual.behaviours import JUDGING, Asked, Computed, Program, Verdict, source_of
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.responses import Request, Response
from firsthand.counterfactual.store_file import damaged, failed, opened
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest
from firsthand.trials.files import storage_error

P = TypeVar("P", bound=Part)

NAME: Final = "store.sqlite"


class Spent(NamedTuple):
    """What has been paid for: batches, responses but those whose call failed, and tokens as the target counts them."""

    batches: int
    responses: int
    tokens: int


class Store:
    """What a run has paid for. Use as a context manager; threads may share it, processes may not.

    Args:
        folder: The run's folder, which is made if need be.

    Raises:
        CounterfactualError: If another process uses the folder, or the file is damaged, another program's, or of
            another version.
        TraceError: If the folder cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._guard = threading.RLock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(self.path, error) from error
        self._database = opened(self.path)

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it, whatever happened."""
        self.close()

    def close(self) -> None:
        """Let others use the folder."""
        with self._guard, suppress(sqlite3.Error):
            self._database.close()

    def responses(self, request: Request, target: str) -> list[Response] | None:
        """The batch that a request was answered with, or ``None`` if it has not been.

        Args:
            request: The request.
            target: Identity of the target.
        """
        held = self._value("SELECT value, sha256 FROM batches WHERE key = ?", request.key(target))
        return None if held is None else self._read(held, lambda rows: [Response.model_validate(row) for row in rows])

    def has(self, key: str) -> bool:
        """Whether a batch is kept under a key (:meth:`~firsthand.counterfactual.responses.Request.key`)."""
        return bool(self._all("SELECT 1 FROM batches WHERE key = ?", key))

    def whole(self, key: str) -> bool:
        """Whether a batch is kept under a key, and no call of it failed."""
        failed = "SELECT 1 FROM json_each(batches.value) AS one WHERE json_extract(one.value, '$.ended') = 'error'"
        query = f"SELECT 1 FROM batches WHERE key = ? AND NOT EXISTS ({failed})"  # noqa: S608 - all of it is ours
        return bool(self._all(query, key))

    def keep_responses(self, request: Request, target: str, responses: Sequence[Response]) -> None:
        """Keep a batch, once and for all: only responses whose call failed are replaced, by those of the same number.

        Verdicts on a batch of which responses were replaced are forgotten.

        Raises:
            CounterfactualError: If it holds another number of responses than the request wants, or the request was
                answered otherwise before.
        """
        if len(responses) != request.samples:
            raise CounterfactualError(
                f"The batch {request.batch} wants {request.samples} responses, and {len(responses)} came.",
                "Mend the target: it gives as many as it is asked for, failed ones among them.",
            )
        key = request.key(target)
        with self._guard:
            before = self.responses(request, target)
            again = before is not None and any(one.ended == "error" for one in before)
            if before is not None and again:
                pairs = zip(before, responses, strict=True)
                responses = [new if old.ended == "error" else old for old, new in pairs]
            value = _json([one.model_dump(mode="json") for one in responses])
            count = sum(one.ended != "error" for one in responses)
            row = (key, target, request.batch, _json(request.model_dump(mode="json")), value, count)
            tokens = sum(one.tokens for one in responses)
            if again and list(responses) == before:
                return
            if not again and self._kept("SELECT value, sha256 FROM batches WHERE key = ?", value, key):
                return
            insert = "INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            self._write(insert, *row, tokens, _sha256(value), _now(), first=("DELETE FROM verdicts WHERE key = ?", key))

    def verdicts(self, behaviour: Program | Asked, request: Request, target: str) -> list[Verdict] | None:
        """What was found of each response of a batch, or ``None`` if it has not been judged."""
        held = self._value(
            "SELECT value, sha256 FROM verdicts WHERE behaviour = ? AND key = ?",
            behaviour_key(behaviour),
            request.key(target),
        )
        return None if held is None else self._read(held, lambda rows: [Verdict(row) for row in rows])

    def keep_verdicts(
        self, behaviour: Program | Asked, request: Request, target: str, verdicts: Sequence[Verdict]
    ) -> None:
        """Keep the verdicts on a batch, once and for all.

        Raises:
            CounterfactualError: If there is not one for each response, or the batch was judged otherwise before.
        """
        if len(verdicts) != request.samples:
            raise CounterfactualError(
                f"The batch {request.batch} holds {request.samples} responses, and {len(verdicts)} verdicts came.",
                "Mend the judge: it gives one for each response, invalid ones among them.",
            )
        name, key, value = behaviour_key(behaviour), request.key(target), _json([one.value for one in verdicts])
        with self._guard:
            if self._kept("SELECT value, sha256 FROM verdicts WHERE behaviour = ? AND key = ?", value, name, key):
                return
            self._write("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?)", name, key, value, _sha256(value), _now())

    def part(self, kind: str, key: str, model: type[P]) -> P | None:
        """What was kept under a kind and a key, such as a screening or an investigation."""
        held = self._value("SELECT value, sha256 FROM parts WHERE kind = ? AND key = ?", kind, key)
        return None if held is None else self._read(held, model.model_validate)

    def parts(self, kind: str, model: type[P]) -> dict[str, P]:
        """Everything of a kind, by key, in the order of the keys."""
        rows = self._all("SELECT key, value, sha256 FROM parts WHERE kind = ? ORDER BY key", kind)
        return {key: self._read((value, sha256), model.model_validate) for key, value, sha256 in rows}

    def keep_part(self, kind: str, key: str, part: Part) -> None:
        """Keep something that was made of batches; what was there under its key is replaced."""
        value = _json(part.model_dump(mode="json"))
        with self._guard:
            self._write("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)", kind, key, value, _sha256(value), _now())

    def spent(self) -> Spent:
        """What has been paid for in this folder, in all runs together."""
        row = self._all("SELECT COUNT(*), COALESCE(SUM(responses), 0), COALESCE(SUM(tokens), 0) FROM batches")[0]
        return Spent(*map(int, row))

    def times(self) -> tuple[datetime, datetime] | None:
        """When the first and the last batch were kept; ``None`` before there is one."""
        first, last = self._all("SELECT MIN(at), MAX(at) FROM batches")[0]
        return None if first is None else (datetime.fromisoformat(first), datetime.fromisoformat(last))

    def contents(self) -> dict[str, dict[str, Any]]:
        """Everything that is kept, without times: equal for equal runs, however often they were interrupted."""
        batches = {
            key: {"target": target, "request": json.loads(request), "responses": json.loads(value)}
            for key, target, request, value in self._all("SELECT key, target, request, value FROM batches ORDER BY key")
        }
        verdicts = self._all("SELECT behaviour, key, value FROM verdicts ORDER BY behaviour, key")
        parts = self._all("SELECT kind, key, value FROM parts ORDER BY kind, key")
        return {
            "batches": batches,
            "verdicts": {f"{behaviour}/{key}": json.loads(value) for behaviour, key, value in verdicts},
            "parts": {f"{kind}/{key}": json.loads(value) for kind, key, value in parts},
        }

    def checked(self) -> dict[str, int]:
        """How many rows each table holds, every one of which is what was written.

        Raises:
            CounterfactualError: If a row was changed or cannot be read.
        """
        counts = {}
        for table in ("batches", "verdicts", "parts"):
            rows = self._all(f"SELECT value, sha256 FROM {table}")  # noqa: S608 - three names of ours
            for value, sha256 in rows:
                self._read((str(value), str(sha256)), lambda held: held)
            counts[table] = len(rows)
        return counts

    def _kept(self, query: str, value: str, *key: str) -> bool:
        """Whether the very same value is there already; another one must not be lost."""
        held = self._value(query, *key)
        if held is not None and held[0] != value:
            raise CounterfactualError(
                f"{self.path} already holds something else under {' and '.join(one[:12] for one in key)}.",
                "Let nothing ask a batch anew that is kept, or use another folder.",
            )
        return held is not None

    def _value(self, query: str, *key: str) -> tuple[str, str] | None:
        rows = self._all(query, *key)
        return (str(rows[0][0]), str(rows[0][1])) if rows else None

    def _read(self, held: tuple[str, str], make: Any) -> Any:
        value, sha256 = held
        try:
            if _sha256(value) != sha256:
                raise ValueError("a row is not what was written")
            return make(json.loads(value))
        except (ValueError, ValidationError) as error:
            raise damaged(self.path, error) from error

    def _all(self, query: str, *values: str) -> list[Any]:
        with self._guard:
            try:
                return self._database.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise failed(self.path, error) from error

    def _write(self, query: str, *values: str | int, first: tuple[str, str] | None = None) -> None:
        try:
            with self._database:  # one transaction
                if first is not None:
                    self._database.execute(first[0], first[1:])
                self._database.execute(query, values)
        except sqlite3.Error as error:
            raise failed(self.path, error) from error


def behaviour_key(behaviour: Program | Asked) -> str:
    """Under which verdicts on a behaviour are kept: equal for equal behaviours that are judged in the same way.

    What a program finds depends on the program, too: a function that was changed has no verdicts yet.
    """
    said = behaviour.model_dump(mode="json")
    if isinstance(behaviour, Asked):
        return digest(said)
    return digest([said, JUDGING, source_of(behaviour) if isinstance(behaviour, Computed) else ""])


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _sha256(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
