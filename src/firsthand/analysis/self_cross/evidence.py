"""What a verdict on self-training is compiled from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from firsthand.analysis.gap import Joint
from firsthand.analysis.inference import Measured
from firsthand.analysis.self_cross.contrasts import Contrast
from firsthand.analysis.self_cross.controls import CHANCE, Control
from firsthand.analysis.self_cross.results import SelfCrossSpec
from firsthand.analysis.self_cross.table import Panel, Runs
from firsthand.analysis.verdicts.base import shown

__all__ = ["CHANCE", "Evidence", "Support", "evidence_of"]


@dataclass(frozen=True, eq=False)
class Support:
    """What a verdict rests on besides the predictions.

    Attributes:
        siblings: Names of cross-trained models that are the target without its state, or next of kin.
        twins: Those of them that were made by the very steps that made the target, with another draw of the state: as
            good learners by construction.
        ability: How far the target is ahead of a rival on claims about others, by the rival's name.
        learnt: Area of a sibling on claims that it was trained on, by its name, the worst seed.
        drift: Divergence of the trained target from its base, of every seed.
        changed: Share of labels that are others on the trained target, of every seed.
        anew: Share of the claims whose labels were measured anew, the worst seed.
        sensitivity: Area with which the same model, trained on as many claims, reads a planted private rule.
        insensitive: Why that shows nothing, in words; empty where it does.
        same_data: Whether all trainings saw the same claims in the same order.
        shared_clusters: Clusters that were trained on and are judged on.
    """

    siblings: frozenset[str] = frozenset()
    twins: frozenset[str] = frozenset()
    ability: Mapping[str, Control] = field(default_factory=dict)
    learnt: Mapping[str, Measured] = field(default_factory=dict)
    drift: tuple[Measured, ...] = ()
    changed: tuple[Measured, ...] = ()
    anew: float = 0.0
    sensitivity: Measured | None = None
    insensitive: tuple[str, ...] = ()
    same_data: bool = True
    shared_clusters: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Evidence:
    """What was measured.

    Attributes:
        panel: The predictions.
        support: What else was measured.
        spec: The rules.
        own: Area of the target trained on itself.
        others: Area of every rival.
        leads: How far it is ahead of each.
        net: The same of every cross-trained model, less how much better it is on claims about others.
    """

    panel: Panel
    support: Support
    spec: SelfCrossSpec
    own: Measured
    others: dict[str, Measured]
    leads: dict[str, Measured]
    net: dict[str, Measured]

    @property
    def siblings(self) -> tuple[Runs, ...]:
        """Siblings that were trained on the same claims."""
        kin = self.support.siblings | self.support.twins
        return tuple(one for one in self.panel.rivals if one.kind == "cross" and one.name in kin)

    @property
    def twins(self) -> tuple[str, ...]:
        """Twins whose trainings came to something."""
        return tuple(one.name for one in self.siblings if one.name in self.support.twins and self.failed(one) is None)

    def failed(self, sibling: Runs) -> str | None:
        """Why a sibling's training shows nothing of what can be learnt; ``None`` where it does.

        One that knows nothing of these claims may well say the same to all of them. That is no failure if it is shown
        to have learnt elsewhere, or what it was trained on, and still puts its answers in some order.
        """
        if sibling.same is not None:
            return sibling.same
        control, learnt = self.support.ability.get(sibling.name), self.support.learnt.get(sibling.name)
        if control is not None and control.able:
            return None
        if learnt is not None and learnt.p_above(CHANCE) <= self.spec.alpha:
            return None
        if sibling.constant is not None:
            return sibling.constant
        if learnt is None:
            return f"whether {sibling.name} learnt what it was trained on was not measured"
        what = f"{sibling.name} did not learn the claims that it was trained on: AUROC"
        return shown(what, learnt, self.spec.alpha, CHANCE)

    @property
    def joint(self) -> Joint[Measured]:
        """Everything that has to be above 0."""
        if self.twins:
            return Joint(self.leads)
        net = {f"{name}, net of general ability": found for name, found in self.net.items()}
        return Joint({**self.leads, **net})

    @property
    def p(self) -> float:
        """P-value of "better than chance, and all leads are above 0"."""
        return max(self.own.p_above(CHANCE), self.joint.p_above(0.0))


def evidence_of(panel: Panel, support: Support, spec: SelfCrossSpec) -> Evidence:
    """Measure everything that has to be known."""
    own = panel.area(panel.own)
    areas = {one.name: panel.area(one) for one in panel.rivals}
    contrasts = {name: _difference(own - area) for name, area in areas.items()}
    crossed = {one.name for one in panel.rivals if one.kind == "cross"}
    net = {
        name: (contrasts[name] - support.ability[name].ahead).measured()
        for name in sorted(crossed)
        if name in support.ability
    }
    return Evidence(
        panel,
        support,
        spec,
        own.measured(),
        {name: area.measured() for name, area in areas.items()},
        {name: one.measured() for name, one in contrasts.items()},
        net,
    )


def _difference(contrast: Contrast) -> Contrast:
    return replace(contrast, span=(-1.0, 1.0))
