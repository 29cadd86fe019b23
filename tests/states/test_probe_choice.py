"""The probe of several classes reads what is there on blocks that it never saw, and nothing else."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from firsthand.errors import AnalysisError
from firsthand.states.probe import STRENGTHS, cross_fitted_choice
from firsthand.trials.randomness import stream

CLASSES, BLOCKS, EACH, HIDDEN = 4, 18, 8, 24
ROWS = BLOCKS * EACH
GROUPS = [f"b{block:02d}" for block in range(BLOCKS) for _ in range(EACH)]


def labels(name: str) -> NDArray[np.int64]:
    """Every class equally often in each block, in a random order."""
    rng = stream("labels", name)
    return np.concatenate([rng.permutation(np.arange(EACH) % CLASSES) for _ in range(BLOCKS)]).astype(np.int64)


def noise(name: str) -> NDArray[np.float32]:
    """Gaussian states of very unequal scales."""
    rng = stream("states", name)
    return (rng.standard_normal((ROWS, HIDDEN)) * np.geomspace(0.01, 100.0, HIDDEN)).astype(np.float32)


def planted(truth: NDArray[np.int64], name: str, strength: float = 2.0) -> NDArray[np.float32]:
    """A direction of its own for every class, at the scale of each dimension."""
    directions = stream("directions", name).standard_normal((CLASSES, HIDDEN)) * np.geomspace(0.01, 100.0, HIDDEN)
    return (noise(name) + strength * directions[truth]).astype(np.float32)


def right(read: NDArray[np.float64], truth: NDArray[np.int64]) -> float:
    return float(np.mean(read == truth))


def test_planted_classes_are_read_on_held_out_blocks() -> None:
    truth = labels("planted")
    read = cross_fitted_choice(planted(truth, "planted"), truth, GROUPS)
    assert (read.shape, read.dtype) == ((ROWS,), np.float64)
    assert set(read.tolist()) == set(range(CLASSES))
    assert right(read, truth) > 0.95


def test_states_without_classes_are_read_at_chance() -> None:
    found = [right(cross_fitted_choice(noise(f"n{i}"), labels(f"n{i}"), GROUPS), labels(f"n{i}")) for i in range(3)]
    assert abs(np.mean(found) - 1 / CLASSES) < 4 * np.sqrt(3 / 16 / (3 * ROWS))


def test_classes_that_hold_within_blocks_only_are_not_read() -> None:
    """Every block writes its classes along directions of its own: perfect for whoever has seen the block."""
    truth = labels("within")
    own = stream("own").standard_normal((BLOCKS, CLASSES, HIDDEN))
    states = 0.01 * stream("noise").standard_normal((ROWS, HIDDEN)) + own[np.repeat(np.arange(BLOCKS), EACH), truth]
    seen = LogisticRegression(max_iter=2000).fit(states[:EACH], truth[:EACH])
    assert seen.score(states[:EACH], truth[:EACH]) == 1.0
    assert right(cross_fitted_choice(states, truth, GROUPS), truth) < 1 / CLASSES + 4 * np.sqrt(3 / 16 / ROWS)


def test_the_labels_of_a_block_do_not_move_its_own_reading() -> None:
    truth = labels("own")
    states = planted(truth, "own", strength=0.5)
    before = cross_fitted_choice(states, truth, GROUPS, folds=BLOCKS)
    other = truth.copy()
    other[:EACH] = (truth[:EACH] + 1) % CLASSES
    after = cross_fitted_choice(states, other, GROUPS, folds=BLOCKS)
    assert np.array_equal(after[:EACH], before[:EACH])
    assert not np.array_equal(after, before)


def test_neither_units_nor_names_of_groups_move_a_reading_and_other_numbers_of_classes_only_rename_it() -> None:
    truth = labels("moved")
    states = planted(truth, "moved")
    read = cross_fitted_choice(states, truth, GROUPS)
    assert np.array_equal(cross_fitted_choice(states, truth, GROUPS), read)
    assert np.array_equal(cross_fitted_choice(states, truth, [f"other {group}" for group in GROUPS]), read)
    scaled = states * np.geomspace(1e-3, 1e3, HIDDEN) + 5.0
    assert np.mean(cross_fitted_choice(scaled, truth, GROUPS) == read) > 0.99
    turned = (CLASSES - 1) - truth
    assert np.mean(cross_fitted_choice(states, turned, GROUPS) == (CLASSES - 1) - read) > 0.99


def test_each_reading_is_that_of_scikit_learn_at_one_of_the_strengths() -> None:
    truth, names = labels("plain"), np.asarray(GROUPS)
    states = planted(truth, "plain", strength=0.4)
    read = cross_fitted_choice(states, truth, GROUPS, folds=3)
    for train, test in GroupKFold(3).split(states, truth, names):
        plain = [
            make_pipeline(StandardScaler(), LogisticRegression(C=c, max_iter=2000, class_weight="balanced"))
            .fit(states[train], truth[train])
            .predict(states[test])
            for c in STRENGTHS
        ]
        assert any(np.array_equal(read[test], one) for one in plain)


def test_a_class_that_no_training_block_holds_is_not_read() -> None:
    truth = np.concatenate([np.full(EACH, 3), labels("rare")[EACH:] % 3])
    read = cross_fitted_choice(planted(truth, "rare"), truth, GROUPS, folds=BLOCKS)
    assert np.isfinite(read).all()
    assert 3 not in read[:EACH]


def test_a_past_of_one_class_reads_nothing_and_one_of_a_single_block_is_fitted_untuned() -> None:
    truth = np.concatenate([np.arange(EACH) % 2, np.zeros(2 * EACH, dtype=np.int64)])
    read = cross_fitted_choice(noise("one")[: 3 * EACH], truth, GROUPS[: 3 * EACH])
    assert np.isnan(read[:EACH]).all()
    assert np.isfinite(read[EACH:]).all()
    both = labels("three")
    states = planted(both, "three")[: 3 * EACH]
    assert right(cross_fitted_choice(states, both[: 3 * EACH], GROUPS[: 3 * EACH], folds=2), both[: 3 * EACH]) > 0.5


@pytest.mark.parametrize(
    ("states", "truth", "groups", "reason"),
    [
        (noise("r"), labels("r")[:-1], GROUPS, "one label and one group"),
        (noise("r"), labels("r"), GROUPS[:-1], "one label and one group"),
        (noise("r")[0], labels("r"), GROUPS, "one label and one group"),
        (noise("r"), np.zeros(ROWS, dtype=np.int64), GROUPS, "at least two"),
        (noise("r"), labels("r") + 1, GROUPS, "classes 0, 1 and so on"),
        (noise("r"), 2 * labels("r"), GROUPS, "classes 0, 1 and so on"),
        (np.where(np.arange(HIDDEN) == 3, np.nan, noise("r")), labels("r"), GROUPS, "not finite"),
        (noise("r"), labels("r"), ["one"] * ROWS, "at least three blocks"),
        (np.ones_like(noise("r")), labels("r"), GROUPS, "do not differ"),
    ],
)
def test_a_probe_that_cannot_be_fitted_as_asked_is_refused(states, truth, groups, reason: str) -> None:
    with pytest.raises(AnalysisError, match=reason):
        cross_fitted_choice(states, truth, groups)
