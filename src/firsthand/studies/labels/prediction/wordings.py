"""How a model is asked about an answer that it has not given, in our own words.

A property's classes go by opaque letters. A prompt, an answer or an example is quoted in the user's turn as it is;
everything else is the same for the model itself (*you*) and for whoever is asked about it (*a language model*).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firsthand.studies.labels.prediction.properties import Settled

LETTERS: Final = tuple("FGHJKLMNPQRSTVWXZ")
"""Letters that classes may go by: no vowel, since "A" and "I" are words, and none that names an option."""
FOLLOWS: Final = "Where the beginning of an answer is given, only what follows it counts."
HEARD: Final = "I have read them."
"""What the model is made to say after examples, before it is asked a prompt itself."""


@dataclass(frozen=True)
class Voice:
    """Of whom a question speaks.

    Attributes:
        name: Identifier.
        opening: The first sentence.
        asked: Whom a prompt is put to, with its verb.
        answer: What is asked about.
    """

    name: str
    opening: str
    asked: str
    answer: str


SELF: Final = Voice("self", "You are given prompts and answer them.", "you were", "your answer")
THIRD: Final = Voice(
    "third", "A language model is given prompts and answers them.", "the language model was", "its answer"
)
SHOWN: Final = Voice("shown", "Prompts are given together with answers.", "", "the answer")


@dataclass(frozen=True)
class Wording:
    """One way of asking.

    Attributes:
        name: Identifier.
        legend: What the letters mean, with ``{what}`` and ``{options}``.
        examples: What stands above examples.
        tag: What the letter of an example is called.
        question: How a prompt is introduced, with ``{asked}``.
        ask: What is asked under the prompt, with ``{answer}``.
    """

    name: str
    legend: str
    examples: str
    tag: str
    question: str
    ask: str

    @property
    def stem(self) -> str:
        """How the reply begins: as the line under each example does, which small models need to answer at all."""
        return f"{self.tag}:"


WORDINGS: Final = (
    Wording(
        "suppose",
        "Letters stand for {what}: {options}.",
        "Some of the prompts, each with its letter:",
        "Letter",
        "Suppose {asked} asked this.",
        "Which letter would {answer} get?",
    ),
    Wording(
        "sort",
        "Answers are sorted by {what} and marked with a letter: {options}.",
        "These are earlier prompts and the marks of the answers:",
        "Mark",
        "Imagine that {asked} given the next prompt.",
        "With which letter would {answer} be marked?",
    ),
    Wording(
        "foresee",
        "Each letter says something of {what}: {options}.",
        "This is how it was for other prompts:",
        "Letter",
        "If {asked} to reply to the prompt below, what would come of it?",
        "Foresee {answer} and give its letter.",
    ),
)
"""Ways of asking, among which each experiment draws one."""


@dataclass(frozen=True)
class Codebook:
    """Which letter stands for which class, and in which order they are listed.

    Attributes:
        order: Numbers of the classes, as they are listed.
        letters: The letter at each place of the list.
    """

    order: tuple[int, ...]
    letters: tuple[str, ...]

    def letter(self, number: int) -> str:
        """The letter of a class."""
        return self.letters[self.order.index(number)]

    def exchanged(self) -> "Codebook":
        """The same letters at the same places, for the classes in the reverse order."""
        return Codebook(self.order[::-1], self.letters)


@dataclass(frozen=True)
class Example:
    """A prompt and the class of the answer to it, and the answer where that is shown."""

    prompt: str
    number: int
    answer: str | None = None


def introduction(
    wording: Wording, voice: Voice, one: Settled, codebook: Codebook, examples: Sequence[Example] = ()
) -> str:
    """What the letters mean, and examples."""
    options = ", ".join(
        f"{letter} for {one.classes[number]}" for number, letter in zip(codebook.order, codebook.letters, strict=True)
    )
    what = one.property.what.replace("{answer}", voice.answer)
    parts = [f"{voice.opening} {FOLLOWS} {wording.legend.replace('{what}', what).replace('{options}', options)}"]
    if examples:
        parts.append(wording.examples)
        parts += [
            f"{_quoted(shot.prompt, shot.answer)}\n{wording.tag}: {codebook.letter(shot.number)}" for shot in examples
        ]
    return "\n\n".join(parts)


def hypothetical(wording: Wording, voice: Voice, prompt: str) -> str:
    """The question what the answer to a prompt would be like."""
    question = wording.question.replace("{asked}", voice.asked)
    return f"{question}\nPrompt: {prompt}\n{wording.ask.replace('{answer}', voice.answer)}"


def of_a_given_answer(prompt: str, answer: str) -> str:
    """The question what an answer is like that can be read."""
    return f"{_quoted(prompt, answer)}\nWhich letter does the answer get?"


def _quoted(prompt: str, answer: str | None) -> str:
    return f"Prompt: {prompt}" + ("" if answer is None else f"\nAnswer: {answer}")
