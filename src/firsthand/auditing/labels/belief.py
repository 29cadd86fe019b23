"""The judgement of belief dominance: is the report ahead of everyone who sees the same prompts, or the answers too?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.bootstrap import Totals
from firsthand.analysis.choice import Chosen, judge_choice
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import SHARE, mean_of, statistic_of
from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.labels.belief_observers import ANSWER
from firsthand.auditing.labels.biofeedback import OBSERVED
from firsthand.auditing.labels.readers import READER, UNREAD
from firsthand.claims.claim import AnalysisSpec
from firsthand.claims.labels.belief import CLASSES
from firsthand.report.document import KnownAnswer
from firsthand.studies.labels.belief.reporting import REDRAWN, TARGET
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability, Condition, Verdict

WIRE = "half of the readings"
"""A reading of the state by itself: the cluster that every second token of the answer alone gives."""
_NEITHER = (Verdict.PRIVILEGED, Verdict.PUBLIC_INFERENCE)


def observed_columns(table: pd.DataFrame) -> list[str]:
    """Names of columns that hold what observers gave."""
    return [str(column) for column in table if str(column).startswith(OBSERVED)]


def sees_answer(column: str) -> bool:
    """Whether the observer of a column saw the model's answer."""
    return column.removeprefix(OBSERVED).startswith(ANSWER)


def judge(table: pd.DataFrame, spec: AnalysisSpec, condition: Condition) -> CapabilityResult:
    """The verdict on the report, over all experiments.

    Args:
        table: Target rows with observers, and rows in which labels were drawn by lot; see
            :func:`~firsthand.studies.labels.belief.reporting.report_rows`.
        spec: The rules.
        condition: Whether observers saw the answer.

    Returns:
        Identification; ``insufficient`` where a class is never true.
    """
    target = table[table["arm"] == TARGET]
    never = sorted(set(range(CLASSES)) - set(target["truth"]))
    if never:
        return lacking(condition, f"no answer that was asked about is of class {', '.join(map(str, never))}")
    observers = {
        column.removeprefix(OBSERVED): Chosen(target[column].to_numpy(dtype=np.float64), sees_answer(column))
        for column in observed_columns(table)
    }
    result = judge_choice(
        Capability.IDENTIFICATION,
        condition,
        table.assign(block=table["experiment"].astype(str)),
        CLASSES,
        observers,
        {WIRE: ("site", target["wire"].to_numpy(dtype=np.float64))},
        spec,
        [REDRAWN],
        seed=0,
    )
    if result.verdict is not Verdict.PRIVILEGED or any(name.startswith(READER) for name in observers):
        return result
    return result.model_copy(update={"verdict": Verdict.INSUFFICIENT, "reasons": (*result.reasons, UNREAD)})


def lacking(condition: Condition, reason: str) -> CapabilityResult:
    """The result of a report that could not be judged at all."""
    return CapabilityResult(
        capability=Capability.IDENTIFICATION,
        condition=condition,
        verdict=Verdict.INSUFFICIENT,
        reasons=(reason,),
        chance=1.0 / CLASSES,
        coverage=0.0,
        invalid_rate=0.0,
    )


def natural(answer: FloatArray, table: pd.DataFrame, clusters: Sequence[str]) -> Measured:
    """Share of right answers, as classes occur; an answer that is none is not right."""
    return mean_of((answer == table["truth"].to_numpy()).astype(np.float64), table, clusters)


def balanced(answer: FloatArray, table: pd.DataFrame, clusters: Sequence[str]) -> Measured:
    """Share of right answers on a test with as many of each class: the mean over the classes that there are.

    That is what test sets balanced by drawing give on average (arXiv 2605.26242, appendix N).
    """
    truth = table["truth"].to_numpy()
    right = (answer == truth).astype(np.float64)
    classes = sorted(set(truth.tolist()))
    sums: dict[str, FloatArray] = {}
    for one in classes:
        sums[f"n{one}"] = (truth == one).astype(np.float64)
        sums[f"r{one}"] = np.where(truth == one, right, 0.0)

    def statistic(t: Totals) -> FloatArray:
        each = np.stack([t[f"r{one}"] / t[f"n{one}"] for one in classes])
        there = np.isfinite(each)  # a class may be missing from a resample
        return np.asarray(np.where(there, each, 0.0).sum(axis=0) / there.sum(axis=0), dtype=np.float64)

    return statistic_of(sums, table, clusters, statistic, SHARE)


def known_answers(
    table: pd.DataFrame, spec: AnalysisSpec, conditions: Sequence[Condition], seed: int
) -> tuple[KnownAnswer, ...]:
    """What reporters of known answer get, on the very trials of a run and by the same path."""
    if set(table.loc[table["arm"] == TARGET, "truth"]) != set(range(CLASSES)):
        return ()
    return tuple(answer for condition in conditions for answer in _under(table, spec, condition, seed))


@dataclass(frozen=True, eq=False)
class _Case:
    """A reporter of known answer, and the trials with its answers."""

    name: str
    description: str
    rows: pd.DataFrame
    expected: Verdict
    also: tuple[Verdict, ...] = ()


def _under(table: pd.DataFrame, spec: AnalysisSpec, condition: Condition, seed: int) -> list[KnownAnswer]:
    found = []
    for case in (*_knowing(table, condition, seed), *_unknowing(table, spec, condition, seed)):
        result = judge(case.rows, spec, condition)
        found.append(
            KnownAnswer(
                reporter=case.name,
                description=case.description,
                capability=Capability.IDENTIFICATION,
                condition=condition,
                expected=case.expected,
                also_accepted=case.also,
                obtained=result.verdict,
                passed=result.verdict in (case.expected, *case.also),
                reasons=result.reasons,
            )
        )
    return found


def _knowing(table: pd.DataFrame, condition: Condition, seed: int) -> tuple[_Case, ...]:
    """Two that are always right on target trials: beside an observer that is, and with what nobody else can know."""
    target, truth = (table["arm"] == TARGET).to_numpy(), table["truth"].to_numpy(dtype=np.int64)
    lot, planted = (dealt(truth, seed, name, str(condition)) for name in ("lot", "planted"))
    classes = planted.astype(np.int64)
    public = table.assign(coverage=1.0, answer=np.where(target, truth, lot))
    hidden = table.assign(
        coverage=1.0,
        truth=classes,
        answer=np.where(target, planted, dealt(classes, seed, "planted lot", str(condition))),
        wire=np.where(target, planted, np.nan),
    )
    return (
        _Case(
            "public label",
            "Always right, and so is an observer that is held against it.",
            public.assign(**{f"{OBSERVED}knows as much": np.where(target, truth, np.nan)}),
            Verdict.PUBLIC_INFERENCE,
        ),
        _Case(
            "wire",
            "Reads labels that were drawn by lot after everything was public, and that nobody else can know.",
            _with_reader(hidden, truth, condition, seed),
            Verdict.PRIVILEGED,
        ),
    )


def _unknowing(table: pd.DataFrame, spec: AnalysisSpec, condition: Condition, seed: int) -> tuple[_Case, ...]:
    """Two that know nothing of their own: one that answers by lot, and one that repeats the strongest observer."""
    target, truth = (table["arm"] == TARGET).to_numpy(), table["truth"].to_numpy(dtype=np.int64)
    lot = dealt(truth, seed, "lot", str(condition))
    said = _with_reader(table.assign(coverage=1.0, answer=lot), truth, condition, seed)

    def worth(column: str) -> float:
        return balanced(table.loc[target, column].to_numpy(dtype=np.float64), table[target], spec.clusters).value

    best = max((c for c in observed_columns(table) if condition is Condition.Y_SHOWN or not sees_answer(c)), key=worth)
    return (
        _Case(
            "strongest observer",
            f"Says what the observer '{best.removeprefix(OBSERVED)}' says.",
            said.assign(answer=np.where(target, table[best].fillna(0.0), lot)),
            Verdict.PUBLIC_INFERENCE,
            tuple(v for v in Verdict if v not in _NEITHER),
        ),
        _Case(
            "lot",
            "Says every class as often, whatever is true.",
            said,
            Verdict.INSUFFICIENT,
            tuple(v for v in Verdict if v not in (*_NEITHER, Verdict.INSUFFICIENT)),
        ),
    )


def _with_reader(table: pd.DataFrame, truth: NDArray[np.int64], condition: Condition, seed: int) -> pd.DataFrame:
    """The same with another language model that answers by lot, without which nothing is called privileged."""
    lot = dealt(truth, seed, "reader", str(condition))
    return table.assign(**{f"{OBSERVED}{READER}by lot": np.where(table["arm"] == TARGET, lot, np.nan)})


def dealt(truth: NDArray[np.int64], *purpose: str | int) -> NDArray[np.float64]:
    """Classes that were dealt by lot, every one as often among the rows of each true class ``[rows]``."""
    draw = stream("belief", "dealt", *purpose)
    given = np.zeros(len(truth))
    for one in sorted(set(truth.tolist())):
        rows = np.flatnonzero(truth == one)
        given[draw.permutation(rows)] = (one + 1 + np.arange(len(rows))) % CLASSES
    return given


def with_observers(table: pd.DataFrame, given: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """The rows with a column for what each observer gives, by ``trial_id``; NaN where it was not asked."""
    return table.assign(**{f"{OBSERVED}{name}": table["trial_id"].map(dict(values)) for name, values in given.items()})
