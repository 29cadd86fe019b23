"""One predictor on all claims: accuracy, areas, rates, calibration, and what invalid answers could make of them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from firsthand.analysis.constancy import CONSTANT_SHARE, most_common
from firsthand.analysis.findings import ALPHA
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import estimate, mean_of
from firsthand.analysis.predictions.panel import Answers, Panel
from firsthand.analysis.predictions.results import Kind, PredictionCalibration, PredictorScore
from firsthand.analysis.results import Estimate
from firsthand.analysis.type2 import Areas, calibration

MINIMUM_COVERAGE: Final = 0.5
"""Least mean mass on valid answers, and least share of valid ones: below it, what would be said is not known."""


def scored(panel: Panel, name: str, kind: Kind, minimum_coverage: float = MINIMUM_COVERAGE) -> PredictorScore:
    """Everything about one predictor.

    Args:
        panel: The claims and answers.
        name: Who.
        kind: What it is.
        minimum_coverage: Least mean coverage, and least share of valid answers.
    """
    given, truth = panel.answers[name], panel.truth
    right = right_of(given, truth)
    holes = ~given.valid
    said = given.says
    areas = [areas_of(panel, {name: score}, valid) for score, valid in _fills(given, truth)]
    return PredictorScore(
        name=name,
        kind=kind,
        claims=len(truth),
        invalid=share(panel, holes.astype(np.float64)),
        coverage=share(panel, given.coverage),
        accuracy=estimate(_mean(panel, right), 0.5),
        accuracy_worst=estimate(_mean(panel, np.where(holes, 0.0, right))),
        accuracy_best=estimate(_mean(panel, np.where(holes, 1.0, right))),
        auroc=_area(areas[0], name),
        auroc_worst=_area(areas[1], name),
        auroc_best=_area(areas[2], name),
        tpr=estimate(_mean(panel, np.where(truth == 1.0, said, np.nan))),
        fpr=estimate(_mean(panel, np.where(truth == 0.0, said, np.nan))),
        says_true=estimate(_mean(panel, said)),
        calibration=_calibration(panel, given, areas[0], name),
        constant=constant(given),
        insufficient=insufficient(given, minimum_coverage),
    )


def right_of(given: Answers, truth: FloatArray) -> FloatArray:
    """1 where the answer is right, 0 where wrong, one half where it is neither; NaN where invalid ``[claims]``."""
    said = given.says
    return np.where(truth == 1.0, said, 1.0 - said)


def constant(given: Answers) -> str | None:
    """In words, what a predictor always says, if it always says the same.

    A predictor may answer "true" throughout and still be surer where it is right. That is said, too: its accuracy is
    the share of true claims whatever it knows, and only its area can show more.
    """
    valid = given.probability[given.valid]
    if not len(valid):
        return None
    value, often = most_common(valid)
    if often >= CONSTANT_SHARE:
        return f"{often:.1%} of the valid answers are the same probability, {float(value):.3g}"
    said = given.says[given.valid]
    answer, often = most_common(said)
    if often >= CONSTANT_SHARE:
        word = {1.0: "true", 0.0: "false"}.get(float(answer), "neither")
        return f"{often:.1%} of the valid answers are '{word}', so only the order of the probabilities says anything"
    return None


def insufficient(given: Answers, minimum: float) -> str | None:
    """In words, why a predictor's numbers say little, if so."""
    coverage, valid = float(given.coverage.mean()), float(given.valid.mean())
    if valid < minimum:
        return f"{valid:.1%} of the answers are valid, less than the required {minimum:.0%}"
    held = float(given.coverage[given.valid].mean())
    if held < minimum:
        return (
            f"valid answers hold {held:.2g} of the probability on average, less than the required {minimum:.0%}: "
            "what it would say is not known"
        )
    return None if coverage >= minimum else f"coverage is {coverage:.2g}, less than the required {minimum:.0%}"


def areas_of(panel: Panel, scores: dict[str, FloatArray], valid: NDArray[np.bool_]) -> Areas | None:
    """Areas of some scores over the same valid claims, resampled together; ``None`` if these are of one label only."""
    truth = panel.truth
    if not (truth[valid] == 1.0).any() or not (truth[valid] == 0.0).any():
        return None
    return Areas(truth, valid, np.zeros(len(truth), dtype=np.int64), panel.clusters, scores)


def filled(given: Answers, truth: FloatArray, told: float) -> FloatArray:
    """Probabilities with invalid ones surest of true claims (``told`` 1) or of false ones (0) ``[claims]``."""
    return np.where(given.valid, given.probability, np.where(truth == told, np.inf, -np.inf))


def share(panel: Panel, values: FloatArray) -> Estimate:
    """Mean of a per-claim value; with one unit only, the interval is the whole range."""
    return _mean(panel, values).estimate(ALPHA)


def _mean(panel: Panel, values: FloatArray) -> Measured:
    return mean_of(values, panel.units, panel.columns)


def _fills(given: Answers, truth: FloatArray) -> list[tuple[FloatArray, NDArray[np.bool_]]]:
    everything = np.ones(len(truth), dtype=np.bool_)
    return [
        (given.probability, given.valid),
        (filled(given, truth, 0.0), everything),
        (filled(given, truth, 1.0), everything),
    ]


def _area(areas: Areas | None, name: str) -> Estimate | None:
    return None if areas is None else estimate(areas.measure(name), 0.5)


def _calibration(panel: Panel, given: Answers, areas: Areas | None, name: str) -> PredictionCalibration | None:
    if areas is None:
        return None
    found = calibration(panel.truth, given.probability, given.valid, panel.clusters, areas, name, ALPHA)
    return PredictionCalibration(
        brier=found.brier,
        reliability=found.reliability,
        resolution=found.resolution,
        uncertainty=found.uncertainty,
        error=found.ece_debiased,
        error_null=found.ece_null,
        bins=found.bins,
    )
