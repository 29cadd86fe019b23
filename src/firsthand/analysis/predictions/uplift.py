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
        auroc_worst=_shown(filled_lead(panel, name, over, 0.0)),
        auroc_best=_shown(filled_lead(panel, name, over, 1.0)),
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

    Every claim counts. Whoever answers only what is easy would otherwise be judged on that: an invalid answer of the
    predictor is filled as the surest wrong one, and one of a floor as the surest right one.

    Args:
        panel: The claims and answers.
        names: Predictors that are no floors.
        floors: The floors.
    """
    joints: dict[str, Joint[Measured]] = {}
    for name in names:
        joint = _joint({floor: filled_lead(panel, name, floor, 0.0) for floor in floors})
        if joint is not None:
            joints[name] = joint
    corrected = holm({name: joint.p_above(0.0) for name, joint in joints.items()})
    return tuple(_over(panel, name, floors, joint, corrected) for name, joint in joints.items())


def _joint(leads: Mapping[str, Measured | None]) -> Joint[Measured] | None:
    """All leads as one; ``None`` unless each is known."""
    known = {floor: found for floor, found in leads.items() if found is not None and not found.unknown}
    return Joint(known) if known and len(known) == len(leads) else None


def _over(
    panel: Panel, name: str, floors: Sequence[str], joint: Joint[Measured], corrected: Mapping[str, float]
) -> OverFloors:
    made = joint.estimate(ALPHA, 0.0)
    assert made is not None, "a joint with members has an estimate"
    answered = np.all([panel.answers[one].valid for one in (name, *floors)], axis=0)
    valid = _joint({floor: lead(panel, name, floor) for floor in floors})
    return OverFloors(
        name=name,
        floor=joint.weakest,
        lead=made,
        p_holm=corrected[name],
        left_out=int((~answered).sum()),
        lead_valid=None if valid is None else valid.estimate(ALPHA, 0.0),
    )


def _shown(found: Measured | None) -> Estimate | None:
    return None if found is None else estimate(found, 0.0)


def filled_lead(panel: Panel, name: str, over: str, told: float) -> Measured | None:
    """The lead over all claims, invalid answers filled for the first predictor (``told`` 1) or against it (0)."""
    first, second, truth = panel.answers[name], panel.answers[over], panel.truth
    scores = {"first": filled(first, truth, told), "second": filled(second, truth, 1.0 - told)}
    areas = areas_of(panel, scores, np.ones(len(truth), dtype=np.bool_))
    return None if areas is None else areas.lead("first", "second")
