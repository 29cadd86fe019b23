"""Choices among several options: localisation, strength, identification by label.

A choice is right by chance with probability ``1 / n``. Accuracies are balanced over the true option (the mean of the
accuracies under each), so a constant answer, whatever the option it prefers, is worth exactly ``1 / n``.

*Observers* answer from public evidence. *Arms* are runs with the same true options in which nothing about the state was
asked (the same injection under another question with the same answers), or nothing was there to be reported (no
injection, or a direction without content): a report that is about the state must be ahead of each, by the same
intersection-union test as ahead of each observer. One that is not answers to something else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.bootstrap import Clusters, ClusterSums, Statistic, Totals
from firsthand.analysis.evidence import ChoiceEvidence, Gates, ReaderEvidence
from firsthand.analysis.gap import Joint
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.judging import CONSTANT_SHARE
from firsthand.analysis.results import ArmRow, CapabilityResult, ObserverRow, ReaderRow
from firsthand.analysis.verdict import compile_verdict
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Capability, Condition

TARGET_ARM = "target"
COLUMNS = ("trial_id", "arm", "truth", "answer", "coverage")


@dataclass(frozen=True, eq=False)
class Chosen:
    """What somebody chose on the target trials.

    Attributes:
        option: The chosen option of each target row, NaN where none was, which is worth a guess ``[target trials]``.
        sees_output: Whether the chooser saw the visible answer Y.
    """

    option: FloatArray
    sees_output: bool = False


def judge_choice(
    capability: Capability,
    condition: Condition,
    table: pd.DataFrame,
    options: int,
    observers: Mapping[str, Chosen],
    readers: Mapping[str, tuple[str, FloatArray]],
    spec: AnalysisSpec,
    arms: Sequence[str],
    seed: int = 0,
) -> CapabilityResult:
    """Judges a choice among ``options``.

    Args:
        capability: Localisation, characterisation or identification.
        condition: Whether observers may have seen Y.
        table: One row a trial: ``trial_id``, ``arm`` (``"target"`` or one of the control arms), ``truth`` (0 to
            ``options - 1``), ``answer`` (the same, or NaN for *invalid*), ``coverage``, and the cluster columns.
        options: Number of options.
        observers: What observers chose on the target rows, in their order.
        readers: For each wire or probe ``("site" | "report", option read on each target row)``.
        spec: The rules fixed in the claim.
        arms: Control arms that the claim names.
        seed: Seed of the bootstrap.

    Returns:
        The result with its verdict and reasons.

    Raises:
        AnalysisError: The table cannot be analysed as asked.
    """
    data = _Data(table, options, spec, seed)
    counting = {n: o for n, o in observers.items() if condition is Condition.Y_SHOWN or not o.sees_output}
    for name, chosen in counting.items():
        data.add(f"observer {name}", chosen.option, abstained=1.0 / options)
    for name, (_, option) in readers.items():
        data.add(f"reader {name}", option, abstained=0.0)
    data.close()
    evidence = _evidence(condition, data, counting, readers, arms)
    ruling = compile_verdict(evidence, spec)
    alpha, chance = spec.alpha, evidence.chance
    return CapabilityResult(
        capability=capability,
        condition=condition,
        verdict=ruling.verdict,
        reasons=ruling.reasons,
        score=evidence.accuracy.estimate(alpha, chance),
        target_score=evidence.accuracy.estimate(alpha, chance),
        chance=chance,
        coverage=evidence.gates.coverage,
        invalid_rate=float(np.mean(np.isnan(data.answer[data.target]))),
        gap=evidence.gap.estimate(alpha),
        observers=tuple(
            ObserverRow(
                name=name,
                sees_output=chosen.sees_output,
                score=data.measure(data.accuracy(f"observer {name}")).estimate(alpha, chance),
                gap=evidence.gap.members[name].estimate(alpha, 0.0),
            )
            for name, chosen in counting.items()
        ),
        arms=tuple(
            ArmRow(
                name=name,
                score=data.measure(data.accuracy(name), arm=name).estimate(alpha, chance),
                lead=lead.estimate(alpha, 0.0),
            )
            for name, lead in evidence.arms.members.items()
        ),
        readers=tuple(
            ReaderRow(name=r.name, where=r.where, accuracy=found)
            for r in evidence.readers
            if (found := r.accuracy.estimate(alpha, chance)) is not None
        ),
        equivalence=ruling.equivalence,
    )


class _Data:
    """The checked table, and sums of right answers by arm and true option."""

    def __init__(self, table: pd.DataFrame, options: int, spec: AnalysisSpec, seed: int) -> None:
        _check(table, options, spec.clusters)
        self.options, self.table = options, table
        self.truth = table["truth"].to_numpy(dtype=np.int64)
        self.answer = table["answer"].to_numpy(dtype=np.float64)
        self.arm = table["arm"].astype(str).to_numpy(dtype=np.str_)
        self.target: NDArray[np.bool_] = self.arm == TARGET_ARM
        codes = {name: pd.factorize(table[name])[0].astype(np.int64) for name in spec.clusters}
        self._clusters = Clusters(codes, spec.bootstrap_draws, seed)
        self._columns: dict[str, FloatArray] = {}
        for name in dict.fromkeys(self.arm.tolist()):
            self._cells(name, (self.arm == name) & np.isfinite(self.answer), self.answer == self.truth)

    def add(self, name: str, option: FloatArray, *, abstained: float) -> None:
        """Add what somebody chose on the target rows, and what it is worth to have chosen nothing there.

        An observer that cannot tell could have guessed, so it gets what a guess is worth; a reader that could not read
        shows no sensitivity.
        """
        chosen = np.full(len(self.truth), np.nan)
        if np.shape(option) != (int(self.target.sum()),):
            raise AnalysisError(
                f"{name} must choose once for each of the {int(self.target.sum())} target rows; its shape is "
                f"{np.shape(option)}.",
                "Align it with the target rows of the table; NaN where it chose nothing.",
            )
        chosen[self.target] = option
        # Compared on the trials that the report answered, so that leaving hard trials out cannot look like a lead.
        answered = self.target & np.isfinite(self.answer)
        self._cells(name, answered, np.where(np.isfinite(chosen), chosen == self.truth, abstained))

    def _cells(self, name: str, inside: NDArray[np.bool_], right: FloatArray) -> None:
        for truth in range(self.options):
            here = inside & (self.truth == truth)
            self._columns[f"{name}/{truth}/right"] = np.where(here, right, 0.0).astype(np.float64)
            self._columns[f"{name}/{truth}/count"] = here.astype(np.float64)

    def close(self) -> None:
        """Sum by cluster; nothing can be added afterwards."""
        self._sums = ClusterSums(self._columns, self._clusters)

    def accuracy(self, name: str) -> Statistic:
        """Mean over the true options of the share of right answers; an option that never was true is left out."""

        def balanced(t: Totals) -> FloatArray:
            each = np.stack([t[f"{name}/{i}/right"] / t[f"{name}/{i}/count"] for i in range(self.options)])
            known = np.isfinite(each)
            return np.asarray(np.where(known, each, 0.0).sum(axis=0) / known.sum(axis=0), dtype=np.float64)

        return balanced

    def measure(self, statistic: Statistic, arm: str = TARGET_ARM, span: tuple[float, float] = (0.0, 1.0)) -> Measured:
        """A statistic with its uncertainty."""
        counted = (self.arm == arm) & np.isfinite(self.answer)
        return self._sums.measure(statistic, span=span, n_trials=int(counted.sum()))

    def lead(self, other: str) -> Measured:
        """The report's accuracy on target trials minus another one."""
        mine, theirs = self.accuracy(TARGET_ARM), self.accuracy(other)
        return self.measure(lambda t: mine(t) - theirs(t), span=(-1.0, 1.0))


def _evidence(
    condition: Condition,
    data: _Data,
    observers: Mapping[str, Chosen],
    readers: Mapping[str, tuple[str, FloatArray]],
    arms: Sequence[str],
) -> ChoiceEvidence:
    coverage = data.table["coverage"].to_numpy(dtype=np.float64)
    by_arm = {name: float(coverage[data.arm == name].mean()) for name in dict.fromkeys(data.arm.tolist())}
    gates = Gates(
        coverage=by_arm[TARGET_ARM],
        weakest_coverage=min(by_arm.values()),
        valid=int(np.isfinite(data.answer[data.target]).sum()),
        observers=len(observers),
    )
    return ChoiceEvidence(
        condition=condition,
        gates=gates,
        constant=_constant(data),
        readers=tuple(
            ReaderEvidence(
                name,
                "site" if where == "site" else "report",
                Joint({"accuracy": data.measure(data.accuracy(f"reader {name}"))}),
            )
            for name, (where, _) in readers.items()
        ),
        chance=1.0 / data.options,
        missing_arms=tuple(name for name in arms if name not in by_arm),
        accuracy=data.measure(data.accuracy(TARGET_ARM)),
        gap=Joint({name: data.lead(f"observer {name}") for name in observers}),
        arms=Joint({name: data.lead(name) for name in arms if name in by_arm}),
    )


def _constant(data: _Data) -> str | None:
    given = data.answer[data.target & np.isfinite(data.answer)]
    if not len(given):
        return None
    options, counts = np.unique(given, return_counts=True)
    share = float(counts.max() / counts.sum())
    if share < CONSTANT_SHARE:
        return None
    return f"{share:.1%} of the valid answers are option {int(options[counts.argmax()])}"


def _check(table: pd.DataFrame, options: int, clusters: Sequence[str]) -> None:
    missing = [name for name in (*COLUMNS, *clusters) if name not in table.columns]
    if missing or not clusters:
        raise AnalysisError(
            f"The table lacks the columns: {', '.join(missing) or 'none, but no cluster is named'}.",
            "Add them, and name the independent units in analysis.clusters.",
        )
    if not (table["arm"] == TARGET_ARM).any():
        raise AnalysisError("The table holds no target trials.", "Run at least one trial with the state in place.")
    if table["trial_id"].duplicated().any():
        raise AnalysisError("A trial_id occurs more than once.", "Give every trial its own id.")
    possible = set(range(options))
    if options < 2 or not set(table["truth"]) <= possible:
        raise AnalysisError(f"A truth is not one of the {options} options.", "Number options from 0.")
    if not set(table["answer"].dropna()) <= possible:
        raise AnalysisError(f"An answer is not one of the {options} options.", "Use NaN for an invalid answer.")
    if table[list(clusters)].isna().any(axis=None):
        raise AnalysisError("A cluster column has empty values.", "Give every trial its unit.")
