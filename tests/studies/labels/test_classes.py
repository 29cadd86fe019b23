"""A label is the same however a file keeps it, and class 1 is the one that the order or the user says."""

from pathlib import Path
from typing import Any

import pytest

from firsthand.errors import LabelsError
from firsthand.studies.labels.classes import classes_of, label_name

FILE = Path("set.csv")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (1, "1"), (1.0, "1"), ("1", "1"), (" 1.0\n", "1"), ("-1", "-1"), (0.5, "0.5"), (True, "True"), ("pos", "pos"),
        (None, None), ("", None), ("  ", None), (float("nan"), None), ("nan", None), ("inf", "inf"),
    ],
)  # fmt: skip
def test_a_label_is_the_same_however_it_is_kept(value: Any, name: str | None) -> None:
    assert label_name(value) == name


def test_class_one_is_the_larger_number_or_the_later_word_unless_it_is_named() -> None:
    assert classes_of(FILE, ["10", "9", "9"], None) == ("9", "10")
    assert classes_of(FILE, ["-1", "1"], None) == ("-1", "1")
    assert classes_of(FILE, ["no", "yes"], None) == ("no", "yes")
    assert classes_of(FILE, ["10", "9"], "9.0") == ("10", "9")
    assert classes_of(FILE, ["c", "a", "b"], "b") == ("a or c", "b")


@pytest.mark.parametrize("positive", [None, "a"])
def test_one_class_is_refused_whatever_is_named(positive: str | None) -> None:
    with pytest.raises(LabelsError, match="only the labels 'a'"):
        classes_of(FILE, ["a", "a"], positive)


def test_more_than_two_are_named_and_refused() -> None:
    with pytest.raises(LabelsError, match="has the labels 'a', 'b', 'c'; two") as caught:
        classes_of(FILE, ["c", "a", "b"], None)
    assert "positive" in caught.value.remedy
