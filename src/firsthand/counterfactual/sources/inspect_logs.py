"""Inspect logs, ``.eval`` and ``.json``, read without Inspect: cut at every turn that the model spoke.

An ``.eval`` log is a zip file with a JSON file a sample, packed by deflate or, lately, Zstandard. What is read of a
sample has kept its form over the format's versions: ``id``, ``epoch``, ``messages``, ``input`` and ``attachments``, and
in its events which tools the model was told of. So a log's version is not asked for (2 and 3 are tested, of Inspect
0.3.42 to 0.3.154), and a sample of another form is refused, whatever its version.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from firsthand.counterfactual.prompts import Tool
from firsthand.counterfactual.sources.files import json_document, parsed
from firsthand.counterfactual.sources.found import Found, Refused, Unusable
from firsthand.counterfactual.sources.making import Cut, every_prompt, last_prompt
from firsthand.counterfactual.sources.messages import said_in, tools_in
from firsthand.counterfactual.sources.zip_members import member
from firsthand.errors import CounterfactualError

HEADERS: Final = ("header.json", "_journal/start.json")
"""What says of which task a log is; the first is written at its end."""

_ATTACHED: Final = "attachment://"


def read(path: Path, *, cut: Cut = "every") -> Iterator[Found]:
    """The prompts of a log.

    Args:
        path: A log of either form.
        cut: Whether a sample gives a prompt for every turn that the model spoke, or its last prompt only.

    Raises:
        CounterfactualError: If the log cannot be read, or was not closed by the run that wrote it.
    """
    if is_zip(path):
        yield from _of_archive(path, cut)
        return
    log = json_document(path)
    samples = log.get("samples") if isinstance(log, Mapping) else None
    if not isinstance(samples, list) or not samples:
        yield Refused("the whole log", "a log without samples")
        return
    task = _task(log)
    for number, sample in enumerate(samples, start=1):
        yield from _of_sample(sample, task, path.name, f"sample number {number}", cut)


def is_zip(path: Path) -> bool:
    """Whether a file begins as zip files do."""
    try:
        with path.open("rb") as stream:
            return stream.read(4) == b"PK\x03\x04"
    except OSError as error:
        raise CounterfactualError(
            f"{path} could not be read: {error.strerror}.", "Check that it is a file that you may read."
        ) from error


def _of_archive(path: Path, cut: Cut) -> Iterator[Found]:
    try:
        archive = ZipFile(path)
    except BadZipFile as error:
        raise CounterfactualError(
            f"{path} is no whole log: {error}.",
            "If the run that wrote it was cut short, let Inspect mend it (inspect log recover).",
        ) from error
    with archive:
        names = set(archive.namelist())
        try:
            header: object = next((parsed(member(archive, archive.getinfo(n))) for n in HEADERS if n in names), {})
        except ValueError as error:
            raise CounterfactualError(f"{path} is damaged: {error}.", "Restore it from a copy.") from error
        samples = [info for info in archive.infolist() if info.filename.startswith("samples/")]
        if not samples:
            yield Refused("the whole log", "a log without samples")
        for info in samples:
            try:
                sample = parsed(member(archive, info))
            except ValueError as error:
                yield Refused(info.filename, "a sample that cannot be read", str(error)[:200])
                continue
            yield from _of_sample(sample, _task(header), path.name, info.filename, cut)


def _task(header: object) -> str:
    return str(_mapping(_mapping(header).get("eval")).get("task") or "")


def _of_sample(sample: object, task: str, source: str, stands: str, cut: Cut) -> Iterator[Found]:
    if not isinstance(sample, Mapping):
        yield Refused(stands, "a sample that cannot be read", "it is no object")
        return
    name = sample.get("id")
    place = stands if name is None else f"sample {name}, epoch {sample.get('epoch', 1)}"
    try:
        whole = _attached(sample)
        messages = _messages(whole)
        said = said_in(messages)
        tools = _tools(whole["told"], messages, len(said))
        last = tools(len(said) - 1) if cut == "last" else ()
    except Unusable as fault:
        yield Refused(place, fault.reason, fault.detail)
        return
    cluster = f"{task or source}: sample {stands if name is None else name}"
    if cut == "last":
        yield from last_prompt(said, source=source, place=place, cluster=cluster, tools=last)
    else:
        yield from every_prompt(said, source=source, place=place, cluster=cluster, tools=tools)


def _messages(sample: Mapping[str, Any]) -> object:
    """What was said, or where nothing was (a sample that failed) what the model would have been given."""
    if sample.get("messages"):
        return sample["messages"]
    given = sample.get("input")
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _attached(sample: Mapping[str, Any]) -> dict[str, Any]:
    """What is read of a sample, with the long texts that it keeps apart in their places.

    Raises:
        Unusable: If one is missing.
    """
    texts = _mapping(sample.get("attachments"))

    def resolved(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(_ATTACHED):
            key = value.removeprefix(_ATTACHED)
            if key not in texts:
                raise Unusable("an attachment that is not in the log", key[:60])
            return texts[key]
        if isinstance(value, list):
            return [resolved(one) for one in value]
        if isinstance(value, dict):
            return {key: resolved(one) for key, one in value.items()}
        return value

    calls = [event for event in _mappings(sample.get("events")) if event.get("event") == "model"]
    told = [{"tools": event.get("tools"), "spoke": _spoke(event)} for event in calls]
    return {
        "messages": resolved(sample.get("messages")),
        "input": resolved(sample.get("input")),
        "told": resolved(told),
    }


def _spoke(event: Mapping[str, Any]) -> list[str]:
    """The ids of the messages that a call of a model gave."""
    choices = _mappings(_mapping(event.get("output")).get("choices"))
    said = [_mapping(choice.get("message")) for choice in choices]
    return [str(message["id"]) for message in said if message.get("id")]


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _tools(told: list[dict[str, Any]], messages: Any, turns: int) -> Callable[[int], tuple[Tool, ...]]:
    """The tools that the model was told of when it spoke a turn.

    A log says so with the call that gave the message. Old ones do not name the message; the sample's first call then
    stands for all.
    """
    by_message = {name: event["tools"] for event in told for name in event["spoke"]}
    first = told[0]["tools"] if told else None
    turned = messages[len(messages) - turns :]  # a system message without text is no turn
    made: dict[str, tuple[Tool, ...]] = {}

    def before(turn: int) -> tuple[Tool, ...]:
        name = str(_mapping(turned[turn]).get("id")) if 0 <= turn < len(turned) else ""
        declared = by_message.get(name, first)
        key = json.dumps(declared)
        if key not in made:
            made[key] = tools_in(declared)
        return made[key]

    return before
