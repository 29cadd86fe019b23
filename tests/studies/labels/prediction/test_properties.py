"""Properties are pure functions of an answer, and one that hardly varies is not asked about."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.claims.labels.prediction import PropertyName
from firsthand.studies.labels.prediction.properties import PROPERTIES, Answer, entropy_of, median_length, settled


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("first-character", "apple", 0),
        ("first-character", "Éclair", 1),
        ("first-character", "bread", 1),
        ("first-character", "42", 2),
        ("first-character", '"Oh', 2),
        ("second-character", "bread", 1),
        ("second-character", "cOw", 0),
        ("second-character", "a 1", None),
        ("second-character", "x", None),
        ("number-parity", "It is 17.", 1),
        ("number-parity", "1,000 or 3", 0),
        ("number-parity", "7,8", 1),
        ("number-parity", "7, 8", 1),
        ("number-parity", "12,3456", 0),
        ("number-parity", "1,234,567 sheep", 1),
        ("number-parity", "seven", None),
        ("letter-parity", "three words", 1),
        ("letter-parity", "7 cows.", 0),
        ("letter-parity", "...", None),
        ("starts-with", "Mouse", 0),
        ("starts-with", "nest", 1),
        ("starts-with", "9", None),
        ("ends-with", "cow", 0),
        ("ends-with", "cow.", 1),
    ],
)
def test_the_class_of_an_answer(name: str, text: str, expected: int | None) -> None:
    assert PROPERTIES[name].of(Answer(text), 0.0) == expected


@pytest.mark.parametrize("name", ["number-parity", "letter-parity", "ends-with", "length"])
def test_an_answer_that_was_cut_off_has_no_class_that_its_rest_could_change(name: str) -> None:
    one = PROPERTIES[name]
    assert one.of(Answer("12", finished=False), 5.0) is None
    assert one.of(Answer("cow", finished=False), 5.0) is None


@pytest.mark.parametrize(
    ("text", "expected"), [("7,", None), ("7,8", None), ("1,000,0", None), ("7, 8", 1), ("7 ca", 1)]
)
def test_a_number_that_may_go_on_after_a_comma_has_no_parity_yet(text: str, expected: int | None) -> None:
    assert PROPERTIES["number-parity"].of(Answer(text, finished=False), 0.0) == expected


def test_what_was_cut_off_and_is_longer_already_is_long() -> None:
    assert PROPERTIES["length"].of(Answer("a long answer", finished=False), 5.0) == 1
    assert median_length([Answer("a"), Answer("abc"), Answer("abcde"), Answer("")]) == 3.0


@settings(max_examples=60)
@given(st.text(max_size=20), st.booleans(), st.sampled_from(sorted(PROPERTIES)))
def test_every_property_gives_one_of_its_classes_or_none(text: str, finished: bool, name: str) -> None:
    one = PROPERTIES[name]
    found = one.of(Answer(text.strip(), finished), 4.0)
    assert found is None or 0 <= found < len(one.classes)


def test_a_claim_may_name_every_property_and_no_other() -> None:
    assert set(PropertyName.__args__) == set(PROPERTIES)  # type: ignore[attr-defined]


def answers(*texts: str) -> list[Answer]:
    return [Answer(text) for text in texts]


GROUPS = [f"g{i % 8}" for i in range(40)]


def test_classes_that_hardly_occur_are_left_out_with_their_answers_and_the_rest_renumbered() -> None:
    fit = answers(*(["bread"] * 15 + ["42"] * 15 + ["apple"] * 2))
    judged = answers(*(["bread"] * 20 + ["7"] * 18 + ["egg"] * 2))
    found = settled(PROPERTIES["first-character"], fit, judged, GROUPS, 0.9)
    assert found.refused is None
    assert found.classes == ("a consonant", "a digit or another sign")
    assert found.judged_J[:38].tolist() == [0.0] * 20 + [1.0] * 18
    assert np.isnan(found.judged_J[38:]).all()
    assert found.of(answers("apple", "9")).tolist()[1] == 1.0


@pytest.mark.parametrize(
    ("fit", "judged", "word"),
    [
        (["bread"] * 20, ["bread"] * 20 + ["cow"] * 20, "constant"),
        (["bread"] * 20 + ["cow"] * 20, ["bread"] * 38 + ["cow"] * 2, "constant"),
        (["bread", "cow"] * 10, [], "no answer to judge"),
        (["bread"] * 16 + ["cow"] * 4, ["bread"] * 20 + ["cow"] * 20, "fewer than two classes"),
        (["bread"] * 16 + ["cow"] * 14, ["bread"] * 9 + ["cow"] * 9, "can be judged"),
    ],
)
def test_a_property_of_which_nothing_could_be_learned_is_refused_with_the_reason(
    fit: list[str], judged: list[str], word: str
) -> None:
    found = settled(PROPERTIES["second-character"], answers(*fit), answers(*judged), GROUPS[: len(judged)], 0.9)
    assert found.refused is not None
    assert word in found.refused


def test_too_few_groups_refuse_a_property() -> None:
    some = answers(*(["bread", "cow"] * 20))
    found = settled(PROPERTIES["second-character"], some, some, ["one", "two"] * 20, 0.9)
    assert "2 groups" in str(found.refused)


def test_entropy_is_that_of_the_known_classes() -> None:
    assert entropy_of(np.array([0.0, 1.0, np.nan])) == 1.0
    assert entropy_of(np.array([1.0, 1.0])) == 0.0
    assert entropy_of(np.array([np.nan])) == 0.0
