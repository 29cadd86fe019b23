"""The numbers of a report on predictions as tables.

scores (one row a predictor):
    predictor, kind, claims: Who, what it is, and of how many claims it was asked.
    accuracy, accuracy_worst, accuracy_best, auroc, auroc_worst, auroc_best, tpr, fpr, says_true, invalid, coverage,
    brier: Estimates; ``worst`` and ``best`` are over what invalid answers could have been.
    reliability, resolution, uncertainty, calibration_error, calibration_error_null: Parts of the Brier score.
    constant, insufficient: Why the numbers say little, if so.
uplifts (one row a pair):
    predictor, over, claims, left_out: Who, over whom, on how many claims, and of how many one answer is invalid.
    auroc, auroc_worst, auroc_best, accuracy: Estimates of the differences.
    mcnemar_p, delong_p, delong_se, delong_low, delong_high: Tests that take claims for independent.
tools (one row a predictor with tools, over the same one without):
    as uplifts.
over_floors (one row a predictor that is no floor):
    predictor, floor, lead, p_holm, left_out, lead_valid.
flips (one row a predictor and label):
    predictor, baseline, label, claims, left_out, flipped, towards_no_effect, to_no_effect, to_effect, right, wrong,
    before, after.
subsets (one row a part of the claims and predictor):
    subset, by, claims, true, units, predictor, invalid; auroc, accuracy and lead, each as it is, worst and best.
wordings (one row a predictor and wording):
    predictor, wording, says_true, coverage, auroc, order, between, within.
calibration (one row a bin):
    predictor, low, high, mean_probability, true.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from firsthand.analysis.predictions.results import PredictionResults, Uplift
from firsthand.report.predictions_document import PredictionsDocument
from firsthand.report.tables import Row, estimate_columns, frames

_ESTIMATES = (
    "accuracy",
    "accuracy_worst",
    "accuracy_best",
    "auroc",
    "auroc_worst",
    "auroc_best",
    "tpr",
    "fpr",
    "says_true",
    "invalid",
    "coverage",
)
_IN_PARTS = tuple(f"{name}{fill}" for name in ("auroc", "accuracy", "lead") for fill in ("", "_worst", "_best"))


def tables_of(document: PredictionsDocument) -> dict[str, pd.DataFrame]:
    """Give every table that has rows, by name."""
    found = document.results
    return frames(
        {
            "scores": list(_scores(found)),
            "uplifts": list(_uplifts(found.uplifts)),
            "tools": list(_uplifts(found.tools)),
            "over_floors": list(_over_floors(found)),
            "flips": list(_flips(found)),
            "subsets": list(_subsets(found)),
            "wordings": list(_wordings(found)),
            "calibration": list(_calibration(found)),
        }
    )


def _scores(found: PredictionResults) -> Iterator[Row]:
    for one in found.predictors:
        row: Row = {"predictor": one.name, "kind": one.kind, "claims": one.claims}
        for name in _ESTIMATES:
            row |= estimate_columns(name, getattr(one, name))
        stated = one.calibration
        row |= estimate_columns("brier", None if stated is None else stated.brier)
        for name in ("reliability", "resolution", "uncertainty"):
            row[name] = None if stated is None else getattr(stated, name)
        row["calibration_error"] = None if stated is None else stated.error
        row["calibration_error_null"] = None if stated is None else stated.error_null
        yield row | {"constant": one.constant, "insufficient": one.insufficient}


def _uplifts(found: Sequence[Uplift]) -> Iterator[Row]:
    for one in found:
        row: Row = {"predictor": one.name, "over": one.over, "claims": one.claims, "left_out": one.left_out}
        for name in ("auroc", "auroc_worst", "auroc_best", "accuracy"):
            row |= estimate_columns(name, getattr(one, name))
        row["mcnemar_p"] = one.mcnemar_p
        for name in ("p", "se", "low", "high"):
            row[f"delong_{name}"] = None if one.delong is None else getattr(one.delong, name)
        yield row


def _over_floors(found: PredictionResults) -> Iterator[Row]:
    for one in found.over_floors:
        yield {
            "predictor": one.name,
            "floor": one.floor,
            **estimate_columns("lead", one.lead),
            "p_holm": one.p_holm,
            "left_out": one.left_out,
            **estimate_columns("lead_valid", one.lead_valid),
        }


def _flips(found: PredictionResults) -> Iterator[Row]:
    for one in found.flips:
        for row in one.rows:
            made: Row = {"predictor": one.name, "baseline": one.baseline, "label": row.label}
            for name in ("claims", "left_out", "to_no_effect", "to_effect", "right", "wrong"):
                made[name] = getattr(row, name)
            for name in ("flipped", "towards_no_effect", "before", "after"):
                made |= estimate_columns(name, getattr(row, name))
            yield made


def _subsets(found: PredictionResults) -> Iterator[Row]:
    for part in found.subsets:
        what = {"subset": part.name, "by": part.by, "claims": part.claims, "true": part.true, "units": part.units}
        for one in part.scores:
            row: Row = {**what, "predictor": one.name, "invalid": one.invalid}
            for name in _IN_PARTS:
                row |= estimate_columns(name, getattr(one, name))
            yield row


def _wordings(found: PredictionResults) -> Iterator[Row]:
    for one in found.wordings:
        shared = estimate_columns("order", one.order) | estimate_columns("between", one.between)
        for wording in one.wordings:
            row: Row = {"predictor": one.name, "wording": wording.wording}
            for name in ("says_true", "coverage", "auroc"):
                row |= estimate_columns(name, getattr(wording, name))
            yield row | shared | {"within": one.within}


def _calibration(found: PredictionResults) -> Iterator[Row]:
    for one in found.predictors:
        for part in () if one.calibration is None else one.calibration.bins:
            where: Row = {"predictor": one.name, "low": part.low, "high": part.high}
            yield where | {"mean_probability": part.mean_confidence} | estimate_columns("true", part.accuracy)
