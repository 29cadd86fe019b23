"""The concepts, the words they are compared with, and what counts as naming one."""

from pathlib import Path

import pytest

from firsthand.errors import StatesError
from firsthand.studies.injection.concepts import (
    BASELINE_WORDS,
    CONCEPTS,
    baseline_for,
    mentions,
    read_concepts,
    surface_forms,
)


def test_the_lists_have_their_sizes_and_no_duplicates() -> None:
    assert len(CONCEPTS) == len({c.casefold() for c in CONCEPTS}) == 32
    assert len(BASELINE_WORDS) == len({w.casefold() for w in BASELINE_WORDS}) == 100
    assert baseline_for(CONCEPTS) == BASELINE_WORDS


def test_a_concept_is_never_in_its_own_baseline_in_whatever_form() -> None:
    words = baseline_for(["Ladders", "sushi"])
    assert "ladder" not in words
    assert len(words) == 99


@pytest.mark.parametrize(
    ("concept", "form"),
    [
        ("apple", "apples"), ("apple", "Apple"), ("rivers", "river"), ("rivers", "Rivers"), ("olives", "olive"),
        ("democracy", "democracies"), ("philosophy", "philosophies"), ("success", "successes"), ("america", "America"),
        ("Zurich", "zurich"), ("Zurich", "Zurich"), ("failure", "failures"), ("algorithms", "Algorithm"),
        ("ice cream", "ice creams"), ("box", "boxes"), ("boxes", "box"), ("boy", "boys"),
    ],
)  # fmt: skip
def test_simple_inflections_name_a_concept(concept: str, form: str) -> None:
    assert form in surface_forms(concept)
    assert surface_forms(concept)[0] == concept


@pytest.mark.parametrize(
    ("concept", "form"), [("art", "artist"), ("success", "succes"), ("bliss", "blis"), ("war", "warrior")]
)
def test_other_words_do_not(concept: str, form: str) -> None:
    assert form not in surface_forms(concept)


def test_no_form_names_two_concepts() -> None:
    forms = [form.casefold() for c in CONCEPTS for form in {f.casefold() for f in surface_forms(c)}]
    assert len(forms) == len(set(forms))


@pytest.mark.parametrize(
    ("text", "concept", "found"),
    [
        ("It is about Art.", "art", True),
        ("Let me start.", "art", False),
        ('"RIVERS"', "rivers", True),
        ("an apple's core", "apple", True),
        ("pineapple", "apple", False),
        ("I do not detect any sand", "sand", True),
        ("", "sand", False),
        ("seas", "sea", True),
        ("season", "sea", False),
    ],
)
def test_a_mention_is_a_whole_word(text: str, concept: str, found: bool) -> None:
    assert mentions(text, concept) is found


def test_a_list_is_read_with_comments(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("# mine\nbread\n  ice   cream # sweet\nZürich\n", encoding="utf-8")
    assert read_concepts(path) == ("bread", "ice cream", "Zürich")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bread\n\nsalt\n", "line 2 is blank"),
        ("bread\n   \n", "line 2 is blank"),
        ("bread\nsalt\nBread\n", "line 3: 'Bread' stands already in line 1"),
        ("# nothing\n", "no concept"),
        ("", "no concept"),
        ("{concept}\n", "brace"),
    ],
)
def test_bad_lists_say_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StatesError, match=message):
        read_concepts(path)


def test_a_missing_or_binary_list_is_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(StatesError, match="cannot be read"):
        read_concepts(tmp_path / "none.txt")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\xff")
    with pytest.raises(StatesError, match="cannot be read"):
        read_concepts(tmp_path / "binary")
