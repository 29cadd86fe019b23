"""What is added to an answer and to a question is the counter entity's vector, or one of its length beside it."""

import numpy as np
import pandas as pd
import pytest

from firsthand.claims.labels.belief import SteeringSpec
from firsthand.studies.labels.belief.bench import Bench
from firsthand.studies.labels.belief.reporting import ask, conversation_of, experiment_of, queries_of
from firsthand.studies.labels.belief.steering import (
    ARMS,
    CLEAN,
    CONTENT_FREE,
    COUNTER,
    OTHER,
    expected,
    steered,
    steered_rows,
)

SPEC = SteeringSpec(records=3, layers=(1,), doses=(0.5, 2.0))


def test_the_vectors_beside_it_have_its_length_and_another_direction(bench: Bench, dominances: pd.DataFrame) -> None:
    table = dominances
    what = steered(bench, table, experiment_of(bench, table, 0), SPEC)
    assert what is not None
    assert len(what.chosen) == 3
    for own_H, other_H, free_H in zip(*(what.vectors[1][arm] for arm in (COUNTER, OTHER, CONTENT_FREE)), strict=True):
        assert float(other_H.norm()) == pytest.approx(float(own_H.norm()), rel=1e-4)
        assert float(free_H.norm()) == pytest.approx(float(own_H.norm()), rel=1e-4)
        assert abs(float(own_H @ free_H) / float(own_H.norm() ** 2)) < 0.7
        assert float((own_H - other_H).norm()) > 0.1 * float(own_H.norm())


def test_rows_hold_a_clean_run_and_every_arm_layer_and_dose(bench: Bench, dominances: pd.DataFrame) -> None:
    table = dominances
    made = experiment_of(bench, table, 0)
    what = steered(bench, table, made, SPEC)
    assert what is not None
    _, rows = steered_rows(bench, table, what, [0, 1])
    cells = list(zip(rows["arm"], rows["dose"], strict=True))
    assert cells == [(CLEAN, 0.0), *((arm, dose) for dose in (0.5, 2.0) for arm in ARMS)]
    talk = conversation_of(bench, table, made, bench.label_names)
    plain = ask(bench.loaded, bench.anatomy, talk, [queries_of(bench, table, made)[what.chosen[1]]])
    np.testing.assert_allclose(rows["logprobs"].iloc[0], plain.logprobs_NC[0], atol=1e-4)
    moved = [np.abs(np.subtract(rows["logprobs"].iloc[0], values)).max() for values in rows["logprobs"].iloc[1:]]
    assert min(moved) > 1e-3


def test_what_a_report_tells_is_the_centres_weighted_by_the_probabilities_of_their_labels() -> None:
    centres = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    told = expected(np.log([[0.2, 0.0001, 0.0001], [0.05, 0.05, 0.1]]), centres)
    np.testing.assert_allclose(told, [[0.99925, 0.00075], [0.375, 0.625]], atol=1e-4)


def test_without_a_second_counter_entity_nothing_is_added(bench: Bench, dominances: pd.DataFrame) -> None:
    table = dominances.assign(counter="Lima")
    assert steered(bench, table, experiment_of(bench, table, 0), SPEC) is None
