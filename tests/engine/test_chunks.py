"""Passes are as large as memory allows, and smaller where that was a mistake."""

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from plain_families import VOCABULARY

from firsthand.engine import Anatomy, chunks
from firsthand.engine.chunks import MOST_ON_CPU, chunked, halving, tokens_at_once
from firsthand.errors import EngineError


@given(st.lists(st.integers(1, 20)), st.integers(1, 30))
def test_chunks_keep_order_and_budget_and_none_could_take_the_next_item(sizes: list[int], budget: int) -> None:
    found = chunked(sizes, lambda size: size, budget)
    assert [size for chunk in found for size in chunk] == sizes
    for chunk, after in zip(found, [*found[1:], None], strict=False):
        assert sum(chunk) <= budget or len(chunk) == 1
        if after is not None:
            assert sum(chunk) + after[0] > budget


OUT_OF_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory"),
    MemoryError(),
    RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried to"),
    RuntimeError("MPS backend out of memory"),
]


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=repr)
def test_work_that_runs_out_of_memory_is_halved_until_it_fits(error: Exception) -> None:
    done: list[int] = []
    tried: list[int] = []

    def work(items: Sequence[int]) -> None:
        tried.append(len(items))
        if len(items) > 2:
            raise error
        done.extend(items)

    halving(range(10), work)
    assert done == list(range(10))
    assert tried == [10, 5, 2, 3, 1, 2, 5, 2, 3, 1, 2]


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=repr)
def test_a_single_row_that_does_not_fit_is_an_error_that_says_what_to_do(error: Exception) -> None:
    def work(_: Sequence[int]) -> None:
        raise error

    with pytest.raises(EngineError, match=r"single row.*shorter rows") as caught:
        halving([1, 2], work)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [RuntimeError("shapes do not match"), EngineError("no", "why")], ids=repr)
def test_any_other_error_is_passed_on_at_once(error: Exception) -> None:
    tried: list[int] = []

    def work(items: Sequence[int]) -> None:
        tried.append(len(items))
        raise error

    with pytest.raises(type(error)):
        halving([1, 2], work)
    assert tried == [2]


@pytest.mark.parametrize(
    ("free", "least", "most"), [(None, MOST_ON_CPU, MOST_ON_CPU), (1, 1, 1), (10**6, 10, 1000), (10**12, 2048, 2048)]
)
def test_a_pass_takes_at_most_what_is_useful_and_at_least_a_token(
    anatomy: Anatomy, monkeypatch: pytest.MonkeyPatch, free: int | None, least: int, most: int
) -> None:
    monkeypatch.setattr(chunks, "free_bytes", lambda _: free)
    assert least <= tokens_at_once(anatomy) <= most


def test_the_estimate_covers_at_least_a_tokens_logits(anatomy: Anatomy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "free_bytes", lambda _: 10**6)
    assert tokens_at_once(anatomy) * 4 * VOCABULARY < 10**6
