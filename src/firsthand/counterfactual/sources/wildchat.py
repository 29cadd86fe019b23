"""WildChat-shaped Parquet: a row is a conversation, which is a list of turns with role and content.

Rows are read in batches, and of the nested column only what is needed. WildChat is Zhao et al. (2024).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from firsthand.counterfactual.sources.found import Found, Refused, Unusable
from firsthand.counterfactual.sources.making import Cut, every_prompt, last_prompt
from firsthand.counterfactual.sources.messages import said_in
from firsthand.errors import CounterfactualError

COLUMNS: Final = ("conversation", "conversations", "messages")
"""Names that the column of conversations may have."""

_LEAVES: Final = ("role", "content", "from", "value")
_BESIDE: Final = ("conversation_hash", "language")
_ROWS: Final = 256


def read(path: Path, *, language: str | None = None, cut: Cut = "last") -> Iterator[Found]:
    """The prompts of a Parquet file of conversations.

    Args:
        path: The file.
        language: Only conversations in this language, as the column ``language`` names it; others are refused.
        cut: Whether a conversation gives its last prompt, or one for every turn of the assistant.

    Raises:
        CounterfactualError: If the file is damaged or has no column of conversations, or none of languages where one is
            asked for.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            key, columns = _columns(path, file, language)
            first = 1
            for batch in file.iter_batches(batch_size=_ROWS, columns=columns):
                yield from _prompts(batch.to_pylist(), key, path.name, first, language, cut)
                first += batch.num_rows
    except (pyarrow.ArrowException, OSError) as error:
        raise CounterfactualError(
            f"{path} could not be read: {error}.", "Check that it is a whole Parquet file."
        ) from error


def conversations_column(names: list[str]) -> str | None:
    """The column of conversations among some names of columns."""
    return next((name for name in COLUMNS if name in names), None)


def _columns(path: Path, file: Any, language: str | None) -> tuple[str, list[str]]:
    """The column of conversations, and the paths of what is read of the file."""
    names = list(file.schema_arrow.names)
    key = conversations_column(names)
    if key is None or (language is not None and "language" not in names):
        what = "conversations" if key is None else "languages"
        raise CounterfactualError(
            f"{path} has no column of {what}; its columns are {', '.join(names[:20])}.",
            "Give a file that has a column conversation, of a list of role and content"
            + (", or leave the language out." if key else "."),
        )
    paths = [str(file.schema.column(number).path) for number in range(len(file.schema))]
    nested = [one for one in paths if one.startswith(f"{key}.") and one.rpartition(".")[2] in _LEAVES]
    if not nested:
        raise CounterfactualError(
            f"The column {key} of {path} holds no role and content.",
            "Give conversations as a list of role and content.",
        )
    return key, [*nested, *(name for name in _BESIDE if name in names)]


def _prompts(
    rows: list[dict[str, Any]], key: str, source: str, first: int, language: str | None, cut: Cut
) -> Iterator[Found]:
    for number, row in enumerate(rows, start=first):
        named = row.get("conversation_hash")
        place = f"row {number}, conversation {named}" if named else f"row {number}"
        if language is not None and row.get("language") != language:
            yield Refused(place, f"a language other than {language}", str(row.get("language")))
            continue
        try:
            said = said_in(row[key])
        except Unusable as fault:
            yield Refused(place, fault.reason, fault.detail)
            continue
        yield from (last_prompt if cut == "last" else every_prompt)(said, source=source, place=place)
