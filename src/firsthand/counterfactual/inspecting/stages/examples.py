"""Examples that the screener is shown: five, drawn anew for each prompt, from a pool that a user can extend."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from firsthand.counterfactual.part import Part
from firsthand.errors import CounterfactualError
from firsthand.trials.randomness import stream

DRAWN: Final = 5
"""Examples that are shown for each prompt (arXiv 2608.16747, section B.1, stage 2)."""


class Example(Part):
    """A prompt and what a model made of it, with the rating that it should get.

    Attributes:
        prompt: The prompt, shortened where it is long.
        responses: What the responses have in common, and how often.
        rating: How unexpected that is, 1 to 5.
        reason: Why.
        classifier: The frozen question, for what is worth an investigation.
    """

    prompt: Annotated[str, Field(min_length=1)]
    responses: Annotated[str, Field(min_length=1)]
    rating: Annotated[int, Field(ge=1, le=5)]
    reason: Annotated[str, Field(min_length=1)]
    classifier: str = ""


def pool(extra: str | None = None) -> tuple[Example, ...]:
    """The pool: the examples of the package, and those of a user's file after them.

    Raises:
        CounterfactualError: If the file is missing or holds something else.
    """
    own = (files(__package__) / "examples.yaml").read_text(encoding="utf-8")
    return _read(own, "examples.yaml") + (() if extra is None else _read(_text(extra), extra))


def drawn(examples: Sequence[Example], seed: int, prompt_id: str) -> list[Example]:
    """Five examples for one prompt, by a stream that belongs to it: the same for it in every run of a seed."""
    chosen = stream(seed, "examples of the screener", prompt_id).choice(
        len(examples), min(DRAWN, len(examples)), replace=False
    )
    return [examples[index] for index in chosen]


def worded(example: Example) -> str:
    """An example as the screener reads it."""
    lines = [
        f"Prompt: {example.prompt.strip()}",
        f"Responses: {example.responses.strip()}",
        f"Rating: {example.rating}. {example.reason.strip()}",
    ]
    if example.classifier:
        lines.append(f"Classifier question: {example.classifier.strip()}")
    return "\n".join(lines)


def _text(place: str) -> str:
    try:
        return Path(place).read_text(encoding="utf-8")
    except OSError as error:
        raise CounterfactualError(
            f"The examples in {place} cannot be read: {error.strerror}.", "Name a YAML file that you may read."
        ) from error


def _read(text: str, place: str) -> tuple[Example, ...]:
    try:
        return TypeAdapter(tuple[Example, ...]).validate_python(yaml.safe_load(text) or [])
    except yaml.YAMLError as error:
        raise CounterfactualError(f"{place} is no YAML: {error}.", "Write a list of examples.") from error
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CounterfactualError(
            f"An example in {place} is not one ({where}: {first['msg']}).",
            "Give each a prompt, responses, a rating from 1 to 5 and a reason, and from 3 on a classifier question.",
        ) from error
