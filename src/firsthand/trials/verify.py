"""Checks that anyone can repeat on a stored trace: evidence first, assignment drawn from its hash, nothing swapped."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from firsthand.errors import TraceError
from firsthand.trials.canonical import digest
from firsthand.trials.design import BlockPlan, assign_kinds, plan_block
from firsthand.trials.files import read_json
from firsthand.trials.freeze_log import read_log
from firsthand.trials.trace import Trace
from firsthand.vocabulary import Kind, Subset

_REMEDY = "Do not use this trace; run the audit again in a new folder."


def verify_trace(folder: Path, seed: int) -> int:
    """Check every unit of a finished trace.

    Args:
        folder: The trace's folder.
        seed: The claim's seed.

    Returns:
        The number of units checked.

    Raises:
        TraceError: If a file was altered, public evidence does not have the hash that was logged, it was not logged
            before the assignment, the assignment is not the one drawn from that hash, a state is not the one that plan
            and kind give, or what observers were shown is not what was frozen.
    """
    trace = Trace(folder)
    trace.manifest()
    units, log = trace.units(), read_log(folder)
    for unit in units:
        try:
            _verify_unit(trace, unit, seed, log)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise TraceError(
                f"Unit {unit}: its frozen evidence or a table of it does not have the form of a trace.", _REMEDY
            ) from error
    return len(units)


def _verify_unit(trace: Trace, unit: str, seed: int, log: Sequence[dict[str, Any]]) -> None:
    frozen = read_json(trace.folder / "frozen" / f"{unit}.json")
    public_hash = digest(frozen["evidence"])
    if not _frozen_first([e for e in log if e["unit"] == unit and e["public_hash"] == public_hash]):
        raise TraceError(
            f"Unit {unit}: the log does not show its evidence ({public_hash[:12]}) frozen before assignment.", _REMEDY
        )
    plan = plan_block(seed, Subset(frozen["subset"]), int(frozen["index"]), tuple(Kind(k) for k in frozen["kinds"]))
    kinds = assign_kinds(seed, plan, public_hash)
    sealed, public = (trace.read_units(part, [unit]) for part in ("sealed", "public"))
    if list(sealed["kind"]) != [str(k) for k in kinds]:
        raise TraceError(f"Unit {unit}: the hidden assignment is not the one that its frozen evidence gives.", _REMEDY)
    if not _states_follow(sealed, plan, kinds):
        raise TraceError(f"Unit {unit}: a state is not the one that its plan and its kind give.", _REMEDY)
    shown = [json.loads(view) for view in public["view"]]
    wanted = [
        evidence["anomalous" if kind is Kind.INPUT_CONTROL else "plain"]
        for evidence, kind in zip(frozen["evidence"], kinds, strict=True)
    ]
    if shown != wanted or list(public["trial_id"]) != list(sealed["trial_id"]):
        raise TraceError(f"Unit {unit}: what observers were shown is not the evidence that was frozen.", _REMEDY)


def _frozen_first(events: Sequence[dict[str, Any]]) -> bool:
    """Whether there are assignments, and each comes after a freezing, in the order of the log and of its times."""
    frozen_at: str | None = None
    assigned = False
    for event in events:
        if event["event"] == "frozen":
            frozen_at = event["at"]
        elif frozen_at is None or event["at"] < frozen_at:
            return False
        else:
            assigned = True
    return assigned


def _states_follow(sealed: pd.DataFrame, plan: BlockPlan, kinds: Sequence[Kind]) -> bool:
    changed = [int(kind is Kind.TARGET) for kind in kinds]
    post = [1 - pre if flip else pre for pre, flip in zip(plan.pre_states, changed, strict=True)]
    columns = {"pre_state": list(plan.pre_states), "post_state": post, "changed": changed}
    ids = [plan.trial_id(slot) for slot in range(len(kinds))]
    return list(sealed["trial_id"]) == ids and all(list(sealed[name]) == want for name, want in columns.items())
