"""Where nothing is true, a test may say otherwise in alpha of the cases and no more."""

import numpy as np
import pytest
from analysis_simulation import World, judged, public_observers, rules, table, wire, world

from firsthand.analysis.auroc import area
from firsthand.analysis.bootstrap import Clusters, ClusterSums
from firsthand.analysis.equivalence import tost
from firsthand.analysis.inference import Measured
from firsthand.vocabulary import Capability, Verdict

ALPHA, NULLS, SIMULATIONS = 0.05, 200, 600


def at_most(simulations: int) -> float:
    """Alpha and three standard errors of a rate over so many simulations."""
    return float(ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / simulations))


def permuted(values: np.ndarray, w: World) -> np.ndarray:
    """The values in a random order within each block."""
    order = np.lexsort((w.rng.random(len(w)), w.block))
    return values[order]


REPORTERS = {
    "mimic": lambda w: w.cue,
    "coin": lambda w: w.noisy(w.cue, 0.5),
    "smoke alarm": lambda w: w.disturbed,
    "former wire": lambda w: w.post,
}


@pytest.mark.parametrize("reporter", REPORTERS)
def test_permuted_states_are_called_privileged_at_most_as_often_as_alpha(reporter: str) -> None:
    false = 0
    for seed in range(NULLS):
        w = world(24, seed=seed)
        answer, truth = REPORTERS[reporter](w), permuted(w.post, w)
        capability = Capability.IDENTIFICATION
        frame, observers = table(w, truth, answer), public_observers(w, capability)
        result = judged(capability, frame, observers, wire(truth), spec=rules(bootstrap_draws=200))
        false += result.verdict is Verdict.PRIVILEGED
    assert false / NULLS <= at_most(NULLS)


def test_a_detector_of_nothing_is_called_privileged_at_most_as_often_as_alpha() -> None:
    false = 0
    for seed in range(NULLS):
        w = world(24, seed=seed)
        tendency = w.rng.beta(1, 3, 24)[w.block]
        answer = (w.rng.random(len(w)) < tendency).astype(float)
        frame, observers = table(w, w.changed, answer), public_observers(w, Capability.DETECTION)
        result = judged(Capability.DETECTION, frame, observers, spec=rules(bootstrap_draws=200))
        false += result.verdict is Verdict.PRIVILEGED
    assert false / NULLS <= at_most(NULLS)


def mean_of(values: np.ndarray, codes: np.ndarray, seed: int, span: tuple[float, float]) -> Measured:
    sums = ClusterSums({"x": values, "n": np.ones(len(values))}, Clusters({"block": codes}, 300, seed))
    return sums.measure(lambda t: t["x"] / t["n"], span=span, n_trials=len(values))


def accuracy(rng: np.random.Generator, codes: np.ndarray, seed: int) -> float:
    right = rng.random(len(codes)) < rng.beta(2, 2, codes.max() + 1)[codes]
    return mean_of(right.astype(float), codes, seed, (0.0, 1.0)).p_above(0.5)


def gap(rng: np.random.Generator, codes: np.ndarray, seed: int) -> float:
    first, second = (rng.random(len(codes)) < rng.beta(3, 2, codes.max() + 1)[codes] for _ in range(2))
    return mean_of(first.astype(float) - second, codes, seed, (-1.0, 1.0)).p_above(0.0)


def sparse_margin(rng: np.random.Generator, codes: np.ndarray, seed: int) -> float:
    yes = (rng.random(len(codes)) < 0.02).astype(float)
    target = np.arange(len(codes)) % 2 == 0
    return mean_of(np.where(target, yes, -yes), codes, seed, (-1.0, 1.0)).p_above(0.0)


def area_gap(rng: np.random.Generator, codes: np.ndarray, seed: int) -> float:
    truth = (rng.random(len(codes)) < rng.beta(2, 2, codes.max() + 1)[codes]).astype(float)
    kinds = np.arange(len(codes)) % 5
    one, two = (area(truth, truth + rng.normal(0, 1, len(codes)), kinds) for _ in range(2))
    sums = ClusterSums({"i": one.influence - two.influence}, Clusters({"block": codes}, 300, seed))
    value = one.value - two.value
    return sums.measure(lambda t: value + t["i"], span=(-1.0, 1.0), n_trials=len(codes)).p_above(0.0)


def equivalence_at_the_margin(rng: np.random.Generator, codes: np.ndarray, seed: int) -> float:
    right = rng.random(len(codes)) < rng.beta(2.6, 1.4, codes.max() + 1)[codes]
    return tost(mean_of(right.astype(float), codes, seed, (0.0, 1.0)), 0.5, 0.15)


@pytest.mark.parametrize("blocks", [12, 24])
@pytest.mark.parametrize("test", [accuracy, gap, sparse_margin, area_gap, equivalence_at_the_margin])
def test_each_test_keeps_its_level_with_clustered_trials(test, blocks: int) -> None:
    rng = np.random.default_rng(5)
    codes = np.repeat(np.arange(blocks), 10)
    false = sum(test(rng, codes, seed) <= ALPHA for seed in range(SIMULATIONS))
    assert false / SIMULATIONS <= at_most(SIMULATIONS)
