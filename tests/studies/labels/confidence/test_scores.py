"""Rows become one answer and one confidence a question; what is invalid stays apart."""

import numpy as np
import pandas as pd
import pytest

from firsthand.studies.labels.confidence.asking import Bench
from firsthand.studies.labels.confidence.scores import answers_of, choices_of_two, report_of, states_at
from firsthand.studies.labels.confidence.texts import Frame


def replied(rows: pd.DataFrame, ask: str, first: list[float], second: list[float]) -> pd.DataFrame:
    """The rows with every reply to one report replaced: probabilities of its labels in each order."""
    logprobs = [
        list(np.log((first, second)[int(order)])) if a == ask else old
        for a, order, old in zip(rows["ask"], rows["order"], rows["logprobs"], strict=True)
    ]
    return rows.assign(logprobs=pd.Series(logprobs, index=rows.index, dtype=object), named=True)


def keys(rows: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(rows["question"]))


@pytest.mark.parametrize(("ask", "size"), [("true", 2), ("code", 2), ("percent", 5)])
def test_who_replies_the_same_whatever_is_asked_has_a_confidence_of_one_half(
    rows: pd.DataFrame, ask: str, size: int
) -> None:
    always = [0.6] + [0.3 / (size - 1)] * (size - 1)
    found = report_of(replied(rows, ask, always, always), Frame.OWN, ask, keys(rows))
    np.testing.assert_allclose(found["confidence"], 0.5, atol=1e-9)


def test_who_says_right_when_asked_for_right_and_denies_wrong_is_confident(rows: pd.DataFrame) -> None:
    sure = report_of(replied(rows, "true", [0.8, 0.1], [0.1, 0.8]), Frame.OWN, "true", keys(rows))
    np.testing.assert_allclose(sure["confidence"], 8 / 9, atol=1e-9)
    numbers = [0.0 + 1e-12, 0.0 + 1e-12, 0.0 + 1e-12, 0.5, 0.5]
    stated = report_of(replied(rows, "percent", numbers, numbers[::-1]), Frame.OWN, "percent", keys(rows))
    np.testing.assert_allclose(stated["confidence"], (0.75 + 0.95) / 2 / 2 + (0.85 + 0.65) / 2 / 2, atol=1e-6)


def test_a_reply_that_is_invalid_in_one_order_makes_the_report_invalid_but_not_unknown(rows: pd.DataFrame) -> None:
    broken = rows.assign(named=~((rows["frame"] == "own") & (rows["ask"] == "true") & (rows["order"] == 1)))
    found = report_of(broken, Frame.OWN, "true", keys(rows))
    assert found["confidence"].isna().all()
    assert found["raw"].notna().all()


def test_an_answer_is_right_or_wrong_only_where_it_is_valid_in_every_order(rows: pd.DataFrame) -> None:
    valid = answers_of(rows.assign(named=True))
    assert set(valid["right"]) <= {0.0, 1.0}
    assert answers_of(rows.assign(named=rows["order"] == 0))["right"].isna().all()
    assert list(valid["question"]) == keys(rows)


def test_the_output_s_distribution_is_that_over_options_and_orders(rows: pd.DataFrame) -> None:
    answers = rows["frame"] == "answer"
    told = [
        [-1.0, -2.0, -3.0, -4.0] if a and len(old) == 4 else old
        for a, old in zip(answers, rows["logprobs"], strict=True)
    ]
    found = answers_of(rows.assign(logprobs=pd.Series(told, index=rows.index, dtype=object), named=True))
    share = np.exp([-1.0, -2.0, -3.0, -4.0]) / np.exp([-1.0, -2.0, -3.0, -4.0]).sum()
    assert set(found["answer"]) == {0}
    np.testing.assert_allclose(found["top"], np.log(share[0]))
    np.testing.assert_allclose(found["margin"], 1.0)
    np.testing.assert_allclose(found["entropy"], -(share * np.log(share)).sum())
    assert found["agree"].eq(1.0).all()


def test_states_are_the_means_over_orders(bench: Bench, rows: pd.DataFrame) -> None:
    found = states_at(rows, Frame.ANSWER, "answer", keys(rows), 2)
    mine = rows[(rows["set"] == "all") & (rows["frame"] == "answer") & (rows["question"] == keys(rows)[1])]
    assert found.shape == (3, 2, bench.anatomy.hidden_size)
    np.testing.assert_allclose(found[1].ravel(), np.mean(np.stack(mine["state"].tolist()), axis=0), rtol=1e-5)


def test_choices_between_two_name_the_letter_that_is_right_and_the_one_that_was_given(rows: pd.DataFrame) -> None:
    found = choices_of_two(rows, "true")
    assert len(found) == 4
    assert found.groupby("question")["stimulus"].apply(set).tolist() == [{0, 1}, {0, 1}]
    given = rows[(rows["set"] == "two") & (rows["frame"] == "answer")].set_index(["question", "order"])
    for row in found.itertuples():
        one = given.loc[(row.question, row.order)]
        best = list(one["option_order"]).index(int(np.argmax(one["logprobs"])))
        assert row.response == best
    assert found["confidence"].between(0, 1).all()
