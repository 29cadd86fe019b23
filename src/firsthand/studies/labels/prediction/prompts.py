"""Prompts that a model is asked: our own, multiple-choice questions of MMLU, or a column of any file.

Nothing of a file is altered but the space around it. What cannot be used is left out and counted by what was wrong with
it. Prompts that belong together (a family, a subject, a contrast pair) are never parted between those that observers
learn from and those that are judged.
"""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from firsthand.errors import LabelsError
from firsthand.studies.labels.classes import label_name
from firsthand.studies.labels.examples import TEXT_COLUMNS
from firsthand.studies.labels.grouping import groups_of
from firsthand.studies.labels.prediction.texts import FAMILIES
from firsthand.studies.labels.tables import read_records
from firsthand.trials.canonical import digest
from firsthand.trials.randomness import stream

LETTERS: Final = ("A", "B", "C", "D")
BEGIN: Final = "Answer:"
"""How an answer begins, where nothing else is said."""
ONE_WORD: Final = "Reply with one word."
"""What is asked of a text of a file, if nothing else is."""
BUILT_IN: Final = "short prompts of firsthand"
_LETTER: Final = "Answer with the letter of the right option."
_COLUMNS: Final = (*TEXT_COLUMNS, "base_prompt", "instruction")


@dataclass(frozen=True)
class Prompt:
    """One user's turn.

    Attributes:
        text: The turn.
        group: What it belongs to.
        options: Whether it is answered by one of the letters A to D.
        begin: How the answer begins; what the model answers is what follows.
    """

    text: str
    group: str
    options: bool = False
    begin: str = BEGIN

    @property
    def shown(self) -> str:
        """The prompt as it is quoted to whoever is asked about the answer, and as classifiers see it."""
        return self.text if self.begin == BEGIN else f"{self.text}\nThe answer begins: {self.begin}"


@dataclass(frozen=True)
class PromptSet:
    """Prompts, and what was left out of them.

    Attributes:
        name: Where they come from.
        prompts: What can be used, each text once, in the order of the source.
        dropped: Number of rows that were left out, by reason.
    """

    name: str
    prompts: tuple[Prompt, ...]
    dropped: Mapping[str, int]

    @property
    def sha256(self) -> str:
        """Fingerprint of the prompts."""
        return digest([[one.text, one.group, one.options, one.begin] for one in self.prompts])


def built_in() -> PromptSet:
    """Our own prompts, in the order of their families."""
    found = []
    for family, (instruction, items) in FAMILIES.items():
        for one in items:
            text, _, begin = instruction.format(one).partition("|")
            found.append(Prompt(text, family, begin=begin))
    return PromptSet(BUILT_IN, tuple(found), MappingProxyType({}))


def read_prompts(
    path: Path,
    tokenizer: PreTrainedTokenizerBase,
    *,
    text: str | None = None,
    group: str | None = None,
    ask: str = ONE_WORD,
    longest: int = 96,
) -> PromptSet:
    """Read prompts.

    Args:
        path: A file or folder of MMLU (CSV without header: question, four options, letter), where subjects are groups,
            or any file of texts that :func:`~firsthand.studies.labels.tables.read_records` reads.
        tokenizer: The model's tokenizer.
        text: Column of the texts; guessed from common names without it.
        group: Column of what belongs together; without it, consecutive texts that share half of their words do.
        ask: What stands under each text of such a file.
        longest: Most tokens of a prompt.

    Raises:
        LabelsError: If nothing can be read or used, or a column is missing or holds something else than texts.
    """
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    exams = [one for one in files if _is_exam(one)]
    if exams:
        rows, dropped = _exam_rows(exams)
        dropped["file of another kind"] = len(files) - len(exams)
    else:
        rows, dropped = _text_rows(path, text, group, ask), Counter[str]()
    special = tuple(tokenizer.all_special_tokens)
    kept: dict[str, Prompt] = {}
    for one in rows:
        reason = "empty" if not one.text else "duplicate" if one.text in kept else None
        if reason is None and any(token in one.text for token in special):
            reason = "special tokens"
        if reason is None and len(tokenizer.encode(one.text, add_special_tokens=False)) > longest:
            reason = "too long"
        if reason is None:
            kept[one.text] = one
        else:
            dropped[reason] += 1
    told = {reason: count for reason, count in dropped.items() if count}
    if not kept:
        listed = ", ".join(f"{count} {reason}" for reason, count in told.items()) or "no rows"
        raise LabelsError(f"{path} holds no prompt that can be used: {listed}.", "Give other data, or a larger length.")
    return PromptSet(path.name, tuple(kept.values()), MappingProxyType(told))


def parted(prompts: Sequence[Prompt], fit: int, judged: int, seed: int) -> tuple[list[int], list[int]]:
    """Draw the prompts that observers learn from and those that are judged, no group in both.

    Large groups give few prompts each, so that many groups take part.

    Args:
        prompts: The prompts.
        fit: Number of the former.
        judged: Number of the latter.
        seed: The run's seed.

    Returns:
        Indices of both, each in a random order.

    Raises:
        LabelsError: If whole groups do not give so many.
    """
    members: dict[str, list[int]] = {}
    for number in stream("prediction", seed, "prompts").permutation(len(prompts)).tolist():
        members.setdefault(prompts[number].group, []).append(number)
    sizes, parts = (fit, judged), ([list[int]()], [list[int]()])
    have = [0, 0]
    groups = sorted(members)
    for place in stream("prediction", seed, "groups").permutation(len(groups)).tolist():
        emptier = min((0, 1), key=lambda part: have[part] / max(sizes[part], 1))
        have[emptier] += len(members[groups[place]])
        parts[emptier].append(members[groups[place]])
    drawn = [_in_turn(part, size) for part, size in zip(parts, sizes, strict=True)]
    if any(len(one) < size for one, size in zip(drawn, sizes, strict=True)):
        raise LabelsError(
            f"{len(prompts)} prompts in {len(groups)} groups do not give {fit} to learn from and {judged} to judge "
            f"without parting a group: there are {have[0]} and {have[1]}.",
            f"Ask for at most {have[0]} and {have[1]}, or give prompts of more groups.",
        )
    return _shuffled(drawn[0], seed, "fit"), _shuffled(drawn[1], seed, "judged")


def _in_turn(groups: Sequence[Sequence[int]], size: int) -> list[int]:
    """One prompt of each group, then a second of each, and so on."""
    deepest = max(map(len, groups), default=0)
    order = [group[depth] for depth in range(deepest) for group in groups if depth < len(group)]
    return order[:size]


def _shuffled(numbers: Sequence[int], seed: int, part: str) -> list[int]:
    return [numbers[int(i)] for i in stream("prediction", seed, "order", part).permutation(len(numbers))]


def _is_exam(path: Path) -> bool:
    """Whether a CSV has no header and a letter from A to D as the last of six fields, as MMLU has."""
    if path.suffix.lower() != ".csv":
        return False
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = next(csv.reader(file), [])
    except (OSError, ValueError, csv.Error):
        return False  # whoever reads it as a table says what is wrong with it
    return len(first) == 6 and first[5].strip() in LETTERS


def _exam_rows(paths: Sequence[Path]) -> tuple[list[Prompt], Counter[str]]:
    rows, dropped = list[Prompt](), Counter[str]()
    for path in paths:
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                found = list(csv.reader(file))
        except (OSError, ValueError, csv.Error) as error:
            raise LabelsError(f"{path} cannot be read: {error}.", "Correct the file, or leave it out.") from error
        subject = path.stem.removesuffix("_test").removesuffix("_dev").removesuffix("_val").replace("_", " ")
        for fields in found:
            cells = [cell.strip() for cell in fields]
            if not any(cells):
                continue
            if len(cells) != 6 or cells[5] not in LETTERS or not all(cells[:5]):
                dropped["malformed"] += 1
                continue
            listed = "\n".join(f"{letter}. {cell}" for letter, cell in zip(LETTERS, cells[1:5], strict=True))
            rows.append(Prompt(f"{cells[0]}\n{listed}\n{_LETTER}", subject, options=True))
    return rows, dropped


def _text_rows(path: Path, text: str | None, group: str | None, ask: str) -> list[Prompt]:
    records = read_records(path)
    columns = list(records[0])
    wanted = _column(path, columns, text, "text")
    texts = [_string(path, number, row[wanted]) for number, row in enumerate(records, start=1)]
    named = None if group is None else _column(path, columns, group, "group")
    groups = groups_of(texts, None if named is None else [label_name(row[named]) for row in records])
    under = f"\n{ask.strip()}" if ask.strip() else ""
    return [Prompt(one and f"{one}{under}", str(number)) for one, number in zip(texts, groups, strict=True)]


def _column(path: Path, columns: Sequence[str], given: str | None, option: str) -> str:
    if given is not None and given in columns:
        return given
    found = [c for name in _COLUMNS for c in columns if c.strip().lower() == name] if given is None else []
    if found:
        return found[0]
    problem = "no column that is known to hold texts" if given is None else f"no column '{given}'"
    raise LabelsError(f"{path} has {problem}; it has: {', '.join(columns)}.", f"Name one of them by '{option}'.")


def _string(path: Path, number: int, value: Any) -> str:
    if value is None or value != value:  # NaN is what files give for an empty cell
        return ""
    if not isinstance(value, str):
        raise LabelsError(f"The text in row {number} of {path} is a {type(value).__name__}.", "Name the right column.")
    return value.strip()
