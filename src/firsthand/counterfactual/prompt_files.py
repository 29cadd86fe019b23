"""Prompts and behaviours of one's own, from files."""

import json
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from firsthand.counterfactual.behaviours import Behaviour
from firsthand.counterfactual.prompts import Prompt
from firsthand.errors import CounterfactualError


def read_prompts(path: Path) -> list[Prompt]:
    """Read prompts from JSON lines.

    Args:
        path: Each line holds ``prompt`` (a text), ``messages`` (objects with ``role`` and ``content``), or the turns
            and tools of a :class:`~firsthand.counterfactual.prompts.Prompt`.

    Raises:
        CounterfactualError: If the file cannot be read, or a line holds no prompt.
    """
    found = []
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append(_prompt(json.loads(line), path.name, number))
        except (ValidationError, ValueError, TypeError, KeyError) as error:
            raise CounterfactualError(
                f"Line {number} of {path} holds no prompt: {_reason(error)}.",
                'Write {"prompt": "..."}, or {"messages": [{"role": "user", "content": "..."}]}, one a line.',
            ) from None
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


def _prompt(held: Any, source: str, number: int) -> Prompt:
    if not isinstance(held, dict):
        raise ValueError("it is no JSON object")
    where = {"source": source, "place": str(number), "cluster": f"{source} {number}"}
    if isinstance(held.get("prompt"), str):
        return Prompt.model_validate({"turns": [{"role": "user", "content": held["prompt"]}], **where})
    if isinstance(held.get("messages"), list):
        turns = [{"role": one["role"], "content": one["content"]} for one in held["messages"]]
        return Prompt.model_validate({"turns": turns, **where})
    return Prompt.model_validate({**where, **held})


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
