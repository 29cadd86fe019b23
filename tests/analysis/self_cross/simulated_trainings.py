"""Predictions that could have come out of trainings, with a known truth behind them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from firsthand.analysis.inference import Measured
from firsthand.analysis.self_cross import Elsewhere, Panel, SelfCrossSpec, Support, controls
from firsthand.analysis.self_cross.table import Runs

Score = Callable[[np.random.Generator, np.ndarray], np.ndarray]
"""Log-odds of one training, from its own draws and what all see of the claims."""


@dataclass(frozen=True)
class Models:
    """Signal strengths of the trained models, on claims about the target and on claims about another.

    Attributes:
        own: Strength of the target's own training, of which nobody else has anything.
        public: Strength of what everybody can read.
        shared: Noise of the claims that all share.
        alone: Noise of every training on every claim.
        luck: Spread over seeds of how strong a training comes out.
        learner: By how much the target is the better learner, everywhere.
        coverage: Probability mass on the two answers.
        blockwise: Noise of every training on whole clusters.
    """

    own: float = 0.0
    public: float = 0.0
    shared: float = 1.0
    alone: float = 0.5
    luck: float = 0.0
    learner: float = 0.0
    coverage: float = 0.9
    blockwise: float = 0.0


@dataclass(frozen=True)
class Claims:
    """Which claims there are: labels and clusters."""

    truth: np.ndarray
    clusters: np.ndarray


def claims(clusters: int, of_each: int, alike: bool = False) -> Claims:
    """Claims, half of them true; within a cluster both kinds, or one only."""
    cluster, number = np.divmod(np.arange(clusters * of_each), of_each)
    return Claims(((cluster if alike else number) % 2).astype(float), cluster)


def predictions(
    rng: np.random.Generator,
    base: Claims,
    models: Models,
    seeds: int = 3,
    *,
    own: bool = True,
    about: str = "another",
    change: Mapping[str, Callable[[np.ndarray], np.ndarray]] | None = None,
) -> Panel:
    """What the target, its sibling, a stranger, the base, an observer and a floor say of the claims."""
    sign, count = 2.0 * base.truth - 1.0, len(base.truth)
    common = models.shared * rng.standard_normal(count)
    runs = []
    for name, kind in (
        ("target", "self" if own else "cross"),
        ("sibling", "cross"),
        ("stranger", "cross"),
        ("base", "base"),
        ("words", "observer"),
        ("constant", "floor"),
    ):
        trained = kind in ("self", "cross")
        rows = []
        for _ in range(seeds if trained else 1):
            strength = models.public * (1.0 if trained or kind == "observer" else 0.0)
            if name == "target":
                strength += models.learner + (models.own if own else 0.0)
            if trained:
                strength += models.luck * rng.standard_normal()
            block = models.blockwise * rng.standard_normal(base.clusters.max() + 1)[base.clusters]
            log_odds = strength * sign + common + block + models.alone * rng.standard_normal(count)
            if name == "constant":
                log_odds = np.full(count, 2.0)
            if change and name in change:
                log_odds = change[name](log_odds)
            rows.append(1 / (1 + np.exp(-log_odds)))
        probability = np.array(rows)
        coverage = np.full_like(probability, models.coverage if trained else 1.0)
        numbers = tuple(range(seeds)) if trained else (-1,)
        runs.append(Runs(name, kind, numbers, probability, coverage))  # type: ignore[arg-type]
    names = tuple(f"c{n}" for n in range(count))
    return Panel("target" if own else about, names, base.truth, tuple(f"{own} {n}" for n in base.clusters), tuple(runs))


def supported(about_another: Panel | None = None, **changes: object) -> Support:
    """Everything that a verdict wants besides the predictions."""
    others = [] if about_another is None else [Elsewhere(about_another)]
    known = controls(others, "target", ("sibling", "stranger"), SelfCrossSpec())
    given: dict[str, object] = {
        "siblings": frozenset({"sibling"}),
        "ability": known,
        "drift": (Measured.approximate(0.01, 0.002, 30, (0.0, 100.0)),),
    }
    return Support(**{**given, **changes})  # type: ignore[arg-type]


def both(
    rng: np.random.Generator, models: Models, clusters: int = 40, seeds: int = 3, of_each: int = 2
) -> tuple[Panel, Support]:
    """Claims about the target, and support from claims about another that the same models were trained on."""
    base = claims(clusters, of_each)
    there = predictions(rng, base, readable(models), seeds, own=False)
    return predictions(rng, base, models, seeds), supported(there)


def readable(models: Models) -> Models:
    """The same models, on claims of which everybody can read something."""
    noise = float(np.hypot(models.shared, models.alone))
    return replace(models, public=max(models.public, 0.7 * noise))
