"""Conflict prompts: evidence against a fact, and the question that the model then answers.

Everything is in the user's turn. Nothing of a record is taken for part of the template, whatever braces it holds.
"""

import re
from pathlib import Path
from typing import Final

import yaml
from pydantic import ValidationError

from firsthand.claims.labels.belief import FIELDS, ConflictKind
from firsthand.errors import LabelsError
from firsthand.studies.labels.belief.records import Fact

_FIELD: Final = re.compile(r"\{(" + "|".join(FIELDS) + r")\}")


def fill(kind: ConflictKind, fact: Fact) -> str:
    """What the user says: the evidence for the counter entity, and the question."""
    values = {
        "statement": f"{fact.prompt} {fact.counter}.",
        "prompt": fact.prompt,
        "subject": fact.subject,
        "counter": fact.counter,
    }
    return _FIELD.sub(lambda found: values[found[1]], kind.template)


def read_kinds(path: Path) -> tuple[ConflictKind, ...]:
    """Kinds of conflict from a YAML file: a list of entries with ``name`` and ``template``.

    Raises:
        LabelsError: If the file cannot be read, holds something else, or names a kind twice.
    """
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise LabelsError(f"{path} cannot be read: {error}.", "Give a YAML file with a list of kinds.") from error
    if not isinstance(value, list) or not value:
        raise LabelsError(f"{path} holds no list of kinds.", "Give entries with 'name' and 'template'.")
    found: list[ConflictKind] = []
    for number, entry in enumerate(value, start=1):
        try:
            found.append(ConflictKind.model_validate(entry))
        except ValidationError as error:
            told = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'entry'}: {e['msg']}" for e in error.errors())
            raise LabelsError(f"Entry {number} of {path} is no kind of conflict: {told}.", "Correct it.") from error
    names = [kind.name for kind in found]
    if len(set(names)) < len(names):
        raise LabelsError(f"{path} names a kind twice: {', '.join(names)}.", "Give each a name of its own.")
    return tuple(found)
