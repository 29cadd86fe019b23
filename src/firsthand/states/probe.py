"""A linear probe: does the state reach the place from which the report is made?

Fitted on other blocks than it reads (cross-fitting), standardised, with the ridge strength chosen inside the training
blocks, so that its success on a block shows that the information is there and not that the probe has seen it. A probe
that is to be used as a direction is fitted once on everything and folded back into raw units.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import AnalysisError

if TYPE_CHECKING:
    from firsthand.engine.loading import LoadedModel
    from firsthand.engine.sites import Site
    from firsthand.states.vectors import Vectors

FOLDS = 6
STRENGTHS = (1e-4, 1e-2, 1.0)


@dataclass(frozen=True, eq=False)
class LinearProbe:
    """A logistic probe as one direction of the residual stream.

    Attributes:
        direction_H: Change of the score for each unit of residual, ``[hidden]``, float32; not of unit length.
        offset: Score of a state of zeros.
        inverse_ridge: The regularisation that was chosen (scikit-learn's ``C``).
        balanced_accuracy: Mean of the two classes' hit rates on blocks that were held out, or NaN if there were none.
        n_states: Number of states that it was fitted on.
        n_groups: Number of blocks that they came from.
    """

    direction_H: NDArray[np.float32]
    offset: float
    inverse_ridge: float
    balanced_accuracy: float
    n_states: int
    n_groups: int

    def scores(self, states_NH: NDArray[Any]) -> NDArray[np.float64]:
        """Log-odds of class 1, ``state . direction + offset``, ``[states]``."""
        return np.asarray(np.asarray(states_NH, dtype=np.float64) @ self.direction_H.astype(np.float64) + self.offset)

    def as_vectors(
        self,
        name: str,
        site: "Site",
        loaded: "LoadedModel | None",
        source: str,
        recipe: dict[str, Any] | None = None,
    ) -> "Vectors":
        """The probe as a storable vector, whose score is that of :meth:`scores`.

        Args:
            name: What it reads.
            site: Where the states were read.
            loaded: The model that they were read from, if known.
            source: What it was fitted on, in words.
            recipe: Further settings to be recorded, as plain JSON values.
        """
        import torch

        from firsthand.states.vectors import ModelIdentity, Origin, Vectors

        settings = {"inverse_ridge": self.inverse_ridge, "n_states": self.n_states, "n_groups": self.n_groups}
        measures = {"raw_norm": float(np.linalg.norm(self.direction_H.astype(np.float64)))}
        if np.isfinite(self.balanced_accuracy):
            measures["balanced_accuracy"] = self.balanced_accuracy
        return Vectors(
            (name,),
            (site,),
            torch.from_numpy(self.direction_H)[None],
            (measures,),
            Origin(
                kind="probe",
                source=source,
                recipe={**settings, **(recipe or {})},
                model=None if loaded is None else ModelIdentity.of(loaded),
            ),
            offsets_V=torch.tensor([self.offset], dtype=torch.float64),
        )


def fit_probe(
    states_NH: NDArray[Any], labels: Sequence[int] | NDArray[Any], groups: Sequence[str], folds: int = FOLDS
) -> LinearProbe:
    """Fit a logistic probe on all states, and say how well one does on blocks that it has not seen.

    Standardised, the score is ``sum_i c_i (h_i - m_i) / s_i + a``; the direction is therefore ``c / s`` and the offset
    ``a - sum_i c_i m_i / s_i``.

    Args:
        states_NH: States, ``[states, hidden]``.
        labels: What is to be read, 0 or 1.
        groups: Block of each state: what belongs together and must not be on both sides of a split.
        folds: Most folds.

    Raises:
        AnalysisError: If the three do not belong together, a number is not finite, there are fewer than three blocks,
            or there is one class only.
    """
    states, truth = _matched(states_NH, labels, groups)
    if set(truth.tolist()) != {0, 1}:
        raise AnalysisError(
            f"A probe needs both classes, 0 and 1; the labels are {sorted(set(truth.tolist()))[:5]}.",
            "Give states of both classes.",
        )
    truth = truth.astype(np.int64)
    held_out = cross_fitted_reading(states, truth, groups, folds)
    scaler, classifier = _fitted(states, truth, np.asarray(list(groups))).named_steps.values()
    weights = classifier.coef_[0].astype(np.float64) / scaler.scale_
    direction = weights.astype(np.float32)
    if not direction.any() or not np.isfinite(direction).all():
        raise AnalysisError("The states do not differ, so there is no direction to be fitted.", "Give other states.")
    return LinearProbe(
        direction,
        float(classifier.intercept_[0] - weights @ scaler.mean_),
        float(classifier.C_[0] if hasattr(classifier, "C_") else classifier.C),
        _balanced_accuracy(held_out, truth),
        len(states),
        len(set(groups)),
    )


def cross_fitted_reading(
    residual_TH: NDArray[np.float32], truth: NDArray[np.int64], groups: Sequence[str], folds: int = FOLDS
) -> NDArray[np.float64]:
    """Decision values of a logistic probe, each from a fit that never saw the trial's block.

    Args:
        residual_TH: Residuals at the report position, ``[trials, hidden]``.
        truth: What is to be read, 0 or 1.
        groups: Block of each trial.
        folds: Most folds.

    Returns:
        Decision values, above 0 for class 1, ``[trials]``; NaN where the training blocks held one class only.

    Raises:
        AnalysisError: If there are fewer than three groups.
    """
    names, values = np.asarray(list(groups)), np.full(len(truth), np.nan)
    for train, test in _splits(residual_TH, truth, names, folds):
        values[test] = _fitted(residual_TH[train], truth[train], names[train]).decision_function(residual_TH[test])
    return values


def cross_fitted_choice(
    states_NH: NDArray[Any], labels: Sequence[int] | NDArray[Any], groups: Sequence[str], folds: int = FOLDS
) -> NDArray[np.float64]:
    """The class that a multinomial logistic probe reads from each state, each from a fit that never saw its block.

    Args:
        states_NH: States, ``[states, hidden]``.
        labels: What is to be read, 0 to ``n - 1``; every one must occur.
        groups: Block of each state: what belongs together and must not be on both sides of a split.
        folds: Most folds.

    Returns:
        Classes that were read, ``[states]``; NaN where the training blocks held one class only. A class that no
        training block holds is never read; where a class occurs in one training block only, the strength is not tuned.

    Raises:
        AnalysisError: If the three do not belong together, a number is not finite, there are fewer than three blocks
            or two classes, classes are not numbered from 0 without holes, or the states do not differ.
    """
    states, truth = _matched(states_NH, labels, groups)
    present = set(truth.tolist())
    if len(present) < 2 or present != set(range(len(present))):
        raise AnalysisError(
            f"A probe needs classes 0, 1 and so on, at least two; the labels are {sorted(present)[:5]}.",
            "Number the classes that occur from 0, without holes.",
        )
    if not np.ptp(states, axis=0).any():
        raise AnalysisError("The states do not differ, so there is no class to be read.", "Give other states.")
    truth, names, read = truth.astype(np.int64), np.asarray(list(groups)), np.full(len(truth), np.nan)
    for train, test in _splits(states, truth, names, folds):
        read[test] = _fitted(states[train], truth[train], names[train]).predict(states[test])
    return read


def _matched(
    states_NH: NDArray[Any], labels: Sequence[int] | NDArray[Any], groups: Sequence[str]
) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """States and labels as arrays, checked to belong together and to be finite."""
    states, truth = np.asarray(states_NH, dtype=np.float32), np.asarray(labels)
    if states.ndim != 2 or truth.shape != states.shape[:1] or len(groups) != len(truth):
        raise AnalysisError(
            f"States of shape {list(states.shape)}, {truth.size} labels and {len(groups)} groups.",
            "Give one label and one group for each state.",
        )
    if not np.isfinite(states).all():
        raise AnalysisError("A state is not finite.", "Leave it out, or read it in float32.")
    return states, truth


def _splits(
    states_NH: NDArray[np.float32], truth: NDArray[np.int64], names: NDArray[np.str_], folds: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows to fit on and rows to read, by blocks; without splits that could be fitted on one class only."""
    from sklearn.model_selection import GroupKFold

    distinct = len(set(names.tolist()))
    if distinct < 3:
        raise AnalysisError("A probe needs at least three blocks to be fitted, tuned and read.", "Use more blocks.")
    for train, test in GroupKFold(min(folds, distinct)).split(states_NH, truth, names):
        if len(set(truth[train].tolist())) > 1:
            yield train, test


def _inner(
    states_NH: NDArray[np.float32], truth: NDArray[np.int64], names: NDArray[np.str_]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Splits by blocks on which a strength can be chosen: all that leave every class in the blocks fitted on."""
    from sklearn.model_selection import GroupKFold

    distinct = len(set(names.tolist()))
    splits = GroupKFold(min(3, distinct)).split(states_NH, truth, names) if distinct > 1 else ()
    return [split for split in splits if set(truth[split[0]].tolist()) == set(truth.tolist())]


def _fitted(residual_TH: NDArray[np.float32], truth: NDArray[np.int64], names: NDArray[np.str_]) -> Any:
    """A standardised (multinomial) logistic regression, its strength chosen on held-out blocks where possible."""
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    inner = _inner(residual_TH, truth, names)
    tuned = (
        LogisticRegressionCV(
            Cs=list(STRENGTHS), cv=inner, max_iter=2000, class_weight="balanced", scoring="balanced_accuracy"
        )
        if inner
        else LogisticRegression(C=STRENGTHS[1], max_iter=2000, class_weight="balanced")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(StandardScaler(), tuned).fit(residual_TH, truth)


def _balanced_accuracy(values: NDArray[np.float64], truth: NDArray[np.int64]) -> float:
    read = np.isfinite(values)
    rates = [np.mean((values[read & (truth == k)] > 0) == bool(k)) for k in (0, 1) if (read & (truth == k)).any()]
    return float(np.mean(rates)) if len(rates) == 2 else float("nan")
