"""Tools are found by what is written for them, one function is enough for a new one, and what is wrong is said."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tiny_tools import write_autoencoder

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.plugged import View
from firsthand.counterfactual.tools.registry import open_tool, open_tools
from firsthand.counterfactual.tools.subject import Subject
from firsthand.errors import CounterfactualError


def lengths(view: View, positions: Sequence[int], ask: str) -> list[str]:
    """Tells how many characters each token has."""
    return [str(len(view.texts[position])) for position in positions]


def whole(view: View, positions: Sequence[int], ask: str) -> list[str]:
    """Repeats what is asked."""
    return [ask, f"{len(positions)} tokens of {len(view.tokens)}"]


whole.takes = "segment"  # type: ignore[attr-defined]


def nameless(view: View, positions: Sequence[int], ask: str) -> list[str]:
    return []


def short(view: View, positions: Sequence[int], ask: str) -> list[str]:
    """Says too little."""
    return []


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "own_tools", sys.modules[__name__])


def test_one_function_is_a_tool(subject: Subject, question: Question) -> None:
    tool = open_tool("own_tools:lengths", subject)
    assert (tool.name, tool.description, tool.takes) == (
        "lengths",
        "Tells how many characters each token has.",
        "positions",
    )
    texts = subject.transcript(question).texts
    assert [one.text for one in tool.read(question, (3, 8), "")] == [str(len(texts[3])), str(len(texts[8]))]


def test_one_function_may_be_asked_about_a_segment(subject: Subject, question: Question) -> None:
    tool = open_tool("own_tools:whole", subject)
    assert tool.takes == "segment"
    found = tool.read(question, (3, 4, 5), "why?")
    assert [one.text for one in found] == ["why?", f"3 tokens of {len(subject.transcript(question).tokens)}"]
    assert found[0].token == subject.transcript(question).text(3, 5)


def test_functions_that_are_no_tools_are_refused(subject: Subject, question: Question) -> None:
    with pytest.raises(CounterfactualError, match="name and docstring"):
        open_tool("own_tools:nameless", subject)
    with pytest.raises(CounterfactualError, match="0 results for 2 tokens"):
        open_tool("own_tools:short", subject).read(question, (1, 2), "")
    for written in ("own_tools:nothing", "no_such_module:x"):
        with pytest.raises(CounterfactualError, match="cannot be imported"):
            open_tool(written, subject)


def test_names_and_folders(subject: Subject, tmp_path: Path) -> None:
    folder = write_autoencoder(tmp_path / "sae")
    labels = tmp_path / "own.csv"
    labels.write_text("feature,label\n2,fruit\n")
    tools = open_tools([f"sae:{folder},labels={labels}", "logit-lens"], subject)
    assert [one.name for one in tools] == ["features", "logit_lens"]
    assert open_tool(f"sae:{folder}", subject).identity != tools[0].identity


@pytest.mark.parametrize("written", ["sae", "logit-lens:x", "steering", "sae:./nowhere", "oracle:./nowhere", "nla:./x"])
def test_what_there_is_not_is_refused(subject: Subject, written: str) -> None:
    with pytest.raises(CounterfactualError):
        open_tool(written, subject)


def test_two_tools_of_one_name_are_refused(subject: Subject, tmp_path: Path) -> None:
    folder = write_autoencoder(tmp_path)
    with pytest.raises(CounterfactualError, match="'features'"):
        open_tools([f"sae:{folder}", f"sae:{folder}"], subject)
