"""Facts with a plausible falsehood, from files of the CounterFact family (Meng et al. 2022).

Three forms are read: rows with ``base_prompt``, ``subject``, ``target_true`` and ``target_new``; known facts with
``subject``, ``attribute``, ``prompt`` and ``relation_id``, to which a counter entity is drawn from other facts of the
same relation; and the original records, in which all is under ``requested_rewrite``. Sentences repeat in these sets,
and subjects even more: one fact is kept of each sentence, and subjects are units of the analysis.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from firsthand.errors import LabelsError
from firsthand.studies.labels.tables import Record, read_records
from firsthand.trials.canonical import digest
from firsthand.trials.randomness import stream

LEAST: Final = 9
"""Fewer facts could not be parted into three clusters, shots and questions."""
DRAWN_COUNTER: Final = (
    "The file names no counter entities; each was drawn from the true entities of other facts of the same relation."
)


@dataclass(frozen=True)
class Fact:
    """A sentence without its end, the entity that truly ends it, and one that would do as well.

    Attributes:
        prompt: The sentence without its end.
        subject: What it is about; it stands in the sentence.
        base: The entity that truly ends it.
        counter: The entity that evidence will be given for.
    """

    prompt: str
    subject: str
    base: str
    counter: str


@dataclass(frozen=True)
class Facts:
    """The facts of a file.

    Attributes:
        facts: Facts, each with a sentence of its own, in the file's order.
        dropped: How many rows were left out, by reason: ``incomplete``, ``same entities``, ``repeated sentence``,
            ``subject not in the sentence``, ``entity in the sentence`` (a reading of the sentence would find it),
            ``no counter entity``, ``special tokens``.
        notes: What else is to be known of the file.
    """

    facts: tuple[Fact, ...]
    dropped: Mapping[str, int]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.facts)


def occurs(entity: str, text: str) -> bool:
    """Whether an entity stands in a text, as whole words, whatever the case and the space between its words."""
    words = r"\s+".join(re.escape(word) for word in entity.casefold().split())
    return bool(words) and re.search(rf"(?<!\w){words}(?!\w)", text.casefold()) is not None


def read_facts(path: Path, tokenizer: PreTrainedTokenizerBase | None = None, seed: int = 0) -> Facts:
    """Read a file of facts.

    Args:
        path: JSON, JSONL, CSV or Parquet.
        tokenizer: The model's tokenizer; facts that hold one of its special tokens are then left out.
        seed: From it counter entities are drawn, where the file has none.

    Raises:
        LabelsError: If the file cannot be read, is of another form, or has too few usable facts.
    """
    rows = read_records(path)
    columns = set(rows[0])
    form = next((form for form in _FORMS if set(form.columns) <= columns), None)
    if form is None:
        known = "; ".join(", ".join(form.columns) for form in _FORMS)
        raise LabelsError(
            f"{path} has the columns {', '.join(sorted(map(str, columns)))}.", f"Give facts with the columns: {known}."
        )
    given = [form.fact(row) for row in rows]
    if form.draws:
        given = _with_counters(given, [_text(row.get("relation_id")) for row in rows], seed)
    special = () if tokenizer is None else tuple(tokenizer.all_special_tokens)
    kept: list[Fact] = []
    dropped: dict[str, int] = {}
    seen: set[str] = set()
    for fact in given:
        reason = _reason(fact, seen, special)
        if reason is None:
            kept.append(fact)
            seen.add(fact.prompt)
        else:
            dropped[reason] = dropped.get(reason, 0) + 1
    if len(kept) < LEAST:
        told = ", ".join(f"{count} {reason}" for reason, count in dropped.items()) or "none"
        raise LabelsError(
            f"{path} has {len(kept)} usable facts of {len(rows)} rows (left out: {told}).", f"Give at least {LEAST}."
        )
    return Facts(tuple(kept), MappingProxyType(dropped), (DRAWN_COUNTER,) if form.draws else ())


def data_hash(facts: Facts) -> str:
    """Hash of the facts."""
    return digest([[fact.prompt, fact.subject, fact.base, fact.counter] for fact in facts.facts])


def in_order(facts: Facts, seed: int) -> list[int]:
    """All facts, by number, in the order in which they are used: at random, and one of every subject first."""
    order = stream("belief", seed, "order").permutation(len(facts)).tolist()
    turn: dict[str, int] = {}
    ranked = []
    for place, number in enumerate(order):
        subject = facts.facts[number].subject.casefold()
        turn[subject] = turn.get(subject, 0) + 1
        ranked.append((turn[subject], place, number))
    return [number for _, _, number in sorted(ranked)]


def _reason(fact: Fact, seen: set[str], special: Sequence[str]) -> str | None:
    """Why a fact is left out; ``None`` if it is kept."""
    if not (fact.prompt and fact.subject and fact.base):
        return "incomplete"
    if not fact.counter:
        return "no counter entity"
    if fact.base.casefold() == fact.counter.casefold():
        return "same entities"
    if fact.subject.casefold() not in fact.prompt.casefold():
        return "subject not in the sentence"
    if occurs(fact.base, fact.prompt) or occurs(fact.counter, fact.prompt):
        return "entity in the sentence"
    if any(token in part for token in special for part in (fact.prompt, fact.subject, fact.base, fact.counter)):
        return "special tokens"
    return "repeated sentence" if fact.prompt in seen else None


def _with_counters(facts: Sequence[Fact], relations: Sequence[str], seed: int) -> list[Fact]:
    entities: dict[str, list[str]] = {}
    for fact, relation in zip(facts, relations, strict=True):
        if relation and fact.base:
            entities.setdefault(relation, []).append(fact.base)
    found = []
    for fact, relation in zip(facts, relations, strict=True):
        others = sorted({e for e in entities.get(relation, ()) if e.casefold() != fact.base.casefold()})
        draw = stream("belief", seed, "counter", fact.prompt)
        counter = others[int(draw.integers(len(others)))] if others else ""
        found.append(Fact(fact.prompt, fact.subject, fact.base, counter))
    return found


def _text(value: Any) -> str:
    """A field without space around it and on one line; empty if it is no text."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def _pair(row: Record) -> Fact:
    return Fact(_text(row["base_prompt"]), _text(row["subject"]), _text(row["target_true"]), _text(row["target_new"]))


def _known(row: Record) -> Fact:
    return Fact(_text(row["prompt"]), _text(row["subject"]), _text(row["attribute"]), "")


def _original(row: Record) -> Fact:
    inner = row["requested_rewrite"]
    value: dict[str, Any] = inner if isinstance(inner, dict) else {}
    subject = _text(value.get("subject"))
    prompt = _text(value.get("prompt")).replace("{}", subject)
    return Fact(prompt, subject, _named(value.get("target_true")), _named(value.get("target_new")))


def _named(value: Any) -> str:
    return _text(value.get("str")) if isinstance(value, dict) else ""


@dataclass(frozen=True)
class _Form:
    """A form of file: the columns that tell it, how a row is read, and whether counter entities are to be drawn."""

    columns: tuple[str, ...]
    fact: Callable[[Record], Fact]
    draws: bool = False


_FORMS: Final = (
    _Form(("base_prompt", "subject", "target_true", "target_new"), _pair),
    _Form(("requested_rewrite",), _original),
    _Form(("prompt", "subject", "attribute", "relation_id"), _known, draws=True),
)
