"""Claims of which a predictor answers otherwise than its baseline: how many, which way, and to what good.

As in arXiv 2608.16747, appendix C.4 (Table 6): tools tend to move answers towards "the edit does not matter", which is
wrong of claims that are true and right of those that are false.
"""

import numpy as np
from numpy.typing import NDArray

from firsthand.analysis.means import estimate, mean_of
from firsthand.analysis.predictions.panel import Panel
from firsthand.analysis.predictions.results import FlipRow, Flips
from firsthand.analysis.results import Estimate


def flips(panel: Panel, name: str, baseline: str) -> Flips:
    """What a predictor changed of its baseline's answers, among true and among false claims.

    Args:
        panel: The claims and answers.
        name: Who.
        baseline: Whose answers it is held against.
    """
    return Flips(
        name=name, baseline=baseline, rows=tuple(_row(panel, name, baseline, label) for label in (True, False))
    )


def _row(panel: Panel, name: str, baseline: str, label: bool) -> FlipRow:
    before, after = panel.answers[baseline].says, panel.answers[name].says
    here = panel.truth == float(label)
    counts = here & np.isin(before, (0.0, 1.0)) & np.isin(after, (0.0, 1.0))
    changed = counts & (before != after)
    to_no, to_yes = int((changed & (after == 0.0)).sum()), int((changed & (after == 1.0)).sum())
    truth = float(label)
    return FlipRow(
        label=label,
        claims=int(counts.sum()),
        left_out=int((here & ~counts).sum()),
        flipped=_share(panel, changed, counts),
        towards_no_effect=_share(panel, changed & (after == 0.0), changed),
        to_no_effect=to_no,
        to_effect=to_yes,
        right=to_yes if label else to_no,
        wrong=to_no if label else to_yes,
        before=_share(panel, before == truth, counts),
        after=_share(panel, after == truth, counts),
    )


def _share(panel: Panel, having: NDArray[np.bool_], among: NDArray[np.bool_]) -> Estimate | None:
    if not among.any():
        return None
    return estimate(mean_of(np.where(among, having.astype(np.float64), np.nan), panel.units, panel.columns))
