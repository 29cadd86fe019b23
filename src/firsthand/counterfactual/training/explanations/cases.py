"""Investigations of a run as conversations to train on and to be judged on, parted as claims are for predictions."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError

from firsthand.counterfactual.behaviours import Asked, Verdict, judged
from firsthand.counterfactual.claim_files import CARD
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.explaining.examples import ExplanationExample, examples
from firsthand.counterfactual.export import load
from firsthand.counterfactual.families import family_of
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.reading import read
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.training.examples import Example, TrainingSet, in_order, parted, refused, units_named
from firsthand.errors import CounterfactualError

INVESTIGATIONS: Final = "investigations.jsonl"
NO_CASE: Final = "their investigation explains nothing"
TRAINED_ON: Final = "their investigation is trained on"


class Case(Part):
    """An investigation that can be explained.

    Attributes:
        example: The conversation, with the explanation that the investigation supports as its last turn.
        prompt: The prompt as it was investigated.
        response: The response that is explained.
    """

    example: ExplanationExample
    prompt: Prompt
    response: Response

    @property
    def id(self) -> str:
        """Identifier of the investigation."""
        return self.example.investigation

    @property
    def unit(self) -> tuple[str, str, str]:
        """What it must not be parted from: itself, its cluster, and prompts that begin alike."""
        return self.id, self.example.cluster, family_of(self.prompt)


class Found(NamedTuple):
    """What a run of investigations holds.

    Attributes:
        investigations: How many there are.
        cases: Those that can be explained.
        left_out: How many of the others there are, by reason.
        claims: The claims that stand for all of the run.
    """

    investigations: int
    cases: tuple[Case, ...]
    left_out: dict[str, int]
    claims: tuple[Claim, ...]


class Divided(NamedTuple):
    """What is trained on and what is judged on: no investigation, cluster or prompt family is on both sides.

    Attributes:
        train: Cases to train on.
        held_out: Cases to be explained: those of the other side that have claims.
        train_claims: Claims of the cases that are trained on; readers are fitted on them.
        claims: Claims of the held-out cases. The cluster of each is the independent unit by which cases were parted.
        left_out: Claims that are on neither side, by reason.
    """

    train: tuple[Case, ...]
    held_out: tuple[Case, ...]
    train_claims: tuple[Claim, ...]
    claims: tuple[Claim, ...]
    left_out: dict[str, int]

    @property
    def units(self) -> dict[str, str]:
        """The independent unit of every case, by its identifier."""
        return units_named((*self.train, *self.held_out))


def found_in(folder: Path) -> Found:
    """Read the investigations of a run, and its claims.

    Args:
        folder: Folder of ``firsthand investigate demo`` or ``run``.

    Raises:
        CounterfactualError: If it holds no investigations or no claims, one of them cannot be read, or nothing can be
            explained.
    """
    investigations = _investigations(folder / INVESTIGATIONS)
    claims = read(folder).claims
    shown: dict[str, Response] = {}
    for claim in load(folder / "claims", "unfiltered") if (folder / "claims" / CARD).exists() else claims:
        response = showing(claim)
        if response is not None:
            shown.setdefault(claim.investigation, response)
    made = examples(investigations, shown)
    if not made.examples:
        reasons = Counter(made.left_out.values()).most_common(3)
        told = "; ".join(f"{count} {reason}" for reason, count in reasons)
        raise CounterfactualError(
            f"None of {len(investigations)} investigations in {folder} can be explained: {told}.",
            "Give a run whose investigations ended with a report and confirmed experiments.",
        )
    prompts = {one.id: one.screened.prompt for one in investigations}
    cases = tuple(
        Case(example=one, prompt=prompts[one.investigation], response=shown[one.investigation]) for one in made.examples
    )
    left_out = Counter(_without_name(reason) for reason in made.left_out.values())
    return Found(len(investigations), cases, dict(left_out), claims)


def _without_name(reason: str) -> str:
    """A reason without the identifier of the investigation, so that it can be counted."""
    return "no report was filed, or no valid baseline" if reason.startswith("The investigation ") else reason


def _investigations(path: Path) -> list[Investigation]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise CounterfactualError(
            f"{path.parent} holds no investigations: {path.name} could not be read ({error.strerror or error}).",
            "Name the folder of a finished `firsthand investigate demo` or `firsthand investigate run`.",
        ) from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found += [Investigation.model_validate(json.loads(line))] if line else []
        except (ValueError, ValidationError) as error:
            raise CounterfactualError(
                f"{path}, line {number}: this is no investigation ({str(error).splitlines()[0][:200]}).",
                "Give the file as the run wrote it.",
            ) from error
    return found


def showing(claim: Claim) -> Response | None:
    """The first kept response that shows the behaviour, of which "why did you" can be asked; ``None`` without one.

    The same response is explained, and stands in the transcript of every arm: what it tells of the behaviour's rate is
    no advantage of any of them.
    """
    for one in claim.responses:
        verdict = one.verdict
        if verdict is None and not isinstance(claim.behaviour, Asked):
            verdict = judged(claim.behaviour, one.response)
        if verdict is Verdict.YES and not one.response.missing:
            return one.response
    return None


def divided(found: Found, held_out: float) -> Divided:
    """Part cases into those that are trained on and those that are judged on.

    Args:
        found: What the run holds.
        held_out: Share of the cases to be judged on.

    Raises:
        CounterfactualError: If none can be held out, or the held-out ones have no claims of both kinds in two units.
    """
    train, held = parted(found.cases, held_out, what="investigations")
    units = units_named(found.cases)
    sides: dict[str, list[Claim]] = {"train": [], "held out": []}
    left_out: Counter[str] = Counter()
    places = {**{one.id: "train" for one in train}, **{one.id: "held out" for one in held}}
    for claim in found.claims:
        place = places.get(claim.investigation)
        if place is None or showing(claim) is None:
            left_out[NO_CASE] += 1
        else:
            sides[place].append(claim.model_copy(update={"cluster": units[claim.investigation]}))
    claims = sides["held out"]
    true, judged_on = sum(one.label for one in claims), {one.cluster for one in claims}
    if not 0 < true < len(claims) or len(judged_on) < 2:
        raise CounterfactualError(
            f"The {len(held)} held-out investigations have {len(claims)} claims ({true} true) in {len(judged_on)} "
            "independent units; both kinds of claims, and two units at least, are needed.",
            "Hold out more with --held-out, or give a run with more investigations.",
        )
    left_out[TRAINED_ON] = len(sides["train"])
    explained = {one.investigation for one in claims}
    return Divided(
        train,
        tuple(one for one in held if one.id in explained),
        tuple(sides["train"]),
        tuple(claims),
        {reason: count for reason, count in left_out.items() if count},
    )


def explanation_set(
    cases: Sequence[Case], epochs: int, seed: int, refusals: Sequence[Callable[[Prompt, str], str | None]] = ()
) -> TrainingSet:
    """Conversations in an order that every model gets.

    Args:
        cases: Cases to train on.
        epochs: How often each is seen; every epoch has an order of its own.
        seed: Names the order.
        refusals: One function a model: why it cannot be given a chat, or ``None``.

    Raises:
        CounterfactualError: If none is left.
    """
    dropped: Counter[str] = Counter()
    able: list[Example] = []
    for case in sorted(cases, key=lambda one: one.id):
        example = Example(id=case.id, prompt=case.example.prompt, answer=case.example.answer)
        why = refused(example, refusals)
        if why:
            dropped[why] += 1
        else:
            able.append(example)
    if not able:
        told = "; ".join(f"{count} {why}" for why, count in dropped.items())
        raise CounterfactualError(
            f"None of {len(cases)} explanations can be trained on: {told}.", "Raise max_tokens, or name other models."
        )
    return TrainingSet(examples=tuple(able), order=in_order(len(able), epochs, seed), dropped=dict(dropped))
