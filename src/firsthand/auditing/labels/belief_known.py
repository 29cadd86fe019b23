"""The examination of the instrument on a belief study's own trials: reporters whose answer is known.

Some hold by arithmetic, whatever was run: they examine the path from answers to a verdict. Whether observers put two
kinds of evidence together, and whether repeating the strongest of them would pass for more, depends on the trials.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.auditing.labels.belief import (
    COVERED,
    balanced,
    judge,
    observed_columns,
    sees_answer,
    with_observers,
)
from firsthand.auditing.labels.belief_evidence import FREQUENCY, PRIOR, Evidence
from firsthand.auditing.labels.belief_observers import ALL_RECORDS, observed
from firsthand.auditing.labels.biofeedback import OBSERVED
from firsthand.auditing.labels.readers import READER
from firsthand.claims.claim import AnalysisSpec
from firsthand.claims.labels.belief import CLASSES
from firsthand.report.document import KnownAnswer
from firsthand.studies.labels.belief.reporting import TARGET, Experiment
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability, Condition, Verdict

UNEXAMINED: Final = (
    "The instrument could not be examined on this run: reporters of known answer need trials of every class, and there "
    "are none. Nothing can be concluded from it."
)
LACKING: Final = (
    "The reporter that puts two kinds of evidence together could not be judged: these records are not parted in three "
    "by them."
)
TWO_BLOCKS: Final = "two kinds of evidence"
_ERRS: Final = 0.2
_NEITHER: Final = (Verdict.PRIVILEGED, Verdict.PUBLIC_INFERENCE)


def known_answers(
    table: pd.DataFrame,
    spec: AnalysisSpec,
    conditions: Sequence[Condition],
    seed: int,
    two_blocks: pd.DataFrame | None = None,
) -> tuple[KnownAnswer, ...]:
    """What reporters of known answer get, on the very trials of a run and by the same path.

    Args:
        table: The rows of the report, with observers.
        spec: The rules.
        conditions: Whether observers see the answer.
        seed: Of whatever is dealt.
        two_blocks: The rows of :func:`two_blocks_rows`, if they could be made.

    Returns:
        One answer for each reporter and condition; none where a class is never true (see :data:`UNEXAMINED`).
    """
    if not len(table) or set(table.loc[table["arm"] == TARGET, "truth"]) != set(range(CLASSES)):
        return ()
    return tuple(answer for condition in conditions for answer in _under(table, spec, condition, seed, two_blocks))


def two_blocks_rows(
    reports: pd.DataFrame, table: pd.DataFrame, public: Evidence, experiments: Sequence[Experiment], seed: int
) -> pd.DataFrame | None:
    """The trials of a run with labels that only two kinds of public evidence together give, and a reporter of them.

    The reporter says the label four times in five. Observers learn those labels anew, from all records that shots may
    come from: one that sees a single kind of evidence cannot be as good, one that sees both can.

    Returns:
        Rows as :func:`~firsthand.auditing.labels.belief.judge` takes them; ``None`` if a class is never asked about.
    """
    planted = both_blocks(public, np.flatnonzero((table["states"] > 0).to_numpy()))
    made = [
        replace(one, fit_labels=planted[one.fit], shot_labels=planted[one.shots], truth=planted[one.asked])
        for one in experiments
    ]
    labels = dict(zip(table["item"], planted.tolist(), strict=True))
    truth = reports["item"].map(labels).to_numpy(dtype=np.int64)
    target = (reports["arm"] == TARGET).to_numpy()
    if set(truth[target]) != set(range(CLASSES)):
        return None
    said = np.zeros(len(truth))
    said[target], said[~target] = erring(truth[target], seed), dealt(truth[~target], seed, "two blocks, lot")
    rows = reports.drop(columns=observed_columns(reports)).assign(
        truth=truth, answer=said, coverage=1.0, wire=np.where(target, truth, np.nan)
    )
    given = observed(public, table, made, seed, "two blocks", learning=(ALL_RECORDS,))
    return with_observers(rows, given)


def both_blocks(public: Evidence, usable: NDArray[np.int64]) -> NDArray[np.int64]:
    """Labels of how firmly a fact is held and of how common its entity is: class 0 where it is held least.

    Where it is held more firmly the class is 1 or 2, by how common its true entity is. About a third is of each.

    Args:
        public: The evidence, of which the first column of both blocks is used.
        usable: Places of the answers that can be asked about.
    """
    firm, common = (public.features[name][:, 0] for name in (PRIOR, FREQUENCY))
    firmly = firm > np.quantile(firm[usable], 1 / CLASSES)
    if not firmly[usable].any():
        return np.zeros(len(firm), dtype=np.int64)
    usual = common > np.median(common[np.intersect1d(usable, np.flatnonzero(firmly))])
    return np.where(firmly, 1 + usual.astype(np.int64), 0)


def erring(truth: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """The true classes but for a fifth of each, which are another class ``[rows]``."""
    draw, given = stream("belief", seed, "erring"), truth.astype(np.float64)
    for one in sorted(set(truth.tolist())):
        rows = draw.permutation(np.flatnonzero(truth == one))
        wrong = rows[: round(_ERRS * len(rows))]
        given[wrong] = (one + 1 + np.arange(len(wrong)) % (CLASSES - 1)) % CLASSES
    return given


@dataclass(frozen=True, eq=False)
class _Case:
    """A reporter of known answer, and the trials with its answers."""

    name: str
    description: str
    rows: pd.DataFrame
    expected: Verdict
    also: tuple[Verdict, ...] = ()


def _under(
    table: pd.DataFrame, spec: AnalysisSpec, condition: Condition, seed: int, two_blocks: pd.DataFrame | None
) -> list[KnownAnswer]:
    found = []
    cases = [*_knowing(table, condition, seed), *_unknowing(table, spec, condition, seed)]
    if two_blocks is not None:
        cases.append(_combining(two_blocks, condition, seed))
    for case in cases:
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
            "Holds by arithmetic: always right, and so is an observer that is held against it.",
            public.assign(**{f"{OBSERVED}knows as much": np.where(target, truth, np.nan)}),
            Verdict.PUBLIC_INFERENCE,
        ),
        _Case(
            "wire",
            "Holds by arithmetic: reads labels that were drawn by lot after everything was public, which nobody else "
            "can know.",
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
        values = table.loc[target, column].to_numpy(dtype=np.float64)
        return balanced(values, table[target], spec.clusters, 1.0 / CLASSES).value

    best = max((c for c in observed_columns(table) if condition is Condition.Y_SHOWN or not sees_answer(c)), key=worth)
    return (
        _Case(
            "strongest observer",
            f"Never privileged by arithmetic: says what the observer '{best.removeprefix(OBSERVED)}' says.",
            said.assign(answer=np.where(target, table[best], lot)),
            Verdict.PUBLIC_INFERENCE,
            tuple(v for v in Verdict if v not in _NEITHER),
        ),
        _Case(
            "lot",
            "Holds by arithmetic: says every class as often, whatever is true.",
            said,
            Verdict.INSUFFICIENT,
            tuple(v for v in Verdict if v not in (*_NEITHER, Verdict.INSUFFICIENT)),
        ),
    )


def _combining(rows: pd.DataFrame, condition: Condition, seed: int) -> _Case:
    """One that knows what two kinds of public evidence give together."""
    truth = rows["truth"].to_numpy(dtype=np.int64)
    return _Case(
        TWO_BLOCKS,
        "Can fail: says, four times in five, labels that follow from how firmly a fact is held and how common its "
        "entity is, and from neither alone. Only an observer that puts both together keeps it from being privileged.",
        _with_reader(rows, truth, condition, seed),
        Verdict.PUBLIC_INFERENCE,
        tuple(v for v in Verdict if v not in _NEITHER),
    )


def _with_reader(table: pd.DataFrame, truth: NDArray[np.int64], condition: Condition, seed: int) -> pd.DataFrame:
    """The same with another language model that answers by lot, without which nothing is called privileged."""
    lot, target = dealt(truth, seed, "reader", str(condition)), (table["arm"] == TARGET).to_numpy()
    name = f"{READER}by lot"
    return table.assign(
        **{f"{OBSERVED}{name}": np.where(target, lot, np.nan), f"{COVERED}{name}": np.where(target, 1.0, np.nan)}
    )


def dealt(truth: NDArray[np.int64], *purpose: str | int) -> NDArray[np.float64]:
    """Classes that were dealt by lot, every one as often among the rows of each true class ``[rows]``."""
    draw = stream("belief", "dealt", *purpose)
    given = np.zeros(len(truth))
    for one in sorted(set(truth.tolist())):
        rows = np.flatnonzero(truth == one)
        given[draw.permutation(rows)] = (one + 1 + np.arange(len(rows))) % CLASSES
    return given
