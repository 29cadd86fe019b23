"""Views of an investigation: rates with all that is invalid, the edit that is shown first, how far it got."""

import investigated as planted
import pytest

from firsthand.counterfactual.edits import Drop, Edit, Insert, Replace, Rewrite
from firsthand.counterfactual.investigation import Judgement
from firsthand.counterfactual.rates import Rate
from firsthand.report.investigations_views import (
    cause_words,
    change_view,
    edit_words,
    has_confirmed_cause,
    most_informative,
    rate_view,
    score_text,
    status_of,
)

SMALL = Replace(turn=1, find="max", text="a", which="all")


def test_a_rate_tells_what_the_invalid_responses_could_make_of_it() -> None:
    seen = rate_view(Rate(yes=9, no=9, invalid=2), 0.95)
    assert (seen.share, seen.counted, seen.at) == ("50.0%", "9 of 18", 50.0)
    assert seen.invalid == "2 invalid: 45.0% to 55.0% if they all counted one way"
    assert (seen.worst, seen.best) == (45.0, pytest.approx(55.0))
    assert seen.low < 45 < 55 < seen.high


def test_nothing_valid_is_never_a_rate_of_zero() -> None:
    seen = rate_view(Rate(yes=0, no=0, invalid=30), 0.95)
    assert (seen.share, seen.at, seen.low, seen.high) == ("no valid response", None, 0.0, 100.0)
    assert change_view(Rate(yes=1, no=1), Rate(yes=0, no=0, invalid=3), 0.95) is None


def test_a_change_has_newcombes_interval() -> None:
    """Newcombe (1998), table II, example: 56/70 against 48/80, method 10: 0.0524 to 0.3339."""
    found = change_view(Rate(yes=48, no=32), Rate(yes=56, no=14), 0.95)
    assert found is not None
    assert (found.points, found.low, found.high) == (
        pytest.approx(20),
        pytest.approx(5.24, abs=0.01),
        pytest.approx(33.39, abs=0.01),
    )
    assert found.text == "+20.0 pts [+5.2, +33.4]"


def test_a_confirmed_edit_is_shown_before_a_larger_change_that_was_only_explored() -> None:
    one = planted.verified()
    best = most_informative(one)
    assert best is not None
    assert best.number == 5
    explored = one.model_copy(update={"experiments": one.experiments[:4]})
    best = most_informative(explored)
    assert best is not None
    assert best.number == 1
    assert has_confirmed_cause(one)
    assert not has_confirmed_cause(explored)


def test_an_edit_that_changes_the_rate_confirms_no_cause_where_the_report_names_none() -> None:
    one = planted.verified()
    assert one.report is not None
    none = one.model_copy(update={"report": one.report.model_copy(update={"causes": ()})})
    assert not has_confirmed_cause(none)
    assert not has_confirmed_cause(planted.unfinished())


def test_an_effect_without_a_control_is_not_called_a_confirmed_cause() -> None:
    one = planted.verified()
    assert one.report is not None
    causes = tuple(cause.model_copy(update={"specific": None}) for cause in one.report.causes)
    bare = one.model_copy(update={"report": one.report.model_copy(update={"causes": causes})})
    assert cause_words(one) == "cause confirmed"
    assert cause_words(bare) == "effect confirmed, no control"
    assert not has_confirmed_cause(bare)


def test_the_edit_that_a_confirmed_cause_rests_on_is_shown_before_one_that_changes_more() -> None:
    one = planted.verified()
    larger = one.experiments[4].model_copy(update={"number": 99, "rate": Rate(yes=0, no=30)})
    best = most_informative(one.model_copy(update={"experiments": (*one.experiments, larger)}))
    assert best is not None
    assert best.number != 99


def test_without_a_valid_rate_on_both_sides_nothing_is_most_informative() -> None:
    one = planted.verified()
    assert most_informative(one.model_copy(update={"experiments": one.experiments[3:4]})) is None
    assert most_informative(one.model_copy(update={"baseline": Rate(yes=0, no=0, invalid=30)})) is None


def test_how_far_it_got_is_told_by_the_report_and_the_valid_scores() -> None:
    one = planted.verified()
    assert status_of(one, 8) == "verified"
    assert status_of(one, 9) == "not verified"
    assert status_of(one.model_copy(update={"judgements": (Judgement(score=None),)}), 8) == "not judged"
    assert status_of(planted.unfinished(), 8) == "unfinished"


def test_a_judge_without_a_valid_score_is_counted_and_does_not_lower_the_mean() -> None:
    one = planted.verified()
    assert one.score == 8.5
    assert score_text(one) == "8.5 of 10 (3 judges, 1 without a valid score)"
    assert score_text(planted.unfinished()) == ""


def test_operations_are_told_in_words() -> None:
    operations = (
        SMALL,
        Replace(turn=0, find="b", text=""),
        Replace(turn=0, find="b", text="c", which=2),
        Rewrite(turn=0, content="x\ny"),
        Drop(turn=3),
        Insert(turn=0, role="system", content="Be brief."),
    )
    assert edit_words(Edit(operations=operations)) == (
        "turn 1: “max” becomes “a”, everywhere",
        "turn 0: “b” is deleted",
        "turn 0: “b” becomes “c”, occurrence 2 from 0",
        "turn 0: all of it becomes “x y”",
        "turn 3: left out",
        "turn 0: a system turn comes in, “Be brief.”",
    )
