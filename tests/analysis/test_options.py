"""Chance from marginals, against simulation and Cohen's kappa; copies; cells with one truth."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score

from firsthand.analysis.options import balanced_excess, chance_of, excess_over_ignoring, one_truth_cells
from firsthand.analysis.repeats import chance_of_unanimity, collapse, unanimous

LETTERS = st.sampled_from("abc")


@given(st.lists(st.tuples(LETTERS, LETTERS), min_size=4, max_size=60))
@settings(deadline=None, max_examples=50)
def test_chance_is_what_dealing_the_answers_anew_gives(pairs: list[tuple[str, str]]) -> None:
    truth, answer = [p[0] for p in pairs], [p[1] for p in pairs]
    found = chance_of(truth, answer)
    every = np.mean([[t == a for t in truth] for a in answer])
    assert found.ignoring == pytest.approx(every)
    assert found.best_constant == pytest.approx(max(truth.count(letter) for letter in "abc") / len(truth))
    table = pd.DataFrame({"truth": truth, "answer": answer, "unit": np.arange(len(truth)) % 4})
    table["correct"] = table["truth"].eq(table["answer"]).astype(float)
    excess = excess_over_ignoring(table, ["unit"]).value
    assert excess == pytest.approx(table["correct"].mean() - every)
    if len(set(truth) | set(answer)) > 1 and every < 1:
        assert excess / (1 - every) == pytest.approx(cohen_kappa_score(truth, answer))
    if set(answer) <= set(truth) and len(set(truth)) > 1:
        plain = balanced_accuracy_score(truth, answer) - 1 / len(set(truth))
        assert balanced_excess(table, ["unit"]).value == pytest.approx(plain)


def test_an_invalid_answer_earns_nothing_by_chance_either() -> None:
    found = chance_of(["a", "b", "a", "b"], ["a", None, None, "a"])
    assert found.answers == {"a": 0.5}
    assert found.ignoring == pytest.approx(0.25)
    assert chance_of(["a", "b"], None).ignoring is None


def test_a_constant_answer_is_worth_nothing_though_its_cell_is_perfect() -> None:
    table = pd.DataFrame({"cell": [0, 0, 1, 1], "truth": list("aabb"), "answer": list("aaaa"), "unit": [0, 1, 0, 1]})
    table["correct"] = table["truth"].eq(table["answer"]).astype(float)
    assert excess_over_ignoring(table, ["unit"]).value == 0.0
    assert balanced_excess(table, ["unit"]).value == 0.0
    assert one_truth_cells(table, ["cell"]) == (2, 2)


def test_copies_are_merged_and_counted_and_differing_answers_are_not() -> None:
    table = pd.DataFrame(
        {
            "input": ["x", "x", "y", "x", None, None],
            "answer": ["a", "a", "a", "b", "c", "c"],
            "repeats": [1, 1, 50, 1, 1, 2],
            "identical": [True, True, False, True, True, True],
        }
    )
    found = collapse(table, ["input", "answer"])
    assert found["repeats"].to_list() == [2, 50, 1, 3]
    assert found["identical"].to_list() == [True, False, True, True]
    assert collapse(found, ["input", "answer"]).equals(found)
    assert collapse(table.iloc[:0], ["input"]).empty


def test_unanimity() -> None:
    assert unanimous(np.array([0.0, 1.0, 0.5])).tolist() == [True, True, False]
    assert chance_of_unanimity(0.5, 2) == pytest.approx(0.5)
    assert chance_of_unanimity(1.0, 50) == 1.0
