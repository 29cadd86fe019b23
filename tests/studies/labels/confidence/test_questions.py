"""Questions are read from the layouts people have, cleaned and counted, and posed so that letters say nothing."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from firsthand.engine import LoadedModel
from firsthand.errors import LabelsError
from firsthand.studies.labels.confidence.files import Columns
from firsthand.studies.labels.confidence.questions import (
    MultipleChoice,
    digest_of,
    posed,
    read_questions,
    sample,
    two_options,
)

DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[4].parent / "shared" / "data"))


def items(count: int, options: int = 4) -> list[MultipleChoice]:
    return [
        MultipleChoice(f"q{i}", f"What is {i}?", tuple(f"o{i}{j}" for j in range(options)), i % options, f"s{i % 3}")
        for i in range(count)
    ]


def saved(folder: Path, rows: list[dict[str, Any]], name: str = "set.jsonl") -> Path:
    path = folder / name
    if name.endswith(".csv"):
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_a_folder_in_the_layout_of_mmlu_gives_questions_with_newlines_and_quotes_and_files_as_subjects(
    questions_folder: Path,
) -> None:
    found = read_questions(questions_folder)
    assert (len(found), len(found.subjects), found.dropped) == (48, 6, {})
    assert found.items[1].question == 'Which "town"\nis number 1 of subject_0?'
    assert found.items[1].options[found.items[1].answer] == found.items[1].options[1] == "Lima"
    assert len({item.key for item in found.items}) == 48


@pytest.mark.parametrize(
    ("answers", "name"),
    [
        (["A", "b", "(B)"], "set.csv"),
        (["x0", "y1", "y2"], "set.csv"),
        ([0, 1, 1], "set.jsonl"),
        ([1, 2, 2], "set.jsonl"),
    ],
)
def test_an_answer_may_be_a_letter_the_text_or_a_number_from_0_or_1(
    tmp_path: Path, answers: list[Any], name: str
) -> None:
    rows = [
        {"question": f"Q{i}?", "option_a": f"x{i}", "option_b": f"y{i}", "answer": answer, "subject": f"s{i}"}
        for i, answer in enumerate(answers)
    ]
    found = read_questions(saved(tmp_path, rows, name))
    assert [item.answer for item in found.items] == [0, 1, 1]
    assert found.subjects == ("s0", "s1", "s2")


@pytest.mark.parametrize(
    ("choices", "answers"),
    [
        (["p", "q", "r"], [1, 2, 1]),
        (["2", "3", "4"], ["2", "2", "2"]),
        (["B", "A", "C"], ["A", "B", "C"]),
    ],
)
def test_answers_that_can_be_read_in_two_ways_are_refused_with_a_way_out(
    tmp_path: Path, choices: list[str], answers: list[Any]
) -> None:
    rows = [{"question": f"Q{i}?", "choices": choices, "answer": answer} for i, answer in enumerate(answers)]
    with pytest.raises(LabelsError, match=r"can be read as .* and as") as caught:
        read_questions(saved(tmp_path, rows))
    assert "as letters" in str(caught.value)


def test_numbers_are_read_alike_in_all_files_of_a_folder(tmp_path: Path) -> None:
    for name, answers in (("a", [1, 2]), ("b", [0, 2])):
        rows = [{"question": f"{name}{i}?", "choices": ["p", "q", "r"], "answer": a} for i, a in enumerate(answers)]
        saved(tmp_path, rows, f"{name}.jsonl")
    assert [item.answer for item in read_questions(tmp_path).items] == [1, 2, 0, 2]


def test_numbers_and_texts_that_agree_are_no_two_ways(tmp_path: Path) -> None:
    rows = [{"question": f"Q{i}?", "choices": ["0", "1", "2"], "answer": i} for i in range(3)]
    assert [item.answer for item in read_questions(saved(tmp_path, rows)).items] == [0, 1, 2]


def test_a_header_is_not_taken_for_a_question_nor_named_columns_for_places(tmp_path: Path) -> None:
    lines = ["answer,question,A,B,C,D", *(f"{'ABCD'[i]},Q{i}?,p,q,r,D" for i in range(4))]
    (tmp_path / "set.csv").write_text("\n".join(lines) + "\n")
    assert [item.answer for item in read_questions(tmp_path / "set.csv").items] == [0, 1, 2, 3]
    (tmp_path / "other.csv").write_text("best,body,x,y,B\n" + "".join(f"p,Q{i}?,p,q,B\n" for i in range(3)))
    columns = Columns("body", ("x", "y"), "best")
    found = read_questions(tmp_path / "other.csv", columns).items
    assert [(one.question, one.answer) for one in found] == [("Q0?", 0), ("Q1?", 0), ("Q2?", 0)]


def test_options_may_be_a_list_or_a_list_written_as_text_and_columns_may_be_named(tmp_path: Path) -> None:
    listed = [
        {"question": "Q?", "choices": ["p", "q", "r"], "answer": 2},
        {"question": "R?", "choices": '["p", "q"]', "answer": 0},
    ]
    assert [item.options for item in read_questions(saved(tmp_path, listed)).items] == [("p", "q", "r"), ("p", "q")]
    named = [{"frage": "Q?", "gut": "p", "schlecht": "q", "loesung": "p", "fach": "f"}]
    columns = Columns("frage", ("gut", "schlecht"), "loesung", "fach")
    (one,) = read_questions(saved(tmp_path, named), columns).items
    assert (one.question, one.options, one.answer, one.subject) == ("Q?", ("p", "q"), 0, "f")


def test_what_cannot_be_asked_is_left_out_and_counted_by_reason(tmp_path: Path, tiny: LoadedModel) -> None:
    good = {"question": "Good?", "choices": ["p", "q"], "answer": "A"}
    rows = [
        good,
        dict(good, question=" "),
        dict(good, choices=["p", ""]),
        dict(good, choices=["p"]),
        dict(good, answer="D"),
        dict(good, choices=["p", "p"]),
        dict(good, choices=["q", "p"], answer="B"),
        dict(good, question="Both?"),
        dict(good, question="Both?", answer="B"),
        dict(good, question="word " * 30),
        dict(good, question="so <|im_end|> it ends"),
    ]
    found = read_questions(saved(tmp_path, rows), tokenizer=tiny.tokenizer, longest=20)
    assert [item.question for item in found.items] == ["Good?"]
    assert found.dropped == {
        "empty": 2,
        "malformed": 1,
        "answer is no option": 1,
        "repeated options": 1,
        "duplicate": 1,
        "contradictory": 2,
        "too long": 1,
        "special tokens": 1,
    }


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"body": "Q?", "choices": ["p", "q"], "answer": "A"}], "questions"),
        ([{"question": "Q?", "answer": "A"}], "options"),
        ([{"question": "Q?", "choices": ["p", "q"]}], "answers"),
        ([{"question": "Q?", "choices": ["p", "p"], "answer": "A"}], "1 repeated options"),
    ],
)
def test_a_file_that_holds_no_questions_is_refused_in_words(
    tmp_path: Path, rows: list[dict[str, Any]], words: str
) -> None:
    with pytest.raises(LabelsError, match=words):
        read_questions(saved(tmp_path, rows))


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabelsError, match="no file of questions"):
        read_questions(tmp_path)


def test_questions_are_drawn_evenly_from_subjects_and_the_same_for_a_seed(questions_folder: Path) -> None:
    questions = read_questions(questions_folder)
    drawn = sample(questions, 21, 3)
    counts = Counter(item.subject for item in drawn)
    assert set(counts.values()) == {3, 4}
    assert drawn == sample(questions, 21, 3)
    assert drawn != sample(questions, 21, 4)
    with pytest.raises(LabelsError, match="at most 48"):
        sample(questions, 49, 0)


@pytest.mark.parametrize(("options", "orders"), [(4, 2), (4, 4), (2, 2), (5, 2), (3, 4)])
def test_the_right_option_stands_behind_every_letter_as_often_and_every_option_moves(options: int, orders: int) -> None:
    found = posed(items(options * 6, options), orders, 0, "all")
    for number in range(orders):
        places = Counter(one[number].order.index(one[number].item.answer) for one in found)
        assert set(places.values()) == {6}, number
    for one in found:
        assert all(sorted(order.order) == list(range(options)) for order in one)
        for option in range(options):
            assert len({order.letter(option) for order in one}) == min(orders, options)


def test_a_choice_between_two_holds_the_right_option_and_a_wrong_one() -> None:
    for item in items(12):
        two = two_options(item, 0)
        assert two.options[two.answer] == item.options[item.answer]
        assert len(set(two.options)) == 2
        assert set(two.options) <= set(item.options)
    assert len({two_options(item, 0).options[1][-1] for item in items(12)}) > 1


def test_the_hash_depends_on_answers_and_subjects(questions_folder: Path, tmp_path: Path) -> None:
    row = {"question": "Q?", "choices": ["p", "q"], "answer": "A", "subject": "s"}
    hashes = {
        digest_of(read_questions(saved(tmp_path, [dict(row, **change)])))
        for change in ({}, {"answer": "B"}, {"subject": "t"}, {"question": "R?"})
    }
    assert len(hashes) == 4


def test_mmlu_is_read_as_it_is() -> None:
    if not (DATA / "mmlu").is_dir():
        pytest.skip(f"published data is not in {DATA}; set FIRSTHAND_DATA to run against it")
    found = read_questions(DATA / "mmlu" / "test")
    assert len(found) + sum(found.dropped.values()) == 11_939
    assert len(found.subjects) == 53
    assert found.dropped["repeated options"] == 9
