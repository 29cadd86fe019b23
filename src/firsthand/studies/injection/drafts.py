"""The conversations of the injection studies as text, with the span that is marked, before any tokenizer is asked.

A :class:`Draft` is public: it holds what an observer may see, and neither a vector nor the arm that is run on it. The
same draft serves every arm in which only the residual stream differs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from numpy.random import Generator

from firsthand.engine.prompts import Message
from firsthand.errors import ElicitationError
from firsthand.studies.injection.texts_sentences import FILLERS, PASSAGES
from firsthand.studies.injection.wordings import Ask, Meaning, Order, Turn, Wording, fill, labels_of

Exchange: TypeAlias = tuple[str, str]  # what the user says and what the model answers


class Task(StrEnum):
    """What a conversation asks for."""

    DETECTION = "detection"
    OPEN = "open"
    UNRELATED = "unrelated"
    NAMING = "naming"
    NO_QUESTION = "no_question"
    CODES = "codes"
    CODES_CONTROL = "codes_control"
    CHOICE = "choice"
    CHOICE_CONTROL = "choice_control"
    LOCALISATION = "localisation"
    LOCALISATION_CONTROL = "localisation_control"
    STRENGTH = "strength"
    STRENGTH_CONTROL = "strength_control"
    CONFIDENCE = "confidence"


_CONTROLS: Final = {Task.CODES_CONTROL: "codes_any", Task.CHOICE_CONTROL: "choice_any"}
_TOLD: Final = {True: "told", False: "untold"}


@dataclass(frozen=True)
class Draft:
    """A conversation that ends in the stem of an answer.

    Attributes:
        task: What is asked for.
        wording: Name of the wording.
        cluster: Its cluster.
        framing: Its framing.
        messages: ``(role, content)`` pairs; the last one is the stem, which may be empty.
        marks: Texts that carry a vector, in the order of the conversation; none stands anywhere else in it.
        labels: What can be answered, in the order of the text; none for a free answer.
        meanings: What each label means.
        detail: What else was drawn or chosen, e.g. the question or the sentences.
        lead: Name of the text before everything else, if there is one.
        later: Index of the message with which the question begins, if the marked text lies in an earlier one.
        delay: Number of neutral exchanges between the two.
    """

    task: Task
    wording: str
    cluster: str
    framing: str
    messages: tuple[Message, ...]
    marks: tuple[str, ...]
    labels: tuple[str, ...] = ()
    meanings: tuple[str, ...] = ()
    detail: str = ""
    lead: str = ""
    later: int | None = None
    delay: int = 0

    @property
    def stem(self) -> str:
        """The beginning of the answer."""
        return self.messages[-1][1]

    def said(self, answer: int) -> str:
        """The model's whole turn if it gives the answer of this number."""
        return f"{self.stem}{joint(self.stem)}{self.labels[answer]}{_closing(self.stem)}."


@dataclass(frozen=True)
class Earlier:
    """Puts the marked span into an earlier turn (``lifted``), with neutral exchanges after it (``delayed``).

    Attributes:
        passage: The line that is marked, and the model's reply.
        fillers: Exchanges between that and the question.
    """

    passage: Exchange = PASSAGES[0]
    fillers: tuple[Exchange, ...] = ()


def draw_earlier(delay: int, rng: Generator) -> Earlier:
    """Draw a line to be marked and ``delay`` different neutral exchanges.

    Raises:
        ElicitationError: If there are fewer exchanges.
    """
    if not 0 <= delay <= len(FILLERS):
        raise ElicitationError(f"There are no {delay} neutral exchanges.", f"Use a delay of 0 to {len(FILLERS)}.")
    passage = PASSAGES[int(rng.integers(len(PASSAGES)))]
    return Earlier(passage, tuple(FILLERS[int(i)] for i in rng.permutation(len(FILLERS))[:delay]))


def detection(wording: Wording, order: Order, earlier: Earlier | None = None) -> Draft:
    """The injection question, its options in the given order.

    Raises:
        ElicitationError: If the order is not one of the wording's meanings.
    """
    _check_order(order, wording.meanings, wording.name)
    return _labelled(Task.DETECTION, wording, wording.detection, order, earlier)


def open_detection(wording: Wording, earlier: Earlier | None = None) -> Draft:
    """The injection question in free text: whether a thought was injected, and if so, what it is about.

    :mod:`~firsthand.studies.injection.free_text` says what an answer says.
    """
    return _draft(Task.OPEN, wording, wording.turns, wording.ask("open"), {}, earlier)


def unrelated(wording: Wording, order: Order, question: str, earlier: Earlier | None = None) -> Draft:
    """A question about the world in the frame of the injection question, to be answered yes or no.

    Raises:
        ElicitationError: If the wording has no such text, or the order is not one of yes and no.
    """
    _check_order(order, (Meaning.YES, Meaning.NO), wording.name)
    ask = wording.ask("unrelated")
    asked = ask.model_copy(update={"trial": fill(ask.trial, {"question": question})})
    return replace(_labelled(Task.UNRELATED, wording, asked, order, earlier), detail=question)


def naming(wording: Wording, earlier: Earlier | None = None) -> Draft:
    """Asks for the injected concept in a free answer; ``reconstruction`` reads the same prompt."""
    return _draft(Task.NAMING, wording, wording.turns, wording.ask("naming"), {}, earlier)


def no_question(wording: Wording, told: bool = True, earlier: Earlier | None = None) -> Draft:
    """The conversation of :func:`naming` with a neutral request: what is named here needs no question.

    Args:
        wording: The wording.
        told: Whether the setting still says that thoughts may be injected. If not, nothing in the text mentions it.
        earlier: Where the span lies, if not on the trial line.
    """
    draft = _draft(Task.NO_QUESTION, wording, _turns(wording, told), wording.ask("neutral"), {}, earlier)
    return replace(draft, detail=_TOLD[told])


def identification_by_code(
    wording: Wording, concepts: Sequence[str], codes: Sequence[str], earlier: Earlier | None = None
) -> Draft:
    """Asks for the opaque code of the concept; concepts and codes are listed as given.

    Raises:
        ElicitationError: If there are not as many different codes as different concepts, 2 to 10.
    """
    _check_codes(concepts, codes)
    return _identification(Task.CODES, wording, wording.turns, concepts, codes, earlier)


def identification_by_choice(wording: Wording, concepts: Sequence[str], earlier: Earlier | None = None) -> Draft:
    """Asks for the label of the concept; concepts are listed as given.

    Raises:
        ElicitationError: If the concepts are not 2 to 10 different ones, or more than the wording has labels.
    """
    _check_concepts(concepts)
    labels = labels_of(wording.labels, len(concepts))
    return _identification(Task.CHOICE, wording, wording.turns, concepts, labels, earlier)


def identification_control(
    wording: Wording,
    concepts: Sequence[str],
    codes: Sequence[str] | None = None,
    *,
    told: bool,
    earlier: Earlier | None = None,
) -> Draft:
    """The list of an identification question with a request for any word of it: nothing inner is asked.

    If the injected concept is picked here as often, its "identification" is a promotion of its word.

    Args:
        wording: The wording.
        concepts: Those of the identification question, in its order.
        codes: Its codes; without them the labels of :func:`identification_by_choice` are used.
        told: Whether the setting still says that thoughts may be injected. If not, nothing in the text mentions it.
        earlier: Where the span lies, if not on the trial line.

    Raises:
        ElicitationError: As the question's own function, or if the wording has no such text.
    """
    turns = _turns(wording, told)
    if codes is None:
        _check_concepts(concepts)
        labels = labels_of(wording.labels, len(concepts))
        draft = _identification(Task.CHOICE_CONTROL, wording, turns, concepts, labels, earlier)
    else:
        _check_codes(concepts, codes)
        draft = _identification(Task.CODES_CONTROL, wording, turns, concepts, codes, earlier)
    return replace(draft, detail=_TOLD[told])


def draw_codebook(concepts: Sequence[str], letters: Sequence[str], rng: Generator) -> tuple[tuple[str, str], ...]:
    """Draw a block's ``(concept, code)`` pairs: other codes, another mapping, another order.

    Args:
        concepts: 2 to 10 different ones.
        letters: Codes that the model's tokenizer can express (:func:`~firsthand.engine.readout.usable_codes`).
        rng: The block's codebook stream.

    Raises:
        ElicitationError: If there are fewer codes than concepts.
    """
    _check_concepts(concepts)
    usable = sorted(set(letters))
    if len(usable) < len(concepts):
        raise ElicitationError(
            f"{len(concepts)} concepts need as many codes, but there are {len(usable)}.", "Give more letters."
        )
    codes = rng.permutation(len(usable))
    return tuple(
        (concepts[int(i)], usable[int(c)]) for i, c in zip(rng.permutation(len(concepts)), codes, strict=False)
    )


def with_lead(draft: Draft, text: str, name: str, place: Literal["user", "system"] = "user") -> Draft:
    """Put a text before everything else: a push towards a concept, or its neutral counterpart.

    Args:
        draft: Any draft without a lead.
        text: The text.
        name: Its identifier.
        place: At the head of the first user message, or as a system message (after the one that is there).
    """
    if draft.lead:
        raise ElicitationError(f"The conversation has the lead {draft.lead!r} already.", "Add one lead only.")
    messages, later = list(draft.messages), draft.later
    if place == "user":
        at = [role for role, _ in messages].index("user")
        messages[at] = ("user", f"{text}\n\n{messages[at][1]}")
    elif messages[0][0] == "system":
        messages[0] = ("system", f"{messages[0][1]}\n\n{text}")
    else:
        messages.insert(0, ("system", text))
        later = None if later is None else later + 1
    return replace(draft, messages=tuple(messages), lead=name, later=later)


def joint(stem: str) -> str:
    """What stands between a stem and the answer: nothing after a bracket, a quotation mark, a space or no stem."""
    return "" if not stem or stem[-1].isspace() or stem[-1] in "([{\"'*#" else " "


def _closing(stem: str) -> str:
    return {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'"}.get(stem[-1:], "")


def _check_order(order: Order, meanings: Order, name: str) -> None:
    if sorted(order) != sorted(meanings):
        raise ElicitationError(
            f"{', '.join(order) or 'Nothing'} is no order of the answers of the wording {name!r}.",
            f"List each once: {', '.join(meanings)}.",
        )


def _check_concepts(concepts: Sequence[str]) -> None:
    if not 2 <= len(concepts) <= 10 or len({c.casefold() for c in concepts}) != len(concepts):
        raise ElicitationError(f"{list(concepts)} are not 2 to 10 different concepts.", "Give each once.")


def _check_codes(concepts: Sequence[str], codes: Sequence[str]) -> None:
    _check_concepts(concepts)
    if len(set(codes)) != len(codes) or len(codes) != len(concepts):
        raise ElicitationError(f"{len(concepts)} concepts need as many different codes.", "Give one code for each.")


def _turns(wording: Wording, told: bool) -> tuple[Turn, ...]:
    """The turns of a control: the wording's own, or those that say nothing about injections."""
    if told:
        return wording.turns
    if wording.neutral_turns is None:
        raise ElicitationError(
            f"The wording {wording.name!r} has no neutral turns.", "Add 'neutral_turns', or keep its setting."
        )
    return wording.neutral_turns


def _listed(wording: Wording, lines: Sequence[str]) -> str:
    if wording.before_last is None:
        return wording.between.join(lines)
    return wording.between.join(lines[:-1]) + wording.before_last + lines[-1]


def _labelled(task: Task, wording: Wording, ask: Ask, order: Order, earlier: Earlier | None) -> Draft:
    labels = labels_of(wording.labels, len(order))
    lines = [fill(wording.option(m), {"label": label}) for m, label in zip(order, labels, strict=True)]
    draft = _draft(task, wording, wording.turns, ask, {"options": _listed(wording, lines)}, earlier)
    return replace(draft, labels=labels, meanings=tuple(str(m) for m in order))


def _identification(
    task: Task,
    wording: Wording,
    turns: Sequence[Turn],
    concepts: Sequence[str],
    labels: Sequence[str],
    earlier: Earlier | None,
) -> Draft:
    line = wording.code_line if task in (Task.CODES, Task.CODES_CONTROL) else wording.choice_line
    lines = [fill(line, {"label": lb, "concept": c}) for lb, c in zip(labels, concepts, strict=True)]
    ask = wording.ask(_CONTROLS.get(task, str(task)))
    draft = _draft(task, wording, turns, ask, {"options": _listed(wording, lines)}, earlier)
    return replace(draft, labels=tuple(labels), meanings=tuple(concepts))


def _draft(
    task: Task, wording: Wording, turns: Sequence[Turn], ask: Ask, values: Mapping[str, str], earlier: Earlier | None
) -> Draft:
    kind = "number" if wording.labels == "digits" else "letter"
    when = wording.now if earlier is None else wording.earlier
    values = {**values, "kind": kind, "when": when}
    task_text, trial = fill(ask.task, values), fill(ask.trial, values)
    if earlier is not None:
        turns, trial = _with_task_last(turns, task_text, trial)
    messages: list[Message] = [(t.role, fill(t.text, {"task": task_text, "trial": trial})) for t in turns]
    marks, later, delay = (trial,), None, 0
    if earlier is not None:
        exchanges = (earlier.passage, *earlier.fillers)
        messages[-1:-1] = [m for user, reply in exchanges for m in (("user", user), ("assistant", reply))]
        marks, later, delay = (earlier.passage[0],), len(messages) - 1, len(earlier.fillers)
    return Draft(
        task=task,
        wording=wording.name,
        cluster=wording.cluster,
        framing=str(wording.framing),
        messages=(*messages, ("assistant", ask.stem)),
        marks=marks,
        later=later,
        delay=delay,
    )


def _with_task_last(turns: Sequence[Turn], task: str, trial: str) -> tuple[list[Turn], str]:
    """Turns whose task stands in the last one, where the question is asked, and the trial line that holds it then.

    A first turn that holds nothing but the task keeps it.
    """
    moved = [turn.model_copy(update={"text": turn.text.replace("{task}", "").strip()}) for turn in turns[:-1]]
    if "{task}" in turns[-1].text or not all(turn.text for turn in moved):
        return list(turns), trial
    return [*moved, turns[-1]], f"{task}\n\n{trial}"
