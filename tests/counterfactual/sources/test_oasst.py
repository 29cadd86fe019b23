"""Trees give the paths that end where the assistant would answer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firsthand.counterfactual.sources.oasst import read

from .conftest import prompts, refusals, spoken


def node(name: str, *replies: dict[str, Any], **more: Any) -> dict[str, Any]:
    role = "assistant" if name.startswith("a") else "prompter"
    return {"message_id": name, "text": f"says {name}", "role": role, "replies": list(replies), **more}


@pytest.fixture
def tree(written: Callable[..., Path]) -> Path:
    root = node("p1", node("a1", node("p2", node("a2")), node("p3")), node("a3", node("p4", node("a4", node("p5")))))
    return written({"message_tree_id": "t", "tree_state": "ready_for_export", "prompt": root})


def test_every_path_that_ends_in_a_prompter_s_message_is_a_prompt(tree: Path) -> None:
    found = prompts(list(read(tree)))
    assert [[text.removeprefix("says ") for _, text in spoken(one)] for one in found] == [
        ["p1"],
        ["p1", "a1", "p2"],
        ["p1", "a1", "p3"],
        ["p1", "a3", "p4"],
        ["p1", "a3", "p4", "a4", "p5"],
    ]
    assert [role for role, _ in spoken(found[1])] == ["user", "assistant", "user"]
    assert {one.cluster for one in found} == {"tree t"}
    assert found[1].place == "tree t, message p2"


def test_the_root_alone_may_be_wanted(tree: Path) -> None:
    assert [one.place for one in prompts(list(read(tree, paths="root")))] == ["tree t, message p1"]


def test_paths_with_a_deleted_message_are_refused(written: Callable[..., Path]) -> None:
    root = node("p1", node("a1", node("p2"), deleted=True), node("a2", node("p3")))
    found = list(read(written({"message_tree_id": "t", "prompt": root}, {"message_tree_id": "u"})))
    assert [one.place for one in prompts(found)] == ["tree t, message p1", "tree t, message p3"]
    assert refusals(found) == [
        ("tree t, message p2", "a path with a deleted message"),
        ("line 2", "a tree without a root"),
    ]


def test_a_deep_tree_is_no_trouble(written: Callable[..., Path]) -> None:
    root = node("p0")
    for n in range(1, 120):
        root = node(f"{'p' if n % 2 == 0 else 'a'}{n}", root)
    found = list(read(written({"message_tree_id": "t", "prompt": node("p", root)})))
    assert len(prompts(found)) == 61
