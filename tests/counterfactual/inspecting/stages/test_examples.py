"""The screener's examples: enough of them, five for each prompt, always the same, and a user's own with them."""

from pathlib import Path

import pytest

from firsthand.counterfactual.inspecting.stages.examples import drawn, pool, worded
from firsthand.errors import CounterfactualError


def test_the_pool_holds_at_least_forty_of_every_rating() -> None:
    examples = pool()
    assert len(examples) >= 40
    assert {one.rating for one in examples} == {1, 2, 3, 4, 5}
    assert len({one.prompt for one in examples}) == len(examples)


def test_from_three_on_an_example_has_a_classifier_question_and_below_it_has_none() -> None:
    assert all(bool(one.classifier) == (one.rating >= 3) for one in pool())


def test_five_are_drawn_for_a_prompt_and_others_for_another() -> None:
    examples = pool()
    first = drawn(examples, 0, "a")
    assert len(first) == 5
    assert first == drawn(examples, 0, "a")
    assert len({tuple(one.prompt for one in drawn(examples, 0, str(n))) for n in range(20)}) == 20
    assert first != drawn(examples, 1, "a")
    assert all(one.prompt.strip() in worded(one) for one in first)


def test_a_users_file_adds_to_the_pool(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("- {prompt: p, responses: r, rating: 4, reason: why, classifier: 'Is it?'}\n")
    assert len(pool(str(own))) == len(pool()) + 1


@pytest.mark.parametrize(
    "text", ["- {prompt: p}", "a: [", "just text", "- {prompt: p, responses: r, rating: 9, reason: w}"]
)
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, text: str) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(text)
    with pytest.raises(CounterfactualError):
        pool(str(own))
    with pytest.raises(CounterfactualError):
        pool(str(tmp_path / "missing.yaml"))
