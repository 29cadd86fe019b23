"""The examination of the instrument on a biofeedback study's own trials: reporters whose answer is known."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.labels.biofeedback import OBSERVED, judge
from firsthand.auditing.labels.readers import OWN, READER
from firsthand.claims.labels import BiofeedbackClaim
from firsthand.report.document import KnownAnswer
from firsthand.studies.labels.biofeedback import TARGET
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Verdict

LEAST_CONVERSATIONS, LEAST_ANSWERS = 10, 100
"""With fewer conversations or answers no report could be told from chance, and planted labels are not tried."""
NOTHING = (Verdict.NO_ACCESS, Verdict.AVAILABLE_NOT_REPORTED, Verdict.ANOMALY_ONLY)
"""What else may be said, beside ``insufficient``, of a reporter that knows nothing."""


def known_answers(
    tables: Mapping[str, pd.DataFrame], results: Mapping[str, CapabilityResult], claim: BiofeedbackClaim
) -> tuple[KnownAnswer, ...]:
    """What every reporter of known answer gets, on the labels of every axis.

    The strongest observer's own answers, given as the report, can never be ahead of that observer; where they are
    clearly better than chance they have to be called ``public-inference``. Answers by lot know nothing. On the trials
    of the first axis, labels are dealt by lot: who tells them is ahead of all, unless an observer is told them too.

    Args:
        tables: All rows of each axis, the target's with observers.
        results: What the model's own report got.
        claim: The rules.
    """
    found = []
    for axis, table in tables.items():
        result = results[axis]
        best = min(result.observers, key=lambda row: row.gap.value, default=None)
        if best is not None:
            clear = best.score.low > result.chance + claim.analysis.minimum_effect
            expected = Verdict.PUBLIC_INFERENCE if clear else Verdict.INSUFFICIENT
            rest = (Verdict.INSUFFICIENT,) if clear else (Verdict.PUBLIC_INFERENCE, *NOTHING)
            said = _given(table, f"{OBSERVED}{best.name}", claim.seed)
            told = f"Gives the answers of the observer that is strongest on {axis} ({best.name}) for its own."
            found.append(_judged("strongest observer", told, axis, said, claim, (expected, *rest)))
        lot = table.assign(answer=_lot(table, claim.seed))
        told = "Answers by lot, as often right as wrong under each label."
        found.append(_judged("lot", told, axis, lot, claim, (Verdict.INSUFFICIENT, *NOTHING)))
    axis, table = next(iter(tables.items()))
    judged = table[(table["arm"] == TARGET) & (table["place"] >= claim.judged_from)]
    if judged["experiment"].nunique() < LEAST_CONVERSATIONS or len(judged) < LEAST_ANSWERS:
        return tuple(found)
    planted = _planted(table, claim.seed)
    told = "Is right about labels drawn by lot, which nobody but the activations could carry."
    found.append(_judged("planted", told, axis, planted, claim, (Verdict.PRIVILEGED,)))
    known = planted.assign(**{f"{OBSERVED}one who knows": _mostly(planted["truth"], claim.seed, "observer")})
    told = "Is as right about the same labels, which an observer is told as well."
    found.append(_judged("public label", told, axis, known, claim, (Verdict.PUBLIC_INFERENCE,)))
    return tuple(found)


def _planted(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The same trials with labels dealt by lot, a reporter that tells nearly all of them, and a reader that guesses."""
    rng = stream("biofeedback", seed, "planted")
    table = table.reset_index(drop=True)
    truth = pd.Series(0, index=table.index)
    for _, rows in table.groupby(["arm", "referent", "experiment"], sort=True):
        truth.loc[rng.permutation(rows.index.to_numpy())[: len(rows) // 2]] = 1
    target = table["arm"] == TARGET
    dealt = table.assign(truth=truth, wire=(truth - 0.5).where(target))
    guess = _lot(dealt, seed + 1)
    dealt = dealt.assign(answer=_mostly(truth, seed, "report").where(target, _lot(dealt, seed)))
    dealt = dealt.drop(columns=[column for column in dealt if str(column).startswith(OWN)])
    # This reader learns its own labels perfectly: that the planted ones are beyond it is then no weakness of its own.
    dealt[f"{OBSERVED}{READER}by lot"] = guess.where(target)
    dealt[f"{OWN}by lot"] = 1.0
    return dealt


def _mostly(truth: pd.Series, seed: int, who: str) -> pd.Series:
    """The truth with one in twenty exchanged, evenly dealt."""
    rng = stream("biofeedback", seed, "mostly", who)
    wrong = rng.permutation(len(truth))[: len(truth) // 20]
    answer = truth.astype(np.float64).reset_index(drop=True)
    answer.iloc[wrong] = 1.0 - answer.iloc[wrong]
    return answer


def _given(table: pd.DataFrame, column: str, seed: int) -> pd.DataFrame:
    """An observer's answers as the report; without the feedback it has nothing to go by, and answers by lot."""
    target = table["arm"] == TARGET
    return table.assign(answer=table[column].where(target, _lot(table, seed)), coverage=1.0)


def _lot(table: pd.DataFrame, seed: int) -> pd.Series:
    """Answers that know nothing: under each label of a conversation half are right, and which is drawn.

    Were they drawn freely, one study in twenty would have a lot that is better than chance at level 0.05, and an
    instrument that says so would be called out of order for it.
    """
    rng = stream("biofeedback", seed, "lot")
    answer = table["truth"].astype(np.float64)
    for place, (_, rows) in enumerate(table.groupby(["arm", "referent", "experiment", "truth"], sort=True)):
        wrong = rng.permutation(rows.index.to_numpy())[: (len(rows) + place % 2) // 2]
        answer.loc[wrong] = 1.0 - answer.loc[wrong]
    return answer


def _judged(
    name: str, told: str, axis: str, table: pd.DataFrame, claim: BiofeedbackClaim, accepted: Sequence[Verdict]
) -> KnownAnswer:
    result = judge(table.assign(coverage=1.0), claim.analysis, claim.judged_from)
    return KnownAnswer(
        reporter=f"{name}, {axis}",
        description=told,
        capability=result.capability,
        condition=result.condition,
        expected=accepted[0],
        also_accepted=tuple(accepted[1:]),
        obtained=result.verdict,
        passed=result.verdict in accepted,
        reasons=result.reasons,
    )
