"""Scores between 0 and 1 instead of choices: naming in a free answer, and reconstruction from the next token.

*Naming* scores 1 where the state's own name was given and 0 where not. *Reconstruction* scores the rank of the state's
name among all names, from 0 to 1, so that an answer that knows nothing is worth one half. What an answer that knows
nothing is worth is given as ``chance``. Observers, control arms and rules are those of
:mod:`firsthand.analysis.choice`.

Two things differ from choices. Where only 0 and 1 are scored, 0 may be silence as well as error: a report that names
nothing has not avoided the truth, and a mean below chance counts as chance, with its own spread, never as inverted. And
there is no truth whose every value a constant report would meet equally often, which makes a constant choice worth
exactly chance. A score that hardly ever varies therefore follows nothing, whatever its mean: it supports no verdict
that takes a signal. All scores at 1 are no constant, but a report that is always right.

Invalid answers are scored as right (1) and as wrong (0) as those of choices are, and the verdict must not hang on them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from firsthand.analysis.arms import TARGET_ARM, Arms, check_arms, on_target
from firsthand.analysis.arms_judging import ArmsCase, Rival, judge_arms
from firsthand.analysis.constancy import CONSTANT_SHARE
from firsthand.analysis.evidence import ChoiceEvidence
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.results import CapabilityResult
from firsthand.analysis.verdict import Ruling, compile_verdict
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Capability, Condition, Verdict

COLUMNS = ("trial_id", "arm", "score", "coverage")

ABSENT = (Verdict.AVAILABLE_NOT_REPORTED, Verdict.NO_ACCESS, Verdict.INSUFFICIENT)
"""Verdicts that take no signal."""


@dataclass(frozen=True, eq=False)
class Guessed:
    """What somebody's answers scored on the target trials.

    Attributes:
        score: Score on each target row, NaN where there was no answer, which is worth a guess ``[target trials]``.
        sees_output: Whether the answers were made with the visible answer Y in sight.
    """

    score: FloatArray
    sees_output: bool = False


def judge_score(
    capability: Capability,
    condition: Condition,
    table: pd.DataFrame,
    chance: float,
    observers: Mapping[str, Guessed],
    readers: Mapping[str, tuple[str, FloatArray]],
    spec: AnalysisSpec,
    arms: Sequence[str],
    seed: int = 0,
) -> CapabilityResult:
    """Judges answers that have a score.

    Args:
        capability: What the answers were asked for.
        condition: Whether observers may have seen Y.
        table: One row a trial: ``trial_id``, ``arm`` (``"target"`` or one of the control arms), ``score`` (0 to 1, or
            NaN for *invalid*), ``coverage``, and the cluster columns.
        chance: Mean score of an answer that knows nothing, from 0 to below 1.
        observers: What observers scored on the target rows, in their order.
        readers: For each wire or probe ``("site" | "report", score on each target row)``; NaN counts as 0.
        spec: The rules fixed in the claim.
        arms: Control arms that the claim names.
        seed: Seed of the bootstrap.

    Returns:
        The result with its verdict and reasons; ``score`` is the mean as it was scored.

    Raises:
        AnalysisError: The table cannot be analysed as asked.
    """
    _check(table, chance, spec.clusters)
    score = table["score"].to_numpy(dtype=np.float64)
    target, valid = (table["arm"] == TARGET_ARM).to_numpy(), np.isfinite(score)
    rows = int(target.sum())
    counting = {n: o for n, o in observers.items() if condition is Condition.Y_SHOWN or not o.sees_output}
    constant = _constant(score[target & valid])
    all_or_nothing = bool(np.isin(score[valid], (0.0, 1.0)).all())
    case = ArmsCase(
        capability=capability,
        condition=condition,
        table=table,
        worth=score,
        strata=np.zeros(len(table), dtype=np.int64),
        chance=chance,
        constant=None if constant is None else constant[0],
        observers={
            n: Rival(_worth(f"observer {n}", o.score, rows, chance), o.sees_output) for n, o in counting.items()
        },
        readers={name: (where, _worth(f"reader {name}", read, rows, 0.0)) for name, (where, read) in readers.items()},
        spec=spec,
        arms=arms,
        seed=seed,
        measure="mean score",
    )
    # Ranks that are always the lowest are as far from chance as can be; nothing else that is constant follows anything.
    still = constant[0] if constant is not None and (all_or_nothing or constant[1] > 0.0) else None
    return judge_arms(case, partial(_ruled, spec=spec, all_or_nothing=all_or_nothing, still=still))


def _ruled(
    evidence: ChoiceEvidence, data: Arms, *, spec: AnalysisSpec, all_or_nothing: bool, still: str | None
) -> Ruling:
    """The ruling, without a signal where ``still`` says that scores do not vary."""
    lifted, notes = _silence_as_chance(evidence, data) if all_or_nothing else (evidence, ())
    ruling = compile_verdict(lifted, spec)
    ruling = replace(ruling, reasons=(*ruling.reasons, *notes))
    return ruling if still is None else _without_signal(ruling, still)


def _worth(name: str, score: FloatArray, rows: int, abstained: float) -> FloatArray:
    given = on_target(name, score, rows)
    if not (np.isnan(given) | ((given >= 0.0) & (given <= 1.0))).all():
        raise AnalysisError(f"{name} has a score outside of 0 to 1.", "Use NaN where there was no answer.")
    return np.where(np.isnan(given), abstained, given)


def _silence_as_chance(evidence: ChoiceEvidence, data: Arms) -> tuple[ChoiceEvidence, tuple[str, ...]]:
    """The evidence with a mean below chance moved to it, spread and all, and a note that says so."""
    lift = evidence.chance - evidence.accuracy.value
    if not lift > 0.0:
        return evidence, ()
    own = data.accuracy(TARGET_ARM)
    lifted = data.measure(lambda t: own(t) + lift, span=(lift, 1.0))
    note = f"the mean score {evidence.accuracy.value:.3f} counts as chance, {evidence.chance:.3g}: 0 may be silence"
    return replace(evidence, accuracy=lifted), (note,)


def _without_signal(ruling: Ruling, constant: str) -> Ruling:
    if ruling.verdict in ABSENT:
        return ruling
    reason = f"{constant}, and a score that does not vary follows nothing"
    return Ruling(Verdict.INSUFFICIENT, (reason, *ruling.reasons), ruling.equivalence)


def _constant(given: FloatArray) -> tuple[str, float] | None:
    """The one score that nearly all answers have, in words and as a number, unless they are all right."""
    if not len(given):
        return None
    scores, counts = np.unique(np.round(given, 9), return_counts=True)
    share, most = float(counts.max() / counts.sum()), float(scores[counts.argmax()])
    if share < CONSTANT_SHARE or most == 1.0:
        return None
    return f"{share:.1%} of the valid scores are {most:.3g}", most


def _check(table: pd.DataFrame, chance: float, clusters: Sequence[str]) -> None:
    check_arms(table, COLUMNS, clusters)
    if not 0.0 <= chance < 1.0:
        raise AnalysisError(f"Chance is {chance:g}.", "Say what an answer that knows nothing scores, 0 to below 1.")
    score = table["score"].to_numpy(dtype=np.float64)
    if not (np.isnan(score) | ((score >= 0.0) & (score <= 1.0))).all():
        raise AnalysisError("A score is outside of 0 to 1.", "Use NaN for an invalid answer.")
