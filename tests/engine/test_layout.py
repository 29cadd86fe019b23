"""Every token of every row has one place in a pass, and a position finds it."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firsthand.engine import Row
from firsthand.engine.layout import Layout

rows_of = st.lists(
    st.tuples(st.lists(st.integers(0, 96), min_size=1, max_size=6), st.integers(0, 9)), min_size=1, max_size=5
)


def layout_of(rows: list[tuple[list[int], int]], *, packed: bool) -> Layout:
    return Layout.of([Row(tuple(tokens)) for tokens, _ in rows], [start for _, start in rows], packed=packed)


@pytest.mark.parametrize("packed", [False, True])
@given(rows=rows_of)
def test_a_position_finds_its_own_rows_token(rows: list[tuple[list[int], int]], packed: bool) -> None:
    layout = layout_of(rows, packed=packed)
    assert tuple(layout.tokens.shape) == layout.shape
    flat, places = layout.tokens.flatten(), []
    for number, (tokens, start) in enumerate(rows):
        for index, token in enumerate(tokens):
            places.append(layout.place(number, start + index))
            assert int(flat[places[-1]]) == token
    assert len(set(places)) == len(places)


@given(rows=rows_of)
def test_packed_rows_lie_one_behind_the_other_without_padding(rows: list[tuple[list[int], int]]) -> None:
    layout = layout_of(rows, packed=True)
    assert layout.tokens[0].tolist() == [token for tokens, _ in rows for token in tokens]
    expected = [start + i for tokens, start in rows for i in range(len(tokens))]
    assert layout.positions.tolist() == expected
    flat = layout.tokens[0]
    for number, (tokens, _) in enumerate(rows):
        inside = layout.inside[number]
        assert flat[layout.rectangle[number][inside]].tolist() == tokens
        assert int(inside.sum()) == len(tokens)
    assert layout.even is (len({len(tokens) for tokens, _ in rows}) == 1)


def test_padding_is_on_the_right_and_repeats_a_token_that_is_known() -> None:
    layout = layout_of([([5, 6, 7], 0), ([8], 0)], packed=False)
    assert torch.equal(layout.tokens, torch.tensor([[5, 6, 7], [8, 8, 8]]))
