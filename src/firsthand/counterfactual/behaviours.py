"""Behaviours that a program can judge: one yes/no question about one response, frozen before anything is counted.

A verdict is *yes*, *no* or *invalid*. A response that is missing (withheld, failed, empty) is invalid, and so is one
that a program cannot judge; neither is ever counted as "no". Behaviours that a model judges are
:class:`Asked`; who judges them is no part of the behaviour.
"""

import importlib
import re
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, field_validator

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError


class Verdict(StrEnum):
    """What was found of one response."""

    YES = "yes"
    NO = "no"
    INVALID = "invalid"


_FLAGS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


class Pattern(Part):
    """A regular expression is found in the text.

    Attributes:
        question: The question, for a reader.
        pattern: The expression.
        flags: Any of ``i``, ``m`` and ``s``.
        least: How often it has to be found.
        cut_off: What a response that was cut off before it was found is: it might have come later (``invalid``), or the
            question is about the part that there is (``no``).
    """

    kind: Literal["pattern"] = "pattern"
    question: Annotated[str, Field(min_length=1)]
    pattern: Annotated[str, Field(min_length=1)]
    flags: Annotated[str, Field(pattern=r"^[ims]*$")] = ""
    least: Annotated[int, Field(ge=1)] = 1
    cut_off: Literal["invalid", "no"] = "no"

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
        return pattern


class Called(Part):
    """A tool is called, with an argument that matches.

    Attributes:
        question: The question, for a reader.
        tool: Name of the tool.
        argument: Name of an argument; ``None``: any call of the tool counts.
        pattern: An expression that is found in the argument's value.
    """

    kind: Literal["called"] = "called"
    question: Annotated[str, Field(min_length=1)]
    tool: Annotated[str, Field(min_length=1)]
    argument: str | None = None
    pattern: str = ""


class Computed(Part):
    """A Python function of the response says so; it returns true, false, or ``None`` for invalid.

    Attributes:
        question: The question, for a reader.
        function: ``package.module:name`` of a function of one :class:`~firsthand.counterfactual.responses.Response`.
    """

    kind: Literal["computed"] = "computed"
    question: Annotated[str, Field(min_length=1)]
    function: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]


class Asked(Part):
    """A model answers the question, for each response by itself.

    Attributes:
        question: A question that can be answered with yes or no from one response.
    """

    kind: Literal["asked"] = "asked"
    question: Annotated[str, Field(min_length=1)]


Behaviour: TypeAlias = Annotated[Pattern | Called | Computed | Asked, Field(discriminator="kind")]
Program: TypeAlias = Pattern | Called | Computed


def judged(behaviour: Program, response: Response) -> Verdict:
    """What a program finds of a response.

    Raises:
        CounterfactualError: If its function cannot be imported, raises, or returns something else.
    """
    if response.missing:
        return Verdict.INVALID
    match behaviour:
        case Pattern():
            found = re.findall(behaviour.pattern, response.text, _flags(behaviour.flags))
            if len(found) >= behaviour.least:
                return Verdict.YES
            return Verdict.INVALID if response.ended == "length" and behaviour.cut_off == "invalid" else Verdict.NO
        case Called():
            return (
                Verdict.YES
                if any(_is_call(behaviour, call.name, call.arguments) for call in response.calls)
                else Verdict.NO
            )
        case Computed():
            return _computed(behaviour, response)


def _flags(letters: str) -> int:
    return sum(_FLAGS[letter] for letter in set(letters))


def _is_call(behaviour: Called, name: str, arguments: dict[str, object]) -> bool:
    if name != behaviour.tool:
        return False
    if behaviour.argument is None:
        return True
    return behaviour.argument in arguments and bool(re.search(behaviour.pattern, str(arguments[behaviour.argument])))


def _computed(behaviour: Computed, response: Response) -> Verdict:
    try:
        found = _function(behaviour.function)(response)
    except CounterfactualError:
        raise
    except Exception as error:
        raise CounterfactualError(
            f"{behaviour.function} raised {type(error).__name__} on a response: {error}.",
            "Let it return True, False, or None where it cannot say.",
        ) from error
    if found is None:
        return Verdict.INVALID
    if not isinstance(found, bool):
        raise CounterfactualError(
            f"{behaviour.function} returned {type(found).__name__}.", "Let it return True, False or None."
        )
    return Verdict.YES if found else Verdict.NO


@lru_cache(maxsize=64)
def _function(name: str) -> Callable[[Response], object]:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise CounterfactualError(f"{name} cannot be imported: {error}.", "Name package.module:function.") from error
    if not callable(found):
        raise CounterfactualError(f"{name} is no function.", "Name a function of one response.")
    return found  # type: ignore[no-any-return]
