"""Conversations in which the place or the strength of an injection is asked for, and the confidence question."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from numpy.random import Generator

from firsthand.errors import ElicitationError
from firsthand.studies.injection.drafts import Draft, Task
from firsthand.studies.injection.texts_places import (
    CONFIDENCE_CONTROL,
    CONFIDENCE_STEM,
    CONFIDENCE_TEXTS,
    PLACE_CONTROLS,
    STRENGTH_CONTROLS,
    PlaceText,
    StrengthText,
)
from firsthand.studies.injection.texts_sentences import SENTENCES
from firsthand.studies.injection.wordings import Framing, LabelStyle, fill, labels_of

STEM: Final = "I choose sentence ("
"""How answers about sentences begin. Chosen by coverage; see ``docs/injection-prompts.md``."""
CONTROL: Final = "control"
"""Name of the rating that asks nothing about being right."""
COPIES: Final = ("first", "second")
"""Meanings of the answers about strength."""


def draw_sentences(count: int, rng: Generator, pool: Sequence[str] = SENTENCES) -> tuple[str, ...]:
    """Draw different sentences in a random order.

    Raises:
        ElicitationError: If the pool has fewer.
    """
    if not 1 <= count <= len(pool):
        raise ElicitationError(f"There are no {count} sentences to draw from {len(pool)}.", "Draw fewer.")
    return tuple(pool[int(i)] for i in rng.permutation(len(pool))[:count])


def localisation(text: PlaceText, sentences: Sequence[str], labels: LabelStyle = "letters") -> Draft:
    """Asks which sentence carried the injection; the marks are the sentences without their labels.

    Args:
        text: What is said.
        sentences: 2 to 10 different ones (9 with digits), in their order.
        labels: How they are labelled. The meaning of an answer is the index of its sentence.

    Raises:
        ElicitationError: If they are too few, too many, or not different.
    """
    return _places(Task.LOCALISATION, text, text.ask, sentences, labels, "")


def localisation_control(
    text: PlaceText, control: str, sentences: Sequence[str], concept: str, labels: LabelStyle = "letters"
) -> Draft:
    """The same conversation with a question about the sentences themselves.

    Args:
        text: What is said before the question, as in :func:`localisation`.
        control: A key of :data:`PLACE_CONTROLS`.
        sentences: The same sentences.
        concept: The injected concept, which the control ``"concept"`` names.
        labels: How they are labelled.

    Raises:
        ElicitationError: As :func:`localisation`, or if there is no such control.
    """
    ask = fill(_control(control, PLACE_CONTROLS), {"concept": concept})
    return _places(Task.LOCALISATION_CONTROL, text, ask, sentences, labels, control)


def strength(
    text: StrengthText, sentence: str, first_mentioned: Literal[0, 1], answers: Literal["words", "digits"] = "digits"
) -> Draft:
    """Asks which of two copies of a sentence carried the stronger injection.

    Args:
        text: What is said.
        sentence: Shown twice; both copies are marked. Which gets the higher dose is not part of the text.
        first_mentioned: Which copy the question mentions first, 0 or 1; labels and meanings follow that order.
        answers: ``1`` and ``2``, or ``FIRST`` and ``SECOND`` (of several tokens for many models, and of less coverage).
    """
    return _copies(Task.STRENGTH, text, text.ask, sentence, first_mentioned, answers, "")


def strength_control(
    text: StrengthText,
    control: str,
    sentence: str,
    first_mentioned: Literal[0, 1],
    answers: Literal["words", "digits"] = "digits",
) -> Draft:
    """The same conversation with a question that asks nothing about the inside; a key of :data:`STRENGTH_CONTROLS`."""
    ask = _control(control, STRENGTH_CONTROLS)
    return _copies(Task.STRENGTH_CONTROL, text, ask, sentence, first_mentioned, answers, control)


def confidence(report: Draft, answer: int, ask: str = "chance") -> Draft:
    """Asks in the same conversation how likely the report is to be right.

    Answers are the digits 0 to 9 for the ranges 0-9, 10-19, ..., 90-100 percent; their meanings are the middles of the
    ranges, as probabilities. The marks are the report's.

    Args:
        report: A draft with labelled answers.
        answer: The number of the answer that was given.
        ask: A key of :data:`CONFIDENCE_TEXTS`, or ``control`` for another rating of the same answer.

    Raises:
        ElicitationError: If the report has no such answer, or there is no such question.
    """
    if not 0 <= answer < len(report.labels):
        raise ElicitationError(f"The report has no answer {answer}.", "Ask for confidence in an answer that was read.")
    texts = {**CONFIDENCE_TEXTS, CONTROL: CONFIDENCE_CONTROL}
    if ask not in texts:
        raise ElicitationError(f"There is no question {ask!r}.", f"Choose one of {', '.join(texts)}.")
    ranges = [f"({i}) {10 * i} to {10 * i + (9 if i < 9 else 10)} percent" for i in range(10)]
    question = fill(texts[ask], {"options": "\n".join(ranges)})
    return replace(
        report,
        task=Task.CONFIDENCE,
        messages=(
            *report.messages[:-1],
            ("assistant", report.said(answer)),
            ("user", question),
            ("assistant", CONFIDENCE_STEM),
        ),
        labels=tuple("0123456789"),
        meanings=tuple(f"{(10 * i + (4.5 if i < 9 else 5)) / 100:.3f}" for i in range(10)),
        detail=f"{report.task}: {ask}",
    )


def _control(name: str, controls: dict[str, str]) -> str:
    if name not in controls:
        raise ElicitationError(f"There is no control question {name!r}.", f"Choose one of {', '.join(controls)}.")
    return controls[name]


def _places(task: Task, text: PlaceText, ask: str, sentences: Sequence[str], style: LabelStyle, detail: str) -> Draft:
    if not 2 <= len(sentences) <= 10 or len(set(sentences)) != len(sentences):
        raise ElicitationError(f"{len(sentences)} sentences are not 2 to 10 different ones.", "Give each once.")
    labels = labels_of(style, len(sentences))
    lines = "\n".join(f"({label}) {sentence}" for label, sentence in zip(labels, sentences, strict=True))
    intro = fill(text.intro, {"sentences": lines, "count": str(len(sentences))})
    question = fill(ask, {"kind": "number" if style == "digits" else "letter"})
    return Draft(
        task=task,
        wording=f"{text.key}-{len(sentences)}-{style}",
        cluster=text.key,
        framing=Framing.INSTRUCTION,
        messages=(("user", f"{intro}\n\n{question}"), ("assistant", STEM)),
        marks=tuple(sentences),
        labels=labels,
        meanings=tuple(str(i) for i in range(len(sentences))),
        detail=detail,
    )


def _copies(
    task: Task,
    text: StrengthText,
    ask: str,
    sentence: str,
    first_mentioned: Literal[0, 1],
    answers: Literal["words", "digits"],
    detail: str,
) -> Draft:
    names = ("FIRST", "SECOND") if answers == "words" else ("1", "2")
    copies = "\n".join(f"({name}) {sentence}" for name in names)
    order = (first_mentioned, 1 - first_mentioned)
    labels = tuple(names[i] for i in order)
    question = fill(ask, {"one": f"({labels[0]})", "other": f"({labels[1]})"})
    return Draft(
        task=task,
        wording=f"{text.key}-{answers}",
        cluster=text.key,
        framing=Framing.INSTRUCTION,
        messages=(("user", f"{fill(text.intro, {'copies': copies})}\n\n{question}"), ("assistant", STEM)),
        marks=(sentence, sentence),
        labels=labels,
        meanings=tuple(COPIES[i] for i in order),
        detail=detail,
    )
