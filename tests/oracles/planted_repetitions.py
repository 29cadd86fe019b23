"""Investigations of targets of known rule, and whether they were right."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from plain_investigation import drive_plain

from firsthand.counterfactual.edits import changes, edited, turn_changes
from firsthand.counterfactual.investigating.without_model import SearchSettings, search
from firsthand.counterfactual.investigation import Experiment, Investigation, Screened
from firsthand.counterfactual.planted import (
    BEHAVIOUR,
    Constant,
    First,
    Form,
    Fragile,
    Graded,
    Long,
    PlantedTarget,
    Present,
    Rule,
)
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.segments import Segment, segmented, sequences, walk
from firsthand.counterfactual.segments.leaves import FUNCTION_WORDS
from firsthand.counterfactual.segments.tree import item_mark
from firsthand.trials.randomness import stream

LEAST = 0.30


def screened(prompt: Prompt) -> Screened:
    """A screened prompt, whose screening rate is higher than any target's."""
    return Screened(
        prompt=prompt,
        rating=4,
        behaviour=BEHAVIOUR,
        summary="The response names a plover, though nobody asked for birds.",
        question="Why does the model name a plover?",
        own_question="Why did you name a plover?",
        rate=Rate(yes=29, no=1),
    )


def _pick(prompt: Prompt, kind: str, rng: np.random.Generator, count: int = 1) -> list[str]:
    """Texts of leaves of a kind that stand in no other leaf."""
    found = Counter(one.text for one in walk(segmented(prompt)) if one.kind == kind)
    whole = "\n".join(turn.content for turn in prompt.turns)
    once = [text for text in found if len(re.findall(rf"(?i)(?<!\w){re.escape(text)}(?!\w)", whole)) == found[text]]
    return [once[place] for place in rng.permutation(len(once))[:count]] if len(once) >= count else []


def _of_role(prompt: Prompt, role: str, rng: np.random.Generator) -> Rule | None:
    words = [
        one.text
        for one in walk(segmented(prompt))
        if one.kind == "word" and prompt.turns[one.turn].role == role and not one.children
    ]
    return Present(texts=(words[rng.integers(len(words))],), role=role) if words else None  # type: ignore[arg-type]


def _leaf(kind: str) -> Callable[[Prompt, np.random.Generator], Rule | None]:
    def rule(prompt: Prompt, rng: np.random.Generator) -> Rule | None:
        texts = _pick(prompt, kind, rng)
        return Present(texts=tuple(texts)) if texts else None

    return rule


def _several(need: str) -> Callable[[Prompt, np.random.Generator], Rule | None]:
    def rule(prompt: Prompt, rng: np.random.Generator) -> Rule | None:
        texts = _pick(prompt, "word", rng, 2)
        return Present(texts=tuple(texts), need=need) if texts else None  # type: ignore[arg-type]

    return rule


def _graded(prompt: Prompt, rng: np.random.Generator) -> Rule | None:
    texts = _pick(prompt, "word", rng, 3)
    return Graded(texts=tuple(texts)) if texts else None


def _first(prompt: Prompt, rng: np.random.Generator) -> Rule | None:
    runs = sequences(segmented(prompt))
    if not runs:
        return None
    words = [one.text for one in runs[0][0].children if one.kind == "word"]
    return First(text=words[rng.integers(len(words))]) if words and item_mark(runs[0][0].text) else None


def _form(prompt: Prompt, rng: np.random.Generator) -> Rule | None:
    numbers = [one.text for one in walk(segmented(prompt)) if one.kind == "number"]
    lengths = Counter(len(number) for number in numbers if number.isdigit())
    alone = [length for length, count in lengths.items() if count == 1 and length > 1]
    return Form(pattern=rf"(?<![\w,.])\d{{{alone[0]}}}(?![\w,])") if alone else None


RULES: dict[str, Callable[[Prompt, np.random.Generator], Rule | None]] = {
    "word": _leaf("word"),
    "name": _leaf("name"),
    "number": _leaf("number"),
    "identifier": _leaf("identifier"),
    "system": lambda prompt, rng: _of_role(prompt, "system", rng),
    "tool result": lambda prompt, rng: _of_role(prompt, "tool", rng),
    "first item": _first,
    "both": _several("all"),
    "either": _several("any"),
    "graded": _graded,
    "form": _form,
    "length": lambda prompt, rng: Long(characters=round(0.7 * prompt.characters)),
    "none": lambda prompt, rng: Constant(share=float(rng.choice([0.4, 0.6, 0.85]))),
}


def _any_deletion(prompt: Prompt, rng: np.random.Generator) -> Rule | None:
    return Long(characters=prompt.characters - int(rng.integers(4, 31)) + 1)


def _any_larger_edit(prompt: Prompt, rng: np.random.Generator) -> Rule | None:
    return Fragile(intact=prompt, characters=int(rng.integers(4, 31)))


FRAGILE: dict[str, Callable[[Prompt, np.random.Generator], Rule | None]] = {
    "any deletion of some characters": _any_deletion,
    "any edit of some characters": _any_larger_edit,
    "any edit": lambda prompt, rng: Fragile(intact=prompt),
}
"""Behaviours that no text brings about more than other text of its size does."""


@dataclass
class Repetition:
    """One investigation of a planted target, and what was right about it.

    Attributes:
        kind: Kind of the rule.
        rule: The rule.
        investigation: The investigation.
        asked: Responses used.
        found: Whether a cause is the planted one and nothing more.
        labels: Decision and true change of each confirmed edit.
    """

    kind: str
    rule: Rule
    investigation: Investigation
    asked: int
    found: bool
    labels: list[tuple[str, float]] = field(default_factory=list)

    @property
    def named(self) -> int:
        """Causes that are said to be a certain text, and not any edit of its size."""
        report = self.investigation.report
        return sum(cause.specific is True for cause in report.causes) if report else 0

    @property
    def wrong_causes(self) -> int:
        """Confirmed edits that are said to change the rate and do not."""
        return sum(label == "changes" and abs(true) < LEAST - 1e-9 for label, true in self.labels)

    @property
    def wrong_refutations(self) -> int:
        """Confirmed edits that are said not to change the rate and do."""
        return sum(label == "does not change" and abs(true) >= LEAST - 1e-9 for label, true in self.labels)


def repetitions(
    prompts: Sequence[Prompt],
    count: int,
    settings: SearchSettings,
    seed: int = 0,
    withheld: float = 0.0,
    rules: dict[str, Callable[[Prompt, np.random.Generator], Rule | None]] = RULES,
) -> Iterator[Repetition]:
    """Investigations of planted targets, each kind of rule in turn on each prompt that has what it needs."""
    done = at = 0
    kinds = list(rules)
    while done < count:
        kind, prompt = kinds[at % len(kinds)], prompts[(at // len(kinds)) % len(prompts)]
        rule = rules[kind](prompt, stream("planted repetition", seed, at))
        at += 1
        if rule is None or (not isinstance(rule, Constant) and rule.rate(prompt) < 0.8):
            continue
        done += 1
        yield _repetition(kind, rule, prompt, PlantedTarget(rule=rule, seed=at, withheld=withheld), settings)


def _repetition(kind: str, rule: Rule, prompt: Prompt, target: PlantedTarget, settings: SearchSettings) -> Repetition:
    done, asked = drive_plain([search(screened(prompt), target.identity, settings)], target, BEHAVIOUR)
    confirmed = [one for one in done[0].experiments if one.stage == "confirmed"]
    base = rule.rate(prompt)
    return Repetition(
        kind,
        rule,
        done[0],
        sum(request.samples for request in asked[0]),
        _found(rule, prompt, done[0]),
        [(one.decision, rule.rate(edited(prompt, one.edit)) - base) for one in confirmed],
    )


def _found(rule: Rule, prompt: Prompt, investigation: Investigation) -> bool:
    report = investigation.report
    assert report is not None
    by_number = {one.number: one for one in investigation.experiments}
    causes = [(cause, by_number[cause.experiments[0]]) for cause in report.causes]
    match rule:
        case Constant():
            return not causes
        case Fragile():
            return not causes and "Sensitive to any edit of this size" in report.answer
        case Long():
            return any("length of the prompt" in cause.hypothesis for cause, _ in causes)
        case Form():
            return any(
                "whatever it says" in cause.hypothesis and _is_only_numbers(one, prompt) for cause, one in causes
            )
        case First():
            return any(_takes(one, prompt, [rule.text]) and "in its list" in cause.hypothesis for cause, one in causes)
        case Present(need="all"):
            return all(any(_takes(one, prompt, [text]) for _, one in causes) for text in rule.texts)
        case Present():
            return any(_takes(one, prompt, rule.texts) for _, one in causes)
        case Graded():
            return any(_takes(one, prompt, rule.texts, every=False) for _, one in causes)


def gone(one: Experiment, prompt: Prompt) -> set[str]:
    """Words that an edit takes away, small ones aside."""
    words: set[str] = set()
    for before, after in turn_changes(prompt, edited(prompt, one.edit)):
        old, new = (turn.content if turn else "" for turn in (before, after))
        for tag, text in changes(old, new):
            words |= set(re.findall(r"\w+", text)) if tag == "gone" else set()
    return {word for word in words if word.lower() not in FUNCTION_WORDS}


def _takes(one: Experiment, prompt: Prompt, texts: Sequence[str], *, every: bool = True) -> bool:
    """Whether an edit takes away some texts, and nothing else."""
    taken = gone(one, prompt)
    wanted = [set(re.findall(r"\w+", text)) for text in texts]
    small = taken <= {word for words in wanted for word in words} | FUNCTION_WORDS
    return small and (all if every else any)(bool(words & taken) for words in wanted)


def _is_only_numbers(one: Experiment, prompt: Prompt) -> bool:
    return all(word.isdigit() for word in gone(one, prompt))


def leaf_of(prompt: Prompt, text: str) -> Segment:
    """The first leaf with a text."""
    return next(one for one in walk(segmented(prompt)) if one.text == text and not one.children)
