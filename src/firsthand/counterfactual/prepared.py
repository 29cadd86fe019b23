"""Prepared prompts, with an account of everything that was read, and the folder that keeps them."""

from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import Field, ValidationError, model_validator

from firsthand.counterfactual.mixtures import Limits, Mixture
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.sources.found import writable
from firsthand.errors import CounterfactualError
from firsthand.trials.files import read_json, sha256_file, write_atomic, write_json

PROMPTS: Final = "prompts.jsonl"
ACCOUNT: Final = "prepared.json"
VERSION: Final = 1


class Count(Part):
    """How often something happened, and one place where it did.

    Attributes:
        reason: What happened.
        count: How often.
        example: The first place, with what is particular to it.
    """

    reason: str
    count: Annotated[int, Field(ge=1)]
    example: str


class Tally:
    """Counts by reason, with the first place of each."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, str] = {}

    def add(self, reason: str, example: str) -> None:
        """It happened once more."""
        self._counts[reason] = self._counts.get(reason, 0) + 1
        self._examples.setdefault(reason, writable(example[:300]))

    def counts(self) -> tuple[Count, ...]:
        """The counts, the most frequent first."""
        order = sorted(self._counts, key=lambda reason: (-self._counts[reason], reason))
        return tuple(Count(reason=r, count=self._counts[r], example=self._examples[r]) for r in order)


class Input(Part):
    """A file that was read.

    Attributes:
        path: As it was given.
        kind: Its format.
        limits: The limits that held.
        sha256: Of its bytes.
    """

    path: str
    kind: str
    limits: Limits
    sha256: str


class Account(Part):
    """What became of one part.

    Attributes:
        path: The part's path.
        inputs: The files that were read.
        read: Places that were read: prompts, and what gave none.
        dropped: What was dropped, by reason.
        altered: What was kept in another form, by what was done.
        kept: Prompts that were kept.
    """

    path: str
    inputs: tuple[Input, ...]
    read: Annotated[int, Field(ge=0)]
    dropped: tuple[Count, ...] = ()
    altered: tuple[Count, ...] = ()
    kept: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.read != self.kept + sum(count.count for count in self.dropped):
            raise ValueError(f"{self.read} places were read, and what became of them does not add up to that")
        return self


class Prepared(Part):
    """Prepared prompts.

    Attributes:
        prompts: The prompts, in an order that was drawn: the first so many of them are a sample too.
        mixture: What was wanted.
        counter: How tokens were counted.
        accounts: What became of each part.
        notes: What a reader should know.
    """

    prompts: tuple[Prompt, ...]
    mixture: Mixture
    counter: str
    accounts: tuple[Account, ...]
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if sum(account.kept for account in self.accounts) != len(self.prompts):
            raise ValueError("the accounts keep another number of prompts than there are")
        return self

    @property
    def read(self) -> int:
        """Places that were read in all parts."""
        return sum(account.read for account in self.accounts)


def write_prepared(prepared: Prepared, folder: Path) -> None:
    """Write ``prompts.jsonl`` and then ``prepared.json``, which holds the hash of the first.

    Raises:
        TraceError: If the folder cannot be written to.
    """
    path = folder / PROMPTS
    lines = (prompt.model_dump_json(exclude_defaults=True).encode() + b"\n" for prompt in prepared.prompts)
    write_atomic(path, b"".join(lines))
    account: dict[str, Any] = prepared.model_dump(mode="json", exclude={"prompts"})
    write_json(folder / ACCOUNT, {"version": VERSION, "prompts_sha256": sha256_file(path), **account})


def read_prepared(folder: Path) -> Prepared:
    """Read what :func:`write_prepared` wrote.

    Raises:
        TraceError: If a file is missing or damaged.
        CounterfactualError: If the two files do not belong together, or are of another version.
    """
    account = read_json(folder / ACCOUNT)
    version, expected = account.pop("version", None), account.pop("prompts_sha256", None)
    if version != VERSION:
        raise CounterfactualError(
            f"{folder / ACCOUNT} is of version {version}, and this is version {VERSION}.", "Prepare the prompts again."
        )
    path = folder / PROMPTS
    if sha256_file(path) != expected:
        raise CounterfactualError(
            f"{path} is not the file that {ACCOUNT} describes: it was changed, or preparing was cut short.",
            "Prepare the prompts again.",
        )
    try:
        with path.open("rb") as lines:
            prompts = [Prompt.model_validate_json(line) for line in lines]
        return Prepared.model_validate({**account, "prompts": prompts})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise CounterfactualError(
            f"{folder} holds no prepared prompts: {where or 'it'}: {first['msg']}.", "Prepare the prompts again."
        ) from error
