"""One predictor against another on the same claims, and against all floors at once."""

from collections.abc import Mapping, Sequence

import numpy as np

from firsthand.analysis.findings import ALPHA
from firsthand.analysis.gap import Joint
from firsthand.analysis.inference import Measured
from firsthand.analysis.mcnemar import mcnemar_greater
from firsthand.analysis.means import DIFFERENCE, estimate, mean_of
from firsthand.analysis.multiplicity import holm
from firsthand.analysis.predictions.delong import delong
from firsthand.analysis.predictions.panel import Panel
from firsthand.analysis.predictions.results import OverFloors, Uplift
from firsthand.analysis.predictions.scores import areas_of, filled, right_of
from firsthand.analysis.results import Estimate


def uplift(panel: Panel, name: str, over: str) -> Uplift:
    """Hold one predictor against another.

    Args:
        panel: The claims and answers.
        name: Who.
        over: Over whom.
    """
    first, second, truth = panel.answers[name], panel.answers[over], panel.truth
    both = first.valid & second.valid
    ours, theirs = right_of(first, truth), right_of(second, truth)
    tested = delong(truth[both], first.probability[both], second.probability[both], ALPHA) if both.any() else None
    return Uplift(
        name=name,
        over=over,
        claims=int(both.sum()),
        left_out=int((~both).sum()),
        auroc=_shown(lead(panel, name, over)),
        auroc_worst=_filled_lead(panel, name, over, 0.0),
        auroc_best=_filled_lead(panel, name, over, 1.0),
        accuracy=estimate(mean_of(np.where(both, ours - theirs, np.nan), panel.units, panel.columns, DIFFERENCE), 0.0),
        mcnemar_p=mcnemar_greater(ours, theirs) if both.any() else None,
        delong=tested,
    )


def lead(panel: Panel, name: str, over: str) -> Measured | None:
    """Difference of areas over claims of which both gave a valid answer; ``None`` if these are of one label only."""
    first, second = panel.answers[name], panel.answers[over]
    scores = {"first": first.probability, "second": second.probability}
    areas = areas_of(panel, scores, first.valid & second.valid)
    return None if areas is None else areas.lead("first", "second")


def over_floors(panel: Panel, names: Sequence[str], floors: Sequence[str]) -> tuple[OverFloors, ...]:
    """Who is ahead of every floor, corrected for how many were held against them.

    The strongest floor is not chosen beforehand, which would be choosing and judging on the same claims: being ahead
    of all of them is tested by an intersection-union test.

    Args:
        panel: The claims and answers.
        names: Predictors that are no floors.
        floors: The floors.
    """
    joints: dict[str, Joint[Measured]] = {}
    for name in names:
        leads = {floor: lead(panel, name, floor) for floor in floors}
        known = {floor: found for floor, found in leads.items() if found is not None and not found.unknown}
        if known and len(known) == len(floors):
            joints[name] = Joint(known)
    corrected = holm({name: joint.p_above(0.0) for name, joint in joints.items()})
    return tuple(_over(name, joint, corrected) for name, joint in joints.items())


def _over(name: str, joint: Joint[Measured], corrected: Mapping[str, float]) -> OverFloors:
    made = joint.estimate(ALPHA, 0.0)
    assert made is not None, "a joint with members has an estimate"
    return OverFloors(name=name, floor=joint.weakest, lead=made, p_holm=corrected[name])


def _shown(found: Measured | None) -> Estimate | None:
    return None if found is None else estimate(found, 0.0)


def _filled_lead(panel: Panel, name: str, over: str, told: float) -> Estimate | None:
    """The lead over all claims, invalid answers filled for the first predictor (``told`` 1) or against it (0)."""
    first, second, truth = panel.answers[name], panel.answers[over], panel.truth
    scores = {"first": filled(first, truth, told), "second": filled(second, truth, 1.0 - told)}
    areas = areas_of(panel, scores, np.ones(len(truth), dtype=np.bool_))
    return None if areas is None else _shown(areas.lead("first", "second"))
