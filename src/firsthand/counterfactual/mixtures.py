"""What is to be prepared: parts with their shares, and the limits that hold in each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, ValidationError, model_validator

from firsthand.counterfactual.families import CHARACTERS
from firsthand.counterfactual.part import Part
from firsthand.errors import CounterfactualError


class Limits(Part):
    """Which prompts are kept, as in CHIVE (arXiv 2608.16747, appendix B.2).

    Attributes:
        min_characters: Fewest characters of all turns together.
        max_characters: Most; ``None``: any number.
        max_tokens: Most tokens; ``None``: any number.
        per_family: Most prompts of one template family; ``None``: any number.
        family_characters: By how many first characters of user text, white space taken out, a family is known.
    """

    min_characters: Annotated[int, Field(ge=0)] = 400
    max_characters: Annotated[int, Field(ge=1)] | None = 8000
    max_tokens: Annotated[int, Field(ge=1)] | None = 4096
    per_family: Annotated[int, Field(ge=1)] | None = 5
    family_characters: Annotated[int, Field(ge=1)] = CHARACTERS

    @model_validator(mode="after")
    def _leave_room(self) -> Self:
        if self.max_characters is not None and self.min_characters > self.max_characters:
            raise ValueError(f"at least {self.min_characters} and at most {self.max_characters} characters")
        return self


LIMITS: Final[dict[str, Limits]] = {
    "petri": Limits(min_characters=0, max_characters=None),
    "trajectories": Limits(min_characters=0, max_characters=None),
    "inspect": Limits(min_characters=0, max_characters=None),
    "prompts": Limits(min_characters=0, max_characters=None, max_tokens=None, per_family=None),
}
"""The limits of kinds that have their own; the others have :class:`Limits`' defaults. Appendix B.2 holds conversations
to a length in characters, transcripts of audits to one in tokens. What was prepared before is not narrowed again."""


def limits_of(kind: str, changes: dict[str, int | None] | None = None) -> Limits:
    """The limits of a kind of source, with what is changed of them.

    Raises:
        CounterfactualError: If a limit is unknown, or they exclude each other.
    """
    own = LIMITS.get(kind, Limits())
    try:
        return Limits.model_validate({**own.model_dump(), **(changes or {})})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "limits"
        raise CounterfactualError(
            f"These limits cannot be kept ({where}): {first['msg'].removeprefix('Value error, ')}.",
            f"Limits are {', '.join(Limits.model_fields)}.",
        ) from None


class MixturePart(Part):
    """One source of a mixture.

    Attributes:
        path: A file, or a folder of files.
        kind: Name of its format; ``None``: each file's is recognised.
        share: Its share of the prompts; ``None`` in all parts: whatever is there.
        limits: What differs from the limits of its kind.
        options: Options of its format.
    """

    path: Path
    kind: str | None = None
    share: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    limits: dict[str, int | None] = Field(default_factory=dict)
    options: dict[str, str] = Field(default_factory=dict)


class Mixture(Part):
    """Sources, and how many prompts are wanted of them together.

    Attributes:
        parts: The sources.
        total: Prompts that are wanted. ``None``: as many as there are, or as the shares allow.
        seed: Seed of all draws.
    """

    parts: Annotated[tuple[MixturePart, ...], Field(min_length=1)]
    total: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _shares_are_whole(self) -> Self:
        shares = [part.share for part in self.parts if part.share is not None]
        if shares and len(shares) < len(self.parts):
            raise ValueError("either every part has a share or none has")
        if shares and abs(sum(shares) - 1.0) > 1e-6:
            raise ValueError(f"the shares add up to {sum(shares):g}, not to 1")
        return self


def shares_out(total: int, shares: Sequence[float]) -> list[int]:
    """How many of ``total`` each share gets: rounded so that they add up (largest remainders, first come first)."""
    whole = [int(total * share + 1e-9) for share in shares]
    order = sorted(range(len(shares)), key=lambda n: (whole[n] - total * shares[n], n))
    for number in order[: total - sum(whole)]:
        whole[number] += 1
    return whole


def largest_total(available: Sequence[int], shares: Sequence[float]) -> int:
    """The most prompts of which every part can give its share."""
    most = int(min((have + 1) / share for have, share in zip(available, shares, strict=True)) + 1e-9)
    while most and any(need > have for need, have in zip(shares_out(most, shares), available, strict=True)):
        most -= 1
    return most
