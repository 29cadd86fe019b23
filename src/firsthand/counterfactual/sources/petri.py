"""PETRI transcripts: what the target saw of an audit, cut at every turn of the target (arXiv 2608.16747, appendix B.2).

A transcript is a list of events that edit views of the conversation; the target's view is rebuilt from them. Tools are
those that had been made before a turn. The form is that of the schema with ``version`` v3.0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from firsthand.counterfactual.prompts import Tool
from firsthand.counterfactual.sources.files import json_document
from firsthand.counterfactual.sources.found import Altered, Found, Refused, Unusable, writable
from firsthand.counterfactual.sources.making import every_prompt
from firsthand.counterfactual.sources.messages import said_in, tools_in
from firsthand.counterfactual.sources.patching import patched
from firsthand.trials.canonical import digest

Branches = Literal["final", "every"]
"""The conversation as it ended, or also what the auditor rolled back."""

_TURNED_BACK: Final = "turns that the auditor rolled back left out"
_VIEW: Final = "target"


@dataclass(frozen=True, slots=True)
class _Seen:
    """The target's view at some moment.

    Attributes:
        messages: The messages.
        tools: Tools that had been made when each of them was added.
        gone: Whether turns of the target were taken back before.
    """

    messages: tuple[Mapping[str, Any], ...] = ()
    tools: tuple[tuple[Tool, ...], ...] = ()
    gone: bool = False


def read(path: Path, *, branches: Branches = "final") -> Iterator[Found]:
    """The prompts of a transcript.

    Args:
        path: A file with one transcript.
        branches: Whether turns that the auditor rolled back give prompts too.

    Raises:
        CounterfactualError: If the file is no JSON.
    """
    document = json_document(path)
    if not isinstance(document, Mapping):
        yield Refused("the whole file", "a record that is no JSON object")
        return
    described = document["metadata"] if isinstance(document.get("metadata"), Mapping) else {}
    named = str(described.get("transcript_id") or path.stem)
    place = f"transcript {named}"
    try:
        views = list(_views(document, every=branches == "every"))
    except Unusable as fault:
        yield Refused(place, fault.reason, fault.detail)
        return
    seed = described.get("description")
    cluster = f"seed {digest(writable(seed))[:12]}" if isinstance(seed, str) and seed.strip() else place
    if views[-1].gone and branches == "final":
        yield Altered(place, _TURNED_BACK)
    for number, seen in enumerate(views, start=1):
        where = place if len(views) == 1 else f"{place}, branch {number}"
        try:
            said = said_in(list(seen.messages))
        except Unusable as fault:
            yield Refused(where, fault.reason, fault.detail)
            continue
        # An empty system message is no turn: the tools of turn n are those of the message as far from the end.
        told = seen.tools[len(seen.messages) - len(said) :]
        last = told[-1] if told else ()
        yield from every_prompt(
            said,
            source=path.name,
            place=where,
            cluster=cluster,
            tools=lambda turn, told=told, last=last: told[turn] if turn < len(told) else last,  # type: ignore[misc]
        )


def _views(document: Mapping[str, Any], every: bool) -> Iterator[_Seen]:
    """The target's view at the end, and before it, if ``every``, each view of which something was taken back.

    Raises:
        Unusable: If an event cannot be carried out exactly.
    """
    seen, edits = _Seen(), 0
    tools: tuple[Tool, ...] = ()
    events = document.get("events") or []
    if not isinstance(events, list):
        raise Unusable("an event that cannot be carried out", "events are no list")
    for number, event in enumerate(events):
        if not isinstance(event, Mapping):
            raise Unusable("an event that cannot be carried out", f"event {number}: it is no object")
        if event.get("type") == "tool_creation_event":
            tools = (*tools, *tools_in([event.get("tool")]))
        elif _is_edit(event):
            edits += 1
            edit = event.get("edit")
            after = _edited(seen, edit if isinstance(edit, Mapping) else {}, tools, number)
            if after.gone and not seen.gone and every:
                yield seen
            seen = replace(after, gone=False) if every else after
    if not edits:  # transcripts of before there were events
        messages = _all_messages(document.get("target_messages"), 0)
        seen = _Seen(messages, (tools,) * len(messages))
    yield seen


def _is_edit(event: Mapping[str, Any]) -> bool:
    view = event.get("view")
    return event.get("type") == "transcript_event" and (view == _VIEW or (isinstance(view, list) and _VIEW in view))


def _edited(seen: _Seen, edit: Mapping[str, Any], tools: tuple[Tool, ...], number: int) -> _Seen:
    operation = edit.get("operation", "add")
    if operation == "add" and isinstance(edit.get("message"), Mapping):
        return replace(seen, messages=(*seen.messages, edit["message"]), tools=(*seen.tools, tools))
    if operation == "rollback":
        return _cut(seen, _kept(seen, edit, number))
    if operation == "reset":
        messages = _all_messages(edit.get("new_messages"), number)
        return replace(_cut(seen, 0), messages=messages, tools=(tools,) * len(messages))
    if operation == "json_patch":
        messages = tuple(patched(list(seen.messages), edit.get("patch")))
        same = next((n for n, (a, b) in enumerate(zip(seen.messages, messages, strict=False)) if a != b), len(messages))
        same = min(same, len(seen.messages))
        told = (*seen.tools[:same], *(tools,) * (len(messages) - same))
        return replace(_cut(seen, same), messages=messages, tools=told)
    raise Unusable("an event that cannot be carried out", f"event {number}: {str(operation)[:40]}")


def _all_messages(value: object, number: int) -> tuple[Mapping[str, Any], ...]:
    if value is not None and (not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value)):
        raise Unusable("messages that cannot be read", f"event {number}")
    return tuple(value or ())


def _cut(seen: _Seen, kept: int) -> _Seen:
    lost = any(message.get("role") == "assistant" for message in seen.messages[kept:])
    return _Seen(seen.messages[:kept], seen.tools[:kept], seen.gone or lost)


def _kept(seen: _Seen, edit: Mapping[str, Any], number: int) -> int:
    """How many messages a rollback leaves: all but the last so many, or those up to a named one.

    Raises:
        Unusable: If there are not so many, the named one is not there, or the two disagree.
    """
    count, named = edit.get("count") or 0, edit.get("to_id")
    if not isinstance(count, int) or count < 0:
        raise Unusable("an event that cannot be carried out", f"event {number}: its count is {str(count)[:20]!r}")
    by_count = len(seen.messages) - count
    if named is None:
        if by_count < 0:
            raise Unusable("a rollback of more than was said", f"event {number}")
        return by_count
    by_name = next((n + 1 for n, message in enumerate(seen.messages) if message.get("id") == named), None)
    if by_name is None or (count and by_name != by_count):
        raise Unusable("a rollback whose count and message disagree", f"event {number}")
    return by_name
