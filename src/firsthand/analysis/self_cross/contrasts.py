"""Areas under ROC curves, and differences of them, over two kinds of chance: which claims, and which seed.

Claims come in clusters, and every predictor answers the same ones; a trained model is one of many that other seeds
would have given. The variance of a mean over seeds of an area has a part for each. Adding both counts what claims and
seeds have in common twice and so is too wide rather than too narrow (Owen 2007, "The pigeonhole bootstrap", section 3).
With few seeds their part is uncertain: Student's t, with degrees of freedom by Welch and Satterthwaite.

Three looks are taken, and the most cautious counts: at clusters alone (the bootstrap), at seeds alone, and at both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from firsthand.analysis.auroc import area
from firsthand.analysis.bootstrap import Clusters, ClusterSums
from firsthand.analysis.inference import FloatArray, Inference, Measured

DRAWS = 4000
SEED = 0
CLUSTER = "cluster"
SEEDS = "seed"
TOGETHER = "combined clusters and seeds"


@dataclass(frozen=True)
class SeedPart:
    """What the choice of seeds adds to the variance of a mean.

    Attributes:
        variance: Variance of the mean; NaN where there is one seed only, so that it is not known.
        degrees: Degrees of freedom that it is estimated with.
    """

    variance: float
    degrees: int


@dataclass(frozen=True, eq=False)
class Contrast:
    """A sum of areas with signs, over the same claims or over different ones.

    Attributes:
        value: The number.
        influence: First-order effect of each cluster's weight, by its name; sums to 0.
        seeds: One part for each trained model in it. A model that was not trained has none.
        trials: Claims that it rests on.
        span: Smallest and largest value that it can take.
    """

    value: float
    influence: Mapping[str, float]
    seeds: tuple[SeedPart, ...]
    trials: int
    span: tuple[float, float]

    def __neg__(self) -> "Contrast":
        """The same with its sign changed."""
        low, high = self.span
        turned = {name: -value for name, value in self.influence.items()}
        return Contrast(-self.value, turned, self.seeds, self.trials, (-high, -low))

    def __sub__(self, other: "Contrast") -> "Contrast":
        """The difference; clusters of the same name are the same, and trained models are others."""
        return self + (-other)

    def __add__(self, other: "Contrast") -> "Contrast":
        """The sum; clusters of the same name are the same, and trained models are others."""
        names = [*self.influence, *(name for name in other.influence if name not in self.influence)]
        both = {name: self.influence.get(name, 0.0) + other.influence.get(name, 0.0) for name in names}
        span = (self.span[0] + other.span[0], self.span[1] + other.span[1])
        same = set(self.influence) == set(other.influence)
        trials = max(self.trials, other.trials) if same else self.trials + other.trials
        return Contrast(self.value + other.value, both, (*self.seeds, *other.seeds), trials, span)

    def measured(self) -> Measured:
        """The number with its uncertainty; unknown where a trained model has one seed only."""
        values = np.array(list(self.influence.values()))
        units = len(values)
        if units < 2 or not np.isfinite(self.value):
            return Measured((Inference(CLUSTER, units, float("nan"), float("nan"), self.span),), self.trials)
        sums = ClusterSums(
            {"influence": values}, Clusters({CLUSTER: np.arange(units, dtype=np.int64)}, DRAWS, SEED)
        ).measure(lambda totals: self.value + totals["influence"], span=self.span, n_trials=self.trials)
        return Measured((*sums.parts, *self._with_seeds(sums.parts[0])), self.trials)

    def _with_seeds(self, clusters: Inference) -> list[Inference]:
        if not self.seeds:
            return []
        variance = sum(part.variance for part in self.seeds)
        if not np.isfinite(variance):
            return [Inference(SEEDS, 1, self.value, float("nan"), self.span)]
        if variance <= 0.0:  # nothing is known of seeds beyond that they agree; the clusters speak
            return []
        alone = _units([(part.variance, part.degrees) for part in self.seeds])
        found = [Inference(SEEDS, alone, self.value, float(np.sqrt(variance)), self.span)]
        if clusters.se > 0.0:
            pairs = [(clusters.se**2, clusters.units - 1), *((part.variance, part.degrees) for part in self.seeds)]
            both = float(np.sqrt(variance + clusters.se**2))
            found.append(Inference(TOGETHER, _units(pairs), self.value, both, self.span))
        return found


def _units(parts: Sequence[tuple[float, int]]) -> int:
    """One more than the degrees of freedom of a sum of variances, by Welch and Satterthwaite, rounded down."""
    total = sum(variance for variance, _ in parts)
    below = sum(variance**2 / degrees for variance, degrees in parts if variance > 0.0)
    return 1 + max(1, int(total**2 / below + 1e-9))


def mean_area(truth: FloatArray, scores: FloatArray, clusters: Sequence[str], *, trained: bool) -> Contrast:
    """Mean over seeds of the area under the ROC curve.

    Args:
        truth: 1.0 or 0.0 ``[claims]``.
        scores: Any ordering of the claims, one row a seed ``[seeds, claims]``.
        clusters: Cluster of every claim ``[claims]``.
        trained: Whether the rows are seeds of a training; else there is one row, and no chance in it.
    """
    areas = [area(truth, row) for row in scores]
    values = np.array([one.value for one in areas])
    mean = np.mean([one.influence for one in areas], axis=0)
    summed: dict[str, float] = {}
    for name, value in zip(clusters, mean, strict=True):
        summed[name] = summed.get(name, 0.0) + float(value)
    seeds: tuple[SeedPart, ...] = ()
    if trained:
        spread = float(values.var(ddof=1)) / len(values) if len(values) > 1 else float("nan")
        seeds = (SeedPart(spread, max(1, len(values) - 1)),)
    return Contrast(float(values.mean()), summed, seeds, len(truth), (0.0, 1.0))
