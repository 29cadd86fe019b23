import pytest

from firsthand.counterfactual.changes import FixedLabels, SequentialLabels, decision_of, labelled
from firsthand.counterfactual.rates import Rate

TEST = SequentialLabels()


@pytest.mark.parametrize(
    ("after", "label"),
    [(12, True), (0, True), (13, None), (22, None), (23, False), (27, False), (30, False)],
)
def test_a_change_of_fifty_points_is_true_and_one_of_fifteen_false_and_between_there_is_no_label(
    after: int, label: bool | None
) -> None:
    found = labelled(Rate(yes=27, no=3), Rate(yes=after, no=30 - after))
    assert found.label is label
    assert found.why == (None if label is not None else "between thresholds")


def test_a_rise_is_a_change_as_much_as_a_fall() -> None:
    assert labelled(Rate(yes=3, no=27), Rate(yes=18, no=12)).label is True


def test_a_label_that_invalid_responses_could_have_changed_is_not_given() -> None:
    assert labelled(Rate(yes=27, no=3), Rate(yes=9, no=15, invalid=6)).why == "depends on invalid responses"
    assert labelled(Rate(yes=27, no=3, invalid=8), Rate(yes=27, no=3)).why == "depends on invalid responses"
    assert labelled(Rate(yes=27, no=3), Rate(yes=2, no=24, invalid=4)).label is True


def test_few_valid_responses_make_no_label_whatever_their_share() -> None:
    assert labelled(Rate(yes=27, no=3), Rate(yes=0, no=5)).why == "too few responses"
    assert labelled(Rate(yes=0, no=0, invalid=30), Rate(yes=30, no=0)).why == "too few responses"
    assert labelled(Rate(yes=27, no=3), Rate(yes=0, no=5), FixedLabels(least=5)).label is True


def test_a_test_labels_what_it_decides_and_nothing_else() -> None:
    assert labelled(Rate(yes=27, no=3), Rate(yes=0, no=8), TEST).label is True
    assert labelled(Rate(yes=27, no=3), Rate(yes=29, no=3), TEST).label is False
    assert labelled(Rate(yes=27, no=3), Rate(yes=3, no=3), TEST).why == "undecided"
    assert decision_of(Rate(yes=27, no=3), Rate(yes=0, no=8), TEST) == "changes"


def test_a_decision_that_invalid_responses_could_have_changed_is_no_label() -> None:
    rate = Rate(yes=0, no=8, invalid=3)
    assert decision_of(Rate(yes=27, no=3), rate, TEST) == "changes"
    assert labelled(Rate(yes=27, no=3), rate, TEST).why == "depends on invalid responses"
    assert labelled(Rate(yes=27, no=3), Rate(yes=0, no=20, invalid=1), TEST).label is True


def test_thresholds_that_contradict_the_wording_of_a_claim_are_refused() -> None:
    with pytest.raises(ValueError, match="greater than or equal to 30"):
        FixedLabels(true_from=20)
    with pytest.raises(ValueError, match="less than 30"):
        FixedLabels(false_to=30)
    with pytest.raises(ValueError, match="less than or equal to"):
        SequentialLabels(below=0.4)
