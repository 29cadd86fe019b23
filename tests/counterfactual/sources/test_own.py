"""Prompts that were written are read as they were."""

from collections.abc import Callable
from pathlib import Path

from firsthand.counterfactual.prompts import Prompt, Tool, ToolCall, Turn
from firsthand.counterfactual.sources.own import read

from .conftest import prompts, refusals


def test_a_prompt_is_read_as_it_was_written(tmp_path: Path) -> None:
    call = Turn(role="assistant", content="", calls=(ToolCall(id="1", name="look", arguments={"at": [1, None]}),))
    prompt = Prompt(
        turns=(Turn(role="user", content="a\u2028b"), call, Turn(role="tool", content="x", answers="1")),
        tools=(Tool(name="look"),),
        source="set",
        place="line 4",
        cluster="task 1",
    )
    path = tmp_path / "prompts.jsonl"
    path.write_text(prompt.model_dump_json() + "\n" + prompt.model_dump_json(exclude_defaults=True) + "\n")
    assert list(read(path)) == [prompt, prompt]


def test_where_it_stands_is_filled_in_where_it_is_not_known(written: Callable[..., Path]) -> None:
    [found] = prompts(list(read(written({"turns": [{"role": "user", "content": "a"}]}))))
    assert (found.source, found.place, found.cluster) == ("set.jsonl", "line 1", "set.jsonl: line 1")


def test_what_is_no_prompt_is_refused(written: Callable[..., Path]) -> None:
    found = list(read(written({"turns": []}, {"turns": [{"role": "assistant", "content": "a"}]}, {"x": 1}, _odd())))
    assert [reason for _, reason in refusals(found)] == ["a record that is no prompt"] * 4


def _odd() -> dict[str, object]:
    """A prompt of which no name can be made."""
    return {
        "turns": [{"role": "user", "content": "a"}],
        "tools": [{"name": "look", "parameters": {"title": "\ud83d"}}],
    }
