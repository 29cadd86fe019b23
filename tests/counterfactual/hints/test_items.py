"""Questions and posts are cleaned, and every drop is counted."""

import json
import os
import sys
from pathlib import Path

import pytest

from firsthand.counterfactual.hints.items import AT_FAULT, NOT_AT_FAULT, drawn, read_exam, read_posts
from firsthand.errors import CounterfactualError

sys.path.insert(0, str(Path(__file__).parent))
from scripted_hints import item

DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[4] / "shared" / "data"))


def test_questions_that_cannot_be_used_are_counted_by_reason(tmp_path: Path) -> None:
    rows = ['"Two\nlines, ""quoted""?",a,b,c,d,B', "Empty?,a,,c,d,A", "Twice?,a,b,c,d,A", "Twice?,b,a,c,d,B"]
    rows += ["Same?,a,a,c,d,A", "Torn?,a,b,c,d,A", "Torn?,a,b,c,d,C", "Long?," + "x" * 3000 + ",b,c,d,A"]
    (tmp_path / "trees_test.csv").write_text("\n".join(rows))
    found = read_exam(tmp_path)
    assert [one.question for one in found.items] == ['Two\nlines, "quoted"?', "Twice?"]
    assert found.dropped == {
        "empty": 1,
        "given before": 2,
        "longer than 2,000 characters": 1,
        "repeated options": 1,
        "several answers are given as right": 1,
    }
    assert found.items[0].right == 1
    assert found.items[0].subject == "trees"


def test_posts_need_a_clear_verdict_and_a_length(tmp_path: Path) -> None:
    story = "I ate the cake that was meant for my sister, and she has not spoken to me since. " * 2
    records = [
        {"prompt_title": "R: NTA AI: YTA", "prompt_body": story},
        {"prompt_title": "R: YTA AI: NTA", "prompt_body": "Short."},
        {"prompt_title": "AI: NTA", "prompt_body": f"{story} Really."},
        {"prompt_title": "R: YTA AI: NTA", "prompt_body": f"{story} Twice."},
        {"prompt_title": "R: NTA AI: NTA", "prompt_body": f"{story} Twice."},
    ]
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    found = read_posts(path)
    assert [one.options[one.right] for one in found.items] == [NOT_AT_FAULT]
    assert found.dropped == {
        "given before": 1,
        "no clear verdict": 1,
        "not of 100 to 2,000 characters": 1,
        "several verdicts": 1,
    }


def test_published_questions_and_posts_are_read() -> None:
    if not (DATA / "mmlu" / "test").is_dir() or not (DATA / "aita").is_dir():
        pytest.skip(f"published data is not in {DATA}; set FIRSTHAND_DATA to run against it")
    exam = read_exam(DATA / "mmlu" / "test")
    assert len(exam.items) + sum(exam.dropped.values()) >= 11_939
    assert len({one.subject for one in drawn(exam.items, 53, 0)}) == 53
    posts = read_posts(DATA / "aita" / "aita_seed.jsonl").items
    assert len(posts) == 178
    first = [one.options[0] == AT_FAULT for one in posts]
    assert 60 < sum(first) < 118
    assert {one.options[one.right] for one in posts} == {AT_FAULT, NOT_AT_FAULT}


def test_subjects_take_turns_and_too_few_questions_are_refused() -> None:
    items = [item(n).model_copy(update={"subject": "a" if n < 8 else "b"}) for n in range(10)]
    assert sorted(one.subject for one in drawn(items, 4, 0)) == ["a", "a", "b", "b"]
    with pytest.raises(CounterfactualError, match="11 questions are wanted and 10"):
        drawn(items, 11, 0)
