"""The formats by name, and which of them a file is of."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from firsthand.counterfactual.sources import (
    chat,
    inspect_logs,
    oasst,
    own,
    petri,
    table,
    trajectories,
    wildchat,
)
from firsthand.counterfactual.sources.found import Found
from firsthand.counterfactual.sources.peeking import Peek, peek
from firsthand.errors import CounterfactualError


@dataclass(frozen=True)
class Source:
    """A format.

    Attributes:
        name: Its name.
        title: What is read, for a reader.
        read: Reads a file; options are its keyword-only arguments.
        recognises: Whether a file is of this format, by its beginning.
        cut: Whether several prompts come of one conversation or tree, so that they begin alike by construction.
    """

    name: str
    title: str
    read: Callable[..., Iterator[Found]]
    recognises: Callable[[Peek], bool]
    cut: bool = False

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """What may be chosen when it is read, with the values that there are; none where any text will do."""
        hints = get_type_hints(self.read)
        names = [one.name for one in signature(self.read).parameters.values() if one.kind is one.KEYWORD_ONLY]
        return {name: get_args(hints[name]) if get_origin(hints[name]) is Literal else () for name in names}


def _is_own(seen: Peek) -> bool:
    turns = seen.record.get("turns")
    return isinstance(turns, list) and bool(turns) and isinstance(turns[0], dict)


def _is_transcript(seen: Peek) -> bool:
    described = seen.record.get("metadata")
    views = {"events", "target_messages"} & set(seen.record)
    return isinstance(described, dict) and "transcript_id" in described and bool(views)


def _is_tree(seen: Peek) -> bool:
    return "message_tree_id" in seen.record and isinstance(seen.record.get("prompt"), dict)


def _is_table(seen: Peek) -> bool:
    return seen.form == "table" and table.guessed_column(seen.names) in table.NAMES


_ALL: Final = (
    Source("prompts", "prompts that this package wrote", own.read, _is_own),
    Source("inspect", "logs of Inspect, .eval or .json", inspect_logs.read, lambda seen: seen.is_log, cut=True),
    Source("petri", "transcripts of PETRI", petri.read, _is_transcript, cut=True),
    Source("oasst", "trees of Open Assistant", oasst.read, _is_tree, cut=True),
    Source(
        "trajectories",
        "trajectories of tool use, as tau-bench writes them",
        trajectories.read,
        lambda seen: bool({"traj", "trajectory"} & set(seen.record)),
        cut=True,
    ),
    Source(
        "wildchat",
        "Parquet with a column of conversations",
        wildchat.read,
        lambda seen: seen.form == "parquet" and wildchat.conversations_column(list(seen.names)) is not None,
    ),
    Source(
        "chat",
        "JSON lines with messages, conversation, conversations, prompt or turns",
        chat.read,
        lambda seen: any(key in seen.record for key in chat.KEYS),
    ),
    Source("csv", "a table with a column of prompts", table.read, _is_table),
)

SOURCES: Final[dict[str, Source]] = {source.name: source for source in _ALL}
"""The formats by name, in the order in which they are tried."""


def kind_of(path: Path) -> Source:
    """The format of a file, by what it holds.

    Raises:
        CounterfactualError: If it cannot be read, or is of no known format.
    """
    seen = peek(path)
    for source in SOURCES.values():
        if source.recognises(seen):
            return source
    holds = ", ".join([*seen.record, *seen.names][:12])
    listed = "; ".join(f"{source.name} ({source.title})" for source in SOURCES.values())
    raise CounterfactualError(
        f"{path} is of no format that is recognised" + (f": it holds {holds[:300]}." if holds else "."),
        f"Name its kind if it is one of these: {listed}.",
    )


def source_called(kind: str, options: Mapping[str, Any] | None = None) -> Source:
    """The format of a name, which has some options.

    Raises:
        CounterfactualError: If there is none of that name, or it does not have an option, or not with that value.
    """
    if kind not in SOURCES:
        raise CounterfactualError(f"There is no kind of source {kind!r}.", f"Use one of {', '.join(SOURCES)}.")
    source = SOURCES[kind]
    for name, value in (options or {}).items():
        if name not in source.options:
            raise CounterfactualError(
                f"A source of kind {kind} has no option {name!r}.",
                f"Its options are {', '.join(source.options)}." if source.options else "It has none.",
            )
        values = source.options[name]
        if values and value not in values:
            raise CounterfactualError(
                f"The option {name} of a source of kind {kind} cannot be {value!r}.", f"Use {' or '.join(values)}."
            )
    return source
