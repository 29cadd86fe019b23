"""The judgement of belief dominance: is the report ahead of everyone who sees the same prompts, or the answers too?"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from firsthand.analysis.bootstrap import Totals
from firsthand.analysis.choice import Chosen, judge_choice
from firsthand.analysis.constancy import constant_choice
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import SHARE, mean_of, statistic_of
from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.labels import belief_evidence
from firsthand.auditing.labels.biofeedback import OBSERVED
from firsthand.auditing.labels.readers import READER, UNREAD
from firsthand.claims.claim import AnalysisSpec
from firsthand.claims.labels.belief import CLASSES
from firsthand.studies.labels.belief.reporting import REDRAWN, TARGET
from firsthand.vocabulary import Capability, Condition, Verdict

WIRE = "the other half of the states"
"""A reading of the state by itself: the cluster that those states of the answer give which no label is made of."""
COVERED = "coverage of "
"""Begins the names of columns that hold how much probability another model gave to the labels."""


def observed_columns(table: pd.DataFrame) -> list[str]:
    """Names of columns that hold what observers gave."""
    return [str(column) for column in table if str(column).startswith(OBSERVED)]


def sees_answer(column: str) -> bool:
    """Whether the observer of a column saw the model's answer."""
    return belief_evidence.sees_answer(column.removeprefix(OBSERVED))


def judge(table: pd.DataFrame, spec: AnalysisSpec, condition: Condition) -> CapabilityResult:
    """The verdict on the report, over all experiments.

    Args:
        table: Target rows with observers, and rows in which labels were drawn by lot; see
            :func:`~firsthand.studies.labels.belief.reporting.report_rows`.
        spec: The rules.
        condition: Whether observers saw the answer.

    Returns:
        Identification; ``insufficient`` where a class is never true, and instead of ``privileged`` where no other
        language model took part whose labels hold as much of its probability as the claim asks of a report, and whose
        answers vary.
    """
    target = table[table["arm"] == TARGET]
    never = sorted(set(range(CLASSES)) - set(target["truth"]))
    if never:
        reason = f"no answer that was asked about is of class {', '.join(map(str, never))}"
        return lacking(condition, reason, float(target["coverage"].mean()), float(target["answer"].isna().mean()))
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
    lack = unread(target, spec)
    if result.verdict is not Verdict.PRIVILEGED or lack is None:
        return result
    return result.model_copy(update={"verdict": Verdict.INSUFFICIENT, "reasons": (*result.reasons, lack)})


def coverages(target: pd.DataFrame) -> dict[str, float]:
    """How much of its probability each other language model gave to the labels, on average, by its name."""
    names = [str(column) for column in target if str(column).startswith(f"{COVERED}{READER}")]
    return {name.removeprefix(f"{COVERED}{READER}"): float(target[name].mean()) for name in names}


def unread(target: pd.DataFrame, spec: AnalysisSpec) -> str | None:
    """Why no other language model counts as a reader; ``None`` if one does."""
    found = coverages(target)
    if not found:
        return UNREAD
    lacks = []
    for name, share in found.items():
        if share < spec.minimum_coverage:
            lacks.append(
                f"the labels hold {share:.1%} of the probability of {name}, less than the required "
                f"{spec.minimum_coverage:.0%}"
            )
            continue
        given = target[f"{OBSERVED}{READER}{name}"].to_numpy(dtype=np.float64)
        truth = target["truth"].to_numpy(dtype=np.int64)
        blocks, chosen = pd.factorize(target["experiment"])[0].astype(np.int64), np.isfinite(given)
        constant = constant_choice(given[chosen], truth[chosen], blocks[chosen])
        if constant is None:
            return None
        lacks.append(f"the answers of {name} hardly vary: {constant}")
    return f"{'; '.join(lacks)}: that is no opponent, and without a reader a report is not yet privileged"


def lacking(condition: Condition, reason: str, coverage: float = 0.0, invalid_rate: float = 0.0) -> CapabilityResult:
    """The result of a report that could not be judged at all, with what was measured of its answers, if any were."""
    return CapabilityResult(
        capability=Capability.IDENTIFICATION,
        condition=condition,
        verdict=Verdict.INSUFFICIENT,
        reasons=(reason,),
        chance=1.0 / CLASSES,
        coverage=coverage,
        invalid_rate=invalid_rate,
    )


def natural(answer: FloatArray, table: pd.DataFrame, clusters: Sequence[str], abstained: float = 0.0) -> Measured:
    """Share of right answers, as classes occur.

    Args:
        answer: The answers ``[rows]``.
        table: ``truth`` and the clusters.
        clusters: Names of the independent units.
        abstained: What an answer that is none is worth: nothing of a report, a guess of an observer, as in verdicts.
    """
    return mean_of(_worth(answer, table, abstained), table, clusters)


def _worth(answer: FloatArray, table: pd.DataFrame, abstained: float) -> FloatArray:
    return np.where(np.isfinite(answer), answer == table["truth"].to_numpy(), abstained).astype(np.float64)


def balanced(answer: FloatArray, table: pd.DataFrame, clusters: Sequence[str], abstained: float = 0.0) -> Measured:
    """Share of right answers on a test with as many of each class: the mean over the classes that there are.

    That is what test sets balanced by drawing give on average (arXiv 2605.26242, appendix N). Arguments as of
    :func:`natural`.
    """
    truth = table["truth"].to_numpy()
    right = _worth(answer, table, abstained)
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


def with_observers(table: pd.DataFrame, given: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """The rows with a column for what each observer gives, by ``trial_id``; NaN where it was not asked."""
    return table.assign(**{f"{OBSERVED}{name}": table["trial_id"].map(dict(values)) for name, values in given.items()})
