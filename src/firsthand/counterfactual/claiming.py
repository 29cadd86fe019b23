"""Claims of an investigation: which of its experiments make one, and why the others do not.

A claim is made of a *confirmed* experiment: its responses were drawn after the edit had been fixed, in a batch that
nothing was looked for in. What was explored is never a claim, however large its effect, since the largest of many
effects is too large.

*Which ones.* Up to two true and up to two false ones. Among those of one label the choice sees the prompt and the edits
and nothing that was measured (neither how large the change was, nor what the report says of it): edits that change one
thing come first, then those that touch other text than what was chosen before, then those that change the fewest
characters, which say most of where the cause lies; what is left is settled by the hash of the edited prompt. So the
order of the experiments does not matter, and the chosen effects are no larger than the labels ask for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from firsthand.analysis.label_errors import EXCLUDED, FALSE, TRUE
from firsthand.analysis.units import units_of
from firsthand.analysis.wrong_labels import SetErrors, set_errors
from firsthand.counterfactual.changes import FIXED, FixedLabels, LabelRule, Unlabelled, batches_of, labelled
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.describing import Describer, mechanically
from firsthand.counterfactual.edits import edited
from firsthand.counterfactual.factors import Span, changed, single_factor
from firsthand.counterfactual.families import ties_of
from firsthand.counterfactual.investigation import Experiment, Investigation
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.rates import Rate
from firsthand.errors import CounterfactualError

SCREEN: Final = "screen"
"""Name of the batch that was screened."""

Reason = Literal[
    "explored only", "failed", "not fresh", "repeats another", Unlabelled, "confounded", "others were chosen"
]


class ClaimRule(Part):
    """Which experiments become claims.

    Attributes:
        labels: How labels are made.
        true: Most true claims of an investigation.
        false: Most false ones.
        confounded: Edits that change several things make claims with a mark, or none.
    """

    labels: LabelRule = FIXED
    true: Annotated[int, Field(ge=0)] = 2
    false: Annotated[int, Field(ge=0)] = 2
    confounded: Literal["marked", "left out"] = "marked"


class LeftOut(Part):
    """An experiment that makes no claim."""

    experiment: int
    reason: Reason


class Measured(Part):
    """A fresh measurement of an edit, whether it makes a claim or not.

    Attributes:
        experiment: Number of the experiment.
        baseline: Counts on the prompt as it is.
        rate: Counts on the edited prompt.
        claim: Label of the claim that it makes; ``None`` if it makes none.
    """

    experiment: int
    baseline: Rate
    rate: Rate
    claim: bool | None


class Claiming(Part):
    """What became of the experiments of an investigation: each is a claim, or left out with a reason.

    Attributes:
        investigation: Identifier of the investigation.
        claims: The claims, true ones first.
        left_out: The other experiments, by number.
        measured: Fresh measurements, from which the errors of labels are estimated.
        ties: What it shares with investigations that are not independent of it
            (:func:`~firsthand.counterfactual.families.ties_of`).
    """

    investigation: str
    claims: tuple[Claim, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    measured: tuple[Measured, ...] = ()
    ties: tuple[str, ...] = ()


class _Candidate(NamedTuple):
    experiment: Experiment
    label: bool
    edited: str
    touched: tuple[Span, ...]
    single: bool | None

    @property
    def size(self) -> int:
        return sum(len(span.gone) + len(span.new) for span in self.touched)


def claims_of(
    investigation: Investigation, rule: ClaimRule | None = None, describe: Describer = mechanically
) -> Claiming:
    """Claims of an investigation; the same for the same experiments in any order.

    Args:
        investigation: What was measured. Its baseline is a batch that was drawn after screening.
        rule: Which experiments become claims.
        describe: Who puts the chosen edits into words; it is given the prompt and the edit.
    """
    rule = rule or ClaimRule()
    fresh, reasons = _fresh(investigation)
    candidates: list[_Candidate] = []
    for experiment, identifier in fresh:
        found = labelled(investigation.baseline, experiment.rate, rule.labels)
        single = single_factor(investigation.screened.prompt, experiment.edit)
        if found.label is None:
            reasons[experiment.number] = found.why or "undecided"
        elif rule.confounded == "left out" and single is False:
            reasons[experiment.number] = "confounded"
        else:
            touched = tuple(changed(investigation.screened.prompt, experiment.edit))
            candidates.append(_Candidate(experiment, found.label, identifier, touched, single))
    chosen = [
        *_chosen([one for one in candidates if one.label], rule.true),
        *_chosen([one for one in candidates if not one.label], rule.false),
    ]
    made = {one.experiment.number: one.label for one in chosen}
    reasons |= {one.experiment.number: "others were chosen" for one in candidates if one.experiment.number not in made}
    return Claiming(
        investigation=investigation.id,
        claims=tuple(_claim(investigation, one, describe) for one in chosen),
        left_out=tuple(LeftOut(experiment=number, reason=reasons[number]) for number in sorted(reasons)),
        measured=tuple(
            Measured(experiment=e.number, baseline=investigation.baseline, rate=e.rate, claim=made.get(e.number))
            for e, _ in fresh
            if investigation.baseline.valid and e.rate.valid
        ),
        ties=ties_of(investigation.screened.prompt),
    )


def _fresh(investigation: Investigation) -> tuple[list[tuple[Experiment, str]], dict[int, Reason]]:
    """Experiments that may make claims with the hash of their edited prompts, and why the others may not."""
    reasons: dict[int, Reason] = {}
    fresh: list[tuple[Experiment, str]] = []
    seen: set[str] = set()
    looked_at = _looked_at(investigation)
    for experiment in sorted(investigation.experiments, key=lambda one: one.number):
        identifier = _edited_id(investigation, experiment)
        if identifier is None or experiment.error is not None:
            reasons[experiment.number] = "failed"
        elif experiment.stage != "confirmed":
            reasons[experiment.number] = "explored only"
        elif experiment.batch == SCREEN or (identifier, experiment.batch) in looked_at:
            reasons[experiment.number] = "not fresh"
        elif identifier in seen:
            reasons[experiment.number] = "repeats another"
        else:
            seen.add(identifier)
            fresh.append((experiment, identifier))
    return fresh, reasons


def errors_of(
    claimings: Sequence[Claiming],
    rule: ClaimRule | None = None,
    *,
    among: Iterable[Claim] | None = None,
    draws: int = 100,
) -> SetErrors | None:
    """How many labels of a set are wrong, by what was measured in all its investigations; ``None`` if nothing was.

    What filters found of a claim is not made use of: of claims whose effect was reproduced, fewer labels are wrong than
    is said here.

    Args:
        claimings: What became of the experiments of each investigation.
        rule: As the claims were made by.
        among: The claims of the set; ``None``: all. Other measurements still tell which effects edits have.
        draws: Bootstrap draws of the interval, over independent units: investigations of one prompt, cluster or
            template family are one.
    """
    labels = (rule or ClaimRule()).labels
    thresholds = labels.thresholds if isinstance(labels, FixedLabels) else FIXED.thresholds
    rows = [(one, claiming) for claiming in claimings for one in claiming.measured]
    if not rows:
        return None
    chosen = None if among is None else {(one.investigation, one.experiment) for one in among}
    found = set_errors(
        [batches_of(one.baseline, one.rate) for one, _ in rows],
        [_of_set(one, of, chosen) for one, of in rows],
        units_of([of.ties or (of.investigation,) for _, of in rows]),
        thresholds,
        draws=draws,
    )
    return found if isinstance(labels, FixedLabels) else replace(found, worst=None)


def _of_set(one: Measured, of: Claiming, chosen: set[tuple[str, int]] | None) -> int:
    """The label that a measurement makes in a set, if any."""
    outside = chosen is not None and (of.investigation, one.experiment) not in chosen
    return EXCLUDED if one.claim is None or outside else TRUE if one.claim else FALSE


def _edited_id(investigation: Investigation, experiment: Experiment) -> str | None:
    try:
        return edited(investigation.screened.prompt, experiment.edit).id
    except CounterfactualError:
        return None


def _looked_at(investigation: Investigation) -> set[tuple[str | None, str]]:
    """Batches in which something was looked for."""
    explored = (one for one in investigation.experiments if one.stage == "explored")
    return {(_edited_id(investigation, one), one.batch) for one in explored}


def _chosen(candidates: Iterable[_Candidate], most: int) -> list[_Candidate]:
    left, chosen = list(candidates), list[_Candidate]()
    while left and len(chosen) < most:
        used = {span.key for one in chosen for span in one.touched}
        best = min(left, key=lambda one: _rank(one, used))
        left.remove(best)
        chosen.append(best)
    return chosen


def _rank(candidate: _Candidate, used: set[tuple[str, str]]) -> tuple[int, bool, int, str]:
    """What the choice sees: the edit, and what was chosen before."""
    confounding = {True: 0, None: 1, False: 2}[candidate.single]
    touched = {part for span in candidate.touched for part in span.key if part}
    before = {part for key in used for part in key if part}
    return confounding, bool(touched & before), candidate.size, candidate.edited


def _claim(investigation: Investigation, candidate: _Candidate, describe: Describer) -> Claim:
    prompt, experiment = investigation.screened.prompt, candidate.experiment
    said = describe(prompt, experiment.edit)
    return Claim(
        investigation=investigation.id,
        target=investigation.target,
        prompt=prompt,
        edit=experiment.edit,
        experiment=experiment.number,
        behaviour=investigation.screened.behaviour,
        baseline=investigation.baseline,
        rate=experiment.rate,
        intervention=said.intervention,
        label=candidate.label,
        single_factor=said.single_factor,
        cluster=prompt.cluster or prompt.id,
        question=investigation.screened.question,
        own_question=investigation.screened.own_question,
    )
