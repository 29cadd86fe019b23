"""How every predictor does, and what the target's own training is ahead of, as a reader is shown it."""

from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd

from firsthand.analysis.inference import FloatArray
from firsthand.analysis.means import mean_of
from firsthand.analysis.results import Estimate
from firsthand.analysis.self_cross.evidence import CHANCE, Evidence, Support
from firsthand.analysis.self_cross.results import Lead, Standing
from firsthand.analysis.self_cross.table import Panel, Runs

MOST_LOSS: Final = 10.0


def worst_drift(support: Support, alpha: float) -> Estimate | None:
    """Divergence of the seed that training moved furthest."""
    worst = max(support.drift, key=lambda found: found.value, default=None)
    return None if worst is None else worst.estimate(alpha)


def worst_changed(support: Support, alpha: float) -> Estimate | None:
    """Share of labels that are others, of the seed where most are."""
    worst = max(support.changed, key=lambda found: found.high(alpha), default=None)
    return None if worst is None else worst.estimate(alpha)


def lead_over(evidence: Evidence, one: Runs) -> Lead:
    """What the target's own training is ahead of a rival."""
    alpha, name = evidence.spec.alpha, one.name
    ability, net = evidence.support.ability.get(name), evidence.net.get(name)
    assert one.kind in ("cross", "observer", "floor")
    return Lead(
        rival=name,
        kind=one.kind,
        lead=evidence.leads[name].estimate(alpha, 0.0),
        ability=None if ability is None else ability.ahead.measured().estimate(alpha),
        uninformative=() if ability is None else ability.faults,
        net=None if net is None else net.estimate(alpha, 0.0),
    )


def standing(panel: Panel, one: Runs, alpha: float) -> Standing:
    """How one predictor does."""
    area = panel.area(one)
    table = pd.DataFrame({"cluster": list(panel.clusters)})
    yes = one.says
    right = np.where(panel.truth == 1.0, yes, 1.0 - yes)
    with np.errstate(divide="ignore"):
        given = np.where(panel.truth == 1.0, one.probability, 1.0 - one.probability)
        loss = np.minimum(-np.log(given), MOST_LOSS)

    def over(values: FloatArray, rows: FloatArray, span: tuple[float, float] = (0.0, 1.0)) -> Estimate | None:
        """Mean over claims of the mean over seeds; a claim without a valid answer is left out."""
        known = (~np.isnan(values)).any(axis=0) & (rows == 1.0)
        if not known.any():
            return None
        found = mean_of(np.nanmean(values[:, known], axis=0), table[known].reset_index(drop=True), ["cluster"], span)
        return None if found.unknown else found.estimate(alpha)

    everywhere = np.ones(len(panel.truth))
    return Standing(
        name=one.name,
        kind=one.kind,
        seeds=tuple(seed for seed in one.seeds if seed >= 0) if one.trained else (),
        auroc=area.measured().estimate(alpha, CHANCE),
        by_seed=tuple(
            panel.area(
                replace(one, seeds=one.seeds[n : n + 1], probability=row[None], coverage=one.coverage[[n]])
            ).value
            for n, row in enumerate(one.probability)
        ),
        accuracy=over(right, everywhere),
        tpr=over(yes, panel.truth),
        fpr=over(yes, 1.0 - panel.truth),
        log_loss=over(loss, everywhere, (0.0, MOST_LOSS)),
        coverage=one.weakest_coverage,
        invalid=one.invalid,
        constant=one.constant,
    )
