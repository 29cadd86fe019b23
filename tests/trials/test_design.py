"""Blocks are balanced, and the hidden assignment hangs on the frozen public evidence and on nothing else."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from firsthand.trials.design import assign_kinds, plan_block
from firsthand.vocabulary import Kind, Subset

SEEDS, INDICES, SUBSETS = st.integers(0, 10**6), st.integers(0, 10**4), st.sampled_from(Subset)
HASHES = st.text("0123456789abcdef", min_size=64, max_size=64)
KINDS = st.lists(st.sampled_from(Kind), min_size=1, unique=True).map(tuple)


@given(SEEDS, SUBSETS, INDICES, KINDS)
def test_pre_states_are_balanced(seed: int, subset: Subset, index: int, kinds: tuple[Kind, ...]) -> None:
    assert Counter(plan_block(seed, subset, index, kinds).pre_states) == {0: len(kinds), 1: len(kinds)}


@given(SEEDS, SUBSETS, INDICES, KINDS, HASHES)
def test_every_kind_meets_every_pre_state_once(
    seed: int, subset: Subset, index: int, kinds: tuple[Kind, ...], public_hash: str
) -> None:
    plan = plan_block(seed, subset, index, kinds)
    pairs = Counter(zip(assign_kinds(seed, plan, public_hash), plan.pre_states, strict=True))
    assert pairs == {(kind, state): 1 for kind in kinds for state in (0, 1)}


def test_this_block_never_changes() -> None:
    plan = plan_block(0, Subset.CONFIRMATION, 0)
    assert plan.pre_states == (0, 0, 0, 1, 1, 0, 0, 1, 1, 1)
    assert [str(kind) for kind in assign_kinds(0, plan, "0" * 64)] == [
        "impact_control", "target", "sham", "baseline", "target",
        "baseline", "input_control", "sham", "input_control", "impact_control",
    ]  # fmt: skip


def test_the_assignment_changes_with_the_public_hash() -> None:
    plan = plan_block(0, Subset.CONFIRMATION, 0)
    drawn = {assign_kinds(0, plan, f"{number:064x}") for number in range(200)}
    assert len(drawn) > 190  # of 14,400 assignments
    assert assign_kinds(0, plan, "ab") == assign_kinds(0, plan, "ab")


def test_the_assignment_does_not_change_with_the_pre_states_alone() -> None:
    """Only the hash, the seed and the place of the block are drawn from."""
    plan = plan_block(0, Subset.CONFIRMATION, 0)
    flipped = replace(plan, pre_states=tuple(1 - state for state in plan.pre_states))
    by_state = {
        state: [k for k, s in zip(assign_kinds(0, plan, "f"), plan.pre_states, strict=True) if s == state]
        for state in (0, 1)
    }
    again = {
        state: [k for k, s in zip(assign_kinds(0, flipped, "f"), flipped.pre_states, strict=True) if s == state]
        for state in (0, 1)
    }
    assert by_state == again


def test_no_slot_gives_a_kind_or_a_state_away() -> None:
    plans = [plan_block(7, Subset.CONFIRMATION, index) for index in range(2000)]
    kinds = [assign_kinds(7, plan, str(plan.index)) for plan in plans]
    for slot in range(10):
        assert abs(sum(plan.pre_states[slot] for plan in plans) - 1000) < 5 * 500**0.5
        assert abs(sum(drawn[slot] is Kind.TARGET for drawn in kinds) - 400) < 5 * 320**0.5


def test_names_are_unique_over_blocks_and_subsets() -> None:
    plans = [plan_block(0, subset, index) for subset in Subset for index in range(50)]
    assert len({plan.trial_id(slot) for plan in plans for slot in range(10)}) == 1000


def test_selection_and_confirmation_are_drawn_apart() -> None:
    orders = [plan_block(0, subset, index).pre_states for subset in Subset for index in range(20)]
    assert orders[:20] != orders[20:]
