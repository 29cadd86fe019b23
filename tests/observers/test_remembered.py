"""A model's answers are kept: asked once, found again, and never taken for another model's or another question's."""

from pathlib import Path
from typing import Any

import pytest

from firsthand.errors import ObserverError, TraceError
from firsthand.observers.remembered import RememberedModel

SAID = [("system", "Answer."), ("user", "alpha or omega?"), ("assistant", "Code")]
OTHER = [("system", "Answer."), ("user", "alpha?"), ("assistant", "Code")]
JQ, QJ = ("J", "Q"), ("Q", "J")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "observations" / "answers.jsonl"


def test_a_question_is_asked_once_even_within_one_call(path: Path, scripted: Any) -> None:
    model = scripted()
    memory = RememberedModel("third_person", path, "weights", model)
    assert memory.contrasts([SAID, OTHER, SAID], [JQ, JQ, JQ]) == [1.0, -1.0, 1.0]
    assert memory.contrasts([OTHER, SAID], [JQ, JQ]) == [-1.0, 1.0]
    assert sorted(conversation for conversation, _ in model.asked) == sorted([SAID, OTHER])


def test_answers_outlive_the_process_and_need_no_model(path: Path, scripted: Any) -> None:
    RememberedModel("third_person", path, "weights", scripted(gain=0.1)).contrasts([SAID, OTHER], [JQ, JQ])
    again = RememberedModel("third_person", path, "weights", None)
    assert again.contrasts([OTHER, SAID], [JQ, JQ]) == [-0.1, 0.1]


def test_memory_alone_refuses_what_it_does_not_know(path: Path) -> None:
    memory = RememberedModel("sibling", path, "weights", None)
    with pytest.raises(ObserverError, match="2 answers of observer 'sibling' are not stored"):
        memory.contrasts([SAID, OTHER, SAID], [JQ, JQ, JQ])


@pytest.mark.parametrize(
    ("identity", "said", "codes"),
    [
        ("other weights", SAID, JQ),
        ("weights", OTHER, JQ),
        ("weights", SAID, QJ),
        ("weights", [("user", "Answer."), *SAID[1:]], JQ),
        ("weights", [*SAID[:2], ("assistant", "Code ")], JQ),
    ],
)
def test_model_conversation_and_codes_are_all_part_of_the_key(
    path: Path, scripted: Any, identity: str, said: list[tuple[str, str]], codes: tuple[str, str]
) -> None:
    RememberedModel("o", path, "weights", scripted()).contrasts([SAID], [JQ])
    model = scripted()
    RememberedModel("o", path, identity, model).contrasts([said], [codes])
    assert len(model.asked) == 1


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_torn_line_is_asked_again_and_the_rest_is_kept(path: Path, scripted: Any, cut: int) -> None:
    RememberedModel("o", path, "weights", scripted()).contrasts([SAID], [JQ])
    RememberedModel("o", path, "weights", scripted()).contrasts([OTHER], [JQ])
    path.write_bytes(path.read_bytes()[:-cut] if cut > 1 else path.read_bytes().rstrip(b"\n")[:-1])
    model = scripted()
    assert RememberedModel("o", path, "weights", model).contrasts([SAID, OTHER], [JQ, JQ]) == [1.0, -1.0]
    assert [conversation for conversation, _ in model.asked] == [OTHER]
    assert RememberedModel("o", path, "weights", None).contrasts([SAID, OTHER], [JQ, JQ]) == [1.0, -1.0]


def test_lines_that_are_no_answers_are_left_out(path: Path, scripted: Any) -> None:
    path.parent.mkdir()
    path.write_bytes(b'7\n["key"]\n["key", "much"]\n\xff\xfe\n{"a": 1}\nnull\n')
    assert RememberedModel("o", path, "weights", scripted()).contrasts([SAID], [JQ]) == [1.0]


def test_a_memory_that_cannot_be_written_says_so(tmp_path: Path, scripted: Any) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match="could not be written"):
        RememberedModel("o", tmp_path / "file" / "x.jsonl", "weights", scripted()).contrasts([SAID], [JQ])


def test_nothing_is_written_before_something_is_asked(path: Path, scripted: Any) -> None:
    RememberedModel("o", path, "weights", scripted()).contrasts([], [])
    assert not path.exists()
