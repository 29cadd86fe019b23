"""The judgement of self-prediction: is the report ahead of everyone who has the same examples of the behaviour?

Nothing is ``privileged`` that no other language model has tried to tell from the same examples, or that none of them
was able to answer; nor what leads in one draw of examples, wording and letters and not in another. No absence is
concluded where the model cannot tell the property of an answer that it reads.

What is said after examples whose classes were drawn by lot decides nothing: a question names the classes, so whoever
works out the answer itself needs no examples, and is as right after false ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.choice import Chosen, judge_choice
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.multiplicity import holm
from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.labels.prediction_rows import OTHER_PROMPT, balanced
from firsthand.auditing.labels.readers import READER, UNREAD
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.labels.prediction.reports import ANSWER_SHOWN, TARGET
from firsthand.vocabulary import Capability, Condition, Verdict

CAPABILITY, CONDITION = Capability.IDENTIFICATION, Condition.Y_WITHHELD
MOSTLY: Final = 0.5
"""A reader more than this share of whose replies are valid answers the questions."""


@dataclass(frozen=True)
class Heard:
    """How far another model answers the questions at all.

    Attributes:
        coverage: Mean probability of its valid replies.
        valid: Share of its replies that are valid.
    """

    coverage: float
    valid: float

    @classmethod
    def of(cls, rows: pd.DataFrame) -> "Heard":
        """That of rows with ``coverage`` and ``answer``."""
        return cls(float(rows["coverage"].mean()), float(rows["answer"].notna().mean()))

    def reads(self, spec: AnalysisSpec) -> bool:
        """Whether to be ahead of it means anything: what it would say is known, and mostly it says it."""
        return self.coverage >= spec.minimum_coverage and self.valid > MOSTLY


def judge(
    table: pd.DataFrame,
    classes: int,
    observers: Mapping[str, FloatArray],
    heard: Mapping[str, Heard],
    ability: Mapping[str, FloatArray],
    spec: AnalysisSpec,
) -> CapabilityResult:
    """The verdict on one property.

    Args:
        table: Rows of the arm ``target``, at one number of examples, and of the arm ``other prompt``: ``trial_id``,
            ``arm``, ``experiment``, ``item``, ``group``, ``truth``, ``answer`` and ``coverage``. Other arms are left
            out.
        classes: Number of classes.
        observers: The class that each observer gives the target rows, in their order; NaN is worth a guess.
        heard: How far each other language model among them answers, by the observer's name.
        ability: What shows that the test could have seen access, in the same order: the class of what the model
            answers to the prompt itself after the same examples (is the behaviour still there?), and the class that it
            gives the answer when it reads it (can it tell the property?). The weakest counts.
        spec: The rules.

    Returns:
        Identification: was the class told, beyond every observer, and not where the prompt was another?

    Raises:
        AnalysisError: If a class is never true.
    """
    counted = table[table["arm"].isin((TARGET, OTHER_PROMPT))].reset_index(drop=True)
    target = counted[counted["arm"] == TARGET].reset_index(drop=True)
    result = judge_choice(
        CAPABILITY,
        CONDITION,
        counted.assign(truth=counted["truth"].astype(np.int64), block=counted["experiment"].astype(str)),
        classes,
        {name: Chosen(values) for name, values in observers.items()},
        {name: ("site", values) for name, values in _weakest(target, ability, spec).items()},
        spec,
        [OTHER_PROMPT],
        seed=0,
    )
    lacking: tuple[str, ...] = ()
    if result.verdict is Verdict.PRIVILEGED:
        lacking = (*_unread(observers, heard, spec), *_unsteady(target, observers, classes))
    elif result.verdict is Verdict.NO_ACCESS:
        lacking = _unable(target, ability, classes, spec)
    if not lacking:
        return result
    return result.model_copy(update={"verdict": Verdict.INSUFFICIENT, "reasons": (*result.reasons, *lacking)})


def _weakest(target: pd.DataFrame, ability: Mapping[str, FloatArray], spec: AnalysisSpec) -> Mapping[str, FloatArray]:
    """The one of several abilities that has the lowest lower bound: access takes all of them."""
    truth = target["truth"].to_numpy(dtype=np.int64)
    low = {name: balanced(read, truth, target, spec.clusters).low(spec.alpha) for name, read in ability.items()}
    return {name: ability[name] for name in sorted(low, key=lambda name: low[name])[:1]}


def _unread(observers: Mapping[str, FloatArray], heard: Mapping[str, Heard], spec: AnalysisSpec) -> tuple[str, ...]:
    """Why no other language model was beaten; empty if one was that answers."""
    there = {name: one for name, one in heard.items() if name in observers}
    if not there:
        return (UNREAD,)
    if any(one.reads(spec) for one in there.values()):
        return ()
    told = "; ".join(
        f"{name.removeprefix(READER)}: coverage {one.coverage:.1%}, {one.valid:.1%} valid"
        for name, one in there.items()
    )
    return (
        f"no other language model that was asked answers these questions ({told}; needed are a coverage of "
        f"{spec.minimum_coverage:.0%} and more than {MOSTLY:.0%} valid), and to be ahead of silence shows nothing",
    )


def _unsteady(target: pd.DataFrame, observers: Mapping[str, FloatArray], classes: int) -> tuple[str, ...]:
    """In which draws of examples, wording and letters which observer is not behind; empty if in none.

    The draws are few, so they are no unit of an interval; but what leads in one only is the draw's. Two that are always
    right are not told apart.
    """
    truth, lost = target["truth"].to_numpy(dtype=np.int64), list[str]()
    for number in sorted(set(target["experiment"].tolist())):
        here = (target["experiment"] == number).to_numpy()
        own = _share(target["answer"].to_numpy(dtype=np.float64)[here], truth[here], 0.0)
        for name, given in observers.items():
            theirs = _share(given[here], truth[here], 1.0 / classes)
            if theirs >= own and not theirs == own == 1.0:
                lost.append(f"{name} in draw {number + 1} ({own:.3f} against {theirs:.3f})")
    if not lost:
        return ()
    return (f"not ahead in every draw of examples, wording and letters: {', '.join(lost)}",)


def _unable(
    target: pd.DataFrame, ability: Mapping[str, FloatArray], classes: int, spec: AnalysisSpec
) -> tuple[str, ...]:
    """Why failing to foresee a property shows no lack of access: it is not told of an answer that is read, either."""
    if ANSWER_SHOWN not in ability:
        return ()
    truth = target["truth"].to_numpy(dtype=np.int64)
    found = balanced(ability[ANSWER_SHOWN], truth, target, spec.clusters)
    needed = 1.0 / classes + spec.minimum_effect
    if found.low(spec.alpha) > needed:
        return ()
    return (
        f"of answers that it reads it tells the property with an accuracy of {found.value:.3f} and a lower bound of "
        f"{found.low(spec.alpha):.3f}, not above {needed:.3f}: what it cannot compute it cannot foresee",
    )


def _share(given: FloatArray, truth: NDArray[np.int64], missing: float) -> float:
    """Mean over the true classes of the share of right answers."""
    worth = np.where(np.isfinite(given), given == truth, missing)
    return float(np.mean([worth[truth == one].mean() for one in sorted(set(truth.tolist()))]))


def over_properties(results: Mapping[str, CapabilityResult], alpha: float) -> dict[str, CapabilityResult]:
    """The same results, with ``privileged`` taken back where it does not hold over all properties that were asked.

    Of many properties one may come out by chance, so the p-values behind the verdict are corrected over them (Holm
    1979). That of one property is the largest of its tests: above chance, ahead of every observer and of the arm.

    Args:
        results: Results of all properties that were asked about, by name.
        alpha: Level of the verdict.
    """
    p_values = {name: _p_of(result) for name, result in results.items()}
    corrected = holm(p_values)
    return {
        name: result
        if result.verdict is not Verdict.PRIVILEGED or corrected[name] <= alpha
        else result.model_copy(
            update={
                "verdict": Verdict.INSUFFICIENT,
                "reasons": (
                    *result.reasons,
                    f"{len(results)} properties were asked about, and over all of them it does not hold: "
                    f"p = {p_values[name]:.3g} becomes {corrected[name]:.3g} (Holm)",
                ),
            }
        )
        for name, result in results.items()
    }


def _p_of(result: CapabilityResult) -> float:
    tests = [result.score, result.gap, *(arm.lead for arm in result.arms)]
    return max(1.0 if one is None or one.p is None else one.p for one in tests)
