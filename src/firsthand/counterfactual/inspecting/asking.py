"""What a request may ask of the engine beside text: edits, and the probabilities of given answers.

It stands in the request's ``extra_body``, under ``firsthand``, since that is part of the key of Inspect's cache and of
its log, which a model's arguments are not. What is not known is refused.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, ValidationError, model_validator

from firsthand.counterfactual.part import Part
from firsthand.errors import CounterfactualError
from firsthand.vocabulary import Timing

KEY = "firsthand"
"""Where it stands in ``extra_body``."""


class FromFile(Part):
    """A vector in a safetensors file.

    Attributes:
        file: Path of the file.
        tensor: Name of the tensor, ``[hidden]``.
        sha256: SHA-256 of the file. Without it, another vector in the same place would get cached answers.
    """

    file: str
    tensor: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class FromSeed(Part):
    """A direction drawn at random, of length 1."""

    seed: Annotated[int, Field(ge=0)]


class FromValues(Part):
    """A vector written out."""

    values: Annotated[tuple[float, ...], Field(min_length=1)]


Vector: TypeAlias = FromFile | FromSeed | FromValues


class AskedEdit(Part):
    """An edit of the residual stream.

    Attributes:
        site: Where, such as ``resid_post[12]``.
        vector: The vector.
        operation: What is done with it (see :class:`firsthand.engine.Operation`).
        strength: Factor of the operation.
        timing: While the prompt is read (``prefill``), or also at every token that is generated (``live``).
        positions: Absolute token positions in the prompt, or ``all`` of them.
        text: Instead, a text of the prompt; its tokens are edited.
        which: Which occurrence of the text, from 0; by default there must be exactly one.
    """

    site: str
    vector: Vector
    operation: Literal["add", "add_scaled", "replace", "project_out"] = "add"
    strength: float = 1.0
    timing: Literal[Timing.PREFILL, Timing.LIVE] = Timing.PREFILL
    positions: Annotated[tuple[int, ...], Field(min_length=1)] | Literal["all"] | None = None
    text: Annotated[str, Field(min_length=1)] | None = None
    which: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        if self.positions is not None and self.text is not None:
            raise ValueError("an edit has positions or a text, and not both")
        if self.positions is None and self.text is None and self.timing is not Timing.LIVE:
            raise ValueError(
                "an edit needs positions or a text, unless it is live: then it is made at generated tokens"
            )
        if self.which is not None and self.text is None:
            raise ValueError("'which' belongs to a text")
        return self


class Asked(Part):
    """What one request asks of the engine.

    Attributes:
        edits: Edits, in the order in which they are made.
        candidates: Answers whose exact log-probabilities after the prompt are wanted.
        sample: Whether text is to be generated too.
    """

    edits: tuple[AskedEdit, ...] = ()
    candidates: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    sample: bool = True

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.sample and not self.candidates:
            raise ValueError("neither text nor candidates are wanted")
        return self

    @property
    def extra_body(self) -> dict[str, Any]:
        """The same as a request's ``extra_body``."""
        return {KEY: self.model_dump(mode="json", exclude_defaults=True)}

    @classmethod
    def of(cls, extra_body: Mapping[str, Any] | None) -> "Asked":
        """What an ``extra_body`` asks.

        Raises:
            CounterfactualError: If it holds anything that is not known.
        """
        unknown = sorted(set(extra_body or {}) - {KEY})
        if unknown:
            raise CounterfactualError(
                f"firsthand/ does not know {', '.join(map(repr, unknown))} in extra_body.",
                f"Leave it out; edits and candidates stand under {KEY!r}.",
            )
        try:
            return cls.model_validate((extra_body or {}).get(KEY, {}))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in (KEY, *first["loc"]))
            raise CounterfactualError(
                f"extra_body: {place}: {first['msg'].removeprefix('Value error, ')}.", "See docs/investigate-models.md."
            ) from None


def vector_file(path: Path, tensor: str) -> FromFile:
    """A tensor of a safetensors file, with the file's hash.

    Raises:
        CounterfactualError: If the file cannot be read.
    """
    try:
        return FromFile(file=str(path), tensor=tensor, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    except OSError as error:
        raise CounterfactualError(f"{path} cannot be read: {error}.", "Check the path.") from error
