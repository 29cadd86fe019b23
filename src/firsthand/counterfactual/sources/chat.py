"""Chat JSON lines: conversations of OpenAI's, ShareGPT's and WildChat's form, plain prompts, and question files.

Arena-Hard's questions are plain prompts with a ``cluster``; MT-Bench's have two ``turns``, of which the second needs
the target's own answer to the first and is left out.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from firsthand.counterfactual.sources.files import json_records
from firsthand.counterfactual.sources.found import Altered, Found, Refused, Unusable
from firsthand.counterfactual.sources.making import Cut, every_prompt, last_prompt, made
from firsthand.counterfactual.sources.messages import Said, said_in, tools_in

KEYS: Final = ("messages", "conversation", "conversations", "prompt", "turns")
"""Where a record may hold what was said; the first that it has is taken."""

FOLLOW_UPS: Final = "later questions left out, which follow on the target's own answers"


def read(path: Path, *, cut: Cut = "last") -> Iterator[Found]:
    """The prompts of a file of chat records.

    Args:
        path: JSON lines, or a list of records.
        cut: Whether a conversation gives its last prompt, or one for every turn of the assistant.

    Raises:
        CounterfactualError: If the file cannot be read.
    """
    for place, record in json_records(path):
        if isinstance(record, Refused):
            yield record
        else:
            yield from prompts_of(record, path.name, place, cut)


def prompts_of(record: Mapping[str, Any], source: str, place: str, cut: Cut = "last") -> Iterator[Found]:
    """The prompts of one record.

    Args:
        record: The record.
        source: Name of the set.
        place: Where it stands there.
        cut: As for :func:`read`.
    """
    key = next((key for key in KEYS if record.get(key)), None)
    if key is None:
        held = ", ".join(sorted(record)[:8])
        yield Refused(place, "a record without messages, conversation or prompt", f"it holds {held or 'nothing'}"[:200])
        return
    value = record[key]
    try:
        if key == "turns" and isinstance(value, list) and all(isinstance(turn, str) for turn in value):
            yield from _questions(value, source, place)
            return
        said = said_in([{"role": "user", "content": value}] if key == "prompt" and isinstance(value, str) else value)
        tools = tools_in(record.get("tools"))
    except Unusable as fault:
        yield Refused(place, fault.reason, fault.detail)
        return
    said = _with_system(record.get("system"), said)
    cluster = _cluster(record)
    if cut == "every":
        yield from every_prompt(said, source=source, place=place, cluster=cluster, tools=lambda _: tools)
    else:
        yield from last_prompt(said, source=source, place=place, cluster=cluster, tools=tools)


def _questions(questions: list[str], source: str, place: str) -> Iterator[Found]:
    if len(questions) > 1:
        yield Altered(place, FOLLOW_UPS)
    yield made(said_in([{"role": "user", "content": questions[0]}]), source=source, place=place)


def _with_system(system: object, said: list[Said]) -> list[Said]:
    """With a system prompt that a record holds beside its turns, unless they begin with one."""
    if not isinstance(system, str) or not system.strip() or (said and said[0].role == "system"):
        return said
    return [*said_in([{"role": "system", "content": system}]), *said]


def _cluster(record: Mapping[str, Any]) -> str:
    value = record.get("cluster")
    return str(value) if isinstance(value, str | int) and str(value).strip() else ""
