"""Reading a file, or every file of a folder."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from firsthand.counterfactual.sources.files import is_one_document, opened
from firsthand.counterfactual.sources.found import Found, Refused
from firsthand.counterfactual.sources.registry import SOURCES, Source, kind_of, source_called
from firsthand.errors import CounterfactualError

_NO_FILE: Final = "a file that cannot be read"


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


def sources_at(path: Path, kind: str | None, options: Mapping[str, Any]) -> Iterator[tuple[Path, Source | Refused]]:
    """The file itself, or the files of a folder, each with its format.

    Args:
        path: The file or folder.
        kind: Name of the format. ``None``: each file's is recognised, and in a folder what is not is refused.
        options: Options, which the format must have. Where a folder's files are recognised, one of all formats must.

    Raises:
        CounterfactualError: If there is no such file, kind or option, or the file is of no known format.
    """
    known = {name for source in SOURCES.values() for name in source.options}
    if path.is_dir() and kind is None and not set(options) <= known:
        raise CounterfactualError(
            f"No source has an option {min(set(options) - known)!r}.", f"Options are {', '.join(sorted(known))}."
        )
    for file in files_at(path):
        if kind is not None or path.is_file():
            yield file, source_called(kind if kind is not None else kind_of(file).name, options)
            continue
        try:
            source = kind_of(file)
        except CounterfactualError as error:
            yield file, Refused(str(file.relative_to(path)), _NO_FILE, error.problem)
        else:
            own = {name: value for name, value in options.items() if name in source.options}
            yield file, source_called(source.name, own)


def read_file(file: Path, source: Source, options: Mapping[str, Any], one_of_many: bool = False) -> Iterator[Found]:
    """What a file holds.

    Args:
        file: The file.
        source: Its format.
        options: Options; those that the format does not have are left out.
        one_of_many: Whether a file that is damaged is refused, so that others are read, rather than an error.

    Raises:
        CounterfactualError: If it cannot be read.
    """
    try:
        yield from source.read(file, **{name: value for name, value in options.items() if name in source.options})
    except CounterfactualError as error:
        if not one_of_many:
            raise
        yield Refused(file.name, _NO_FILE, error.problem)


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
        CounterfactualError: If there is no such file, kind or option, or the file is of no known format.
    """
    files = sources_at(path, kind, options)
    first = next(files)  # what a user got wrong is said now, not when the first prompt is asked for
    return _all_of(chain([first], files), options, path.is_dir())


def _all_of(files: Iterable[tuple[Path, Source | Refused]], options: Mapping[str, Any], many: bool) -> Iterator[Found]:
    for file, source in files:
        if isinstance(source, Refused):
            yield source
        else:
            yield from read_file(file, source, options, many)


def records_in(path: Path, source: Source) -> int | None:
    """How many records a file holds, where that is known without reading it and each gives one prompt or refusal."""
    if source.name in ("chat", "prompts") and not is_one_document(path):
        with opened(path) as stream:
            return sum(1 for line in stream if line.strip())
    if source.name == "wildchat":
        import pyarrow.parquet

        return int(pyarrow.parquet.read_metadata(path).num_rows)
    return None
