"""What rows share is computed once, down to where something is done to one of them."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from plain_families import HIDDEN

from firsthand.engine import Anatomy, Capture, Edit, Row, resid_post, tree
from firsthand.engine.tree import Leaf, shareable_length, together, walk

ONE = torch.ones(HIDDEN)
TRUNK = tuple(range(3, 23))


def edit(position: int) -> Edit:
    return Edit(resid_post(1), (position,), ONE)


def grow(anatomy: Anatomy, rows: Sequence[Row], least: int) -> list[Leaf]:
    return [leaf for leaves in walk(anatomy, rows, least) for leaf in leaves]


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Tokens of each row of every prefix that is computed."""
    seen: list[list[int]] = []
    own = tree.run_prefix

    def counted(anatomy: Anatomy, rows: Sequence[Row], **options: Any) -> Any:
        seen.append([len(row.tokens) for row in rows])
        return own(anatomy, rows, **options)

    monkeypatch.setattr(tree, "run_prefix", counted)
    return seen


def test_a_row_shares_up_to_where_it_is_first_edited_or_read_and_never_its_last_token() -> None:
    tokens = (5, 6, 7, 8, 9)
    assert shareable_length(Row(tokens)) == 4
    assert shareable_length(Row(tokens, (edit(2), edit(3)))) == 2
    assert shareable_length(Row(tokens, captures=(Capture("x", resid_post(0), (3, 1)),))) == 1
    assert shareable_length(Row(tokens, read=(4, 3))) == 3
    assert shareable_length(Row(tokens, (edit(0),))) == 0


def test_a_trunk_is_computed_once_and_each_branch_once_more(anatomy: Anatomy, passes: list[list[int]]) -> None:
    left, right = tuple(range(30, 50)), tuple(range(50, 75))
    rows = [Row((*TRUNK, *side, 80 + i)) for side in (left, right) for i in range(3)]
    leaves = {leaf.row: leaf for leaf in grow(anatomy, rows, 16)}
    assert passes == [[20], [20, 25]]
    assert [leaves[i].start for i in range(6)] == [40, 40, 40, 45, 45, 45]
    for i, row in enumerate(rows):
        assert leaves[i].prefix.rows[leaves[i].home].tokens == row.tokens[: leaves[i].start]


def test_what_would_save_too_few_tokens_is_left_to_the_rows(anatomy: Anatomy, passes: list[list[int]]) -> None:
    rows = [Row((*TRUNK, 30 + i)) for i in range(3)]
    # Twenty tokens that three rows share are run once instead of three times.
    assert [leaf.start for leaf in grow(anatomy, rows, 41)] == [0, 0, 0]
    assert passes == []
    assert [leaf.start for leaf in grow(anatomy, rows, 40)] == [20, 20, 20]
    assert passes == [[20]]


def test_a_beginning_too_short_by_itself_does_not_keep_its_branches_from_sharing(
    anatomy: Anatomy, passes: list[list[int]]
) -> None:
    rows = [Row((5, side, *TRUNK, 70 + i)) for side in (6, 7) for i in range(2)]
    assert [leaf.start for leaf in grow(anatomy, rows, 16)] == [22] * 4
    assert passes == [[22, 22]]


def test_an_edited_row_shares_what_lies_before_its_edit_only(anatomy: Anatomy, passes: list[list[int]]) -> None:
    tokens = (*TRUNK, *range(30, 50))
    rows = [Row(tokens, (edit(20),)), Row(tokens, (edit(39),)), Row((*tokens, 51))]
    leaves = {leaf.row: leaf for leaf in grow(anatomy, rows, 4)}
    assert leaves[0].start == 20
    assert leaves[1].start == leaves[2].start == 39
    assert passes == [[20], [19]]


@pytest.mark.parametrize(("budget", "expected"), [(85, [[20], [20, 25]]), (84, [[20], [20], [25]])])
def test_no_more_keys_and_values_are_kept_at_one_time_than_memory_allows(
    anatomy: Anatomy, passes: list[list[int]], monkeypatch: pytest.MonkeyPatch, budget: int, expected: list[list[int]]
) -> None:
    monkeypatch.setattr(tree, "slots_at_once", lambda _: budget)
    rows = [Row((*TRUNK, *range(side, side + 20 + n), 80 + i)) for n, side in ((0, 30), (5, 50)) for i in range(3)]
    leaves = {leaf.row: leaf for leaf in grow(anatomy, rows, 16)}
    assert passes == expected
    for i, row in enumerate(rows):
        assert leaves[i].prefix.rows[leaves[i].home].tokens == row.tokens[:-1]


def test_a_row_alone_is_run_whole(anatomy: Anatomy, passes: list[list[int]]) -> None:
    (leaf,) = grow(anatomy, [Row(TRUNK)], 1)
    assert (leaf.prefix, leaf.start) == (None, 0)
    assert passes == []


@given(
    st.lists(st.lists(st.integers(3, 5), min_size=1, max_size=6).map(tuple), min_size=1, max_size=8), st.integers(1, 4)
)
def test_every_row_becomes_one_leaf_that_continues_its_own_beginning(
    anatomy: Anatomy, sequences: list[tuple[int, ...]], least: int
) -> None:
    rows = [Row(tokens) for tokens in sequences]
    leaves = grow(anatomy, rows, least)
    assert sorted(leaf.row for leaf in leaves) == list(range(len(rows)))
    for leaf in leaves:
        tokens = rows[leaf.row].tokens
        assert leaf.start < len(tokens)
        if leaf.prefix is not None:
            assert leaf.prefix.rows[leaf.home].tokens == tokens[: leaf.start]


def test_grouping_keeps_the_order_of_appearance() -> None:
    assert together([3, 1, 4, 1, 5], lambda x: x % 2) == [[3, 1, 1, 5], [4]]
