"""Every observer uses what can be read, and finds nothing where there is nothing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from firsthand.observers import BUILT_IN, Past, make_observer, observe_all
from firsthand.observers.features import matrix, text
from firsthand.observers.table import TableObserver
from firsthand.observers.text_classifier import TextClassifier
from firsthand.vocabulary import Capability

STATE = Capability.IDENTIFICATION
TRIALS = 240


def score(made: Any, name: str, model: object) -> float:
    observer = make_observer(name, {"third_person": model, "sibling": model})  # type: ignore[dict-item]
    return made.right(observe_all(observer, STATE, made.views, made.truth, made.groups))


@pytest.mark.parametrize(
    ("name", "place"),
    [("table", "number"), ("table", "output"), ("text_classifier", "number"), ("text_classifier", "word"),
     ("text_classifier", "output"), ("third_person", "number"), ("third_person", "word"), ("sibling", "word"),
     ("third_person", "output")],
)  # fmt: skip
def test_a_readable_label_is_read(study: Any, scripted: Any, name: str, place: str) -> None:
    """Nine times in ten the label shows; a perfect reader is right as often."""
    made = study(TRIALS // 10, place)
    assert score(made, name, scripted()) > 0.9 - 4 * (0.09 / TRIALS) ** 0.5


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_label_that_is_nowhere_is_not_found(study: Any, scripted: Any, name: str) -> None:
    scores = [score(study(TRIALS // 10, "nowhere", seed=seed), name, scripted()) for seed in range(3)]
    assert abs(np.mean(scores) - 0.5) < 4 * (0.25 / (3 * TRIALS)) ** 0.5


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_label_that_shows_in_the_output_is_not_found_where_that_is_withheld(
    study: Any, scripted: Any, name: str
) -> None:
    made = study(TRIALS // 10, "output", reliability=1.0)
    assert score(made, name, scripted()) == 1.0
    made.views[:] = [view.without_output() for view in made.views]
    assert abs(score(made, name, scripted()) - 0.5) < 4 * (0.25 / TRIALS) ** 0.5


@pytest.mark.parametrize("gain", [1.0, 0.02, -1.0, -0.02, 50.0])
def test_a_letter_bias_and_a_wrong_sign_do_not_make_the_third_person_weak(
    study: Any, scripted: Any, biased: Callable[[tuple[str, str]], float], gain: float
) -> None:
    """The bias is many times the signal; taken at face value such a model is at chance or below."""
    made = study(TRIALS // 10, "word")
    model = scripted(gain, biased)
    face = model.contrasts(
        [[("system", ""), ("user", text(v))] for v in made.views], [v.questions[STATE].codes for v in made.views]
    )
    assert gain == 50.0 or made.right((np.array(face) > 0).astype(float)) < 0.7
    assert score(made, "third_person", model) > 0.9 - 4 * (0.09 / TRIALS) ** 0.5


def test_the_third_person_combines_what_the_model_infers_with_the_numbers(study: Any, scripted: Any) -> None:
    """The model cannot read the number; the observer can."""
    assert score(study(TRIALS // 10, "number"), "third_person", scripted(gain=0.0)) > 0.8


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("only", [0, 1])
def test_a_past_of_one_class_gives_a_probability_on_its_side(study: Any, scripted: Any, name: str, only: int) -> None:
    made = study(4, "word")
    truth = np.full(len(made.truth), only)
    observer = make_observer(name, {"third_person": scripted(), "sibling": scripted()})
    guessed = observe_all(observer, STATE, made.views, truth, made.groups)
    assert ((guessed > 0.5) == only).all()


def test_the_table_counts_with_one_pseudo_count_a_class(study: Any) -> None:
    made = study(2, "number")
    views = [v.without_output() for v in made.views]
    one = [v for v in views if v.features["cue"] == 1.0][:4]
    zero = [v for v in views if v.features["cue"] == 0.0][:1]
    past = Past(one, np.array([1, 1, 1, 0]))
    assert TableObserver().observe(STATE, past, [one[0], zero[0]]).tolist() == [4 / 6, 4 / 6]
    past = Past([*one, *zero], np.array([1, 1, 1, 0, 0]))
    assert TableObserver().observe(STATE, past, [one[0], zero[0]]).tolist() == [4 / 6, 1 / 3]


def test_text_without_a_repeated_word_is_no_failure(study: Any) -> None:
    made = study(12, "number")
    views = [replace(v, turns=(type(v.turns[0])("user", f"word{i}"),)) for i, v in enumerate(made.views)]
    guessed = observe_all(TextClassifier(), STATE, views, made.truth, made.groups)
    assert made.right(guessed) > 0.5


def test_numbers_come_with_their_products_in_sorted_order(study: Any) -> None:
    views = study(2, "number").views
    table = matrix(views)
    cue, second = (
        np.array([2.0 * getattr(v, part)[key] - 1.0 for v in views])
        for part, key in (("features", "cue"), ("output_features", "second_option"))
    )
    assert np.array_equal(table, np.column_stack([cue, second, cue * second]))
    assert matrix([v.without_output() for v in views]).shape == (len(views), 1)
