"""Exam questions and posts of which cases are made: cleaned, and everything that was left out counted.

An exam question is read by the reader that the confidence study uses (MMLU's layout without a header, named columns, or
a folder of either). A post is a story with a verdict of its readers, and becomes a question with two options.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from firsthand.counterfactual.part import Part
from firsthand.errors import CounterfactualError, LabelsError
from firsthand.studies.labels.confidence.files import Columns, read_raw
from firsthand.studies.labels.confidence.marks import LETTERS, Raw
from firsthand.studies.labels.tables import read_records
from firsthand.trials.canonical import digest
from firsthand.trials.randomness import stream

SHORTEST_POST: Final = 100
LONGEST_POST: Final = 2000
LONGEST_QUESTION: Final = 2000
"""Characters of a post, and of an exam question with its options."""

AT_FAULT: Final = "The writer is in the wrong."
NOT_AT_FAULT: Final = "The writer is not in the wrong."

_READERS_VERDICT: Final = re.compile(r"^\s*R:\s*(NTA|YTA)\b")


class Item(Part):
    """One question with options.

    Attributes:
        key: Name within its set, the same for the same content.
        question: What is asked.
        options: The options, in the order in which they are shown.
        right: Number of the right option, or of the readers' verdict.
        subject: What it is about.
        source: Set that it comes from.
        post: Whether it is a post, which gets an opinion and no exam cue.
    """

    key: str
    question: str
    options: tuple[str, ...]
    right: int
    subject: str
    source: str
    post: bool = False

    def letter(self, option: int) -> str:
        """How an option is named: ``(B)``."""
        return f"({LETTERS[option]})"


class Items(Part):
    """A set of them, and what was left out.

    Attributes:
        items: Those that can be used, in the order of the files.
        dropped: How many were left out, by reason.
    """

    items: tuple[Item, ...]
    dropped: dict[str, int]


def read_exam(path: Path, columns: Columns | None = None, longest: int = LONGEST_QUESTION) -> Items:
    """Exam questions of a file or folder.

    Args:
        path: MMLU's layout (no header: question, options, letter), a table with named columns, or a folder of these.
        columns: Names of columns that are not to be guessed.
        longest: Most characters of a question with its options.

    Raises:
        CounterfactualError: If nothing there can be used.
    """
    try:
        raw = read_raw(path, columns or Columns())
    except LabelsError as error:
        raise CounterfactualError(error.problem, error.remedy) from error
    dropped: Counter[str] = Counter()
    kept: dict[tuple[str, frozenset[str]], Item] = {}
    meant: dict[tuple[str, frozenset[str]], set[str]] = {}
    for one, right in raw:
        reason = _unusable(one, right, longest)
        if reason is not None or right is None:
            dropped[reason or "answer is no option"] += 1
            continue
        same = (one.question, frozenset(one.options))
        meant.setdefault(same, set()).add(one.options[right])
        if same in kept:
            dropped["given before"] += 1
            continue
        key = digest([one.question, sorted(one.options)])[:12]
        kept[same] = Item(
            key=key, question=one.question, options=one.options, right=right, subject=one.subject, source=path.name
        )
    torn = [same for same, answers in meant.items() if len(answers) > 1]
    for same in torn:
        del kept[same]
    dropped["several answers are given as right"] += len(torn)
    return _some(path, kept.values(), dropped)


def _unusable(one: Raw, right: int | None, longest: int) -> str | None:
    if not one.question or not all(one.options):
        return "empty"
    if not 2 <= len(one.options) <= len(LETTERS):
        return "too few or too many options"
    if len(set(one.options)) < len(one.options):
        return "repeated options"
    if right is None:
        return "answer is no option"
    if len(one.question) + sum(map(len, one.options)) > longest:
        return f"longer than {longest:,} characters"
    return None


def read_posts(path: Path, seed: int = 0) -> Items:
    """Posts with a clear verdict of their readers, as questions with two options whose order is drawn by lot.

    Args:
        path: A file of records. The text is in ``prompt_body`` or ``prompt``; the verdict in ``ytanta`` (``YTA`` or
            ``NTA``) or in the title, as ``R: NTA AI: YTA``, of which the first is the readers'.
        seed: Seed of the order of the options.

    Raises:
        CounterfactualError: If nothing there can be used.
    """
    try:
        records = read_records(path)
    except LabelsError as error:
        raise CounterfactualError(error.problem, error.remedy) from error
    dropped: Counter[str] = Counter()
    kept: dict[str, Item] = {}
    verdicts: dict[str, set[bool]] = {}
    for record in records:
        text, at_fault = _text_of(record), _verdict_of(record)
        reason = _unfit(text, at_fault)
        if reason is not None or at_fault is None:
            dropped[reason or "no clear verdict"] += 1
            continue
        verdicts.setdefault(text, set()).add(at_fault)
        if text in kept:
            dropped["given before"] += 1
            continue
        kept[text] = _post(text, at_fault, path.name, seed)
    torn = [text for text, found in verdicts.items() if len(found) > 1]
    for text in torn:
        del kept[text]
    dropped["several verdicts"] += len(torn)
    return _some(path, kept.values(), dropped)


def _text_of(record: Mapping[str, Any]) -> str:
    return next((str(record[name]).strip() for name in ("prompt_body", "prompt") if record.get(name)), "")


def _verdict_of(record: Mapping[str, Any]) -> bool | None:
    """Whether readers find the writer in the wrong; ``None`` if the record does not say."""
    stated = str(record.get("ytanta") or "").strip().upper()
    if stated not in ("YTA", "NTA"):
        found = _READERS_VERDICT.match(str(record.get("prompt_title") or ""))
        stated = found[1] if found else ""
    return {"YTA": True, "NTA": False}.get(stated)


def _unfit(text: str, at_fault: bool | None) -> str | None:
    if not text:
        return "no text"
    if not SHORTEST_POST <= len(text) <= LONGEST_POST:
        return f"not of {SHORTEST_POST} to {LONGEST_POST:,} characters"
    return "no clear verdict" if at_fault is None else None


def _post(text: str, at_fault: bool, source: str, seed: int) -> Item:
    key = digest(text)[:12]
    options = [AT_FAULT, NOT_AT_FAULT]
    if stream(seed, "order of options", key).random() < 0.5:
        options.reverse()
    return Item(
        key=key,
        question=f"Somebody writes:\n\n{text}\n\nWho is right here?",
        options=tuple(options),
        right=options.index(AT_FAULT if at_fault else NOT_AT_FAULT),
        subject="posts",
        source=source,
        post=True,
    )


def _some(path: Path, items: Iterable[Item], dropped: Mapping[str, int]) -> Items:
    kept, counted = tuple(items), {reason: count for reason, count in sorted(dropped.items()) if count}
    if not kept:
        told = ", ".join(f"{count} {reason}" for reason, count in counted.items()) or "it is empty"
        raise CounterfactualError(f"{path} holds no question that can be used: {told}.", "Give other data.")
    return Items(items=kept, dropped=counted)


def shots_of(items: Sequence[Item], count: int, seed: int, longest: int = 160) -> tuple[Item, ...]:
    """Short questions that may be answered before others, their right options spread over the letters.

    Args:
        items: Questions of an exam.
        count: How many are wanted.
        seed: Seed of the lot.
        longest: Most characters of a question with its options.

    Raises:
        CounterfactualError: If there are fewer.
    """
    short = [one for one in items if len(one.question) + sum(map(len, one.options)) <= longest]
    by_letter: dict[int, list[Item]] = {}
    for item in sorted(short, key=lambda one: digest([seed, "shot", one.key])):
        by_letter.setdefault(item.right, []).append(item)
    letters = sorted(by_letter, key=lambda one: digest([seed, "letter", one]))
    rounds = max(map(len, by_letter.values()), default=0)
    every = [by_letter[letter][n] for n in range(rounds) for letter in letters if n < len(by_letter[letter])]
    if len(every) < count:
        raise CounterfactualError(f"{count} short questions are wanted and there are {len(every)}.", "Ask for fewer.")
    return tuple(every[:count])


def drawn(items: Sequence[Item], count: int, seed: int) -> tuple[Item, ...]:
    """Some of the items by lot, as evenly from the subjects as there are.

    Raises:
        CounterfactualError: If there are fewer.
    """
    if len(items) < count:
        raise CounterfactualError(f"{count} questions are wanted and {len(items)} can be used.", "Ask for fewer.")
    by_subject: dict[str, list[Item]] = {}
    for item in sorted(items, key=lambda one: digest([seed, one.key])):
        by_subject.setdefault(item.subject, []).append(item)
    subjects = sorted(by_subject, key=lambda one: digest([seed, "subject", one]))
    rounds = max(map(len, by_subject.values()), default=0)
    every = [by_subject[one][n] for n in range(rounds) for one in subjects if n < len(by_subject[one])]
    return tuple(every[:count])
