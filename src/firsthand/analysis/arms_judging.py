"""From trials of several arms to a result: evidence, verdict, and whether invalid answers could change it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.arms import TARGET_ARM, Arms
from firsthand.analysis.evidence import ChoiceEvidence, Gates, ReaderEvidence
from firsthand.analysis.gap import Joint
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.results import ArmRow, CapabilityResult, ObserverRow, ReaderRow
from firsthand.analysis.robustness import robust
from firsthand.analysis.verdict import Ruling
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Capability, Condition

_PLACES: Mapping[str, Literal["site", "report"]] = {"site": "site", "report": "report"}

FILLS: Mapping[str, tuple[float, float]] = {
    "right": (1.0, 1.0),
    "wrong": (0.0, 0.0),
    "wrong on target trials and right in control arms": (0.0, 1.0),
    "right on target trials and wrong in control arms": (1.0, 0.0),
}
"""What invalid answers are worth, on target trials and in control arms, to see whether the verdict hangs on them."""


@dataclass(frozen=True, eq=False)
class Rival:
    """An observer that counts.

    Attributes:
        worth: What its answers were worth, all finite ``[target trials]``.
        sees_output: Whether it saw the visible answer Y.
    """

    worth: FloatArray
    sees_output: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class ArmsCase:
    """Everything that is measured of trials of several arms.

    Attributes:
        capability: What the answers were asked for.
        condition: Whether observers saw Y.
        table: The checked table; see :func:`firsthand.analysis.arms.check_arms`.
        worth: What each answer was worth, from 0 to 1, NaN where it was invalid ``[trials]``.
        strata: Stratum of each trial, from 0 ``[trials]``.
        chance: What an answer that knows nothing is worth.
        constant: In words, what the report nearly always gives.
        observers: Observers that count.
        readers: Place of each reader, and what its readings were worth, all finite ``[target trials]``.
        spec: The rules.
        arms: Control arms that the claim names.
        seed: Seed of the bootstrap.
        measure: What the mean worth is called in reasons.
    """

    capability: Capability
    condition: Condition
    table: pd.DataFrame
    worth: FloatArray
    strata: NDArray[np.int64]
    chance: float
    constant: str | None
    observers: Mapping[str, Rival]
    readers: Mapping[str, tuple[str, FloatArray]]
    spec: AnalysisSpec
    arms: Sequence[str]
    seed: int
    measure: str = "accuracy"


Rule = Callable[[ChoiceEvidence, Arms], Ruling]
"""From the evidence, and the sums that it was measured on, to a ruling."""


def judge_arms(case: ArmsCase, rule: Rule) -> CapabilityResult:
    """Measures the evidence and rules on it, with invalid answers left out, and scored in every way.

    Raises:
        AnalysisError: If a reader has no known place, or the target arm is its own control.
    """
    for name, (where, _) in case.readers.items():
        if where not in _PLACES:
            raise AnalysisError(f"Reader {name!r} is at {where!r}.", "Say 'site' or 'report'.")
    if TARGET_ARM in case.arms:
        raise AnalysisError("The target arm cannot be its own control.", "Name arms other than 'target'.")
    data = _summed(case, case.worth)
    evidence = _evidence(case, data)
    ruling, others = rule(evidence, data), dict[str, Ruling]()
    bounds = {"wrong": evidence.accuracy.value, "right": evidence.accuracy.value}
    for fill, worth in _filled(case, data).items():
        again = _summed(case, worth)
        found = _evidence(case, again)
        others[fill] = rule(found, again)
        bounds[fill] = found.accuracy.value
    counted = data.target | np.isin(data.arm, case.arms)
    final = robust(ruling, others, float(np.mean(~data.valid[counted])))
    return _result(case, data, evidence, final, (bounds["wrong"], bounds["right"]))


def _filled(case: ArmsCase, data: Arms) -> dict[str, FloatArray]:
    """The worth of every answer with invalid ones scored in each way that makes a difference ``[trials]``."""
    held = np.isin(data.arm, case.arms)
    lacking = [bool((here & ~data.valid).any()) for here in (data.target, held)]
    if not any(lacking):
        return {}
    fills = {name: pair for name, pair in FILLS.items() if all(lacking) or pair[0] == pair[1]}
    holes = ~data.valid & (data.target | held)
    return {name: np.where(holes, np.where(data.target, *pair), case.worth) for name, pair in fills.items()}


def _summed(case: ArmsCase, worth: FloatArray) -> Arms:
    data = Arms(case.table, worth, case.strata, case.spec, case.seed)
    for name, observer in case.observers.items():
        data.add(f"observer {name}", observer.worth)
    for name, (_, reading) in case.readers.items():
        data.add(f"reader {name}", reading)
    data.close()
    return data


def _evidence(case: ArmsCase, data: Arms) -> ChoiceEvidence:
    present = tuple(name for name in case.arms if name in data.names)
    weakest = min((TARGET_ARM, *present), key=lambda name: data.coverage[name])
    return ChoiceEvidence(
        condition=case.condition,
        gates=Gates(
            coverage=data.coverage[TARGET_ARM],
            weakest_coverage=data.coverage[weakest],
            weakest="on target trials" if weakest == TARGET_ARM else f"in the control arm {weakest}",
            valid=int((data.target & data.valid).sum()),
            observers=len(case.observers),
        ),
        constant=case.constant,
        readers=tuple(
            ReaderEvidence(name, _PLACES[where], Joint({"accuracy": data.measure(data.accuracy(f"reader {name}"))}))
            for name, (where, _) in case.readers.items()
        ),
        chance=case.chance,
        missing_arms=tuple(name for name in case.arms if name not in data.names),
        accuracy=data.measure(data.accuracy(TARGET_ARM)),
        gap=Joint({name: data.lead(f"observer {name}") for name in case.observers}),
        arms=Joint({name: data.lead(name) for name in present}),
        by_arm={name: data.measure(data.accuracy(name), arm=name) for name in present},
        unanswered=data.unanswered(TARGET_ARM),
        measure=case.measure,
    )


def _result(
    case: ArmsCase, data: Arms, evidence: ChoiceEvidence, ruling: Ruling, bounds: tuple[float, float]
) -> CapabilityResult:
    chance, alpha = case.chance, case.spec.alpha
    own = evidence.accuracy.estimate(alpha, chance)
    return CapabilityResult(
        capability=case.capability,
        condition=case.condition,
        verdict=ruling.verdict,
        reasons=ruling.reasons,
        score=own,
        score_worst_case=bounds[0],
        score_best_case=bounds[1],
        target_score=own,
        chance=chance,
        coverage=evidence.gates.coverage,
        invalid_rate=float(np.mean(~data.valid[data.target])),
        gap=evidence.gap.estimate(alpha),
        observers=tuple(
            ObserverRow(
                name=name,
                sees_output=observer.sees_output,
                score=data.measure(data.accuracy(f"observer {name}")).estimate(alpha, chance),
                gap=evidence.gap.members[name].estimate(alpha, 0.0),
            )
            for name, observer in case.observers.items()
        ),
        arms=tuple(
            ArmRow(name=name, score=evidence.by_arm[name].estimate(alpha, chance), lead=lead.estimate(alpha, 0.0))
            for name, lead in evidence.arms.members.items()
        ),
        readers=tuple(
            ReaderRow(name=r.name, where=r.where, accuracy=found)
            for r in evidence.readers
            if (found := r.accuracy.estimate(alpha, chance)) is not None
        ),
        equivalence=ruling.equivalence,
    )
