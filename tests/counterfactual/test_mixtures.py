"""Limits and shares make sense, or are refused."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from firsthand.counterfactual.mixtures import LIMITS, Limits, Mixture, MixturePart, largest_total, limits_of, shares_out
from firsthand.counterfactual.sources import SOURCES
from firsthand.errors import CounterfactualError

SHARES = st.lists(st.integers(1, 50), min_size=1, max_size=5).map(lambda parts: [part / sum(parts) for part in parts])


def test_conversations_have_the_limits_of_the_paper_and_transcripts_a_cap_on_tokens() -> None:
    assert limits_of("wildchat") == Limits(min_characters=400, max_characters=8000, per_family=5, family_characters=100)
    assert (limits_of("petri").max_characters, limits_of("petri").max_tokens) == (None, 4096)
    assert limits_of("chat", {"max_characters": None, "per_family": 2}) == Limits(max_characters=None, per_family=2)
    assert set(LIMITS) <= set(SOURCES)


@pytest.mark.parametrize(
    "changes",
    [{"min_characters": 9000}, {"max_tokens": 0}, {"per_family": -1}, {"min_character": 1}, {"min_characters": None}],
)
def test_limits_that_exclude_each_other_or_are_none_are_refused(changes: dict[str, int | None]) -> None:
    with pytest.raises(CounterfactualError, match="These limits cannot be kept"):
        limits_of("chat", changes)


def part(share: float | None) -> MixturePart:
    return MixturePart(path=Path("a"), share=share)


@pytest.mark.parametrize("shares", [(0.5, None), (0.5, 0.4), (0.7, 0.4), ()])
def test_shares_are_for_all_parts_and_make_a_whole(shares: tuple[float | None, ...]) -> None:
    with pytest.raises(ValidationError):
        Mixture(parts=tuple(part(share) for share in shares))


def test_the_shares_of_the_paper_are_given_out() -> None:
    mixture = Mixture(parts=tuple(part(share) for share in (0.913, 0.052, 0.025, 0.010)))
    assert shares_out(5000, [one.share or 0 for one in mixture.parts]) == [4565, 260, 125, 50]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2000), SHARES)
def test_what_is_given_out_adds_up_and_is_off_by_less_than_one(total: int, shares: list[float]) -> None:
    given_out = shares_out(total, shares)
    assert sum(given_out) == total
    assert all(abs(got - total * share) < 1 + 1e-6 for got, share in zip(given_out, shares, strict=True))


@settings(max_examples=50, deadline=None)
@given(SHARES, st.data())
def test_the_largest_total_can_be_met_and_the_next_cannot(shares: list[float], data: st.DataObject) -> None:
    available = [data.draw(st.integers(0, 200)) for _ in shares]
    most = largest_total(available, shares)

    def is_met(total: int) -> bool:
        return all(need <= have for need, have in zip(shares_out(total, shares), available, strict=True))

    assert is_met(most)
    assert not any(is_met(total) for total in range(most + 1, most + 3 * len(shares) + 3))
