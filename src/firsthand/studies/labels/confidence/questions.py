"""Multiple-choice questions: cleaned, counted, drawn evenly by subject, and posed in several orders.

The right option stands behind every letter equally often, and each question is posed in orders that move every option,
so a preference for a letter is no knowledge: it makes answers right as often as a lot does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from transformers import PreTrainedTokenizerBase

from firsthand.errors import LabelsError
from firsthand.studies.labels.confidence.files import Columns, read_raw
from firsthand.studies.labels.confidence.marks import LETTERS, Raw
from firsthand.trials.canonical import digest
from firsthand.trials.randomness import stream

LONGEST: Final = 200
"""Most tokens of a question with its options, unless said otherwise."""


@dataclass(frozen=True)
class MultipleChoice:
    """One question.

    Attributes:
        key: Its name within the set.
        question: What is asked.
        options: The possible answers.
        answer: Which of them is right.
        subject: What it is about.
    """

    key: str
    question: str
    options: tuple[str, ...]
    answer: int
    subject: str

    @property
    def text(self) -> str:
        """The question and its options, without letters, as an observer of words reads it."""
        return "\n".join((self.question, *self.options))


@dataclass(frozen=True)
class Questions:
    """A set of questions.

    Attributes:
        items: The questions that can be used, in the order of the files.
        dropped: How many were left out, by reason: ``empty``, ``malformed`` (fewer than two options, or more than there
            are letters), ``answer is no option``, ``repeated options``, ``duplicate`` (the first was kept),
            ``contradictory`` (equal but for the answer: all of them), ``too long``, ``special tokens``.
    """

    items: tuple[MultipleChoice, ...]
    dropped: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.items)

    @property
    def subjects(self) -> tuple[str, ...]:
        """Subjects, in order of appearance."""
        return tuple(dict.fromkeys(item.subject for item in self.items))


@dataclass(frozen=True)
class Posed:
    """A question with its options in one order.

    Attributes:
        item: The question.
        order: The options in order of mention, as indices into ``item.options``.
        number: Which of the orders it is; even ones use the first wording of a report, odd ones the second.
    """

    item: MultipleChoice
    order: tuple[int, ...]
    number: int

    def letter(self, option: int) -> str:
        """The letter behind which an option stands."""
        return LETTERS[self.order.index(option)]

    @property
    def block(self) -> str:
        """The question and its options as they are shown."""
        lines = [f"{LETTERS[i]}. {self.item.options[option]}" for i, option in enumerate(self.order)]
        return "\n".join((self.item.question, "", *lines))


def read_questions(
    path: Path,
    columns: Columns | None = None,
    *,
    tokenizer: PreTrainedTokenizerBase | None = None,
    longest: int = LONGEST,
) -> Questions:
    """Read questions from a file or a folder.

    Args:
        path: CSV in MMLU's layout (no header; question, options, letter), CSV, JSONL, JSON or Parquet with named
            columns, or a folder of such files, whose names are then subjects.
        columns: Names of columns, where they are not to be guessed.
        tokenizer: The model's tokenizer: questions that are too long for it, or hold one of its special tokens, are
            left out.
        longest: Most tokens of a question with its options.

    Raises:
        LabelsError: If a file cannot be read, lacks a column, or no question can be used.
    """
    raw = read_raw(path, columns or Columns())
    reasons = _reasons(raw, tokenizer, longest)
    items = tuple(
        MultipleChoice(f"q{number:05d}", one.question, one.options, answer, one.subject)
        for number, ((one, answer), reason) in enumerate(zip(raw, reasons, strict=True))
        if reason is None and answer is not None
    )
    dropped = {reason: reasons.count(reason) for reason in dict.fromkeys(r for r in reasons if r is not None)}
    if not items:
        told = ", ".join(f"{count} {reason}" for reason, count in dropped.items())
        raise LabelsError(
            f"{path} holds no question that can be used (left out: {told}).",
            "Give questions with options and a right answer, or name the columns.",
        )
    return Questions(items, MappingProxyType(dropped))


def _reasons(
    raw: Sequence[tuple[Raw, int | None]], tokenizer: PreTrainedTokenizerBase | None, longest: int
) -> list[str | None]:
    """Why each question is left out; ``None`` for those that are kept."""
    special = () if tokenizer is None else tuple(tokenizer.all_special_tokens)
    meant: dict[tuple[str, frozenset[str]], set[str]] = {}
    for one, answer in raw:
        if answer is not None:
            meant.setdefault(_same(one), set()).add(one.options[answer])
    first: set[tuple[str, frozenset[str]]] = set()
    reasons = []
    for one, answer in raw:
        reason = _reason(one, answer)
        text = "\n".join((one.question, *one.options))
        if reason is None and len(meant[_same(one)]) > 1:
            reason = "contradictory"
        elif reason is None and _same(one) in first:
            reason = "duplicate"
        elif reason is None and any(token in text for token in special):
            reason = "special tokens"
        elif (
            reason is None and tokenizer is not None and len(tokenizer.encode(text, add_special_tokens=False)) > longest
        ):
            reason = "too long"
        if reason is None:
            first.add(_same(one))
        reasons.append(reason)
    return reasons


def _reason(one: Raw, answer: int | None) -> str | None:
    if not 2 <= len(one.options) <= len(LETTERS):
        return "malformed"
    if not one.question or not all(one.options):
        return "empty"
    if len(set(one.options)) < len(one.options):
        return "repeated options"
    return "answer is no option" if answer is None else None


def _same(one: Raw) -> tuple[str, frozenset[str]]:
    return one.question, frozenset(one.options)


def digest_of(questions: Questions) -> str:
    """Hash of the questions, their options, answers and subjects."""
    return digest([[q.question, list(q.options), q.answer, q.subject] for q in questions.items])


def sample(questions: Questions, count: int, seed: int) -> tuple[MultipleChoice, ...]:
    """Draw questions, as evenly from the subjects as their numbers allow.

    Raises:
        LabelsError: If there are fewer.
    """
    if len(questions) < count:
        told = ", ".join(f"{n} {reason}" for reason, n in questions.dropped.items()) or "none"
        raise LabelsError(
            f"There are {len(questions)} questions that can be used, and {count} are to be asked (left out: {told}).",
            f"Ask at most {len(questions)}, or raise the number of tokens that a question may have.",
        )
    by_subject: dict[str, list[MultipleChoice]] = {}
    for item in questions.items:
        by_subject.setdefault(item.subject, []).append(item)
    subjects = [sorted(by_subject)[i] for i in stream("confidence", seed, "subjects").permutation(len(by_subject))]
    drawn = {
        subject: [
            by_subject[subject][i] for i in stream("confidence", seed, "questions", subject).permutation(len(found))
        ]
        for subject, found in by_subject.items()
    }
    rounds = max(map(len, drawn.values()))
    every = [drawn[subject][n] for n in range(rounds) for subject in subjects if n < len(drawn[subject])]
    return tuple(every[:count])


def two_options(item: MultipleChoice, seed: int) -> MultipleChoice:
    """The question as a choice between the right option and one wrong one, drawn by lot."""
    wrong = [i for i in range(len(item.options)) if i != item.answer]
    other = wrong[int(stream("confidence", seed, "distractor", item.key).integers(len(wrong)))]
    return replace(item, options=(item.options[item.answer], item.options[other]), answer=0)


def posed(items: Sequence[MultipleChoice], orders: int, seed: int, what: str) -> list[tuple[Posed, ...]]:
    """Every question in several orders of its options, the right one behind every letter equally often.

    The first order is drawn by lot but for the place of the right option, which is dealt out evenly; each further order
    turns the options on, so that over the orders each stands behind as many letters as there are orders.

    Args:
        items: The questions.
        orders: Number of orders.
        seed: The run's seed.
        what: Name of the draw.
    """
    deal = stream("confidence", seed, what, "places").permutation(len(items)).tolist()
    found = []
    for item, place in zip(items, deal, strict=True):
        count = len(item.options)
        others = [i for i in range(count) if i != item.answer]
        mixed = [others[i] for i in stream("confidence", seed, what, item.key).permutation(len(others))]
        first = [*mixed[: place % count], item.answer, *mixed[place % count :]]
        turns = [(number * max(1, count // min(orders, count))) % count for number in range(orders)]
        found.append(tuple(Posed(item, tuple(first[turn:] + first[:turn]), n) for n, turn in enumerate(turns)))
    return found
