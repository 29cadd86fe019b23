"""Claims about a planted target: measured by drawing from it, and never taken from the rule."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from pydantic import Field

from firsthand.counterfactual.behaviours import judged
from firsthand.counterfactual.changes import FIXED, labelled
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.edits import edited
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request, Response, Target
from firsthand.counterfactual.training.examples import Item
from firsthand.counterfactual.training.planting.rules import (
    BEHAVIOUR,
    LIVE,
    Rule,
    both,
    edit_of,
    intervention,
    prompt_of,
)
from firsthand.counterfactual.training.planting.words import Group
from firsthand.errors import InstrumentError
from firsthand.progress import Progress
from firsthand.trials.files import read_json, write_json

TOGETHER = 48
"""Prompts that are answered side by side."""
FOLLOWED: Final = 0.9
"""Share of the edits that must do what a planted rule says, for a target to count as one that follows it."""


class Measured(Part):
    """Claims with the response that each is shown beside, and why others were not made.

    Attributes:
        claims: The claims.
        responses: The response that is shown beside each, by its identifier.
        left_out: Edits that make no claim, by reason.
        followed: Share of all edits whose measured label is what the rule says; those without a label are not.
    """

    claims: tuple[Claim, ...]
    responses: dict[str, Response]
    left_out: dict[str, int]
    followed: float = Field(ge=0.0, le=1.0)

    def write(self, path: Path, key: str) -> None:
        """Keep them under a key."""
        write_json(path, {"key": key, "measured": self.model_dump(mode="json")})

    @classmethod
    def read(cls, path: Path, key: str) -> Self | None:
        """Those that were kept under a key, if they were."""
        held = read_json(path) if path.exists() else {}
        return cls.model_validate(held["measured"]) if held.get("key") == key else None


def measured(
    target: Target, rule: Rule, groups: Sequence[Group], orders: int, samples: int, progress: Progress
) -> Measured:
    """Claims "without this word, it changes" about every word of some groups.

    Args:
        target: The planted target.
        rule: Its rule, which says how words are written; labels do not come from it.
        groups: The words.
        orders: 1, or 2 for both orders of the words in the list.
        samples: Responses to each prompt.
        progress: Who is told.
    """
    cases = [(group, words) for group in groups for words in _lists(rule, group, orders)]
    prompts: dict[str, Prompt] = {}
    for group, words in cases:
        prompt = prompt_of(words, group.name)
        prompts |= {one.id: one for one in (prompt, *(edited(prompt, edit_of(words, word)) for word in words))}
    drawn = _drawn(target, prompts, samples, progress)
    rates = {name: Rate.of(judged(BEHAVIOUR, one) for one in said) for name, said in drawn.items()}
    claims: list[Claim] = []
    shown: dict[str, Response] = {}
    left_out: Counter[str] = Counter()
    followed = 0
    for group, words in cases:
        prompt = prompt_of(words, group.name)
        live, _ = both(rule, group)
        for number, word in enumerate(words):
            edit = edit_of(words, word)
            baseline, rate = rates[prompt.id], rates[edited(prompt, edit).id]
            label, why = labelled(baseline, rate, FIXED)
            if label is None:
                left_out[str(why)] += 1
                continue
            followed += label == (word == live)
            claim = Claim(
                investigation=f"planted {prompt.id}",
                target=target.identity,
                prompt=prompt,
                edit=edit,
                experiment=number + 1,
                behaviour=BEHAVIOUR,
                baseline=baseline,
                rate=rate,
                intervention=intervention(word),
                label=label,
                single_factor=True,
                cluster=group.name,
            )
            claims.append(claim)
            shown[claim.id] = drawn[prompt.id][0]
    share = followed / (2 * len(cases))
    return Measured(claims=tuple(claims), responses=shown, left_out=dict(left_out), followed=share)


def taken(found: Measured, rule: Rule) -> None:
    """See that a target follows the rule that was planted, before anybody is trained on claims about it.

    Raises:
        InstrumentError: If it does not.
    """
    if found.followed < FOLLOWED:
        raise InstrumentError(
            f"The {rule} rule did not take: only {found.followed:.0%} of the edits do what it says, and "
            f"{FOLLOWED:.0%} are wanted.",
            "Nothing was judged. Use another --model, and leave --quick out.",
        )


def example_item(group: Group, number: int) -> Item:
    """A question like those about a planted target, made without any model: for measuring how long one takes."""
    words = both("private", group)
    prompt = prompt_of(words, group.name)
    claim = Claim(
        investigation=f"example {prompt.id}",
        target="example",
        prompt=prompt,
        edit=edit_of(words, words[number]),
        experiment=number + 1,
        behaviour=BEHAVIOUR,
        baseline=Rate(yes=10, no=0),
        rate=Rate(yes=10 * number, no=10 - 10 * number),
        intervention=intervention(words[number]),
        label=number == 0,
        cluster=group.name,
    )
    return Item(claim=claim, response=Response(text=LIVE))


def _lists(rule: Rule, group: Group, orders: int) -> list[tuple[str, str]]:
    live, dead = both(rule, group)
    if orders == 2:
        return [(live, dead), (dead, live)]
    return [(live, dead) if group.number % 2 else (dead, live)]


def _drawn(target: Target, prompts: dict[str, Prompt], samples: int, progress: Progress) -> dict[str, list[Response]]:
    requests = [Request(prompt=prompt, batch="measured", samples=samples) for prompt in prompts.values()]
    found: list[list[Response]] = []
    parts = [requests[n : n + TOGETHER] for n in range(0, len(requests), TOGETHER)]
    progress.start("measuring the labels", len(parts))
    for part in parts:
        found += target.respond(part)
        progress.step()
    return dict(zip(prompts, found, strict=True))
