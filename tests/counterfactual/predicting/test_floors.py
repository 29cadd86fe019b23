"""Floors learn from other clusters only, know what the surface gives away, and no more."""

import numpy as np
import pytest
from claim_parts import WORDS, claim, deleted, edit, prompt

from firsthand.analysis.predictions import Panel
from firsthand.analysis.predictions.scores import scored
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.edits import Insert
from firsthand.counterfactual.predicting.answered import answers_of
from firsthand.counterfactual.predicting.predictors import FLOORS, make_floor
from firsthand.counterfactual.predicting.predictors.crossfit import held_out
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.predicting.tables import CLUSTER, predictions_table
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError


def question(one: Claim, text: str = "I am sorry.") -> Question:
    return Question.of(one, Response(text=text))


def area(name: str, claims: list[Claim], questions: list[Question]) -> float:
    floor = make_floor(name, claims, questions)
    table = predictions_table(claims, {name: answers_of(floor, questions)}, {name: "floor"})
    found = scored(Panel.of(table, (CLUSTER,)), name, "floor").auroc
    assert found is not None
    return found.value


def told_by_kind(count: int = 60) -> list[Claim]:
    """Deleting a word matters, and adding a turn does not."""
    made = []
    for number in range(count):
        one = claim(number, label=number % 2 == 0)
        change = deleted(WORDS[0]) if one.label else edit(Insert(turn=1, role="user", content="And be quick."))
        made.append(one.model_copy(update={"edit": change}))
    return made


def told_by_words(count: int = 60) -> list[Claim]:
    """What is deleted matters where it is called a name."""
    return [
        claim(number, label=number % 2 == 0, intervention=f"A {'name' if number % 2 == 0 else 'year'} is deleted.")
        for number in range(count)
    ]


@pytest.mark.parametrize("name", ["always-yes", "base-rate"])
def test_constant_floors_have_an_area_of_one_half(name: str) -> None:
    claims = told_by_kind()
    assert area(name, claims, [question(one) for one in claims]) == 0.5


def test_the_surface_tells_kinds_of_edits_apart_and_words_do_not_need_to() -> None:
    claims = told_by_kind()
    assert area("surface", claims, [question(one) for one in claims]) == 1.0


@pytest.mark.parametrize("name", ["words", "nearest"])
def test_words_tell_descriptions_apart_which_the_surface_cannot(name: str) -> None:
    claims = told_by_words()
    questions = [question(one) for one in claims]
    assert area(name, claims, questions) == 1.0
    assert area("surface", claims, questions) < 0.75


@pytest.mark.parametrize("name", ["surface", "words", "nearest"])
def test_what_only_the_own_cluster_gives_away_is_not_learnt(name: str) -> None:
    """Each cluster has a word of its own that tells its label: a floor that saw it would be right of all its claims."""
    rng = np.random.default_rng(0)
    claims = []
    for cluster in range(24):
        for number in range(4):
            label = bool(cluster % 2)
            one = claim(10 * cluster + number, label, intervention=f"A word like w{rng.integers(3)} is deleted.")
            text = f"{WORDS[0]} {WORDS[1]} own{cluster} own{cluster} {number}"
            claims.append(one.model_copy(update={"prompt": prompt(text), "cluster": f"k{cluster}"}))
    assert area(name, claims, [question(one) for one in claims]) < 0.8


def test_every_probability_comes_from_a_fit_without_its_cluster() -> None:
    labels = np.tile([1, 0], 20)
    clusters = [f"k{number // 4}" for number in range(40)]
    seen: list[tuple[set[str], set[str]]] = []

    def fit(train: list[int], _: np.ndarray, test: list[int]) -> np.ndarray:
        seen.append(({clusters[n] for n in train}, {clusters[n] for n in test}))
        return np.full(len(test), 0.25)

    assert held_out(labels, clusters, fit) == pytest.approx([0.5] * 40)  # log-odds are centred in each fold
    assert all(not train & test for train, test in seen)
    assert set().union(*(test for _, test in seen)) == set(clusters)


def test_a_floor_without_anything_to_learn_from_gives_no_answer_and_says_why() -> None:
    claims = [claim(0, True, cluster="one"), claim(1, False, cluster="one")]
    claims = [one.model_copy(update={"cluster": "one"}) for one in claims]
    questions = [question(one) for one in claims]
    for name in ("surface", "words", "nearest"):
        answers = make_floor(name, claims, questions).predict(questions)
        assert [one.probability for one in answers] == [None, None]
        assert "learn from" in answers[0].note


def test_an_unknown_floor_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(CounterfactualError, match="There is no predictor 'magic'") as refused:
        make_floor("magic", [], [])
    assert all(name in refused.value.remedy for name in FLOORS)
