"""Behaviours that a program can judge: one yes/no question about one response, frozen before anything is counted.

A verdict is *yes*, *no* or *invalid*. A response that is missing (withheld, failed, empty) is invalid, and so is one
that a program cannot judge; neither is ever counted as "no". Behaviours that a model judges are
:class:`Asked`; who judges them is no part of the behaviour.

A response that was cut off might have gone on in any way. What decides a behaviour says what that means for it
(:data:`Decides`): what can no longer change is a verdict, and what could is invalid. A question about so many first
tokens (``within``) can be answered where they are all there: where it was cut off after so many, and not before, since
the context was full. A target that does not count tokens is taken to have given them.
"""

import importlib
import inspect
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, field_validator

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.plain_text import plain, seen
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest


class Verdict(StrEnum):
    """What was found of one response."""

    YES = "yes"
    NO = "no"
    INVALID = "invalid"


Decides: TypeAlias = Literal["any", "opening", "all", "whole"]
"""What of a response decides: *any* place where something is found, so that no further text undoes a yes; its *opening*
words; *all* of it, so that none undoes a no; or the *whole*, of which nothing can be said before it has ended."""

OPENING: Final = 60
"""Characters after which an opening has been seen."""

JUDGING: Final = 3
"""Version of how verdicts come about. It goes up when the same behaviour could be found otherwise."""

Within: TypeAlias = Annotated[int, Field(ge=1)] | None

_FLAGS: Final = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


class Pattern(Part):
    """A regular expression is found in the text.

    Attributes:
        question: The question, for a reader.
        pattern: The expression.
        flags: Any of ``i``, ``m`` and ``s``.
        least: How often it has to be found.
        plain: Whether it is looked for with typographic marks made plain and without Markdown around words
            (:func:`~firsthand.counterfactual.plain_text.plain`).
        decided_by: What of a response decides.
        within: The question is about so many first tokens, as many as a response may have at most; ``None``: about the
            whole response.
    """

    kind: Literal["pattern"] = "pattern"
    question: Annotated[str, Field(min_length=1)]
    pattern: Annotated[str, Field(min_length=1)]
    flags: Annotated[str, Field(pattern=r"^[ims]*$")] = ""
    least: Annotated[int, Field(ge=1)] = 1
    plain: bool = False
    decided_by: Decides = "any"
    within: Within = None

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
        return pattern


class Called(Part):
    """A tool is called, with an argument that matches. A response that was cut off without might have called it.

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
        decided_by: What of a response decides; ``None``: the function answers for responses that were cut off, too, and
            returns ``None`` where it saw too little. One that looks at an opening does so, too.
        within: As for patterns.
    """

    kind: Literal["computed"] = "computed"
    question: Annotated[str, Field(min_length=1)]
    function: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]
    decided_by: Decides | None = "whole"
    within: Within = None


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
            text = plain(seen(response)) if behaviour.plain else seen(response)
            if not text.strip():
                return Verdict.INVALID
            found = len(re.findall(behaviour.pattern, text, _flags(behaviour.flags))) >= behaviour.least
            return _after_cut(found, response, behaviour.decided_by, behaviour.within)
        case Called():
            found = any(_is_call(behaviour, call.name, call.arguments) for call in response.calls)
            return _after_cut(found, response, "any", None)
        case Computed():
            said = _computed(behaviour, response)
            if said is None:
                return Verdict.INVALID
            decided_by = None if behaviour.decided_by == "opening" else behaviour.decided_by
            return _after_cut(said, response, decided_by, behaviour.within)


def check_behaviours(behaviours: Iterable[Behaviour], longest: int) -> None:
    """See that behaviours can be judged in responses of some length, before any is drawn.

    Args:
        behaviours: The behaviours.
        longest: Most tokens of a response.

    Raises:
        CounterfactualError: If a function cannot be imported, or a question is about another number of tokens.
    """
    for one in behaviours:
        bound = getattr(one, "within", None)
        if bound is not None and bound != longest:
            raise CounterfactualError(
                f"{one.question!r} is about the first {bound} tokens, and responses have at most {longest}.",
                "Make `within` and the longest response (max_tokens) the same, or leave `within` out.",
            )
        if isinstance(one, Computed):
            _function(one.function)


def source_of(behaviour: Computed) -> str:
    """Digest of what a function is made of: the file that it stands in, or its code where there is none.

    Raises:
        CounterfactualError: If the function cannot be imported.
    """
    return _source(behaviour.function)


def _after_cut(found: bool, response: Response, decided_by: Decides | None, within: int | None) -> Verdict:
    """What was found, if further text could not have changed it."""
    verdict = Verdict.YES if found else Verdict.NO
    bounded = within is not None and (response.tokens >= within or not response.tokens)
    if response.ended != "length" or decided_by is None:
        return verdict
    match decided_by:
        case "any":
            final = found or bounded
        case "opening":
            final = found or len(seen(response).strip()) >= OPENING
        case "all":
            final = not found or bounded
        case "whole":
            final = False
    return verdict if final else Verdict.INVALID


def _flags(letters: str) -> int:
    return sum(_FLAGS[letter] for letter in set(letters))


def _is_call(behaviour: Called, name: str, arguments: dict[str, object]) -> bool:
    if name != behaviour.tool:
        return False
    if behaviour.argument is None:
        return True
    return behaviour.argument in arguments and bool(re.search(behaviour.pattern, str(arguments[behaviour.argument])))


def _computed(behaviour: Computed, response: Response) -> bool | None:
    try:
        found = _function(behaviour.function)(response)
    except CounterfactualError:
        raise
    except Exception as error:
        raise CounterfactualError(
            f"{behaviour.function} raised {type(error).__name__} on a response: {error}.",
            "Let it return True, False, or None where it cannot say.",
        ) from error
    if found is not None and not isinstance(found, bool):
        raise CounterfactualError(
            f"{behaviour.function} returned {type(found).__name__}.", "Let it return True, False or None."
        )
    return found


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    function = _function(name)
    with suppress(TypeError, OSError):  # built in, or made while the program runs
        file = inspect.getsourcefile(inspect.unwrap(function))
        if file is not None:
            return digest(Path(file).read_text(encoding="utf-8", errors="replace"))
    code = getattr(function, "__code__", None)
    if code is None:
        return digest(name)
    constants = [repr(one) for one in code.co_consts if isinstance(one, str | bytes | int | float | None)]
    return digest([name, code.co_code.hex(), constants, list(code.co_names)])


@lru_cache(maxsize=64)
def _function(name: str) -> Callable[[Response], object]:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a module of the user's may raise anything
        raise CounterfactualError(f"{name} cannot be imported: {error}.", "Name package.module:function.") from error
    if not callable(found):
        raise CounterfactualError(f"{name} is no function.", "Name a function of one response.")
    return found  # type: ignore[no-any-return]
