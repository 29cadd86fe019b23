"""Users' own wordings and pushes, read from files."""

from pathlib import Path

import yaml
from pydantic import ValidationError

from firsthand.errors import ElicitationError, StatesError
from firsthand.studies.injection.concepts import read_lines
from firsthand.studies.injection.wordings import Wording, check_placeholders
from firsthand.trials.files import write_atomic


def read_wordings(path: Path) -> tuple[Wording, ...]:
    """Read wordings from YAML: one, or a list of them. ``docs/injection-prompts.md`` describes the fields.

    Raises:
        ElicitationError: If the file is missing, not YAML, or a wording does not fit; one line for each thing that is
            wrong, with the field and, where one is missing, the placeholder.
    """
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ElicitationError(f"{path} is not readable YAML: {error}", "Correct the file.") from error
    items = value if isinstance(value, list) else [value]
    if not items or not all(isinstance(item, dict) for item in items):
        raise ElicitationError(f"{path} holds no wordings.", "Write one mapping of fields for each wording.")
    found: list[Wording] = []
    problems: list[str] = []
    for number, item in enumerate(items, start=1):
        name = str(item.get("name") or f"wording {number}")
        try:
            found.append(Wording.model_validate(item))
        except ValidationError as error:
            problems += [_line(name, e["loc"], e["msg"]) for e in error.errors()]
    names = [wording.name for wording in found]
    problems += [f"  {name}: the name is there twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    if problems:
        raise ElicitationError(
            f"{path} holds wordings that cannot be used:\n" + "\n".join(problems) + "\n", "Correct it."
        )
    return tuple(found)


def write_wordings(path: Path, wordings: tuple[Wording, ...]) -> None:
    """Write wordings in the form that :func:`read_wordings` reads, for example as a start for one's own.

    Raises:
        ElicitationError: If the file exists.
    """
    if path.exists():
        raise ElicitationError(f"{path} exists already.", "Choose another name, or remove the file first.")
    value = [wording.model_dump(mode="json", exclude_none=True) for wording in wordings]
    write_atomic(path, yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100).encode())


def read_pushes(path: Path) -> tuple[str, ...]:
    """Read texts that push towards a concept, one a line, each with ``{concept}``; ``#`` begins a comment line.

    Raises:
        ElicitationError: If the file cannot be read or is empty, a line is blank or there twice, or has no
            ``{concept}`` or another placeholder.
    """
    try:
        lines = read_lines(path, "pushes")
    except StatesError as error:
        raise ElicitationError(error.problem, error.remedy) from error
    found: list[str] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text.startswith("#"):
            continue
        if not text or text in found:
            what = "is blank" if not text else "stands there twice"
            raise ElicitationError(f"{path}, line {number} {what}.", "Remove the line.")
        try:
            check_placeholders(
                f"line {number}", text.replace("{concept}", "", text.count("{concept}") - 1), {"concept"}
            )
        except ValueError as error:
            raise ElicitationError(f"{path}, {error}.", "Write {concept} where the concept is to stand.") from error
        found.append(text)
    if not found:
        raise ElicitationError(f"{path} holds no text.", "Write one a line, each with {concept}.")
    return tuple(found)


def _line(name: str, where: tuple[int | str, ...], message: str) -> str:
    field = ".".join(map(str, where))
    return f"  {name}{': ' + field if field else ''}: {message.removeprefix('Value error, ')}"
