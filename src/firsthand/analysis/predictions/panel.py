"""The table of predictions that is judged: one row for each claim and predictor, checked before anything is computed.

======================  ====================================================================================
``claim``               identifier of the claim
``label``               whether it is true
``predictor``           who predicted
``probability``         that the claim is true, by the predictor; NaN is *invalid* and never "no"
``coverage``            probability mass on valid answers
cluster columns         what makes claims dependent: the same text on all rows of a claim
``concreteness`` ...    optional facts on the claim that subsets are made of: ``concreteness``, ``source``, ``filtered``
======================  ====================================================================================
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.bootstrap import Clusters
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.means import clusters_of
from firsthand.errors import AnalysisError

REQUIRED: Final = ("claim", "label", "predictor", "probability", "coverage")
FACTS: Final = ("concreteness", "source", "filtered", "matched")
_MASS: Final = 1e-4
"""What sums of probabilities may exceed 1 by."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What one predictor said.

    Attributes:
        probability: That each claim is true; NaN where the answer is invalid ``[claims]``.
        coverage: Probability mass on valid answers ``[claims]``.
    """

    probability: FloatArray
    coverage: FloatArray

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Claims with a valid answer ``[claims]``."""
        return np.isfinite(self.probability)

    @property
    def says(self) -> FloatArray:
        """1 for "true", 0 for "false", and one half at a probability of exactly one half; NaN is invalid ``[claims]``.

        Whoever puts one half on it has said neither, so it counts as half right and half wrong.
        """
        with np.errstate(invalid="ignore"):
            said = np.where(self.probability > 0.5, 1.0, np.where(self.probability < 0.5, 0.0, 0.5))
        return np.where(self.valid, said, np.nan)


@dataclass(frozen=True, eq=False)
class Panel:
    """Claims, and what every predictor said of each.

    Attributes:
        claims: Identifiers ``[claims]``.
        truth: 1.0 for a true claim, else 0.0 ``[claims]``.
        answers: What each predictor said, by name, in the order of the table.
        units: The cluster columns and the facts, one row a claim.
        columns: Names of the cluster columns.
    """

    claims: tuple[str, ...]
    truth: FloatArray
    answers: Mapping[str, Answers]
    units: pd.DataFrame
    columns: tuple[str, ...]

    @classmethod
    def of(cls, table: pd.DataFrame, clusters: Sequence[str] = ("cluster",)) -> "Panel":
        """Check a table and lay it out by claim.

        Args:
            table: The table.
            clusters: Names of the cluster columns.

        Raises:
            AnalysisError: If columns or rows are missing, repeated, or contradict one another.
        """
        _check_columns(table, clusters)
        if table.duplicated(["claim", "predictor"]).any():
            twice = table[table.duplicated(["claim", "predictor"])].iloc[0]
            raise AnalysisError(
                f"{twice['predictor']} predicts the claim {twice['claim']} twice.", "Give one prediction for each."
            )
        claims = tuple(dict.fromkeys(table["claim"]))
        about = [name for name in ("label", *clusters, *FACTS) if name in table]
        varying = [name for name in about if table.groupby("claim")[name].nunique(dropna=False).max() > 1]
        if varying:
            raise AnalysisError(
                f"The column {varying[0]} differs between predictions of one and the same claim.",
                "A claim has one label and one cluster, whoever predicts it.",
            )
        first = table.drop_duplicates("claim").set_index("claim").loc[list(claims)]
        answers = {
            str(name): _answers(str(name), rows, claims) for name, rows in table.groupby("predictor", sort=False)
        }
        units = first[[name for name in about if name != "label"]].reset_index(drop=True)
        truth = first["label"].astype(bool).to_numpy().astype(np.float64)
        return cls(claims, truth, answers, units, tuple(clusters))

    @property
    def clusters(self) -> Clusters:
        """The independent units, as the statistics take them."""
        return clusters_of(self.units, self.columns)

    @property
    def independent(self) -> int:
        """Number of independent units: the fewest of any cluster column."""
        return int(min(self.units[name].nunique(dropna=False) for name in self.columns)) if len(self.claims) else 0

    def only(self, kept: NDArray[np.bool_]) -> "Panel":
        """The same for some claims.

        Args:
            kept: Which ``[claims]``.
        """
        names = tuple(name for name, keep in zip(self.claims, kept, strict=True) if keep)
        answers = {name: Answers(one.probability[kept], one.coverage[kept]) for name, one in self.answers.items()}
        return replace(
            self, claims=names, truth=self.truth[kept], answers=answers, units=self.units[kept].reset_index(drop=True)
        )

    def rows(self) -> Iterator[tuple[str, str, bool, float, float]]:
        """Claim, predictor, label, probability and coverage of every prediction."""
        for name, one in self.answers.items():
            columns = (self.claims, self.truth.tolist(), one.probability.tolist(), one.coverage.tolist())
            for claim, truth, probability, coverage in zip(*columns, strict=True):
                yield claim, name, truth == 1.0, probability, coverage


def _check_columns(table: pd.DataFrame, clusters: Sequence[str]) -> None:
    missing = [name for name in (*REQUIRED, *clusters) if name not in table]
    if missing or not clusters:
        raise AnalysisError(
            f"The table of predictions lacks {', '.join(missing) or 'a cluster column'}.",
            "Give claim, label, predictor, probability, coverage, and what makes claims dependent.",
        )
    if table.empty:
        raise AnalysisError("There is no prediction.", "Give at least one claim and one predictor.")
    if table["label"].isna().any():
        raise AnalysisError("A claim has no label.", "Leave claims out that are neither true nor false.")
    share = table["probability"].dropna()
    if not share.between(0.0, 1.0).all():
        raise AnalysisError("A probability is not between 0 and 1.", "Leave it empty where the answer is invalid.")
    if not table["coverage"].between(-_MASS, 1.0 + _MASS).all():
        raise AnalysisError("A coverage is not between 0 and 1.", "Give 1 where masses are not known.")


def _answers(name: str, rows: pd.DataFrame, claims: Sequence[str]) -> Answers:
    held = rows.set_index("claim")
    absent = [claim for claim in claims if claim not in held.index]
    if absent:
        raise AnalysisError(
            f"{name} has no row for {len(absent)} of {len(claims)} claims, such as {absent[0]}.",
            "Give a row without a probability where a predictor gave no valid answer: it is counted as invalid.",
        )
    ordered = held.loc[list(claims)]
    return Answers(
        ordered["probability"].to_numpy(np.float64, na_value=np.nan),
        np.clip(ordered["coverage"].to_numpy(np.float64), 0.0, 1.0),
    )
