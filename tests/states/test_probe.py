"""The probe reads what is there on blocks that it never saw, and nothing else."""

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from firsthand.engine import resid_post
from firsthand.errors import AnalysisError
from firsthand.states.probe import STRENGTHS, cross_fitted_reading, fit_probe
from firsthand.states.register import unit_direction
from firsthand.states.vectors import Vectors
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


def test_a_probe_folded_into_raw_units_scores_as_the_standardised_one_does() -> None:
    """Against a pipeline of scikit-learn's own with the strength that was chosen."""
    truth = labels("fold", 3)
    states = planted(truth, "fold") + np.float32(50.0)
    probe = fit_probe(states, truth, GROUPS)
    plain = make_pipeline(
        StandardScaler(), LogisticRegression(C=probe.inverse_ridge, max_iter=2000, class_weight="balanced")
    ).fit(states, truth)
    wanted = plain.decision_function(states)
    np.testing.assert_allclose(probe.scores(states), wanted, atol=2e-3 * np.abs(wanted).max())
    assert np.array_equal(probe.scores(states) > 0, wanted > 0)
    assert probe.inverse_ridge in STRENGTHS
    assert (probe.n_states, probe.n_groups, probe.direction_H.shape) == (BLOCKS * EACH, BLOCKS, (HIDDEN,))


def test_an_edit_along_the_probes_direction_moves_its_score_by_the_squared_length() -> None:
    truth = labels("edit")
    states = planted(truth, "edit")
    probe = fit_probe(states, truth, GROUPS)
    direction = probe.direction_H.astype(np.float64)
    moved = probe.scores(states.astype(np.float64) + 2.0 * direction) - probe.scores(states.astype(np.float64))
    np.testing.assert_allclose(moved, 2.0 * direction @ direction, rtol=1e-6)


def test_a_probe_says_how_well_it_does_on_blocks_that_it_has_not_seen() -> None:
    """Own directions of blocks are read perfectly by whoever has seen the block, and not at all by others."""
    truth = labels("within")
    own = np.repeat(stream("own").standard_normal((BLOCKS, HIDDEN)), EACH, axis=0)
    residual = (residuals("within") * 0.01 + own * (2.0 * truth - 1.0)[:, None]).astype(np.float32)
    probe = fit_probe(residual, truth, GROUPS)
    seen = balanced(probe.scores(residual), truth)
    assert abs(probe.balanced_accuracy - 0.5) < 4 * np.sqrt(0.25 / len(truth)) < seen
    truth = labels("planted")
    assert fit_probe(planted(truth, "a"), truth, GROUPS).balanced_accuracy == balanced(
        cross_fitted_reading(planted(truth, "a"), truth, GROUPS), truth
    )


def test_a_probe_survives_a_file_with_its_scores(tmp_path: Path) -> None:
    truth = labels("file")
    states = planted(truth, "file")
    probe = fit_probe(states, truth, GROUPS)
    probe.as_vectors("label", resid_post(3), None, "planted states", {"note": 1}).save(tmp_path / "probe.safetensors")
    read = Vectors.load(tmp_path / "probe.safetensors")
    np.testing.assert_allclose(read.scores(torch.from_numpy(states))[:, 0].numpy(), probe.scores(states), rtol=1e-12)
    assert (read.names, read.sites, read.origin.kind) == (("label",), (resid_post(3),), "probe")
    assert read.origin.recipe == {
        "inverse_ridge": probe.inverse_ridge, "n_states": BLOCKS * EACH, "n_groups": BLOCKS, "note": 1
    }  # fmt: skip
    assert read.measures[0]["balanced_accuracy"] == probe.balanced_accuracy


def test_a_probe_of_three_blocks_of_one_class_each_has_no_accuracy_and_can_still_be_stored() -> None:
    truth = np.repeat([0, 1, 1], EACH)
    probe = fit_probe(residuals("small")[:30], truth, GROUPS[:30])
    assert np.isnan(probe.balanced_accuracy)
    assert "balanced_accuracy" not in probe.as_vectors("x", resid_post(0), None, "small").measures[0]


@pytest.mark.parametrize(
    ("states", "truth", "groups", "reason"),
    [
        (residuals("r"), labels("r")[:-1], GROUPS, "one label and one group"),
        (residuals("r"), labels("r"), GROUPS[:-1], "one label and one group"),
        (residuals("r")[0], labels("r"), GROUPS, "one label and one group"),
        (residuals("r"), np.zeros(BLOCKS * EACH, dtype=np.int64), GROUPS, "both classes"),
        (residuals("r"), 2 * labels("r"), GROUPS, "both classes"),
        (np.where(np.arange(HIDDEN) == 3, np.nan, residuals("r")), labels("r"), GROUPS, "not finite"),
        (residuals("r"), labels("r"), ["one"] * len(GROUPS), "at least three blocks"),
        (np.ones_like(residuals("r")), labels("r"), GROUPS, "do not differ"),
    ],
)
def test_a_probe_that_cannot_be_fitted_as_asked_is_refused(states, truth, groups, reason: str) -> None:
    with pytest.raises(AnalysisError, match=reason):
        fit_probe(states, truth, groups)
