"""The scored table: what the analysis reads, checked before anything is computed.

One row a trial, with columns

======================  ======================================================================================
``trial_id``            unique name of the trial
``kind``                one of :class:`~firsthand.vocabulary.Kind`
``truth``               0 or 1: the post-state (identification), "the state was changed" (detection), or "the
                        identification answer was right" (confidence)
``answer``              1.0, 0.0 or NaN; NaN is *invalid* and never "no"
``probability``         P(answer 1 | valid answers)
``coverage``            probability mass on the valid answers
``contrast``            logit of the code for 1 minus logit of the code for 0; non-finite values are left out
cluster columns         every column that the claim names as independent units
``impact_kl`` ...       optional: ``impact_kl``, ``entropy``, ``impact_matched`` (bool), ``surface`` (the code that was
                        given, as text), ``input_hash`` (of everything that went into the forward pass, edit included),
                        ``stratum`` (any label, e.g. whether the public cue was right; detection margins are then
                        balanced over the strata)
======================  ======================================================================================

Repeats of one ``input_hash`` with the same kind and truth count once where they always gave the same answer: they are
one measurement, and the row kept is their mean. Where they did not (sampled answers) they are kept, and
``input_hash`` becomes one more cluster column.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.bootstrap import Clusters
from firsthand.analysis.inference import FloatArray
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Capability, Kind

REQUIRED = ("trial_id", "kind", "truth", "answer", "probability", "coverage", "contrast")


@dataclass(frozen=True, eq=False)
class ObserverPrediction:
    """What one observer made of the public evidence.

    Attributes:
        sees_output: Whether it saw the visible answer Y; such an observer counts only where Y is shown.
        probability: P(truth = 1) of each row of the table ``[trials]``.
    """

    sees_output: bool
    probability: FloatArray


@dataclass(frozen=True, eq=False)
class Reading:
    """What a wire or probe read in the activations.

    Attributes:
        where: ``"site"`` (shows sensitivity) or ``"report"`` (shows availability where the report is made).
        value: Decision value of each row; above 0 means truth 1, NaN is unreadable ``[trials]``.
    """

    where: Literal["site", "report"]
    value: FloatArray


@dataclass(frozen=True, eq=False)
class Scored:
    """A checked table as arrays, one element a trial.

    Attributes:
        kinds: Values of :class:`Kind` as text ``[trials]``.
        truth: 1.0 or 0.0 ``[trials]``.
        answer: 1.0, 0.0 or NaN (invalid) ``[trials]``.
        probability: P(answer 1 | valid) ``[trials]``.
        coverage: Mass on valid answers ``[trials]``.
        contrast: Signed logit contrast; non-finite where unknown ``[trials]``.
        clusters: The independent units.
        observers: Observers that count, on the same rows.
        readers: Readers, on the same rows.
        extras: Optional numeric columns (``impact_kl``, ``entropy``, ``impact_matched``) ``[trials]``.
        surface: The code given, as text, or ``None`` ``[trials]``.
        strata: Stratum of each trial, numbered from 0 without holes, or ``None`` where all are one ``[trials]``.
        collapsed: Rows that were repeats of another one and count no longer.
    """

    kinds: NDArray[np.str_]
    truth: FloatArray
    answer: FloatArray
    probability: FloatArray
    coverage: FloatArray
    contrast: FloatArray
    clusters: Clusters
    observers: Mapping[str, ObserverPrediction]
    readers: Mapping[str, Reading]
    extras: Mapping[str, FloatArray] = field(default_factory=dict)
    surface: NDArray[np.str_] | None = None
    strata: NDArray[np.int64] | None = None
    collapsed: int = 0

    @property
    def block(self) -> NDArray[np.int64]:
        """The first named independent unit of each trial, within which codes and their meaning stay ``[trials]``."""
        return next(iter(self.clusters.codes.values()))

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Trials with a valid answer ``[trials]``."""
        return np.isfinite(self.answer)

    def of(self, *kinds: Kind) -> NDArray[np.bool_]:
        """Trials of any of these kinds ``[trials]``."""
        found = np.zeros(len(self), dtype=np.bool_)
        for kind in kinds:
            found |= self._by_kind[kind]
        return found

    @cached_property
    def _by_kind(self) -> Mapping[Kind, NDArray[np.bool_]]:
        return {kind: self.kinds == kind.value for kind in Kind}

    def __len__(self) -> int:
        return len(self.truth)


def scored(
    capability: Capability,
    table: pd.DataFrame,
    observers: Mapping[str, ObserverPrediction],
    readers: Mapping[str, Reading],
    *,
    clusters: Sequence[str],
    draws: int,
    seed: int,
) -> Scored:
    """Checks a table with its observers and readers, collapses repeats, and turns it into arrays.

    Args:
        capability: What the report was asked for; decides what ``truth`` must be.
        table: The scored table, one row a trial.
        observers: Observers that count in this condition.
        readers: Wires and probes.
        clusters: Columns that name independent units.
        draws: Bootstrap draws.
        seed: Seed of the draws.

    Raises:
        AnalysisError: A column, cluster, kind, class or value is missing, repeated or impossible.
    """
    _check_columns(table, clusters)
    _check_values(capability, table)
    _check_aligned(table, observers, readers)
    groups, stochastic = _repeats(table)
    data = {name: _mean_by(groups, np.asarray(table[name], dtype=np.float64)) for name in REQUIRED[2:]}
    first = _first_of(groups)
    named = [*clusters, *(["input_hash"] if stochastic and "input_hash" not in clusters else [])]
    kept = table.iloc[first]
    codes = {name: _codes(kept[name], name) for name in named}
    extras = {
        name: _mean_by(groups, np.asarray(table[name], dtype=np.float64))
        for name in ("impact_kl", "entropy", "impact_matched")
        if name in table
    }
    return Scored(
        kinds=kept["kind"].astype(str).to_numpy(dtype=np.str_),
        clusters=Clusters(codes, draws, seed),
        observers={
            n: ObserverPrediction(o.sees_output, _mean_by(groups, np.asarray(o.probability, dtype=np.float64)))
            for n, o in observers.items()
        },
        readers={
            n: Reading(r.where, _mean_by(groups, np.asarray(r.value, dtype=np.float64))) for n, r in readers.items()
        },
        extras=extras,
        surface=kept["surface"].astype(str).to_numpy(dtype=np.str_) if "surface" in table else None,
        strata=pd.factorize(kept["stratum"], use_na_sentinel=False)[0].astype(np.int64) if "stratum" in table else None,
        collapsed=len(table) - len(first),
        **data,
    )


def _check_columns(table: pd.DataFrame, clusters: Sequence[str]) -> None:
    if not clusters:
        raise AnalysisError(
            "No cluster columns are named, so it is unknown which trials are independent.",
            "Name them in analysis.clusters, e.g. [block].",
        )
    missing = [name for name in (*REQUIRED, *clusters) if name not in table.columns]
    if missing:
        raise AnalysisError(
            f"The scored table lacks the columns: {', '.join(missing)}.",
            "Add them, or name other columns in analysis.clusters.",
        )
    if table.empty:
        raise AnalysisError("The scored table has no rows.", "Run at least one confirmation block.")
    repeated = table["trial_id"][table["trial_id"].duplicated()]
    if len(repeated):
        raise AnalysisError(
            f"{len(repeated)} trial_id values occur more than once, e.g. {repeated.iloc[0]!r}.",
            "Give every trial its own id; deterministic repeats are marked by a common input_hash.",
        )


def _check_values(capability: Capability, table: pd.DataFrame) -> None:
    kinds = table["kind"].astype(str)
    strange = sorted(set(kinds) - {kind.value for kind in Kind})
    if strange:
        raise AnalysisError(
            f"Unknown trial kinds: {', '.join(strange)}.", f"Use only: {', '.join(kind.value for kind in Kind)}."
        )
    if not (kinds == Kind.TARGET).any() or (kinds == Kind.TARGET).all():
        lacking = "control" if (kinds == Kind.TARGET).any() else "target"
        raise AnalysisError(
            f"The scored table holds no {lacking} trials.", "A verdict needs target trials and controls to hold beside."
        )
    _require(bool(table["truth"].isin([0, 1]).all()), "truth", "be 0 or 1 in every row")
    _require(
        bool((table["answer"].isin([0.0, 1.0]) | table["answer"].isna()).all()),
        "answer",
        "be 1.0, 0.0 or NaN (invalid)",
    )
    for name in ("probability", "coverage"):
        values = table[name].to_numpy(dtype=np.float64)
        inside = np.isfinite(values) & (values >= -1e-6) & (values <= 1.0 + 1e-6)
        _require(
            bool(inside.all()), name, f"be a number from 0 to 1; {int((~inside).sum())} rows are not (NaN or outside)"
        )
    if capability is Capability.DETECTION and not (table["truth"].eq(1) == (kinds == Kind.TARGET)).all():
        raise AnalysisError(
            "In a detection table truth must be 1 exactly on target trials.", "Set truth = (kind == 'target')."
        )
    if capability is not Capability.CONFIDENCE and table["truth"].nunique() < 2:
        raise AnalysisError(
            f"Every trial has truth {int(table['truth'].iloc[0])}: with one class only, accuracy says nothing.",
            "Balance the states within blocks.",
        )


def _require(holds: bool, column: str, rule: str) -> None:
    if not holds:
        raise AnalysisError(f"The column {column!r} must {rule}.", "Mend the scoring step that wrote it.")


def _check_aligned(
    table: pd.DataFrame, observers: Mapping[str, ObserverPrediction], readers: Mapping[str, Reading]
) -> None:
    for name, observer in observers.items():
        values = np.asarray(observer.probability, dtype=np.float64)
        fits = values.shape == (len(table),)
        if not fits or not (np.isfinite(values) & (values >= -1e-6) & (values <= 1.0 + 1e-6)).all():
            raise AnalysisError(
                f"Observer {name!r} must give one probability from 0 to 1 for each of the {len(table)} rows"
                + (" (some are NaN or outside)." if fits else f"; its shape is {values.shape}."),
                "An observer that cannot tell answers 0.5.",
            )
    for name, reading in readers.items():
        shape = np.asarray(reading.value).shape
        if shape != (len(table),) or reading.where not in ("site", "report"):
            raise AnalysisError(
                f"Reader {name!r} must give one value for each of the {len(table)} rows, at 'site' or 'report'; "
                f"it has shape {shape} at {reading.where!r}.",
                "Align it with the table; unreadable rows are NaN.",
            )


def _repeats(table: pd.DataFrame) -> tuple[NDArray[np.int64], bool]:
    """Group of every row (rows of one group count once), and whether differing repeats remain."""
    if "input_hash" not in table.columns:
        return np.arange(len(table), dtype=np.int64), False
    by = table.assign(_answer=table["answer"].fillna(-1.0)).groupby(["input_hash", "kind", "truth"], sort=False)
    group = by.ngroup().to_numpy(dtype=np.int64)
    same = (by["_answer"].transform("nunique") == 1).to_numpy()
    alone = group.max() + 1 + np.arange(len(table), dtype=np.int64)
    merged = pd.factorize(np.where(same, group, alone))[0].astype(np.int64)
    return merged, bool((~same).any())


def _first_of(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(groups, return_index=True)[1].astype(np.int64)


def _mean_by(groups: NDArray[np.int64], values: FloatArray) -> FloatArray:
    counts = np.bincount(groups)
    if len(counts) == len(values):
        return values
    return np.asarray(np.bincount(groups, weights=values) / counts, dtype=np.float64)


def _codes(column: pd.Series, name: str) -> NDArray[np.int64]:
    if column.isna().any():
        raise AnalysisError(f"The cluster column {name!r} has empty values.", "Give every trial its unit.")
    codes, labels = pd.factorize(column)
    if len(labels) < 2:
        raise AnalysisError(
            f"The cluster column {name!r} names one unit only, so its spread cannot be known.",
            "Run at least two units, or leave the column out of analysis.clusters.",
        )
    return codes.astype(np.int64)
