"""Predictions of the same claims by several predictors, checked and in arrays."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.constancy import CONSTANT_SHARE
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.self_cross.contrasts import Contrast, mean_area
from firsthand.errors import AnalysisError

Kind = Literal["self", "cross", "base", "observer", "floor"]
COLUMNS: Final = ("claim", "cluster", "label", "kind", "model", "seed", "probability", "coverage")
TRAINED: Final = ("self", "cross")
HALF: Final = 0.5
_ALIKE: Final = 1e-6


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of one predictor.

    Attributes:
        name: The predictor: a model, or an observer.
        kind: What it is.
        seeds: Seeds of its trainings; one entry, -1, for what was not trained.
        probability: Probability that a claim is true, NaN where no valid answer was given ``[seeds, claims]``.
        coverage: Probability mass on valid answers ``[seeds, claims]``.
    """

    name: str
    kind: Kind
    seeds: tuple[int, ...]
    probability: FloatArray
    coverage: FloatArray

    @property
    def trained(self) -> bool:
        """Whether its runs are trainings."""
        return self.kind in TRAINED

    @property
    def invalid(self) -> float:
        """Share of claims without a valid answer, in the worst run."""
        return float(np.isnan(self.probability).mean(axis=1).max())

    @property
    def weakest_coverage(self) -> float:
        """Mean coverage in the worst run."""
        return float(self.coverage.mean(axis=1).min())

    @property
    def says(self) -> FloatArray:
        """1 for yes, 0 for no, one half for neither, NaN where no valid answer was given ``[seeds, claims]``."""
        said = np.where(self.probability == HALF, HALF, (self.probability > HALF).astype(np.float64))
        return np.where(np.isnan(self.probability), np.nan, said)

    @property
    def same(self) -> str | None:
        """In words, the one probability that every claim gets; ``None`` where they differ."""
        valid = self.probability[~np.isnan(self.probability)]
        if not len(valid) or float(np.ptp(valid)) > _ALIKE:
            return None
        return f"{self.name} gives every claim the same probability, {valid[0]:.2f}"

    @cached_property
    def constant(self) -> str | None:
        """In words, the one answer that is nearly always given; ``None`` where answers differ."""
        valid = self.probability[~np.isnan(self.probability)]
        if not len(valid):
            return None
        if self.same is not None:
            return self.same
        yes = float(np.where(valid == HALF, HALF, valid > HALF).mean())
        share = max(yes, 1.0 - yes)
        if share < CONSTANT_SHARE:
            return None
        return f"{self.name} is constant: it answers {'yes' if yes >= HALF else 'no'} to {share:.1%} of the claims"

    def scores(self, truth: FloatArray, *, against: bool) -> FloatArray:
        """Probabilities with invalid answers ranked as wrong as they can be, or as right ``[seeds, claims]``."""
        worst = np.where(truth == 1.0, -1.0, 2.0)
        return np.where(np.isnan(self.probability), worst if against else 1.0 - worst, self.probability)


@dataclass(frozen=True, eq=False)
class Panel:
    """Claims about one target, and everybody's predictions of them.

    Attributes:
        about: The target.
        claims: Identifiers ``[claims]``.
        truth: Labels, 1.0 or 0.0 ``[claims]``.
        clusters: The independent unit of every claim, by which claims were split ``[claims]``.
        runs: Predictors, the target's own training first.
    """

    about: str
    claims: tuple[str, ...]
    truth: FloatArray
    clusters: tuple[str, ...]
    runs: tuple[Runs, ...]

    @property
    def own(self) -> Runs:
        """The target trained on claims about itself."""
        return self.runs[0]

    @property
    def rivals(self) -> tuple[Runs, ...]:
        """Everybody who has to be beaten: models trained on the same, observers, and floors."""
        return tuple(one for one in self.runs if one.kind in ("cross", "observer", "floor"))

    def area(self, runs: Runs) -> Contrast:
        """Mean area of a predictor; the target's invalid answers count against it, and a rival's for it."""
        scores = runs.scores(self.truth, against=runs.kind in ("self", "base"))
        return mean_area(self.truth, scores, self.clusters, trained=runs.trained)

    def named(self, name: str) -> Runs | None:
        """A trained predictor by its name."""
        return next((one for one in self.runs if one.name == name and one.trained), None)


def panel_of(table: pd.DataFrame, about: str, *, own: bool = True) -> Panel:
    """Read predictions of claims about one target.

    Args:
        table: One row for each claim and run of a predictor, with the columns :data:`COLUMNS`; ``seed`` is missing
            where nothing was trained, ``probability`` where no valid answer was given.
        about: The target.
        own: Whether the target's own training must be among them.

    Raises:
        AnalysisError: If columns or predictions are missing, given twice or out of range, a claim has two labels or
            clusters, all claims have one label, or the target's own training is not there.
    """
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise AnalysisError(f"The predictions have no column {', '.join(missing)}.", f"Give {', '.join(COLUMNS)}.")
    facts = table.groupby("claim")[["label", "cluster"]].nunique(dropna=False)
    if (facts > 1).any(axis=None):
        odd = str(facts[(facts > 1).any(axis=1)].index[0])
        raise AnalysisError(f"The claim {odd} has several labels or clusters.", "Give each claim one.")
    claims = table.drop_duplicates("claim").sort_values("claim")
    names = tuple(str(one) for one in claims["claim"])
    truth = claims["label"].to_numpy(dtype=np.float64)
    if len(set(truth.tolist())) < 2:
        raise AnalysisError(
            f"All {len(names)} claims about {about} have one label, so nothing can be told apart.", "Give both kinds."
        )
    runs = [
        _runs(str(model), str(kind), part, names) for (kind, model), part in table.groupby(["kind", "model"], sort=True)
    ]
    order = {"self": 0, "cross": 1, "base": 2, "observer": 3, "floor": 4}
    runs.sort(key=lambda one: (order[one.kind], one.name))
    selves = [one for one in runs if one.kind == "self"]
    if len(selves) != (1 if own else len(selves)):
        raise AnalysisError(
            f"{len(selves)} predictors are said to be {about} trained on itself.", "Give one, with all its seeds."
        )
    return Panel(about, names, truth, tuple(str(one) for one in claims["cluster"]), tuple(runs))


def _runs(name: str, kind: str, part: pd.DataFrame, claims: tuple[str, ...]) -> Runs:
    if kind not in ("self", "cross", "base", "observer", "floor"):
        raise AnalysisError(f"{name} is of an unknown kind {kind!r}.", "Use self, cross, base, observer or floor.")
    seeds = part["seed"].fillna(-1).astype(int)
    if part.assign(seed=seeds).duplicated(["claim", "seed"]).any():
        raise AnalysisError(f"{name} predicts a claim twice with one seed.", "Give each prediction once.")
    values = part["probability"].astype(float)
    if ((values < 0.0) | (values > 1.0)).any():
        raise AnalysisError(f"{name} has a probability outside 0 to 1.", "Give probabilities.")
    used = tuple(sorted(set(seeds.tolist())))
    if kind not in TRAINED and len(used) > 1:
        raise AnalysisError(f"{name} was not trained and has {len(used)} seeds.", "Leave its seed empty.")
    found: list[NDArray[np.float64]] = []
    for seed in used:
        one = part[seeds == seed].set_index("claim")
        if set(map(str, one.index)) != set(claims):
            raise AnalysisError(
                f"{name} predicts {len(one)} of {len(claims)} claims with seed {seed}.",
                "Give a row for every claim; a claim without a valid answer has no probability.",
            )
        found.append(one.reindex(list(claims))[["probability", "coverage"]].to_numpy(dtype=np.float64).T)
    stacked = np.stack(found)
    return Runs(name, kind, used, stacked[:, 0], np.nan_to_num(stacked[:, 1]))  # type: ignore[arg-type]
