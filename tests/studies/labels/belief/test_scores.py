"""Dominance is the share of states that hold an entity, and clusters of it keep their names whatever the seed."""

import numpy as np
import pandas as pd
import pytest

from firsthand.errors import LabelsError
from firsthand.studies.labels.belief.scores import Clusters, dominance, fit_clusters, points_of


def read(item: int, holds: dict[tuple[int, int], tuple[float, float]]) -> pd.DataFrame:
    about = {"item": item, "record": item, "kind": "k", "subject": f"s{item}", "text": "t", "said": "a"}
    return pd.DataFrame(
        [
            {**about, "base": "b", "counter": "c", "token": t, "layer": layer, "holds_base": b, "holds_counter": c}
            for (t, layer), (b, c) in holds.items()
        ]
    )


def test_dominance_is_the_mean_over_tokens_and_layers_of_one_answer() -> None:
    one = read(0, {(0, 2): (1, 0), (0, 5): (0, 1), (1, 2): (0, 1), (1, 5): (0, 1)})
    silent = read(1, {(-1, -1): (0, 0)})
    table = dominance(pd.concat([one, silent]))
    assert table[["bd_base", "bd_counter", "states"]].iloc[0].tolist() == [0.25, 0.75, 4]
    assert points_of(table)[0].tolist() == [0.5, 0.5]  # (0, 2) and (1, 5)
    assert points_of(table, "wire")[0].tolist() == [0.0, 1.0]
    assert table["states"].iloc[1] == 0
    assert points_of(table)[1].tolist() == [0.0, 0.0]
    assert np.isnan(points_of(table, "wire")[1]).all()


def test_an_answer_of_one_token_has_both_halves_and_of_one_state_only_that_of_the_label() -> None:
    one = read(0, {(0, 2): (1, 0), (0, 5): (0, 1), (0, 9): (1, 0)})
    table = dominance(pd.concat([one, read(1, {(0, 2): (1, 0)})]))
    assert points_of(table).tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert points_of(table, "wire")[0].tolist() == [0.0, 1.0]
    assert np.isnan(points_of(table, "wire")[1]).all()


def test_a_wire_through_readings_that_are_noise_agrees_with_the_labels_no_more_than_by_lot() -> None:
    rng = np.random.default_rng(0)
    places = [(token, layer) for token in range(3) for layer in (0, 2, 4, 6)]
    frames = [read(i, {place: tuple(rng.integers(0, 2, 2).tolist()) for place in places}) for i in range(300)]
    table = dominance(pd.concat(frames))
    made = fit_clusters(points_of(table), 0)
    truth, wire = made.of(points_of(table)), made.of(points_of(table, "wire"))
    assert np.mean([(wire[truth == one] == one).mean() for one in range(3)]) == pytest.approx(1 / 3, abs=0.08)


def spread(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = np.array([[0.8, 0.1], [0.1, 0.1], [0.1, 0.8]])
    return np.vstack([centre + rng.normal(0, 0.03, (12, 2)) for centre in centres])


def test_clusters_are_numbered_by_how_far_the_counter_entity_dominates_whatever_the_seed() -> None:
    points = spread()
    for seed in range(6):
        made = fit_clusters(points, seed)
        assert made.of(points).tolist() == [0] * 12 + [1] * 12 + [2] * 12
        shuffled = np.random.default_rng(seed).permutation(len(points))
        np.testing.assert_allclose(fit_clusters(points[shuffled], seed).centres_K2, made.centres_K2)


def test_a_point_between_two_centres_belongs_to_the_first() -> None:
    assert Clusters(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])).of(np.array([[0.0, 0.5]])).tolist() == [0]


@pytest.mark.parametrize("points", [np.zeros((20, 2)), np.repeat([[0.0, 0.0], [0.0, 1.0]], 9, axis=0)])
def test_fewer_than_three_different_values_make_no_clusters(points: np.ndarray) -> None:
    with pytest.raises(LabelsError, match=r"only [12] different values"):
        fit_clusters(points, 0)


def test_three_different_values_are_three_clusters() -> None:
    points = np.repeat([[0.0, 0.0], [0.0, 1 / 3], [0.0, 1.0]], [9, 1, 2], axis=0)
    assert np.bincount(fit_clusters(points, 0).of(points)).tolist() == [9, 1, 2]
