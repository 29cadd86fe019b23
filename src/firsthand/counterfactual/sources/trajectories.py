"""Trajectories of agents that use tools, as tau-bench writes them: cut at every turn of the assistant.

Calls and their results stay in the prompt. Trajectories of one task are one cluster, of whichever trial and model.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from firsthand.counterfactual.sources.files import json_records
from firsthand.counterfactual.sources.found import Found, Refused, Unusable
from firsthand.counterfactual.sources.making import every_prompt
from firsthand.counterfactual.sources.messages import Said, said_in, tools_in
from firsthand.trials.canonical import digest

KEYS: Final = ("traj", "trajectory", "messages")
"""Where a record may hold its messages."""


def read(path: Path) -> Iterator[Found]:
    """The prompts of a file of trajectories: records with messages and, if it is known, ``task_id`` and ``trial``.

    Args:
        path: A list of records, or one a line.

    Raises:
        CounterfactualError: If the file cannot be read.
    """
    for place, record in json_records(path):
        if isinstance(record, Refused):
            yield record
            continue
        key = next((key for key in KEYS if record.get(key)), None)
        if key is None:
            held = ", ".join(sorted(record)[:8])
            yield Refused(place, "a record without a trajectory", f"it holds {held or 'nothing'}"[:200])
            continue
        try:
            said, tools = said_in(record[key]), tools_in(record.get("tools"))
        except Unusable as fault:
            yield Refused(place, fault.reason, fault.detail)
            continue
        yield from every_prompt(
            said,
            source=path.name,
            place=_place(record, place),
            cluster=_cluster(record, said, path.name, place),
            tools=lambda _, told=tools: told,  # type: ignore[misc]
        )


def _place(record: Mapping[str, Any], place: str) -> str:
    task, trial = record.get("task_id"), record.get("trial")
    if task is None:
        return place
    return f"{place}, task {task}" + ("" if trial is None else f", trial {trial}")


def _cluster(record: Mapping[str, Any], said: list[Said], source: str, place: str) -> str:
    """The task; the same numbers mean other tasks under another system prompt, which says what the tasks are about."""
    task = record.get("task_id")
    if task is None:
        return f"{source}: {place}"
    first = said[0] if said and said[0].role == "system" else None
    about = source if first is None or isinstance(first.turn, Unusable) else first.turn.content
    return f"task {task} of {digest(about)[:8]}"
