"""meta-d' of reports about choices between two, which is where it is defined."""

import numpy as np
import pandas as pd

from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.meta_d import FURTHEST, LEAST_D, RATINGS, MetaDMeasured, counts_of, measured_meta_d, rated
from firsthand.analysis.results import Estimate
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError
from firsthand.report.formats import Unit
from firsthand.report.labels_document import Grid, LabelsFinding
from firsthand.studies.labels.confidence.asking import OF_TWO, Bench
from firsthand.studies.labels.confidence.scores import choices_of_two
from firsthand.studies.labels.confidence.texts import TITLES


def meta_d_of(choices: pd.DataFrame, spec: AnalysisSpec) -> MetaDMeasured:
    """meta-d' of valid choices between two, with ratings of equal number within each wording.

    Args:
        choices: See :func:`~firsthand.studies.labels.confidence.scores.choices_of_two`.
        spec: The rules.

    Raises:
        AnalysisError: If too few are valid for a fit.
    """
    table = choices[choices["valid"]].reset_index(drop=True)
    if table.empty or table["stimulus"].nunique() < 2:
        raise AnalysisError("No choice between two is valid.", "Look at the coverage of the answers.")
    confidence = table["confidence"].to_numpy(dtype=np.float64)
    rating = rated(confidence, table["order"].to_numpy(dtype=np.int64))
    stimulus, response = (table[name].to_numpy(dtype=np.int64) for name in ("stimulus", "response"))
    one = [slice(i, i + 1) for i in range(len(table))]
    each: FloatArray = np.stack([counts_of(stimulus[i], response[i], rating[i], RATINGS) for i in one])
    return measured_meta_d(each, table, spec.clusters, spec.alpha)


def two_option_finding(bench: Bench, rows: pd.DataFrame, spec: AnalysisSpec) -> LabelsFinding:
    """What confidence in a choice between two is worth, in the units of that choice.

    Args:
        bench: What was fixed.
        rows: What came back.
        spec: The rules.
    """
    found, notes = [], []
    for ask in (one for one in bench.claim.reports if one in OF_TWO):
        choices = choices_of_two(rows, ask)
        valid = int(choices["valid"].sum())
        notes.append(f"{TITLES[ask]}: {valid} of {len(choices)} choices are valid in answer and report.")
        try:
            fitted = meta_d_of(choices, spec)
            found.append((TITLES[ask], _cells(fitted, spec)))
            notes += _bound(TITLES[ask], fitted)
        except AnalysisError as error:
            notes.append(f"{TITLES[ask]}: no meta-d'. {error.problem}")
    grid = Grid(
        name="meta-d",
        title="Sensitivity of the choice and of the confidence in it",
        columns=("", "d'", "meta-d'", "meta-d' - d'", "meta-d' / d'"),
        rows=tuple(found),
        unit=Unit.NUMBER,
        note=f"meta-d' is given where d' is shown to be above {LEAST_D:g}. Confidence in {RATINGS} ratings of equal "
        "number within each wording.",
    )
    return LabelsFinding(
        name="two-options",
        title="Choices between two, and meta-d'",
        asked="The right option and a wrong one drawn by lot, in both orders; the report in each order by itself.",
        setting={"questions": str(len(bench.pairs)), "choices": str(2 * len(bench.pairs))},
        grids=(grid,) if found else (),
        notes=(
            *notes,
            "meta-d' is a figure of merit of a report and no test of where it comes from: an observer's confidence has "
            "one, too.",
        ),
    )


def _bound(title: str, found: MetaDMeasured) -> list[str]:
    """What is to be said of fits that had to stop at their bound."""
    if found.at_bound:
        return [f"{title}: the fit lies at its bound of {FURTHEST:g}, so meta-d' is at least as far from 0 as it says."]
    if found.draws_at_bound > 0:
        share = f"{found.draws_at_bound:.0%}" if found.draws_at_bound >= 0.005 else "less than 1%"
        return [f"{title}: {share} of the resampled fits lie at their bound of {FURTHEST:g}, where the interval ends."]
    return []


def _cells(found: MetaDMeasured, spec: AnalysisSpec) -> tuple[Estimate | str | None, ...]:
    def cell(measured: Measured | None) -> Estimate | str:
        if measured is None:
            return "d' is too small"
        return "not known" if measured.unknown else measured.estimate(spec.alpha)

    return cell(found.d_prime), cell(found.meta_d), cell(found.difference), cell(found.ratio)
