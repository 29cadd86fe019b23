"""The same within parts of the claims: unsure ones, by concreteness and source, filtered, matched."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import estimate, mean_of
from firsthand.analysis.predictions.panel import Panel
from firsthand.analysis.predictions.results import SubsetResult, SubsetScore
from firsthand.analysis.predictions.scores import areas_of, filled, right_of
from firsthand.analysis.predictions.uplift import filled_lead, lead
from firsthand.analysis.results import Estimate

UNSURE: Final = (0.25, 0.75)
"""Probabilities between which a baseline is unsure of a claim."""

LEAST: Final = 10
"""Fewest claims of a part that is shown."""

_CHOSEN: Final = (
    "These claims were chosen by {baseline}'s own answers, which are near one half here: its own area is held down by "
    "the choice, and a lead over it is flattered. Compare the others with each other."
)


class Part(NamedTuple):
    """A part of the claims.

    Attributes:
        name: Which claims, in words.
        by: What the part is made by.
        kept: Which they are ``[claims]``.
        note: What to know when reading it.
    """

    name: str
    by: str
    kept: NDArray[np.bool_]
    note: str = ""


def subsets(panel: Panel, baseline: str | None) -> tuple[SubsetResult, ...]:
    """Every part with enough claims.

    Args:
        panel: The claims and answers, with what is known of claims.
        baseline: The predictor whose unsure claims are looked at, and that leads refer to.
    """
    return tuple(
        _result(panel.only(part.kept), part, baseline)
        for part in parts_of(panel, baseline)
        if LEAST <= part.kept.sum() < len(panel.claims)
    )


def parts_of(panel: Panel, baseline: str | None) -> Iterator[Part]:
    """Parts of the claims, the empty ones included."""
    if baseline is not None:
        low, high = UNSURE
        with np.errstate(invalid="ignore"):
            probability = panel.answers[baseline].probability
            unsure = (probability >= low) & (probability <= high)
        note = _CHOSEN.format(baseline=baseline)
        yield Part(f"{baseline} is unsure ({low:g} to {high:g})", "unsure", unsure, note)
    facts = panel.units
    if "concreteness" in facts:
        rated = facts["concreteness"].to_numpy(np.float64, na_value=np.nan)
        for level in sorted({float(value) for value in rated if np.isfinite(value)}):
            yield Part(f"concreteness {level:g}", "concreteness", rated == level)
        yield Part("concreteness not judged", "concreteness", np.isnan(rated))
    if "source" in facts:
        sources = facts["source"].astype(str).to_numpy()
        for source in sorted(set(sources.tolist())):
            yield Part(f"source {source or '(none)'}", "source", sources == source)
    if "filtered" in facts:
        passed = facts["filtered"].to_numpy(np.bool_)
        yield Part("filtered: passes every filter", "filtered", passed)
        yield Part("left out by a filter", "filtered", ~passed)
    if "matched" in facts:
        alike = (facts["matched"] == True).to_numpy(np.bool_)  # noqa: E712 - a claim may not say
        yield Part("matched: has a partner that looks alike", "matched", alike)


def _result(panel: Panel, part: Part, baseline: str | None) -> SubsetResult:
    return SubsetResult(
        name=part.name,
        by=part.by,
        claims=len(panel.claims),
        true=int(panel.truth.sum()),
        units=panel.independent,
        scores=tuple(_score(panel, name, baseline) for name in panel.answers),
        note=part.note,
    )


def _score(panel: Panel, name: str, baseline: str | None) -> SubsetScore:
    given, truth = panel.answers[name], panel.truth
    right, everything = right_of(given, truth), np.ones(len(truth), dtype=np.bool_)
    other = None if baseline == name else baseline
    worst, best = (None if other is None else _lead(filled_lead(panel, name, other, told)) for told in (0.0, 1.0))
    return SubsetScore(
        name=name,
        auroc=_area(panel, name, given.probability, given.valid),
        accuracy=_share(panel, right),
        lead=None if other is None else _lead(lead(panel, name, other)),
        invalid=int((~given.valid).sum()),
        auroc_worst=_area(panel, name, filled(given, truth, 0.0), everything),
        auroc_best=_area(panel, name, filled(given, truth, 1.0), everything),
        accuracy_worst=_share(panel, np.where(given.valid, right, 0.0)),
        accuracy_best=_share(panel, np.where(given.valid, right, 1.0)),
        lead_worst=worst,
        lead_best=best,
    )


def _area(panel: Panel, name: str, scores: FloatArray, valid: NDArray[np.bool_]) -> Estimate | None:
    areas = areas_of(panel, {name: scores}, valid)
    return None if areas is None else estimate(areas.measure(name), 0.5)


def _share(panel: Panel, right: FloatArray) -> Estimate | None:
    return estimate(mean_of(right, panel.units, panel.columns), 0.5)


def _lead(found: Measured | None) -> Estimate | None:
    return None if found is None else estimate(found, 0.0)
