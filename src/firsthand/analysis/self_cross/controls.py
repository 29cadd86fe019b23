"""How much better a learner the target is than a rival, on claims about others: a control only if it could have told.

A panel tells it of claims about a *third* target: the target has nothing of its own there, and neither has the rival.
On claims about the rival itself the rival's access hides how much better the target learns, so they are no control.
Where both foretell nothing, or both nearly everything, their difference says nothing of who learns better.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from firsthand.analysis.self_cross.contrasts import Contrast, SeedPart, mean_area
from firsthand.analysis.self_cross.results import SelfCrossSpec
from firsthand.analysis.self_cross.table import Panel, Runs

CHANCE: Final = 0.5


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Claims about another target, that the same models were trained on.

    Attributes:
        panel: Everybody's predictions of them.
        same_data: Whether all trainings saw the same claims in the same order.
        shared_clusters: Clusters that were trained on and are judged on.
    """

    panel: Panel
    same_data: bool = True
    shared_clusters: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Control:
    """General ability of the target beside one rival's.

    Attributes:
        ahead: Area of the target less that of the rival, a mean over panels; the larger of both ways to count answers
            that are not valid.
        faults: Why it tells nothing, in words; empty where it does.
        able: Whether the rival foretells there, so that its trainings come to something.
    """

    ahead: Contrast
    faults: tuple[str, ...] = ()
    able: bool = False


def ability(others: Iterable[Panel], model: str, rival: str) -> Contrast | None:
    """How much better one model learns than another what is said of a third.

    Args:
        others: Claims about other targets.
        model: The target whose advantage is in question.
        rival: The model that it is held against.

    Returns:
        Area of ``model`` less area of ``rival``, a mean over the panels about a third that have both; ``None`` if none
        has. Invalid answers are counted for ``model`` and against ``rival`` where that makes the difference larger.
    """
    found = [_ahead(panel, *both) for panel in others if (both := _both(panel, model, rival))]
    if not found:
        return None
    total = found[0]
    for one in found[1:]:
        total = total + one
    return _scaled(total, 1.0 / len(found))


def controls(
    others: Iterable[Elsewhere], model: str, rivals: Iterable[str], spec: SelfCrossSpec
) -> Mapping[str, Control]:
    """General ability beside every rival that was trained on claims about a third as well.

    Args:
        others: Claims about other targets.
        model: The target.
        rivals: Names of the models that were trained on the same.
        spec: The rules.
    """
    held = list(others)
    found: dict[str, Control] = {}
    for rival in rivals:
        ahead = ability([one.panel for one in held], model, rival)
        if ahead is None:
            continue
        faults: list[str] = []
        able = False
        for one in held:
            both = _both(one.panel, model, rival)
            if both is None:
                continue
            wrong = faults_of(one.panel, both, spec, one.same_data, one.shared_clusters)
            able = able or (not wrong and _foretells(one.panel, both[1], spec))
            faults += wrong or _uninformative(one.panel, both, spec)
        found[rival] = Control(ahead, tuple(dict.fromkeys(faults)), able)
    return found


def faults_of(
    panel: Panel, trained: Iterable[Runs], spec: SelfCrossSpec, same_data: bool, shared: frozenset[str]
) -> list[str]:
    """Why nothing may be concluded from what some trained models say of claims; empty where everything is in order."""
    reasons = []
    if not same_data:
        reasons.append("the models were not trained on the same claims in the same order")
    if shared:
        reasons.append(f"{len(shared)} clusters were both trained on and judged on, such as {min(shared)}")
    clusters = len(set(panel.clusters))
    if clusters < spec.clusters:
        reasons.append(f"the claims come from {clusters} independent clusters, and {spec.clusters} are needed")
    for one in trained:
        if len(one.seeds) < spec.seeds:
            reasons.append(
                f"{one.name} was trained with {len(one.seeds)} seed(s), and {spec.seeds} are needed: what another seed "
                "would give is not known"
            )
        if one.weakest_coverage < spec.coverage:
            reasons.append(
                f"coverage: Yes and No hold {one.weakest_coverage:.2g} of the probability of {one.name} in its worst "
                f"training, less than the required {spec.coverage:.0%}; what it would say is not known"
            )
        if one.invalid > spec.invalid:
            reasons.append(f"{one.name} gave no valid answer to {one.invalid:.0%} of the claims")
    return reasons


def _both(panel: Panel, model: str, rival: str) -> tuple[Runs, Runs] | None:
    """Both models where the claims are about neither."""
    ours, theirs = panel.named(model), panel.named(rival)
    if ours is None or theirs is None or panel.about in (model, rival) or "self" in (ours.kind, theirs.kind):
        return None
    return ours, theirs


def _area(panel: Panel, runs: Runs, *, against: bool) -> Contrast:
    return mean_area(panel.truth, runs.scores(panel.truth, against=against), panel.clusters, trained=True)


def _ahead(panel: Panel, ours: Runs, theirs: Runs) -> Contrast:
    ways = (_area(panel, ours, against=not kind) - _area(panel, theirs, against=kind) for kind in (True, False))
    return max(ways, key=lambda one: one.value)


def _foretells(panel: Panel, runs: Runs, spec: SelfCrossSpec) -> bool:
    return _area(panel, runs, against=True).measured().p_above(CHANCE) <= spec.alpha


def _uninformative(panel: Panel, both: tuple[Runs, Runs], spec: SelfCrossSpec) -> list[str]:
    """In words, that a model is at chance there, or has nothing left to be better by."""
    found = []
    for one in both:
        value = _area(panel, one, against=False).value
        if not _foretells(panel, one, spec):
            found.append(f"{one.name} is not shown to foretell anything there (AUROC {value:.3f})")
        elif value >= spec.ceiling:
            found.append(f"{one.name} foretells nearly everything there (AUROC {value:.3f}, {spec.ceiling:g} or more)")
    return found


def _scaled(one: Contrast, factor: float) -> Contrast:
    return Contrast(
        one.value * factor,
        {name: value * factor for name, value in one.influence.items()},
        tuple(SeedPart(part.variance * factor**2, part.degrees) for part in one.seeds),
        one.trials,
        (one.span[0] * factor, one.span[1] * factor),
    )
