"""Rules between stages: what is decided, accepted, labelled and reproduced, and from which numbers."""

import pytest

from firsthand.counterfactual.deciding import decided
from firsthand.counterfactual.inspecting.stages.screen import Screening
from firsthand.counterfactual.inspecting.stages.settings import Budget, RoleModel, StagesSettings
from firsthand.counterfactual.investigation import Judgement, mean_score
from firsthand.counterfactual.rates import Rate


def rate(yes: int, of: int = 30) -> Rate:
    return Rate(yes=yes, no=of - yes)


NONE = Rate(yes=0, no=0, invalid=30)


def test_an_experiment_decides_only_where_its_interval_lies_on_one_side_of_thirty_points() -> None:
    assert decided(rate(26), rate(3)) == "changes"
    assert decided(rate(3), rate(26)) == "changes"
    assert decided(rate(26), rate(26)) == "does not change"
    assert decided(rate(26), rate(17)) == "undecided"
    assert decided(rate(26), NONE) == "undecided"
    assert decided(rate(9, 10), rate(8, 10)) == "undecided"


def test_invalid_responses_decide_nothing_whichever_they_would_have_been() -> None:
    assert decided(rate(30), Rate(yes=0, no=5, invalid=25)) == "undecided"
    assert decided(rate(30), Rate(yes=0, no=27, invalid=3)) == "changes"


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"arguments": {"api_key": "sk-1"}}, "api_key"), ({"base_url": "https://me:secret@host/v1"}, "user or password")],
)
def test_secrets_stand_in_no_settings(fields: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RoleModel.model_validate({"model": "a/b", **fields})


def test_a_score_needs_more_than_half_of_the_judges() -> None:
    good, bad = Judgement(score=8), Judgement(score=None)
    assert mean_score([good, good, bad]) == 8.0
    assert mean_score([good, bad]) is None
    assert mean_score([bad]) is None
    assert mean_score([Judgement(score=9), Judgement(score=6), good, good, good]) == 7.8


def test_a_screening_that_flags_names_a_behaviour_and_asks_a_question() -> None:
    named = {"summary": "s", "question": "q?", "own_question": "o?", "classifier_question": "c?"}
    empty = dict.fromkeys(named, "")
    Screening(rating=2, **empty)
    Screening(rating=3, **named)
    for wrong in (empty, {**named, "summary": " "}, {**named, "classifier_question": "Say yes."}):
        with pytest.raises(ValueError, match=r"needed|no question"):
            Screening(rating=3, **wrong)


ROLES = {"target": RoleModel(model="a/b"), "investigator": RoleModel(model="c/d")}


def test_the_effort_sets_judges_threshold_and_budget_and_each_can_be_set_by_itself() -> None:
    thorough = StagesSettings(folder="f", roles=ROLES)
    light = StagesSettings(folder="f", roles=ROLES, effort="light")
    assert (thorough.panel, thorough.bar, thorough.spending.experiments) == (5, 8.0, 15)
    assert (light.panel, light.bar, light.spending.experiments) == (1, 7.0, 8)
    assert StagesSettings(folder="f", roles=ROLES, judges=3).panel == 3
    assert thorough.playing("judge").model == "c/d"


def test_budgets_and_speed_may_change_between_runs_and_nothing_else() -> None:
    one = StagesSettings(folder="f", roles=ROLES)
    assert one.shaping == StagesSettings(folder="g", roles=ROLES, retries=1, budget=Budget(calls=3)).shaping
    assert one.shaping != StagesSettings(folder="f", roles=ROLES, seed=1).shaping
    assert one.target != StagesSettings(folder="f", roles={**ROLES, "target": RoleModel(model="a/c")}).target
