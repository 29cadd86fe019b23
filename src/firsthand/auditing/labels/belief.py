"""The judgement of belief dominance: is the report ahead of everyone who sees the same prompts, or the answers too?"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.bootstrap import Totals
from firsthand.analysis.choice import Chosen, judge_choice
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import SHARE, mean_of, statistic_of
from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.labels.belief_observers import ANSWER
from firsthand.auditing.labels.biofeedback import OBSERVED, READER, UNREAD
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


def _under(table: pd.DataFrame, spec: AnalysisSpec, condition: Condition, seed: int) -> list[KnownAnswer]:
    target = (table["arm"] == TARGET).to_numpy()
    truth = table["truth"].to_numpy(dtype=np.int64)
    lot, reader_lot = (dealt(truth, seed, name, str(condition)) for name in ("lot", "reader"))
    said = table.assign(coverage=1.0, answer=lot)
    full = said.assign(answer=np.where(target, truth, lot))
    reader = {f"{OBSERVED}{READER}by lot": np.where(target, reader_lot, np.nan)}
    everything = tuple(Verdict)
    columns = [c for c in observed_columns(table) if condition is Condition.Y_SHOWN or not sees_answer(c)]
    best = max(
        columns, key=lambda c: balanced(table.loc[target, c].to_numpy(float), table[target], spec.clusters).value
    )
    strongest = np.where(target, table[best].fillna(0.0), lot)
    planted = dealt(truth, seed, "planted", str(condition))
    planted_lot = dealt(planted.astype(np.int64), seed, "planted lot", str(condition))
    hidden = said.assign(truth=planted.astype(np.int64), answer=np.where(target, planted, planted_lot), **reader)
    hidden = hidden.assign(wire=np.where(target, planted, np.nan))
    cases: list[tuple[str, str, pd.DataFrame, Verdict, tuple[Verdict, ...]]] = [
        (
            "public label",
            "Always right, and so is an observer that is held against it.",
            full.assign(**{f"{OBSERVED}knows as much": np.where(target, truth, np.nan)}),
            Verdict.PUBLIC_INFERENCE,
            (),
        ),
        (
            "strongest observer",
            f"Says what the observer '{best.removeprefix(OBSERVED)}' says.",
            said.assign(answer=strongest, **reader),
            Verdict.PUBLIC_INFERENCE,
            tuple(v for v in everything if v is not Verdict.PRIVILEGED),
        ),
        (
            "lot",
            "Says every class as often, whatever is true.",
            said.assign(**reader),
            Verdict.INSUFFICIENT,
            tuple(v for v in everything if v not in _NEITHER),
        ),
        (
            "wire",
            "Reads labels that were drawn by lot after everything was public, and that nobody else can know.",
            hidden,
            Verdict.PRIVILEGED,
            (),
        ),
    ]
    found = []
    for name, description, rows, expected, also in cases:
        result = judge(rows, spec, condition)
        found.append(
            KnownAnswer(
                reporter=name,
                description=description,
                capability=Capability.IDENTIFICATION,
                condition=condition,
                expected=expected,
                also_accepted=tuple(v for v in also if v is not expected),
                obtained=result.verdict,
                passed=result.verdict is expected or result.verdict in also,
                reasons=result.reasons,
            )
        )
    return found


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
