"""Prompts are read as they are, counted where they cannot be used, and never parted from their group."""

import os
from collections import Counter
from pathlib import Path

import pytest

from firsthand.engine import LoadedModel
from firsthand.errors import LabelsError
from firsthand.studies.labels.prediction.prompts import Prompt, built_in, parted, read_prompts

DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[4].parent / "shared" / "data"))

EXAM = (
    'What is 2 + 2?,1,2,4,8,C\n"Which is ""right"",\nthis or that?",this,that,both,neither,A\n'
    "Too few,1,2,C\nNo letter,1,2,3,4,E\nNo option,1,,3,4,A\nWhat is 2 + 2?,1,2,4,8,C\n\n"
)


def test_our_own_prompts_are_many_and_each_is_there_once() -> None:
    found = built_in()
    assert len(found.prompts) >= 60
    assert len({(one.text, one.begin) for one in found.prompts}) == len(found.prompts)
    assert set(Counter(one.group for one in found.prompts).values()) == {6}
    assert not any("|" in one.text or "{" in one.text for one in found.prompts)
    begun = next(one for one in found.prompts if one.group == "farm animals")
    assert begun.shown.endswith(f"The answer begins: {begun.begin}")


def test_questions_of_an_exam_keep_newlines_and_quotes_and_malformed_rows_are_counted(
    tmp_path: Path, tiny: LoadedModel
) -> None:
    (tmp_path / "high_school_sums_test.csv").write_text(EXAM)
    (tmp_path / "notes.csv").write_text("text\nhello\n")
    found = read_prompts(tmp_path, tiny.tokenizer)
    assert [one.options for one in found.prompts] == [True, True]
    assert {one.group for one in found.prompts} == {"high school sums"}
    assert found.prompts[1].text.startswith('Which is "right",\nthis or that?\nA. this\nB. that\n')
    assert found.dropped == {"malformed": 3, "duplicate": 1, "file of another kind": 1}
    assert read_prompts(tmp_path / "high_school_sums_test.csv", tiny.tokenizer).sha256 == found.sha256


def test_a_column_of_texts_is_asked_for_an_answer_and_what_cannot_be_used_is_counted(
    tmp_path: Path, tiny: LoadedModel
) -> None:
    path = tmp_path / "set.csv"
    rows = ["Say\n{hello}.", "", "Say\n{hello}.", "a <|im_end|> b", "word " * 90, "Well?"]
    path.write_text("input,kind\n" + "".join(f'"{row}",{i}\n' for i, row in enumerate(rows)))
    found = read_prompts(path, tiny.tokenizer, ask="Be brief.", group="kind", longest=40)
    assert [one.text for one in found.prompts] == ["Say\n{hello}.\nBe brief.", "Well?\nBe brief."]
    assert found.dropped == {"empty": 1, "duplicate": 1, "special tokens": 1, "too long": 1}


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("body\nhello\n", {}, ("body", "text")),
        ("text\nhello\n", {"text": "prompt"}, ("no column 'prompt'",)),
        ("text\n<|im_end|>\n", {}, ("1 special tokens",)),
        ("text,text\na,b\n", {}, ("names a column twice",)),
    ],
)
def test_what_holds_no_prompt_is_refused_in_words(
    tmp_path: Path, tiny: LoadedModel, content: str, options: dict[str, str], words: tuple[str, ...]
) -> None:
    path = tmp_path / "set.csv"
    path.write_text(content)
    with pytest.raises(LabelsError) as refused:
        read_prompts(path, tiny.tokenizer, **options)  # type: ignore[arg-type]
    assert all(word in str(refused.value) for word in words)


def made(sizes: list[int]) -> list[Prompt]:
    return [Prompt(f"{group} {i}", f"g{group}") for group, size in enumerate(sizes) for i in range(size)]


@pytest.mark.parametrize("seed", range(3))
def test_no_group_is_in_both_parts_and_large_groups_leave_room_for_others(seed: int) -> None:
    prompts = made([200, 150, 90, 60, 30, 20, 12, 8, 300, 100])
    fit, judged = parted(prompts, 40, 40, seed)
    groups = [{prompts[i].group for i in part} for part in (fit, judged)]
    assert not groups[0] & groups[1]
    assert len(fit) == len(set(fit)) == len(judged) == len(set(judged)) == 40
    assert min(map(len, groups)) >= 3
    assert parted(prompts, 40, 40, seed) == (fit, judged)
    assert parted(prompts, 40, 40, seed + 10) != (fit, judged)


def test_parts_that_whole_groups_cannot_fill_are_refused_with_what_there_is() -> None:
    with pytest.raises(LabelsError, match="Ask for at most 30 and 30"):
        parted(made([30, 30]), 40, 20, 0)


def test_real_exams_are_read_whole(tiny: LoadedModel) -> None:
    if not (DATA / "mmlu").exists():
        pytest.skip(f"MMLU is not in {DATA}; set FIRSTHAND_DATA to run against it")
    found = read_prompts(DATA / "mmlu" / "test" / "world_religions_test.csv", tiny.tokenizer, longest=400)
    assert len(found.prompts) + sum(found.dropped.values()) == 171
    assert found.dropped.get("malformed", 0) == 0


def test_real_texts_in_json_are_read_by_their_column(tiny: LoadedModel) -> None:
    path = DATA / "counterfact" / "known_1000.json"
    if not path.exists():
        pytest.skip(f"CounterFact is not in {DATA}; set FIRSTHAND_DATA to run against it")
    found = read_prompts(path, tiny.tokenizer, ask="")
    assert len(found.prompts) > 1000
    assert all(one.text for one in found.prompts)
