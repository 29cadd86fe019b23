"""Choices among several options: localisation, strength, identification by label.

A choice is right by chance with probability ``1 / n``. Accuracies are balanced over the true option (the mean of the
accuracies under each), so a constant answer, whatever the option it prefers, is worth exactly ``1 / n``.

*Observers* answer from public evidence. *Arms* are runs with the same true options in which nothing about the state was
asked (the same injection under another question with the same answers), or nothing was there to be reported (no
injection, or a direction without content): a report that is about the state must be ahead of each, by the same
intersection-union test as ahead of each observer. One that is not answers to something else. In the mirror, a report
that avoids the truth is an inverted report of the state only where it is below each arm.

What invalid answers would have been is not known. Unless the verdict is the same however they are scored, on target
trials and in control arms, it is ``insufficient``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.arms import TARGET_ARM, check_arms, on_target
from firsthand.analysis.arms_judging import ArmsCase, Rival, judge_arms
from firsthand.analysis.constancy import constant_choice
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.results import CapabilityResult
from firsthand.analysis.verdict import compile_verdict
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Capability, Condition

__all__ = ["COLUMNS", "TARGET_ARM", "Chosen", "judge_choice"]

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
            ``options - 1``, each true on some target trial), ``answer`` (the same, or NaN for *invalid*),
            ``coverage``, and the cluster columns. Optionally ``block``, within which one answer throughout is a
            constant; without it, the first cluster column.
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
    _check(table, options, spec.clusters)
    truth = table["truth"].to_numpy(dtype=np.int64)
    answer = table["answer"].to_numpy(dtype=np.float64)
    target, valid = (table["arm"] == TARGET_ARM).to_numpy(), np.isfinite(answer)
    here = target & valid
    counting = {n: o for n, o in observers.items() if condition is Condition.Y_SHOWN or not o.sees_output}
    # An observer that cannot tell could have guessed; a reader that could not read shows no sensitivity.
    right = partial(_right, truth=truth[target], options=options)
    case = ArmsCase(
        capability=capability,
        condition=condition,
        table=table,
        worth=np.where(valid, answer == truth, np.nan),
        strata=truth,
        chance=1.0 / options,
        constant=constant_choice(answer[here], truth[here], _blocks(table, spec.clusters)[here]),
        observers={
            n: Rival(right(f"observer {n}", o.option, abstained=1.0 / options), o.sees_output)
            for n, o in counting.items()
        },
        readers={n: (where, right(f"reader {n}", read, abstained=0.0)) for n, (where, read) in readers.items()},
        spec=spec,
        arms=arms,
        seed=seed,
    )
    return judge_arms(case, lambda evidence, _: compile_verdict(evidence, spec))


def _right(name: str, option: FloatArray, *, abstained: float, truth: NDArray[np.int64], options: int) -> FloatArray:
    """Whether somebody's options are the true ones; where none was chosen, what that is worth ``[target trials]``."""
    given = on_target(name, option, len(truth))
    chosen = np.isfinite(given)
    if not np.isin(given[chosen], range(options)).all():
        raise AnalysisError(f"{name} chose what is not one of the {options} options.", "Number options from 0.")
    return np.where(chosen, given == truth, abstained)


def _blocks(table: pd.DataFrame, clusters: Sequence[str]) -> NDArray[np.int64]:
    """Block of each trial, within which one and the same answer is a constant ``[trials]``."""
    return pd.factorize(table["block" if "block" in table else clusters[0]])[0].astype(np.int64)


def _check(table: pd.DataFrame, options: int, clusters: Sequence[str]) -> None:
    check_arms(table, COLUMNS, clusters)
    possible = set(range(options))
    if options < 2 or not set(table["truth"]) <= possible:
        raise AnalysisError(f"A truth is not one of the {options} options.", "Number options from 0.")
    if not set(table["answer"].dropna()) <= possible:
        raise AnalysisError(f"An answer is not one of the {options} options.", "Use NaN for an invalid answer.")
    never = sorted(possible - set(table["truth"][table["arm"] == TARGET_ARM]))
    if never:
        are = "options {} are" if len(never) > 1 else "option {} is"
        raise AnalysisError(
            f"On target trials {are.format(', '.join(map(str, never)))} never true, so chance is not 1 / {options}.",
            "Run target trials in which every option is true, or name fewer options.",
        )
    if "block" in table and table["block"].isna().any():
        raise AnalysisError("A trial belongs to no block.", "Give every trial its block, or leave the column out.")
