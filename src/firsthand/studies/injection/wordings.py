"""Wordings as data: how an injection question is put, with every order of its options.

A :class:`Wording` is one framing, one number of options and one style of labels. The built-in ones cross four voices
with all of these; :func:`~firsthand.studies.injection.files.read_wordings` reads others from a file. Options are always
numbered in the order of the text, so over all orders every label stands for every meaning equally often.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from itertools import permutations
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from firsthand.errors import ElicitationError


class Framing(StrEnum):
    """How the rules are conveyed."""

    INSTRUCTION = "instruction"
    """One user message holds the rules and the trial line."""
    CONVERSATION = "conversation"
    """The rules come first, the model agrees, and the trial line is in a turn of its own."""


class Meaning(StrEnum):
    """What an option says about the trial; yes and no belong to the unrelated-question arm."""

    INJECTED = "injected"
    MANIPULATED = "manipulated"
    NOTHING = "nothing"
    YES = "yes"
    NO = "no"


LabelStyle: TypeAlias = Literal["digits", "letters"]
Order: TypeAlias = tuple[Meaning, ...]
"""Meanings in the order of the text; the first has the first label."""

Filled = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
_LISTING: Final = ("detection", "unrelated", "codes", "choice", "codes_any", "choice_any")
"""Questions whose task lists the answers; those of ``_FREE`` are answered in free text."""
_FREE: Final = ("naming", "neutral", "open")
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_]+)\}")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Turn(_Model):
    """One turn before the answer.

    Attributes:
        role: Who speaks.
        text: With ``{task}`` and ``{trial}`` in some turn of the user's.
    """

    role: Literal["system", "user", "assistant"]
    text: Filled


class Ask(_Model):
    """One question: what is put for ``{task}`` and ``{trial}``, and how the answer begins.

    Attributes:
        task: What is to be done; holds ``{options}`` if there are any.
        trial: The trial line: the span where a vector is added.
        stem: The beginning of the answer; empty if the answer is to begin at once. After a stem that ends in a
            bracket, a quotation mark or a space the label follows directly, after others with a space.
    """

    task: Filled
    trial: Filled
    stem: str = ""


class Options(_Model):
    """The options of the injection question, each with ``{label}``; without ``manipulated`` there are two."""

    injected: Filled
    nothing: Filled
    manipulated: Filled | None = None


class YesNo(_Model):
    """The options of the unrelated-question arm, each with ``{label}``."""

    yes: Filled = "({label}) yes"
    no: Filled = "({label}) no"


class Wording(_Model):
    """One way of asking; see ``docs/injection-prompts.md`` for the fields as a user writes them.

    Attributes:
        name: Identifier.
        cluster: Wordings that say the same in the same words share it; the name if it is left out.
        framing: How the rules are conveyed.
        labels: What the options are numbered by.
        turns: Everything before the answer.
        options: What can be answered.
        between: What stands between two options.
        before_last: What stands before the last option instead, e.g. ``", or "``.
        now: What is put for ``{when}`` if the injection falls on the trial line.
        earlier: What is put for it if it falls on an earlier line.
        detection: The injection question.
        unrelated: A question about the world, ``{question}`` in its trial line, in the same frame.
        yes_no: Options of that.
        naming: Asks for the concept in a free answer.
        neutral: The no-question arm of naming.
        neutral_turns: The turns of that arm if they are to say nothing about injections.
        codes: Asks for the code of the concept.
        code_line: A line of its list, with ``{label}`` and ``{concept}``.
        choice: Asks for the label of the concept.
        choice_line: A line of its list.
        codes_any: Asks for any code of the same list: the control of ``codes``.
        choice_any: Asks for any label of the same list: the control of ``choice``.
        open: Asks in free text whether a thought was injected and what it is about; lists no options.
    """

    name: Filled
    cluster: str = ""
    framing: Framing
    labels: LabelStyle = "digits"
    turns: tuple[Turn, ...]
    options: Options
    between: str = "\n"
    before_last: str | None = None
    now: str = "while you read the line of the trial"
    earlier: str = "while you read the line that I sent you to read"
    detection: Ask
    unrelated: Ask | None = None
    yes_no: YesNo = YesNo()
    naming: Ask | None = None
    neutral: Ask | None = None
    neutral_turns: tuple[Turn, ...] | None = None
    codes: Ask | None = None
    code_line: Filled = "({label}) means {concept}"
    choice: Ask | None = None
    choice_line: Filled = "({label}) {concept}"
    codes_any: Ask | None = None
    choice_any: Ask | None = None
    open: Ask | None = None

    @model_validator(mode="after")
    def _holds_its_placeholders(self) -> Self:
        if not self.cluster:
            object.__setattr__(self, "cluster", self.name)
        _check_turns("turns", self.turns, self.framing)
        if self.neutral_turns is not None:
            _check_turns("neutral_turns", self.neutral_turns, self.framing)
        check_placeholders("options.injected", self.options.injected, {"label"})
        check_placeholders("options.nothing", self.options.nothing, {"label"})
        if self.options.manipulated is not None:
            check_placeholders("options.manipulated", self.options.manipulated, {"label"})
        check_placeholders("yes_no.yes", self.yes_no.yes, {"label"})
        check_placeholders("yes_no.no", self.yes_no.no, {"label"})
        check_placeholders("code_line", self.code_line, {"label", "concept"})
        check_placeholders("choice_line", self.choice_line, {"label", "concept"})
        for field in (*_LISTING, *_FREE):
            ask: Ask | None = getattr(self, field)
            if ask is not None:
                listed = {"options"} if field in _LISTING else set()
                check_placeholders(f"{field}.task", ask.task, listed, {"when", "kind"})
                asked = {"question"} if field == "unrelated" else set()
                check_placeholders(f"{field}.trial", ask.trial, asked, {"when"})
                check_placeholders(f"{field}.stem", ask.stem, set())
        return self

    @property
    def meanings(self) -> Order:
        """The meanings of the injection question, in their natural order."""
        if self.options.manipulated is None:
            return (Meaning.INJECTED, Meaning.NOTHING)
        return (Meaning.INJECTED, Meaning.MANIPULATED, Meaning.NOTHING)

    def option(self, meaning: Meaning) -> str:
        """The text of an option, with ``{label}``."""
        source: BaseModel = self.yes_no if meaning in (Meaning.YES, Meaning.NO) else self.options
        return str(getattr(source, meaning.value))

    def ask(self, field: str) -> Ask:
        """One of the questions.

        Raises:
            ElicitationError: If the wording does not have it.
        """
        found = getattr(self, field)
        if not isinstance(found, Ask):
            raise ElicitationError(
                f"The wording {self.name!r} has no text for '{field}'.", f"Add '{field}' to it, or leave that arm out."
            )
        return found


def _check_turns(where: str, turns: tuple[Turn, ...], framing: Framing) -> None:
    roles = [turn.role for turn in turns]
    spoken = roles[1:] if roles[:1] == ["system"] else roles
    alternating = all(role == ("user", "assistant")[i % 2] for i, role in enumerate(spoken))
    if not alternating or not spoken or spoken[-1] != "user":
        raise ValueError(f"{where}: the user and the assistant must speak in turn, the user first and last")
    if (len(spoken) == 1) is not (framing is Framing.INSTRUCTION):
        raise ValueError(f"{where}: the framing '{framing}' does not go with {len(spoken)} turns")
    for turn in turns:
        check_placeholders(where, turn.text, set(), {"task", "trial"} if turn.role == "user" else set())
    users = " ".join(turn.text for turn in turns if turn.role == "user")
    check_placeholders(where, users, {"task", "trial"})
    if "{trial}" not in turns[-1].text:
        raise ValueError(f"{where}: the placeholder {{trial}} must stand in the last turn")


def check_placeholders(
    where: str, text: str, needed: set[str], allowed: set[str] | frozenset[str] = frozenset()
) -> None:
    """Refuse a text whose placeholders are missing, repeated or unknown.

    Raises:
        ValueError: Naming the place and the placeholder.
    """
    found = _PLACEHOLDER.findall(text)
    for name in sorted(needed):
        if found.count(name) != 1:
            times = "is missing" if name not in found else f"stands there {found.count(name)} times"
            raise ValueError(f"{where}: the placeholder {{{name}}} {times}; it must stand there exactly once")
    unknown = sorted(set(found) - needed - allowed)
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in sorted(needed | allowed)) or "none"
        raise ValueError(f"{where}: there is no placeholder {{{unknown[0]}}} here; known: {known}")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values for placeholders, all at once: a value that holds a brace is left as it is."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def orders(meanings: Order) -> tuple[Order, ...]:
    """Every order in which options can be listed: 2 for two, 6 for three."""
    return tuple(permutations(meanings))


def labels_of(style: LabelStyle, count: int) -> tuple[str, ...]:
    """The first labels of a style, in the order of the text.

    Raises:
        ElicitationError: If the style has fewer; digits end at 9, since "1" is the beginning of "10".
    """
    symbols = "123456789" if style == "digits" else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if not 2 <= count <= len(symbols):
        raise ElicitationError(
            f"There are no {count} labels of the style {style!r}.",
            f"Use 2 to {len(symbols)} options" + (", or letters." if style == "digits" else "."),
        )
    return tuple(symbols[:count])
