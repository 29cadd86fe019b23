"""Where prompts come from: one format a file, each of which yields prompts or says why a place gives none.

Nothing is dropped silently: a place gives a :class:`~firsthand.counterfactual.prompts.Prompt` or a :class:`Refused`,
and an :class:`Altered` comes before a prompt that is not all that stood there. Every prompt has its place and cluster.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

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
from firsthand.counterfactual.sources.files import is_one_document, opened
from firsthand.counterfactual.sources.found import Altered, Found, Refused
from firsthand.counterfactual.sources.peeking import Peek, peek
from firsthand.errors import CounterfactualError

__all__ = ["SOURCES", "Altered", "Found", "Refused", "Source", "files_at", "kind_of", "read_source"]


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
    def options(self) -> tuple[str, ...]:
        """Names of what may be chosen when it is read."""
        found = inspect.signature(self.read).parameters.values()
        return tuple(one.name for one in found if one.kind is inspect.Parameter.KEYWORD_ONLY)


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
        lambda seen: any(seen.record.get(key) for key in chat.KEYS),
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


def files_at(path: Path) -> list[Path]:
    """The file itself, or the files in and below a folder, in the order of their names; hidden ones are left out.

    Raises:
        CounterfactualError: If it does not exist, or the folder holds none.
    """
    if path.is_file():
        return [path]
    found = sorted(p for p in path.rglob("*") if p.is_file() and not _is_hidden(p.relative_to(path)))
    if not found:
        raise CounterfactualError(
            f"{path} holds no file." if path.is_dir() else f"{path} does not exist.",
            "Name a file, or a folder of files.",
        )
    return found


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def source_called(kind: str, options: dict[str, Any] | None = None) -> Source:
    """The format of a name, which has some options.

    Raises:
        CounterfactualError: If there is none of that name, or it does not have one of the options.
    """
    if kind not in SOURCES:
        raise CounterfactualError(f"There is no kind of source {kind!r}.", f"Use one of {', '.join(SOURCES)}.")
    source = SOURCES[kind]
    for name in options or {}:
        if name not in source.options:
            raise CounterfactualError(
                f"A source of kind {kind} has no option {name!r}.",
                f"Its options are {', '.join(source.options)}." if source.options else "It has none.",
            )
    return source


def read_source(path: Path, kind: str | None = None, **options: Any) -> Iterator[Found]:
    """The prompts of a file, or of every file in a folder.

    Args:
        path: The file or folder. Files of a folder that are of no known format, or damaged, are refused, and the others
            are read.
        kind: Name of the format. ``None``: it is recognised.
        options: Options of the format.

    Returns:
        What is found, in the order of the file; reading goes on as it is asked for.

    Raises:
        CounterfactualError: If there is no such file, kind or option, or a file is of no known format.
    """
    files = files_at(path)
    if path.is_dir():
        return _of_folder(path, files, kind, options)
    source = source_called(kind if kind is not None else kind_of(path).name, options)
    return source.read(path, **options)


def _of_folder(folder: Path, files: list[Path], kind: str | None, options: dict[str, Any]) -> Iterator[Found]:
    for file in files:
        name = str(file.relative_to(folder))
        try:
            source = source_called(kind, options) if kind else kind_of(file)
            yield from source.read(file, **{name: value for name, value in options.items() if name in source.options})
        except CounterfactualError as error:
            yield Refused(name, "a file that cannot be read", error.problem)


def records_in(path: Path, source: Source) -> int | None:
    """How many records a file holds, where that is known without reading it; a record gives one prompt or refusal."""
    if source.name in ("chat", "prompts") and not is_one_document(path):
        with opened(path) as stream:
            return sum(1 for line in stream if line.strip())
    if source.name == "wildchat":
        import pyarrow.parquet

        return int(pyarrow.parquet.read_metadata(path).num_rows)
    return None
