"""What is found of predictions: the documented schema, every number with its interval and its independent units."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from firsthand.analysis.results import Estimate, ReliabilityBin

PREDICTIONS_SCHEMA: Literal[1] = 1

Kind = Literal["floor", "observer", "tools", "base", "self", "cross"]
"""What a predictor is (see :data:`firsthand.counterfactual.predicting.predictions.Kind`)."""


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PredictionCalibration(_Result):
    """How far stated probabilities are from the shares of claims that are true.

    ``brier = reliability - resolution + uncertainty``. ``error`` is the root mean square calibration error over bins,
    without the bias of small bins; ``error_null`` is what a perfectly calibrated predictor of this size stays below
    with the level's probability, claims taken for independent.
    """

    brier: Estimate
    reliability: float
    resolution: float
    uncertainty: float
    error: float
    error_null: float
    bins: tuple[ReliabilityBin, ...] = ()


class PredictorScore(_Result):
    """One predictor on all claims.

    Attributes:
        name: Who.
        kind: What it is.
        claims: Claims that it was asked of.
        invalid: Share of invalid answers.
        coverage: Mean probability mass on valid answers.
        accuracy: Share of right answers at a probability of one half, among valid ones.
        accuracy_worst: The same if every invalid answer were wrong.
        accuracy_best: The same if every invalid answer were right.
        auroc: Area under the ROC curve over valid answers; ``None`` where valid answers are of one label only.
        auroc_worst: The same if every invalid answer were the surest wrong one.
        auroc_best: The same if every invalid answer were the surest right one.
        tpr: Share of true claims that it says "true" of.
        fpr: Share of false claims that it says "true" of.
        says_true: Share of claims that it says "true" of.
        calibration: Brier score and calibration; ``None`` without a valid answer.
        constant: In words, that it always says the same, if it does.
        insufficient: In words, why its numbers say little, if so: too little mass on valid answers, or too few valid.
    """

    name: str
    kind: Kind
    claims: int
    invalid: Estimate
    coverage: Estimate
    accuracy: Estimate | None = None
    accuracy_worst: Estimate | None = None
    accuracy_best: Estimate | None = None
    auroc: Estimate | None = None
    auroc_worst: Estimate | None = None
    auroc_best: Estimate | None = None
    tpr: Estimate | None = None
    fpr: Estimate | None = None
    says_true: Estimate | None = None
    calibration: PredictionCalibration | None = None
    constant: str | None = None
    insufficient: str | None = None


class DeLong(_Result):
    """DeLong's test of two areas on the same claims, which takes claims for independent.

    Attributes:
        difference: First area minus second.
        se: Its standard error.
        low: Lower end of the normal interval.
        high: Upper end.
        level: Coverage of the interval.
        p: Two-sided p-value.
        claims: Claims used.
    """

    difference: float
    se: float
    low: float
    high: float
    level: float
    p: float
    claims: int


class Uplift(_Result):
    """One predictor against another, on claims of which both gave a valid answer.

    Attributes:
        name: Who.
        over: Over whom.
        claims: Claims that were compared.
        left_out: Claims of which one of them gave no valid answer.
        auroc: Difference of the areas by the paired cluster bootstrap, with the one-sided p-value of "greater than 0".
        auroc_worst: The difference over all claims if invalid answers of the first were the surest wrong ones, and
            those of the other the surest right ones.
        auroc_best: The reverse.
        accuracy: Difference of the shares of right answers.
        mcnemar_p: Exact one-sided McNemar test, which takes claims for independent.
        delong: DeLong's test, which does so, too.
    """

    name: str
    over: str
    claims: int
    left_out: int
    auroc: Estimate | None = None
    auroc_worst: Estimate | None = None
    auroc_best: Estimate | None = None
    accuracy: Estimate | None = None
    mcnemar_p: float | None = None
    delong: DeLong | None = None


class OverFloors(_Result):
    """One predictor against all floors at once: the smallest of its leads.

    Attributes:
        name: Who.
        floor: The floor that is closest.
        lead: The smallest difference of areas over all claims, with joint bounds: an invalid answer counts as the
            surest wrong one, and one of a floor as the surest right one; ``p`` is that of "ahead of every floor".
        p_holm: The same, corrected for the number of predictors that were held against the floors (Holm).
        left_out: Claims that it, or one of the floors, gave no valid answer of.
        lead_valid: What the lead would be without these claims, which says nothing of them.
    """

    name: str
    floor: str
    lead: Estimate
    p_holm: float
    left_out: int = 0
    lead_valid: Estimate | None = None


class FlipRow(_Result):
    """Claims of one label of which a predictor answers otherwise than its baseline.

    Attributes:
        label: Whether these claims are true: the edit changes the behaviour.
        claims: Claims that both answered with "true" or "false".
        left_out: Claims that one of them did not.
        flipped: Share of claims with another answer.
        towards_no_effect: Share of these that went from "true" to "false".
        to_no_effect: How many did.
        to_effect: How many went the other way.
        right: How many went to the right answer.
        wrong: How many went to the wrong one.
        before: Share of right answers of the baseline.
        after: Share of right answers of the predictor.
    """

    label: bool
    claims: int
    left_out: int
    flipped: Estimate | None = None
    towards_no_effect: Estimate | None = None
    to_no_effect: int = 0
    to_effect: int = 0
    right: int = 0
    wrong: int = 0
    before: Estimate | None = None
    after: Estimate | None = None


class Flips(_Result):
    """Claims of which a predictor answers otherwise than its baseline, by label (paper, Table 6)."""

    name: str
    baseline: str
    rows: tuple[FlipRow, ...]


class SubsetScore(_Result):
    """One predictor within a subset.

    Attributes:
        name: Who.
        auroc: Area over valid answers.
        accuracy: Share of right answers among valid ones.
        lead: Difference of areas to the baseline, if there is one, over claims of which both gave a valid answer.
        invalid: Its invalid answers.
        auroc_worst: The area if every invalid answer were the surest wrong one.
        auroc_best: The area if every invalid answer were the surest right one.
        accuracy_worst: The share if every invalid answer were wrong.
        accuracy_best: The share if every invalid answer were right.
        lead_worst: The lead over all claims, invalid answers filled against it and for the baseline.
        lead_best: The reverse.
    """

    name: str
    auroc: Estimate | None = None
    accuracy: Estimate | None = None
    lead: Estimate | None = None
    invalid: int = 0
    auroc_worst: Estimate | None = None
    auroc_best: Estimate | None = None
    accuracy_worst: Estimate | None = None
    accuracy_best: Estimate | None = None
    lead_worst: Estimate | None = None
    lead_best: Estimate | None = None


class SubsetResult(_Result):
    """All predictors within a part of the claims.

    Attributes:
        name: Which claims, in words.
        by: What the part is made by, e.g. ``source``.
        claims: How many.
        true: How many of them are true.
        units: Independent units.
        scores: Every predictor.
        note: What to know when reading it.
    """

    name: str
    by: str
    claims: int
    true: int
    units: int
    scores: tuple[SubsetScore, ...]
    note: str = ""


class WordingResult(_Result):
    """What a predictor says in one wording of the question."""

    wording: str
    says_true: Estimate
    coverage: Estimate
    auroc: Estimate | None = None


class WordingEffect(_Result):
    """How much a predictor's answers hang on wording and order.

    Attributes:
        name: Who.
        wordings: Every wording.
        order: Mean difference of the probability of "true" when "Yes" is named first rather than second, same wording.
        between: Standard deviation between wordings (orders averaged) of one claim's log-odds, averaged over claims.
        within: Standard deviation between claims of the log-odds averaged over wordings: what there is to tell.
    """

    name: str
    wordings: tuple[WordingResult, ...]
    order: Estimate | None = None
    between: Estimate | None = None
    within: float | None = None


class PredictionResults(_Result):
    """Everything that is found of a panel.

    Attributes:
        claims: Claims.
        true: How many are true.
        units: Independent units.
        cluster: What they are called.
        level: Coverage of all intervals.
        predictors: Every predictor.
        baseline: The predictor that uplift, flips and unsure claims refer to, if there is one.
        over_floors: Who is ahead of all floors.
        uplifts: Every predictor that is no floor against the baseline and against each floor.
        tools: What tools add: each predictor that has some, over the same one without, on the same claims.
        flips: What each changed of the baseline's answers.
        subsets: Parts of the claims.
        wordings: What wordings do.
        notes: What a reader should know, one sentence each.
    """

    schema_version: Literal[1] = PREDICTIONS_SCHEMA
    claims: int
    true: int
    units: int
    cluster: str
    level: float
    predictors: tuple[PredictorScore, ...]
    baseline: str | None = None
    over_floors: tuple[OverFloors, ...] = ()
    uplifts: tuple[Uplift, ...] = ()
    tools: tuple[Uplift, ...] = ()
    flips: tuple[Flips, ...] = ()
    subsets: tuple[SubsetResult, ...] = ()
    wordings: tuple[WordingEffect, ...] = ()
    notes: tuple[str, ...] = Field(default=())
