"""Where the true cause stands among guesses."""

import pytest

from firsthand.counterfactual.predicting.judges.ranking import Case, guessing, rank_causes, read_guesses
from firsthand.errors import CounterfactualError

CASES = [Case("plover", "It names a plover.", "The prompt speaks of a shore."), Case("late", "It is late.", "Fog.")]
LIST = "1. A shore is named.\n2) The weather.\n3: Somebody asked."


def judge(*ranks: object) -> object:
    left = list(ranks)
    return lambda prompts: [f'{{"rank": {left.pop(0)}}}' for _ in prompts]


def test_ranks_add_up_to_reciprocals_and_tops_by_case() -> None:
    found = rank_causes(lambda p: [LIST] * len(p), judge(1, 3, 0, 2), CASES, samples=2)  # type: ignore[arg-type]
    assert found.reciprocal.value == pytest.approx((1 + 1 / 3 + 0 + 1 / 2) / 4)
    assert {k: one.value for k, one in found.top.items()} == {1: 0.25, 3: 0.75, 5: 0.75}
    assert (found.reciprocal.units, found.reciprocal.cluster, found.invalid, found.samples) == (2, "case", 0, 4)


def test_a_reply_that_is_no_list_and_a_rank_beyond_it_are_invalid_and_not_misses() -> None:
    replies = iter([LIST, "I would not know.", LIST, LIST])
    found = rank_causes(
        lambda prompts: [next(replies) for _ in prompts],
        judge(1, 4, 2),  # type: ignore[arg-type]
        CASES,
        samples=2,
    )
    assert [one.rank for one in found.ranked] == [1, None, None, 2]
    assert found.invalid == 2
    assert found.reciprocal.value == pytest.approx(0.75)


def test_only_the_first_guesses_count() -> None:
    assert len(read_guesses("\n".join(f"{n}. guess" for n in range(1, 9)), 5)) == 5
    assert read_guesses("2. second\n1. first") == []
    assert read_guesses("") == []


def test_whoever_guesses_is_not_told_the_cause() -> None:
    assert "shore" not in guessing(CASES[0])
    assert "plover" in guessing(CASES[0])


def test_cases_need_names_of_their_own() -> None:
    with pytest.raises(CounterfactualError):
        rank_causes(lambda p: p, lambda p: p, [CASES[0], CASES[0]])
