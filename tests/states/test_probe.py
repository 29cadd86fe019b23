"""The probe reads what is there on blocks that it never saw, and nothing else."""

import numpy as np
import pytest
from numpy.typing import NDArray

from firsthand.errors import AnalysisError
from firsthand.states.probe import cross_fitted_reading
from firsthand.states.register import unit_direction
from firsthand.trials.randomness import stream

BLOCKS, EACH, HIDDEN = 24, 10, 96
GROUPS = [f"c{block:04d}" for block in range(BLOCKS) for _ in range(EACH)]


def residuals(name: str, offset: float = 0.0) -> NDArray[np.float32]:
    """Gaussian residuals of very unequal scales, with an offset of its own for each block."""
    rng = stream("residuals", name)
    noise = rng.standard_normal((BLOCKS * EACH, HIDDEN)) * np.geomspace(0.01, 100.0, HIDDEN)
    return (noise + offset * np.repeat(rng.standard_normal((BLOCKS, HIDDEN)), EACH, axis=0)).astype(np.float32)


def labels(name: str, ones: int = EACH // 2) -> NDArray[np.int64]:
    rng = stream("labels", name)
    block = [1] * ones + [0] * (EACH - ones)
    return np.concatenate([rng.permutation(block) for _ in range(BLOCKS)]).astype(np.int64)


def planted(truth: NDArray[np.int64], name: str) -> NDArray[np.float32]:
    """The label along one direction of the dimensions of small scale, in the shadow of the large ones."""
    scales = np.where(np.arange(HIDDEN) < 32, np.geomspace(0.01, 100.0, HIDDEN), 0.0)
    shift = np.outer(2.0 * truth - 1.0, 6.0 * unit_direction(HIDDEN, "planted") * scales)
    return (residuals(name) + shift).astype(np.float32)


def balanced(values: NDArray[np.float64], truth: NDArray[np.int64]) -> float:
    said = values > 0
    return float((said[truth == 1].mean() + (~said[truth == 0]).mean()) / 2)


@pytest.mark.parametrize("ones", [5, 2])
def test_a_planted_direction_is_read_on_held_out_blocks(ones: int) -> None:
    """Also where one class in five is the truth, as with detection."""
    truth = labels("planted", ones)
    assert balanced(cross_fitted_reading(planted(truth, "a"), truth, GROUPS), truth) > 0.9


@pytest.mark.parametrize("ones", [5, 2])
def test_random_residuals_are_at_chance(ones: int) -> None:
    found = []
    for seed in range(3):
        truth = labels(f"random {seed}", ones)
        found.append(balanced(cross_fitted_reading(residuals(f"r{seed}"), truth, GROUPS), truth))
    assert abs(np.mean(found) - 0.5) < 4 * np.sqrt(0.25 / (3 * 2 * ones * BLOCKS))


def test_a_label_that_holds_within_blocks_only_is_not_read() -> None:
    """Every block writes its label along a direction of its own: perfect for whoever has seen the block."""
    truth = labels("within")
    own = np.repeat(stream("own").standard_normal((BLOCKS, HIDDEN)), EACH, axis=0)
    residual = (residuals("within") * 0.01 + own * (2.0 * truth - 1.0)[:, None]).astype(np.float32)
    seen = (residual * own).sum(axis=1)
    assert balanced(seen, truth) == 1.0
    assert abs(balanced(cross_fitted_reading(residual, truth, GROUPS), truth) - 0.5) < 4 * np.sqrt(0.25 / len(truth))


def test_what_a_block_is_like_is_not_mistaken_for_its_label() -> None:
    """Labels that are constant within blocks, residuals that name the block: nothing to carry over to another one."""
    truth = np.repeat(stream("constant").permutation([0, 1] * (BLOCKS // 2)), EACH)
    found = balanced(cross_fitted_reading(residuals("blocks", offset=1e3), truth, GROUPS), truth)
    assert abs(found - 0.5) < 4 * np.sqrt(0.25 / BLOCKS)


def test_the_truth_of_a_block_does_not_move_its_own_reading() -> None:
    truth = labels("own")
    before = cross_fitted_reading(planted(truth, "own"), truth, GROUPS, folds=BLOCKS)
    other = truth.copy()
    other[:EACH] = 1 - other[:EACH]
    after = cross_fitted_reading(planted(truth, "own"), other, GROUPS, folds=BLOCKS)
    assert np.array_equal(after[:EACH], before[:EACH])
    assert not np.array_equal(after[EACH:], before[EACH:])


def test_three_blocks_are_the_least() -> None:
    truth, groups = labels("few"), GROUPS
    values = cross_fitted_reading(planted(truth, "few")[:30], truth[:30], groups[:30])
    assert np.isfinite(values).all()
    for blocks in (1, 2):
        with pytest.raises(AnalysisError, match="at least three blocks"):
            cross_fitted_reading(planted(truth, "few")[: 10 * blocks], truth[: 10 * blocks], groups[: 10 * blocks])


def test_a_fold_whose_past_holds_one_class_is_not_read() -> None:
    truth = np.zeros(30, dtype=np.int64)
    truth[:5] = 1
    values = cross_fitted_reading(residuals("one")[:30], truth, GROUPS[:30])
    assert np.isnan(values[:10]).all()
    assert np.isfinite(values[10:]).all()


def test_a_past_too_small_to_tune_on_is_still_fitted() -> None:
    """Three blocks of one class each: no inner split has both."""
    truth = np.repeat([0, 1, 1], EACH)
    values = cross_fitted_reading(residuals("small")[:30], truth, GROUPS[:30])
    assert np.isnan(values[:10]).all()
    assert np.isfinite(values[10:]).all()
