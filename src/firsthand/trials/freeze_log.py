"""The log that shows that public evidence came first.

For every unit of work two lines are written and forced to disk: ``frozen`` with the hash of its public evidence, and
``assigned`` when the hidden assignment has been drawn from that hash. The order and the times can be checked by anyone,
and :func:`firsthand.trials.verify.verify_assignment` recomputes the assignment itself.
"""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from firsthand.errors import TraceError
from firsthand.trials.files import storage_error

NAME = "freeze-log.jsonl"
FIELDS = ("unit", "event", "public_hash", "at")


def log_event(folder: Path, unit: str, event: str, public_hash: str) -> None:
    """Append one event and force it to disk.

    Raises:
        TraceError: If the log cannot be written.
    """
    line = {"unit": unit, "event": event, "public_hash": public_hash, "at": datetime.now(UTC).isoformat()}
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        torn = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
        with path.open("a", encoding="utf-8") as handle:
            handle.write(("\n" if torn else "") + json.dumps(line, sort_keys=True) + "\n")
            handle.flush()
            os.fsync(handle.fileno())
    except OSError as error:
        raise storage_error(path, error) from error


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Every whole line of the log, in order; a line cut off by a kill is left out.

    Raises:
        TraceError: If the log is there and cannot be read.
    """
    path = folder / NAME
    if not path.exists():
        return []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise TraceError(f"{path} could not be read: {error.strerror}.", "Make it readable.") from error
    events = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and all(isinstance(event.get(field), str) for field in FIELDS):
            events.append(event)
    return events
