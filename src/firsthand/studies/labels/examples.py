"""Labelled texts from a file: cleaned, counted, grouped by contrast pair, and split so that no group is parted.

A text and its near twin with the other label say almost the same. Were one in a training set and the other in a test
set, memory would pass for knowledge; so what belongs together stays together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from firsthand.errors import LabelsError
from firsthand.studies.labels.classes import classes_of, label_name
from firsthand.studies.labels.grouping import groups_of
from firsthand.studies.labels.tables import read_records
from firsthand.trials.randomness import stream

TEXT_COLUMNS: Final = ("text", "sentence", "input", "content", "scenario", "prompt", "question", "review", "comment")
LABEL_COLUMNS: Final = ("label", "labels", "class", "target", "y", "sentiment", "category")
LEAST: Final = 10
"""Fewer examples could not be split into a part to fit and one to judge on."""


@dataclass(frozen=True)
class Examples:
    """Labelled texts.

    Attributes:
        texts: The texts, without space around them, each once.
        labels: Their classes, 0 or 1.
        groups: What belongs together and must not be parted, as numbers.
        classes: What the file calls class 0 and class 1.
        dropped: How many rows were left out, by reason: ``empty``, ``unlabelled``, ``duplicate`` (the first was kept),
            ``contradictory`` (a text with both labels: all of them), ``too long``, ``special tokens``.
    """

    texts: tuple[str, ...]
    labels: tuple[int, ...]
    groups: tuple[int, ...]
    classes: tuple[str, str]
    dropped: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, indices: Sequence[int]) -> "Examples":
        """Some of the examples, in the order given."""
        return Examples(
            tuple(self.texts[i] for i in indices),
            tuple(self.labels[i] for i in indices),
            tuple(self.groups[i] for i in indices),
            self.classes,
            self.dropped,
        )


def read_examples(
    path: Path,
    *,
    text: str | None = None,
    label: str | None = None,
    group: str | None = None,
    positive: str | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
    longest: int | None = None,
    least: int = LEAST,
) -> Examples:
    """Read a labelled text set.

    Args:
        path: CSV, JSONL, JSON, Parquet, or a folder saved by Hugging Face ``datasets``.
        text: Name of the column with the texts; guessed from common names if it is left out.
        label: Name of the column with the labels; guessed likewise.
        group: Name of a column that says what belongs together. Without it consecutive texts that share half of their
            words do.
        positive: What the file calls class 1, if that is not the later or larger of two labels; all others are class 0.
        tokenizer: The model's tokenizer; texts that hold one of its special tokens are then left out.
        longest: Most tokens of a text, if a tokenizer is given.
        least: Fewest examples.

    Returns:
        The examples, in the file's order.

    Raises:
        LabelsError: If the file cannot be read, lacks a column, holds something else than texts, labels of one class
            or (without ``positive``) more than two, or too few examples; or if ``longest`` comes without a tokenizer.
    """
    rows = read_records(path)
    columns = list(rows[0])
    text_column = _column(path, columns, "texts", text, TEXT_COLUMNS, "text")
    label_column = _column(path, columns, "labels", label, LABEL_COLUMNS, "label")
    if text_column == label_column:
        raise LabelsError(f"The column '{text_column}' of {path} cannot hold both.", "Name two columns.")
    texts = [_text(path, number, row[text_column]) for number, row in enumerate(rows, start=1)]
    names = [label_name(row[label_column]) for row in rows]
    classes = classes_of(path, [n for t, n in zip(texts, names, strict=True) if t and n is not None], positive)
    labels = [None if name is None else int(name == classes[1]) for name in names]
    reasons = _reasons(texts, labels, tokenizer, longest)
    column = None if group is None else _column(path, columns, "groups", group, (), "group")
    groups = groups_of(texts, None if column is None else [label_name(row[column]) for row in rows])
    kept = [i for i, reason in enumerate(reasons) if reason is None]
    dropped = {reason: reasons.count(reason) for reason in dict.fromkeys(r for r in reasons if r is not None)}
    found = Examples(
        tuple(texts[i] for i in kept),
        tuple(int(labels[i] or 0) for i in kept),
        tuple(groups[i] for i in kept),
        classes,
        MappingProxyType(dropped),
    )
    _check(path, found, len(rows), least)
    return found


def _check(path: Path, found: Examples, rows: int, least: int) -> None:
    told = ", ".join(f"{count} {reason}" for reason, count in found.dropped.items()) or "none"
    if len(found) < least:
        raise LabelsError(
            f"{path} has {len(found)} usable examples of {rows} rows (left out: {told}).",
            f"Give at least {least}.",
        )
    if len(set(found.labels)) < 2:
        raise LabelsError(
            f"All usable examples of {path} are of the class '{found.classes[found.labels[0]]}' (left out: {told}).",
            "Give texts of both classes.",
        )


def _column(
    path: Path, columns: Sequence[str], what: str, given: str | None, common: Sequence[str], option: str
) -> str:
    if given in columns:
        return str(given)
    found = [c for name in common for c in columns if c.strip().lower() == name] if given is None else []
    if found:
        return found[0]
    problem = f"no column '{given}'" if given is not None else f"no column that is known to hold {what}"
    raise LabelsError(f"{path} has {problem}; it has: {', '.join(columns)}.", f"Name one of them by '{option}'.")


def _text(path: Path, number: int, value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        raise LabelsError(f"The text in row {number} of {path} is a {type(value).__name__}.", "Name the right column.")
    return value.strip()


def _reasons(
    texts: Sequence[str],
    labels: Sequence[int | None],
    tokenizer: PreTrainedTokenizerBase | None,
    longest: int | None,
) -> list[str | None]:
    """Why each row is left out; ``None`` for those that are kept."""
    if longest is not None and tokenizer is None:
        raise LabelsError("Without a tokenizer no text has a length in tokens.", "Give one, or no 'longest'.")
    special = () if tokenizer is None else tuple(tokenizer.all_special_tokens)
    room = math.inf if longest is None else longest
    reasons: list[str | None] = []
    seen: dict[str, set[int]] = {}
    for text, label in zip(texts, labels, strict=True):
        if text and label is not None:
            seen.setdefault(text, set()).add(label)
    first: set[str] = set()
    for text, label in zip(texts, labels, strict=True):
        reason = None
        if not text:
            reason = "empty"
        elif label is None:
            reason = "unlabelled"
        elif len(seen[text]) > 1:
            reason = "contradictory"
        elif text in first:
            reason = "duplicate"
        elif any(token in text for token in special):
            reason = "special tokens"
        elif tokenizer is not None and len(tokenizer.encode(text, add_special_tokens=False)) > room:
            reason = "too long"
        if text and label is not None:
            first.add(text)
        reasons.append(reason)
    return reasons


def split(examples: Examples, sizes: Mapping[str, int], seed: int) -> dict[str, Examples]:
    """Draw disjoint parts with every group wholly in one of them, or in none.

    Groups are drawn in a random order, and one is passed over only where the part's size could no longer be met.

    Args:
        examples: The examples.
        sizes: Number of examples of each part, by its name.
        seed: The run's seed.

    Returns:
        The parts by name, their examples in a random order (contrast pairs do not lie side by side).

    Raises:
        LabelsError: If a size is not positive, the sizes cannot be met by whole groups, or a text is in two parts.
    """
    if not sizes or min(sizes.values()) < 1:
        raise LabelsError(f"The parts {dict(sizes)} are not to be drawn.", "Give each a size of 1 or more.")
    members: dict[int, list[int]] = {}
    for i, group in enumerate(examples.groups):
        members.setdefault(group, []).append(i)
    order = stream("labels", seed, "split").permutation(sorted(members)).tolist()
    parts: dict[str, list[int]] = {}
    for name, size in sizes.items():
        drawn = _drawn([len(members[group]) for group in order], size)
        parts[name] = [i for n in drawn for i in members[order[n]]]
        order = [group for n, group in enumerate(order) if n not in drawn]
    if any(len(parts[name]) < size for name, size in sizes.items()):
        wanted = ", ".join(f"{name} {size}" for name, size in sizes.items())
        most = ", ".join(f"{name} {len(part)}" for name, part in parts.items())
        largest = max(map(len, members.values()))
        alike = (
            f" {largest} of them are one group: without a column of groups, consecutive texts that share half of their "
            "words are kept together."
            if largest > min(sizes.values()) / 2
            else ""
        )
        raise LabelsError(
            f"{len(examples)} examples in {len(members)} groups do not give the parts {wanted}.{alike}",
            f"Ask for at most: {most}; or name a column of groups, if the texts are more alike than pairs.",
        )
    _check_apart(examples, parts)
    return {name: examples.take(_shuffled(part, seed, name)) for name, part in parts.items()}


def _drawn(lengths: Sequence[int], size: int) -> set[int]:
    """Groups, by number, that make up a size exactly, or else the largest size below it that can be made up.

    Bit ``s`` of ``reach[n]`` says whether groups from ``n`` on can make up ``s``.
    """
    reach = [1]
    for length in reversed(lengths):
        reach.append((reach[-1] | reach[-1] << length) & ((1 << (size + 1)) - 1))
    reach.reverse()
    room = reach[0].bit_length() - 1
    drawn: set[int] = set()
    for n, length in enumerate(lengths):
        if length <= room and reach[n + 1] >> (room - length) & 1:
            drawn.add(n)
            room -= length
    return drawn


def _shuffled(part: Sequence[int], seed: int, name: str) -> list[int]:
    order = stream("labels", seed, "split", name).permutation(len(part))
    return [part[int(n)] for n in order]


def _check_apart(examples: Examples, parts: Mapping[str, Sequence[int]]) -> None:
    owner: dict[str, str] = {}
    for name, part in parts.items():
        for i in part:
            if owner.setdefault(examples.texts[i], name) != name:
                raise LabelsError(
                    f"The text {examples.texts[i][:60]!r} would be in the parts {owner[examples.texts[i]]} and {name}.",
                    "Give the same group to equal texts, or each text once.",
                )
