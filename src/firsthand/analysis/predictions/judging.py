"""Everything that is found of a panel of predictions."""

from collections.abc import Mapping, Sequence
from typing import Final

from firsthand.analysis.findings import ALPHA
from firsthand.analysis.predictions.flips import flips
from firsthand.analysis.predictions.panel import Panel
from firsthand.analysis.predictions.results import Kind, PredictionResults, PredictorScore, WordingEffect
from firsthand.analysis.predictions.scores import MINIMUM_COVERAGE, scored
from firsthand.analysis.predictions.subsets import subsets
from firsthand.analysis.predictions.uplift import over_floors, uplift
from firsthand.errors import AnalysisError

MUCH: Final = 0.2
"""Effect of the order of the answers from which on a reader is told of it."""

FEW_UNITS: Final = 20
"""Independent units below which a reader is told that intervals are rough."""


def judged_predictions(
    panel: Panel,
    kinds: Mapping[str, Kind],
    *,
    baseline: str | None = None,
    minimum_coverage: float = MINIMUM_COVERAGE,
    wordings: Sequence[WordingEffect] = (),
    beside: Mapping[str, str] | None = None,
) -> PredictionResults:
    """Judge every predictor, against the floors and against a baseline.

    Args:
        panel: The claims and answers.
        kinds: What each predictor is.
        baseline: Predictor that uplift, flips and unsure claims refer to; ``None``: there is none.
        minimum_coverage: Least mean mass on valid answers.
        wordings: What wordings do, where that is known.
        beside: Predictors with tools, each with the same one without them: what tools add is the uplift.

    Raises:
        AnalysisError: If a predictor or its kind is not known, or all claims are of one label.
    """
    strangers = [name for name in panel.answers if name not in kinds]
    if strangers:
        raise AnalysisError(f"What {strangers[0]} is is not known.", "Name its kind.")
    if baseline is not None and baseline not in panel.answers:
        raise AnalysisError(f"There is no predictor {baseline}.", f"Name one of {', '.join(panel.answers)}.")
    absent = [name for pair in (beside or {}).items() for name in pair if name not in panel.answers]
    if absent:
        raise AnalysisError(f"There is no predictor {absent[0]}.", f"Name some of {', '.join(panel.answers)}.")
    true = int(panel.truth.sum())
    if true in (0, len(panel.truth)):
        raise AnalysisError(
            f"All {len(panel.truth)} claims are {'true' if true else 'false'}, so there is nothing to tell.",
            "Give claims of both labels.",
        )
    predictors = tuple(scored(panel, name, kinds[name], minimum_coverage) for name in panel.answers)
    floors = [name for name in panel.answers if kinds[name] == "floor"]
    others = [name for name in panel.answers if kinds[name] != "floor"]
    rivals = ([baseline] if baseline is not None else []) + [floor for floor in floors if floor != baseline]
    return PredictionResults(
        claims=len(panel.claims),
        true=true,
        units=panel.independent,
        cluster=panel.columns[0],
        level=1.0 - 2.0 * ALPHA,
        predictors=predictors,
        baseline=baseline,
        over_floors=over_floors(panel, others, floors) if floors else (),
        uplifts=tuple(uplift(panel, name, rival) for name in others for rival in rivals if rival != name),
        tools=tuple(uplift(panel, name, without) for name, without in (beside or {}).items()),
        flips=tuple(flips(panel, name, baseline) for name in others if baseline is not None and name != baseline),
        subsets=subsets(panel, baseline),
        wordings=tuple(wordings),
        notes=(*_notes(panel, predictors, floors), *_on_wordings(wordings)),
    )


def _on_wordings(effects: Sequence[WordingEffect]) -> tuple[str, ...]:
    """Who answers to the order in which the answers are named rather than to the claim."""
    return tuple(
        f"Naming 'Yes' first rather than second moves the probability that {one.name} gives by "
        f"{100 * one.order.value:+.0f} points: at one half it answers to the order of the answers, not to the claim."
        for one in effects
        if one.order is not None and abs(one.order.value) >= MUCH and (one.order.low > 0.0 or one.order.high < 0.0)
    )


def _notes(panel: Panel, predictors: Sequence[PredictorScore], floors: Sequence[str]) -> tuple[str, ...]:
    said = [f"{one.name} is constant: {one.constant}." for one in predictors if one.constant is not None]
    said += [f"{one.name} is insufficient: {one.insufficient}." for one in predictors if one.insufficient is not None]
    if panel.independent < FEW_UNITS:
        said.append(
            f"The claims come from {panel.independent} independent units only. Intervals are then those of Student's t "
            "and rough; small differences say nothing."
        )
    if not floors:
        said.append("No floor was asked, so what the surface of an edit gives away is not known.")
    return tuple(said)
