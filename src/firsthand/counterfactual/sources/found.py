"""What a source yields: a prompt, a place where there is none, or a prompt that is not all that stood there."""

from dataclasses import dataclass
from typing import TypeAlias

from pydantic import ValidationError

from firsthand.counterfactual.prompts import Prompt


@dataclass(frozen=True, slots=True)
class Refused:
    """A place that gives no prompt.

    Attributes:
        place: Where it stands.
        reason: Why, in words that are the same for every place of which it is true.
        detail: What is particular to this place.
    """

    place: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Altered:
    """Says that the prompt of a place, which follows, is not all that stood there, or how a file was read.

    Attributes:
        place: Where it stands.
        what: What was done, in words that are the same for every place to which it was done.
    """

    place: str
    what: str


Found: TypeAlias = Prompt | Refused | Altered


class Unusable(Exception):  # noqa: N818 - it is no error, but becomes a Refused
    """Something of which no turn or prompt can be made.

    Args:
        reason: Why, in words that are the same for every place of which it is true.
        detail: What is particular to this place.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


def writable(text: str) -> str:
    """A name or a place, which can be written as UTF-8 whatever a file or its name held."""
    return text.encode("utf-8", "backslashreplace").decode()


def why(error: ValidationError) -> str:
    """Why something is no prompt, as a reason."""
    return error.errors()[0]["msg"].removeprefix("Value error, ")
