"""What the wording of the question and the order of its answers do to a predictor.

A single wording is one draw of many: "could have" for "did" can move a rate of yes from nearly all to nearly none. So
several are asked, each in both orders of the answers, and how much they differ is shown beside what they say together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from firsthand.analysis.findings import ALPHA
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.means import DIFFERENCE, estimate, mean_of
from firsthand.analysis.predictions.panel import Answers, Panel
from firsthand.analysis.predictions.results import WordingEffect, WordingResult
from firsthand.analysis.predictions.scores import areas_of, share
from firsthand.analysis.results import Estimate


@dataclass(frozen=True, eq=False)
class Worded:
    """What a predictor said in every wording.

    Attributes:
        wordings: Names of the wordings ``[wordings]``.
        groups: Which wordings differ in the order of the answers only: equal numbers ``[wordings]``.
        yes_first: Whether the answer for a true claim is named first ``[wordings]``.
        log_odds_CW: Log-odds of a true claim; NaN where the answer is invalid ``[claims, wordings]``.
        coverage_CW: Mass on valid answers ``[claims, wordings]``.
    """

    wordings: tuple[str, ...]
    groups: tuple[int, ...]
    yes_first: tuple[bool, ...]
    log_odds_CW: FloatArray
    coverage_CW: FloatArray


def wording_effect(panel: Panel, name: str, said: Worded) -> WordingEffect:
    """Say what wordings do.

    Args:
        panel: The claims.
        name: Who.
        said: What it said.
    """
    with np.errstate(over="ignore"):
        probability_CW = 1.0 / (1.0 + np.exp(-said.log_odds_CW))
    results = []
    for number, wording in enumerate(said.wordings):
        given = Answers(probability_CW[:, number], said.coverage_CW[:, number])
        areas = areas_of(panel, {"one": said.log_odds_CW[:, number]}, np.isfinite(said.log_odds_CW[:, number]))
        results.append(
            WordingResult(
                wording=wording,
                says_true=share(panel, given.says),
                coverage=share(panel, given.coverage),
                auroc=None if areas is None else estimate(areas.measure("one"), 0.5),
            )
        )
    averaged = np.column_stack([_mean_of(said, group) for group in dict.fromkeys(said.groups)])
    spread = averaged.std(axis=1, ddof=1) if averaged.shape[1] > 1 else np.full(len(averaged), np.nan)
    overall = averaged.mean(axis=1)
    known = overall[np.isfinite(overall)]
    widest = float(np.nanmax(spread)) if np.isfinite(spread).any() else 0.0
    return WordingEffect(
        name=name,
        wordings=tuple(results),
        order=_order(panel, said, probability_CW),
        between=None
        if not np.isfinite(spread).any()
        else mean_of(spread, panel.units, panel.columns, (0.0, max(widest, 1e-9))).estimate(ALPHA),
        within=float(known.std(ddof=1)) if len(known) > 1 else None,
    )


def _mean_of(said: Worded, group: int) -> FloatArray:
    columns = [number for number, one in enumerate(said.groups) if one == group]
    return np.asarray(said.log_odds_CW[:, columns].mean(axis=1), dtype=np.float64)


def _order(panel: Panel, said: Worded, probability_CW: FloatArray) -> Estimate | None:
    pairs = [
        (first, second)
        for first in range(len(said.groups))
        for second in range(len(said.groups))
        if said.groups[first] == said.groups[second] and said.yes_first[first] and not said.yes_first[second]
    ]
    if not pairs:
        return None
    apart = np.mean([probability_CW[:, a] - probability_CW[:, b] for a, b in pairs], axis=0)
    return mean_of(apart, panel.units, panel.columns, DIFFERENCE).estimate(ALPHA, 0.0)


def combined(log_odds: Sequence[float]) -> float:
    """Probability of a true claim from the log-odds of all wordings: that of their mean."""
    return float(1.0 / (1.0 + np.exp(-float(np.mean(log_odds)))))
