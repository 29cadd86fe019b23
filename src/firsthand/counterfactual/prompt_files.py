"""Prompts and behaviours of one's own, from files."""

from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from firsthand.counterfactual.behaviours import Behaviour
from firsthand.counterfactual.prepared import ACCOUNT, read_prepared
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.sources import Refused, read_source
from firsthand.errors import CounterfactualError


def read_prompts(path: Path) -> list[Prompt]:
    """Read prompts from a file or folder of any known format (see :mod:`~firsthand.counterfactual.sources`).

    Args:
        path: The file, or the folder that ``firsthand investigate prepare`` wrote.

    Raises:
        CounterfactualError: If it cannot be read, or anything in it is no prompt: leaving something out, and counting
            what, is the business of preparation.
    """
    if (path / ACCOUNT).is_file():
        return list(read_prepared(path).prompts)
    found: list[Prompt] = []
    for one in read_source(path):
        if isinstance(one, Refused):
            why = f"{one.reason} ({one.detail})" if one.detail else one.reason
            raise CounterfactualError(
                f"{path} holds no prompt at {one.place}: {why}.",
                "Mend it, or let `firsthand investigate prepare` leave it out and count it.",
            )
        if isinstance(one, Prompt):
            found.append(one)
    if not found:
        raise CounterfactualError(f"{path} holds no prompt.", "Write one JSON object a line.")
    return found


def read_behaviours(path: Path) -> list[Behaviour]:
    """Read behaviours from a YAML or JSON file: a list of patterns, calls and functions.

    Raises:
        CounterfactualError: If the file cannot be read, or holds something else.
    """
    try:
        held = yaml.safe_load(_text(path))
        return TypeAdapter(list[Behaviour]).validate_python(held)
    except (ValidationError, yaml.YAMLError) as error:
        raise CounterfactualError(
            f"{path} holds no list of behaviours: {_reason(error)}.",
            "Write a list of objects such as {kind: pattern, question: Does it apologise?, pattern: sorry}.",
        ) from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CounterfactualError(
            f"{path} cannot be read: {error}.", "Name a text file in UTF-8 that you may read."
        ) from None


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return f"{place}: {first['msg'].removeprefix('Value error, ')}" if place else str(first["msg"])
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return " ".join(str(error).split())
