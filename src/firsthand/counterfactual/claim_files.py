"""Claims from a file, of an investigation here or of anyone's: the same columns, of which others may leave some out.

No model, engine or Inspect is needed to read them. What is missing and cannot be done without, what has no place, a
label that its own counts contradict and a claim that stands there twice are refused by row.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from firsthand.counterfactual.behaviours import Asked
from firsthand.counterfactual.claims import POINTS, Claim
from firsthand.counterfactual.edits import Drop, Edit, Insert, Operation, Rewrite, edited, turn_changes
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rows import COLUMNS, answered_of, claim_of
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest

REQUIRED: Final = ("label", "target", "intervention", "baseline_yes", "baseline_no", "edited_yes", "edited_no")
"""Columns that every row has."""
EITHER: Final = (("messages", "prompt_json"), ("edited_messages", "edit_json"), ("question", "behaviour_json"))
"""Columns of which every row has one or the other."""
WHOLE: Final = ("id", "prompt_json", "edit_json", "behaviour_json")
"""Columns of which a row that was exported here has all."""
CARD: Final = "card.json"

_GIVEN: Final = ("concreteness", "reproduced", "single_factor", "filtered", "matched")


def read_claims(path: Path) -> list[Claim]:
    """Claims of a file, in its order.

    Args:
        path: A file of JSON lines (``.jsonl``) or Parquet (``.parquet``), or the folder of an export, of which the set
            is read that its card calls the default.

    Raises:
        CounterfactualError: If it cannot be read or holds no claim, a column is missing, unknown or holds what it
            cannot, a label is none or is contradicted by its counts, or a claim stands there twice.
    """
    path = Path(path)
    if path.is_dir():
        path = _default(path)
    claims: list[Claim] = []
    seen: dict[str, int] = {}
    for number, row in enumerate(_rows(path), 1):
        claim = _claim(row, f"{path}, row {number}")
        if claim.id in seen:
            raise CounterfactualError(
                f"{path}, row {number}: this is the claim of row {seen[claim.id]} again (one target, investigation and "
                "edited prompt).",
                "Give each claim once.",
            )
        seen[claim.id] = number
        claims.append(claim)
    if not claims:
        raise CounterfactualError(f"{path} holds no claim.", "Give a file with at least one row.")
    return claims


def _default(folder: Path) -> Path:
    """The file of the set that an export calls its default."""
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        return folder / "data" / f"{card['default']}.parquet"
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CounterfactualError(
            f"{folder} holds no exported claims.", f"Name a .jsonl or .parquet, or a folder with a {CARD}."
        ) from error


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    readers: dict[str, Callable[[Path], Iterator[Any]]] = {
        ".jsonl": _lines,
        ".ndjson": _lines,
        ".parquet": _parquet,
    }
    if path.suffix not in readers:
        raise CounterfactualError(
            f"{path} is neither JSON lines nor Parquet.", "Name a .jsonl or .parquet, or the folder of an export."
        )
    if not path.is_file():
        raise CounterfactualError(f"There is no file {path}.", "Name a file of claims.")
    for number, row in enumerate(readers[path.suffix](path), 1):
        if not isinstance(row, dict):
            raise CounterfactualError(f"{path}, row {number}: this is no object.", "Write one JSON object a line.")
        yield row


def _lines(path: Path) -> Iterator[Any]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise CounterfactualError(f"{path} cannot be read: {error}.", "Name a file that you may read.") from error
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                yield json.loads(line)
        except ValueError as error:
            raise CounterfactualError(
                f"{path}, line {number}, is no JSON: {error}.", "Write one JSON object a line, in UTF-8."
            ) from error


def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise CounterfactualError(f"{path} cannot be read: {error}.", "Give a whole Parquet file.") from error
    yield from table.to_pylist()


def _claim(row: Mapping[str, Any], where: str) -> Claim:
    _check_columns(row, where)
    label = row["label"]
    if not isinstance(label, bool):
        raise CounterfactualError(f"{where}: the label {label!r} is neither true nor false.", "Write true or false.")
    try:
        claim = claim_of(_filled(row)) if all(row.get(name) is not None for name in WHOLE) else _made(row)
    except CounterfactualError as error:
        raise CounterfactualError(f"{where}: {error.problem}", error.remedy) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CounterfactualError(f"{where}: {_reason(error)}.", "See the columns of claims in the docs.") from error
    change = claim.change
    if change is None:
        raise CounterfactualError(f"{where}: a batch holds nothing valid.", "Leave out what was not measured.")
    if (abs(round(100.0 * change, 6)) >= POINTS) is not claim.label:
        raise CounterfactualError(
            f"{where}: the label is {str(claim.label).lower()}, and by its counts the rate changed by "
            f"{100.0 * change:+.0f} points, where a claim is true from {POINTS} on.",
            "Mend the label or the counts.",
        )
    return claim


def _check_columns(row: Mapping[str, Any], where: str) -> None:
    unknown = sorted(set(row) - set(COLUMNS))
    if unknown:
        raise CounterfactualError(
            f"{where}: there is no column {unknown[0]!r}.", f"Leave it out, or name one of {', '.join(COLUMNS)}."
        )
    missing = [name for name in REQUIRED if row.get(name) is None]
    missing += [" or ".join(pair) for pair in EITHER if all(row.get(name) is None for name in pair)]
    if missing:
        raise CounterfactualError(f"{where}: the column {missing[0]} is missing or empty.", "Fill it in.")


def _filled(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with nothing in the columns that a file of an earlier version lacks."""
    return {**dict.fromkeys(COLUMNS), **row}


def _made(row: Mapping[str, Any]) -> Claim:
    """A claim of a row that says as much as it must, or more."""
    held = _filled(row)
    prompt = _prompt(held)
    behaviour = _loaded(held, "behaviour_json") or Asked(question=held["question"])
    if isinstance(behaviour, dict) and held["question"] not in (None, behaviour.get("question")):
        raise ValueError("question is not that of behaviour_json")
    asked = behaviour["question"] if isinstance(behaviour, dict) else behaviour.question
    edit = _loaded(held, "edit_json") or _edit(prompt, held["edited_messages"])
    return Claim.model_validate(
        {
            **{name: held[name] for name in (*_GIVEN, "label", "target", "intervention")},
            "prompt": prompt.model_dump(),
            "edit": edit if isinstance(edit, dict) else edit.model_dump(),
            "behaviour": behaviour if isinstance(behaviour, dict) else behaviour.model_dump(),
            "baseline": _rate(held, "baseline"),
            "rate": _rate(held, "edited"),
            "investigation": held["investigation"] or digest([prompt.id, asked])[:16],
            "experiment": held["experiment"] or 1,
            "cluster": held["cluster"] or prompt.cluster or prompt.id,
            "question": held["third_person"] or "",
            "own_question": held["second_person"] or "",
            "responses": [answered_of(one) for one in held["responses"] or ()],
            "reproduction": _loaded(held, "reproduction_json"),
        }
    )


def _loaded(row: Mapping[str, Any], name: str) -> Any:
    return None if row[name] is None else json.loads(row[name])


def _rate(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {"yes": row[f"{name}_yes"], "no": row[f"{name}_no"], "invalid": row[f"{name}_invalid"] or 0}


def _prompt(row: Mapping[str, Any]) -> Prompt:
    if row["prompt_json"] is not None:
        return Prompt.model_validate_json(row["prompt_json"])
    names = {name: row[name] or "" for name in ("source", "place", "cluster")}
    return Prompt(turns=_turns(row["messages"]), **names)


def _turns(messages: Any) -> tuple[Turn, ...]:
    return tuple(Turn(role=one["role"], content=one["content"]) for one in messages)


def _edit(prompt: Prompt, messages: Any) -> Edit:
    """The edit that leaves other turns: what is said in them, which are left out, which put in."""
    wanted = Prompt(turns=_turns(messages))
    operations: list[Operation] = []
    place = 0
    for before, after in turn_changes(Prompt(turns=_turns(prompt.model_dump()["turns"])), wanted):
        if before is not None and after is not None and before.role == after.role:
            operations += [Rewrite(turn=place, content=after.content)] if before.content != after.content else []
        else:
            if before is not None:
                operations.append(Drop(turn=place))
            if after is not None:
                operations.append(Insert(turn=place, role=after.role, content=after.content))
        place += after is not None
    if not operations:
        raise ValueError("edited_messages are the messages as they are")
    edit = Edit(operations=tuple(operations))
    if [one.content for one in edited(prompt, edit).turns] != [one.content for one in wanted.turns]:
        raise ValueError("edited_messages cannot be made of the messages")
    return edit


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        said = str(first["msg"]).removeprefix("Value error, ")
        return f"{place}: {said}" if place else said
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return " ".join(str(error).split())
