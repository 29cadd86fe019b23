"""Who else could have said the same of pairs of strings, and what is left when the same is said otherwise.

Beside every other model there are two *outsiders*. The other models *together* measure what they have in common better
than any of them. And whoever sees only the *strings* knows their lengths and what each pair is about: a model that
likes short strings when it is asked, and finds them likelier, knows nothing of itself.

A self advantage may also hang on a few extreme pairs, on the answers that are missing, or on what strings look like. So
judgements are looked at again as *ranks*; with every invalid answer for *no preference*; and *net* of lengths and
phenomena, as residuals of a line on them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from firsthand.analysis.direct_meta import FEATURES, Judged, scaled
from firsthand.analysis.inference import FloatArray
from firsthand.trials.randomness import stream

TOGETHER: Final = "the other models together"
STRINGS: Final = "lengths of the strings and phenomenon"
FOLDS: Final = 10
AS_MEASURED: Final = "as measured"


def outsiders(judged: Judged, reporter: int, *, strings: bool = True) -> dict[str, FloatArray]:
    """What others than single models say of the pairs ``[pairs]``, by name.

    Args:
        judged: The judgements.
        reporter: Number of the model that is asked.
        strings: Whether a reader of the strings alone is wanted; what it says is learned from the meta judgements of
            other pairs, and NaN where the reporter's answer is invalid.
    """
    found: dict[str, FloatArray] = {}
    others = [n for n in range(len(judged.models)) if n != reporter]
    if len(others) > 1:
        found[TOGETHER] = np.mean([scaled(judged.direct_MN[n]) for n in others], axis=0)
    if strings:
        said = _read_from_strings(judged, reporter)
        if said is not None:
            found[STRINGS] = said
    return found


def as_ranks(judged: Judged) -> Judged:
    """Every judgement as its rank among the pairs."""
    return replace(judged, direct_MN=_ranks(judged.direct_MN), meta_MN=_ranks(judged.meta_MN))


def undecided(judged: Judged) -> Judged:
    """Invalid answers as no preference, 0."""
    return replace(judged, meta_MN=np.nan_to_num(judged.meta_MN, nan=0.0))


def net_of_strings(judged: Judged) -> Judged:
    """What is left of every judgement when a line on lengths and phenomena is taken off."""
    design = seen_of(judged.pairs)
    return replace(judged, direct_MN=_residuals(judged.direct_MN, design), meta_MN=_residuals(judged.meta_MN, design))


VARIANTS: Final[Mapping[str, Callable[[Judged], Judged]]] = {
    AS_MEASURED: lambda judged: judged,
    "ranks": as_ranks,
    "invalid answers as no preference": undecided,
    "net of lengths and phenomena": net_of_strings,
}
"""The same judgements, said otherwise; a self advantage must hold in each."""


def seen_of(pairs: pd.DataFrame) -> FloatArray:
    """What anybody sees of pairs: a constant, lengths, an indicator for each phenomenon ``[pairs, columns]``."""
    columns = [np.ones(len(pairs)), *(pairs[name].to_numpy(dtype=np.float64) for name in FEATURES if name in pairs)]
    if "phenomenon" in pairs:
        codes, names = pd.factorize(pairs["phenomenon"])
        # With two pairs each or fewer, an indicator would take away the pairs themselves.
        if len(names) > 1 and 2 * len(names) < len(pairs):
            columns += list(np.eye(len(names))[codes][:, 1:].T)
    return np.column_stack(columns)


def _read_from_strings(judged: Judged, reporter: int) -> FloatArray | None:
    """Meta as a line on what anybody sees of the strings gives it, each pair from the other nine tenths."""
    design = seen_of(judged.pairs)
    keep = np.flatnonzero(judged.valid(reporter))
    if design.shape[1] < 2 or len(keep) < 2 * max(FOLDS, design.shape[1]):
        return None
    meta = judged.meta_MN[reporter]
    said = np.full(len(meta), np.nan)
    folds = stream(0, "direct-meta", "strings").permutation(len(keep)) % FOLDS
    for fold in range(FOLDS):
        learned, told = keep[folds != fold], keep[folds == fold]
        said[told] = design[told] @ np.linalg.lstsq(design[learned], meta[learned], rcond=None)[0]
    return said


def _ranks(values_MN: FloatArray) -> FloatArray:
    ranks = rankdata(values_MN, axis=1, nan_policy="omit")
    return np.asarray(np.where(np.isfinite(values_MN), ranks, np.nan), dtype=np.float64)


def _residuals(values_MN: FloatArray, design_NC: FloatArray) -> FloatArray:
    left = np.full_like(values_MN, np.nan)
    for row, values in zip(left, values_MN, strict=True):
        known = np.isfinite(values)
        if known.any():
            line = np.linalg.lstsq(design_NC[known], values[known], rcond=None)[0]
            row[known] = values[known] - design_NC[known] @ line
    return left
