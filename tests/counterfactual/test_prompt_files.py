"""Prompts and behaviours of one's own are read as they are written, or refused with line and reason."""

from pathlib import Path

import pytest

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.demo_prompts import DEMO
from firsthand.counterfactual.prompt_files import read_behaviours, read_prompts
from firsthand.errors import CounterfactualError


def test_a_text_messages_and_a_whole_prompt_are_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    lines = [
        '{"prompt": "Hé\u2028 there"}',
        "",
        '{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}',
        DEMO[1].model_dump_json(),
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    one, two, three = read_prompts(path)
    assert one.user_text == "Hé\u2028 there"
    assert "mine.jsonl" in one.place or one.source == "mine.jsonl"
    assert [(turn.role, turn.content) for turn in two.turns] == [("system", "s"), ("user", "u")]
    assert three.id == DEMO[1].id


@pytest.mark.parametrize(
    "line",
    ["{", "[]", "{}", '{"messages": [{"role": "user"}]}', '{"messages": [{"role": "assistant", "content": "a"}]}', "3"],
)
def test_a_line_that_holds_no_prompt_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"prompt": "a"}\n' + line)
    with pytest.raises(CounterfactualError, match="holds no prompt"):
        read_prompts(path)


def test_an_empty_or_missing_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(CounterfactualError, match="no format that is recognised"):
        read_prompts(tmp_path / "empty.jsonl")
    with pytest.raises(CounterfactualError, match=r"absent\.jsonl"):
        read_prompts(tmp_path / "absent.jsonl")


def test_behaviours_are_read_from_yaml_and_others_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("- {kind: pattern, question: 'Does it hum?', pattern: hm, flags: i}\n")
    assert read_behaviours(path) == [Pattern(question="Does it hum?", pattern="hm", flags="i")]
    for wrong in ("- {kind: pattern, question: a, pattern: '('}", "a: b", "- {kind: mood}", "[", ""):
        path.write_text(wrong)
        with pytest.raises(CounterfactualError, match="no list of behaviours"):
            read_behaviours(path)


def test_there_are_forty_prompts_of_ours_each_once() -> None:
    assert len(DEMO) == len({prompt.id for prompt in DEMO}) == 40
    assert len({prompt.cluster for prompt in DEMO}) == 40
    assert all(60 <= prompt.characters <= 400 for prompt in DEMO)
