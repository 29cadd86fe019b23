"""The shape of a verdict on self-training: every number has an interval and says what it rests on."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from firsthand.analysis.results import Estimate
from firsthand.vocabulary import Verdict

Fraction = Annotated[float, Field(gt=0.0, lt=1.0)]


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SelfCrossSpec(_Result):
    """The rules of judgement, fixed in advance.

    Attributes:
        alpha: One-sided level of every test.
        margin: Largest difference of areas that counts as no difference.
        least_lead: Least lead over every rival that counts as privileged.
        coverage: Least mean probability on "Yes" and "No", in every run of a trained model.
        seeds: Fewest trainings of each trained model.
        clusters: Fewest independent clusters.
        invalid: Largest share of claims without a valid answer.
        drift: Largest mean divergence per token from the base (nats) with which the labels still stand.
        changed: Largest share of labels that may be others when measured anew on the trained model, at the upper end
            of its interval; where nearly all were measured anew, this counts in place of the drift.
        anew: Least share of the claims that must have been measured anew for that; else the drift counts too.
        ceiling: Area from which on a model has too little left to be better by, on claims about others.
        sensitivity: Area that a planted private rule must be read with, on data of the same size, before an absence
            may be concluded.
    """

    alpha: Fraction = 0.05
    margin: Fraction = 0.1
    least_lead: Fraction = 0.05
    coverage: Fraction = 0.5
    seeds: Annotated[int, Field(ge=2)] = 2
    clusters: Annotated[int, Field(ge=2)] = 10
    invalid: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.1
    drift: Annotated[float, Field(gt=0.0)] = 0.1
    changed: Fraction = 0.15
    anew: Fraction = 0.8
    ceiling: Fraction = 0.95
    sensitivity: Fraction = 0.75


class Standing(_Result):
    """How one predictor does.

    Attributes:
        name: The predictor.
        kind: What it is.
        seeds: Seeds of its trainings; none for what was not trained.
        auroc: Mean area over seeds.
        by_seed: Area of every training.
        accuracy: Share that is right at one half, a mean over seeds.
        tpr: Share of true claims that are answered yes.
        fpr: Share of false claims that are.
        log_loss: Mean of minus the log of the probability of the right answer, at most 10 for one claim.
        coverage: Mean probability on valid answers, in the worst run.
        invalid: Share without a valid answer, in the worst run.
        constant: In words, the one answer that it gives, if it does.
    """

    name: str
    kind: Literal["self", "cross", "base", "observer", "floor"]
    seeds: tuple[int, ...]
    auroc: Estimate
    by_seed: tuple[float, ...]
    accuracy: Estimate | None
    tpr: Estimate | None
    fpr: Estimate | None
    log_loss: Estimate | None
    coverage: float
    invalid: float
    constant: str | None = None


class Lead(_Result):
    """How far the target's own training is ahead of a rival.

    Attributes:
        rival: The rival.
        kind: What it is.
        lead: Difference of areas, with ``p`` of "above 0".
        ability: How far the target is ahead of that rival on claims about others; ``None`` if it was not measured.
        net: The lead less that, with ``p`` of "above 0".
        uninformative: Why the ability could not be told there, if so.
    """

    rival: str
    kind: Literal["cross", "observer", "floor"]
    lead: Estimate
    ability: Estimate | None = None
    net: Estimate | None = None
    uninformative: tuple[str, ...] = ()


class SelfCrossResult(_Result):
    """Everything about the claims on one target.

    Attributes:
        about: The target.
        verdict: What the evidence allows to be said.
        reasons: The rules that led to it.
        p: Largest p-value of what ``privileged`` needs; 1 where something of it is missing.
        claims: Claims that were judged on.
        clusters: Independent units among them, by which they were split.
        true: True ones.
        level: Coverage of every interval.
        standings: How everybody does, the target's own training first.
        leads: What the target's own training is ahead of.
        drift: Mean divergence per token of the trained target from its base, in nats; the worst seed.
        changed: Share of labels that are others on the trained target, the worst seed; ``None`` where nothing was
            measured anew.
        sensitivity: Area with which a planted private rule was read.
    """

    about: str
    verdict: Verdict
    reasons: tuple[str, ...]
    p: float = 1.0
    claims: int
    clusters: int
    true: int
    level: float
    standings: tuple[Standing, ...]
    leads: tuple[Lead, ...] = ()
    drift: Estimate | None = None
    changed: Estimate | None = None
    sensitivity: Estimate | None = None
