"""Checks that anyone can repeat on a stored trace: evidence first, assignment drawn from its hash, nothing swapped."""

from pathlib import Path

from firsthand.errors import TraceError
from firsthand.trials.canonical import digest
from firsthand.trials.design import assign_kinds, plan_block
from firsthand.trials.files import read_json
from firsthand.trials.freeze_log import read_log
from firsthand.trials.trace import Trace
from firsthand.vocabulary import Kind, Subset


def verify_trace(folder: Path, seed: int) -> int:
    """Check every unit of a finished trace.

    Args:
        folder: The trace's folder.
        seed: The claim's seed.

    Returns:
        The number of units checked.

    Raises:
        TraceError: If a file was altered, public evidence does not have the hash that was logged, it was not logged
            before the assignment, or the assignment is not the one drawn from that hash.
    """
    trace = Trace(folder)
    units = trace.manifest()["units"]
    assert isinstance(units, list)
    log = read_log(folder)
    sealed = trace.read("sealed")
    for unit in units:
        frozen = read_json(folder / "frozen" / f"{unit}.json")
        public_hash = digest(frozen["evidence"])
        events = [e for e in log if e["unit"] == unit and e["public_hash"] == public_hash]
        times = {e["event"]: e["at"] for e in events}
        if set(times) != {"frozen", "assigned"} or times["frozen"] > times["assigned"]:
            raise TraceError(
                f"Unit {unit}: the log does not show its evidence ({public_hash[:12]}) frozen before assignment.",
                "Do not use this trace; run the audit again in a new folder.",
            )
        plan = plan_block(seed, Subset(frozen["subset"]), int(frozen["index"]), tuple(Kind(k) for k in frozen["kinds"]))
        rows = sealed[sealed["unit"] == unit]
        if tuple(rows["kind"]) != tuple(str(k) for k in assign_kinds(seed, plan, public_hash)):
            raise TraceError(
                f"Unit {unit}: the hidden assignment is not the one that its frozen evidence gives.",
                "Do not use this trace; run the audit again in a new folder.",
            )
    return len(units)
