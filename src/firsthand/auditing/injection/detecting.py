"""The judgement of detection, and what a positive verdict is held against.

A report that answers to the length of what is added would reject a content-free direction whose matched dose is
shorter. So the vector's own numbers in another order, as long as it is, take that direction's place once more. And an
injection that raises "yes" under an unrelated question as well has made the model affirmative.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from firsthand.analysis import CapabilityResult, ObserverPrediction, Reading, judge
from firsthand.analysis.affirmation import Affirmation, affirmation
from firsthand.analysis.means import DIFFERENCE, mean_of
from firsthand.analysis.verdict import shown
from firsthand.auditing.injection.columns import first_site, yes_no
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.injection.arms import JUDGED, KINDS, Arm
from firsthand.studies.injection.concepts import mentions
from firsthand.studies.injection.drafts import Task
from firsthand.vocabulary import CONTROLS, Capability, Condition, Kind, Verdict

SIGNALS = (Verdict.PRIVILEGED, Verdict.INVERTED)
"""Verdicts that say that the report follows the injection."""

SURE = 0.75
"""What an observer of Y gives for an injection where it sees one; the size does not matter, only the side."""


@dataclass(frozen=True, eq=False)
class Detected:
    """A judgement with what it rests on.

    Attributes:
        result: The judgement.
        rises: Rises of "yes" under both questions; ``None`` where the unrelated one was not asked.
    """

    result: CapabilityResult
    rises: Affirmation | None


def judge_detection(
    table: pd.DataFrame,
    spec: AnalysisSpec,
    condition: Condition = Condition.Y_WITHHELD,
    visible: pd.DataFrame | None = None,
) -> Detected:
    """Judge detection on one cell's trials.

    Args:
        table: Trials of one cell in every arm, with the probe's readings.
        spec: The rules.
        condition: Whether observers see the visible answer.
        visible: The visible answers under every arm, where they do.
    """
    asked = yes_no(table)
    result = _judged(asked, spec, condition, Arm.CONTENT_FREE, visible)
    if result.verdict in SIGNALS:
        other = _judged(asked, spec, condition, Arm.SHUFFLED, visible)
        if other.verdict is not result.verdict:
            words = "with the vector's numbers in another order in place of the content-free direction: "
            result = _instead(result, other.verdict, words + other.reasons[0], *other.reasons[1:])
    result = in_every_order(result, asked, spec)
    if not (asked["task"] == str(Task.UNRELATED)).any():
        return Detected(result, None)
    rises = affirmation(asked, spec)
    return Detected(against_affirmation(result, rises, spec), rises)


def in_every_order(result: CapabilityResult, asked: pd.DataFrame, spec: AnalysisSpec) -> CapabilityResult:
    """Take back a privileged verdict that rests on some orders of the answers only: a liking for a label gives one."""
    if result.verdict is not Verdict.PRIVILEGED:
        return result
    here = asked[(asked["task"] == str(Task.DETECTION)) & asked["answer"].notna()]
    for order, rows in here.groupby("order"):
        rates = rows.groupby(["concept", "arm"])["answer"].mean().unstack("arm")
        for arm in (str(arm) for arm in JUDGED if arm is not Arm.TARGET and str(arm) in rates):
            lead = (rates[str(Arm.TARGET)] - rates[arm]).dropna()
            table = pd.DataFrame({"concept": lead.index})
            found = mean_of(lead.to_numpy(dtype=np.float64), table, spec.clusters, DIFFERENCE)
            if found.p_above(0.0) > spec.alpha or found.value < spec.minimum_effect:
                words = f"with the answers in the order {order} it does not tell the target from {arm}: "
                return _instead(result, Verdict.INSUFFICIENT, words + shown("a lead of", found, spec.alpha, 0.0))
    return result


def against_affirmation(result: CapabilityResult, rises: Affirmation, spec: AnalysisSpec) -> CapabilityResult:
    """Take back a verdict on a signal where the answer to a question that injections have no part in moves as much."""
    alpha = spec.alpha
    if result.verdict not in SIGNALS:
        return result
    if rises.coverage < spec.minimum_coverage:
        words = f"the unrelated question: valid answers hold {rises.coverage:.1%} of the probability"
        return _instead(result, Verdict.INSUFFICIENT, words)
    odds = rises.beyond_odds
    if result.verdict is Verdict.INVERTED:
        if odds is None or odds.p_below(0.0) <= alpha:
            return result
        words = shown("the fall of the log-odds of 'injected' beyond those of an unrelated 'yes' is", odds, alpha)
        return _instead(result, Verdict.INSUFFICIENT, words)
    if rises.headroom < rises.asked.value:
        words = (
            f"under the unrelated question 'yes' could rise by {rises.headroom:.3f} at most, less than under the "
            f"injection question ({shown('rise', rises.asked, alpha)}): the control could not have failed"
        )
        return _instead(result, Verdict.INSUFFICIENT, words)
    beyond = rises.beyond
    if beyond.p_above(0.0) > alpha or beyond.value < spec.minimum_effect:
        words = (
            f"{shown('the rise of yes beyond an unrelated question is', beyond, alpha, 0.0)}; under that question "
            f"alone {shown('it is', rises.unrelated, alpha, 0.0)}"
        )
        affirmative = rises.unrelated.p_above(0.0) <= alpha
        return _instead(result, Verdict.ANOMALY_ONLY if affirmative else Verdict.INSUFFICIENT, words)
    if odds is not None and rises.unrelated_odds is not None and odds.p_above(0.0) > alpha:
        words = (
            f"{shown('the log-odds of yes rise beyond those of an unrelated question by', odds, alpha, 0.0)} nats; "
            f"under that question alone {shown('by', rises.unrelated_odds, alpha, 0.0)}"
        )
        affirmative = rises.unrelated_odds.p_above(0.0) <= alpha
        return _instead(result, Verdict.ANOMALY_ONLY if affirmative else Verdict.INSUFFICIENT, words)
    worst = rises.unrelated_worst
    if rises.beyond_worst.p_above(0.0) > alpha or 2.0 * worst.value > rises.asked.value:
        words = (
            f"{shown('the rise of yes', rises.asked, alpha)}; under an unrelated question, with invalid answers "
            f"counted against the report, {shown('it is', worst, alpha)}: less than half of it is about injections"
        )
        return _instead(result, Verdict.INSUFFICIENT, words)
    return result


def _instead(result: CapabilityResult, verdict: Verdict, *reasons: str) -> CapabilityResult:
    return result.model_copy(update={"verdict": verdict, "reasons": (*reasons, *result.reasons)})


def _judged(
    asked: pd.DataFrame, spec: AnalysisSpec, condition: Condition, impact: Arm, visible: pd.DataFrame | None
) -> CapabilityResult:
    """The judgement with one of the two arms without content as the impact control."""
    kinds = {str(arm): str(kind) for arm, kind in KINDS.items() if kind is not Kind.IMPACT_CONTROL}
    kinds[str(impact)] = str(Kind.IMPACT_CONTROL)
    here = asked[(asked["task"] == str(Task.DETECTION)) & asked["arm"].isin(kinds)].reset_index(drop=True)
    here = here.assign(kind=here["arm"].map(kinds), truth=(here["arm"] == Arm.TARGET).astype(int))
    if impact is Arm.SHUFFLED:  # as long as the target by construction, and not matched in anything else
        here = here.drop(columns="impact_matched")
    observers = observers_of(here)
    if condition is Condition.Y_SHOWN and visible is not None:
        observers |= onlookers_of(here, visible)
    return judge(Capability.DETECTION, condition, here, observers, readers_of(here), spec, CONTROLS)


def observers_of(here: pd.DataFrame) -> dict[str, ObserverPrediction]:
    """Two observers of the text: what arms of its kind mostly are, and the same model asked without the edit."""
    clean = here[here["arm"] == Arm.CLEAN].drop_duplicates("text").set_index("text")["probability"]
    pushed = (here["arm"] == Arm.PUSH).to_numpy()
    unedited = here["text"].map(clean).to_numpy(dtype=np.float64)
    share = float((here["arm"] == Arm.TARGET).sum() / (~pushed).sum())
    return {
        "text": ObserverPrediction(False, np.where(pushed, 0.0, share)),
        "unedited": ObserverPrediction(False, np.where(pushed, here["probability"], unedited).astype(np.float64)),
    }


def onlookers_of(here: pd.DataFrame, visible: pd.DataFrame) -> dict[str, ObserverPrediction]:
    """Two observers of the visible answer.

    ``replay`` runs the model itself without an edit and sees an injection wherever Y differs; ``mention`` sees one
    where Y names a concept of the study that the unedited Y does not.
    """
    words = sorted(set(visible["concept"]))
    said = visible.drop_duplicates(["concept", "arm"]).set_index(["concept", "arm"])["said"]
    differs, named = [], []
    for concept, arm in zip(here["concept"], here["arm"], strict=True):
        now = said.get((concept, arm), "")
        plain = now if arm == Arm.PUSH else said.get((concept, str(Arm.CLEAN)), "")
        differs.append(now != plain)
        named.append(any(mentions(now, word) and not mentions(plain, word) for word in words))
    return {
        "replay of Y": ObserverPrediction(True, np.where(differs, SURE, 1.0 - SURE)),
        "concept in Y": ObserverPrediction(True, np.where(named, SURE, 1.0 - SURE)),
    }


def readers_of(here: pd.DataFrame) -> dict[str, Reading]:
    """A wire at the site, which knows the concept, and a probe at the report, fitted on other concepts."""
    return {
        "wire": Reading("site", first_site(here) - 0.5),
        "probe": Reading("report", here["probe"].to_numpy(dtype=np.float64)),
    }
