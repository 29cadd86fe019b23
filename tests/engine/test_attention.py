"""Attention over a shared prefix is that of each row alone, and leaves nothing behind."""

from collections.abc import Callable, Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_families import SHARED, tiny_model
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.masking_utils import (
    causal_mask_function,
    chunked_causal_mask_function,
    sliding_window_causal_mask_function,
)

from firsthand.engine import Row, inspect_model, run
from firsthand.engine.attention import NAME, Memory, SharedPass, Tail, shared_attention
from firsthand.engine.layout import Layout
from firsthand.errors import EngineError

HEADS, GROUPS, WIDTH = 4, 2, 8
CPU = torch.device("cpu")
MASKS: dict[str, tuple[Callable[..., Tensor], Callable[[int, int], bool]]] = {
    "causal": (causal_mask_function, lambda q, k: k <= q),
    "window": (sliding_window_causal_mask_function(3), lambda q, k: k <= q and q - k < 3),
    "chunked": (
        chunked_causal_mask_function(4, torch.zeros(1, dtype=torch.long)),
        lambda q, k: k <= q and q // 4 == k // 4,
    ),
}


class Heads:
    """Queries, keys and values of whole rows, and what each token of a row must get."""

    def __init__(self, lengths: Sequence[int], seed: int) -> None:
        draw = torch.Generator().manual_seed(seed)

        def some(heads: int) -> list[Tensor]:
            return [torch.randn(heads, length, WIDTH, generator=draw) for length in lengths]

        self.query, self.key, self.value = some(HEADS), some(GROUPS), some(GROUPS)

    def expected(
        self, row: int, sees: Callable[[int, int], bool], softcap: float | None, sink_H: Tensor | None
    ) -> Tensor:
        """By the textbook, ``[heads, tokens, width]`` in float64."""
        query, key, value = (x[row].double() for x in (self.query, self.key, self.value))
        key, value = (x.repeat_interleave(HEADS // GROUPS, 0) for x in (key, value))
        scores = query @ key.transpose(1, 2) * 0.3
        if softcap is not None:
            scores = softcap * torch.tanh(scores / softcap)
        length = query.shape[1]
        seen = torch.tensor([[sees(q, k) for k in range(length)] for q in range(length)])
        scores = scores.masked_fill(~seen, -torch.inf)
        if sink_H is not None:
            scores = torch.cat([scores, sink_H.double()[:, None, None].expand(-1, length, 1)], -1)
        return scores.softmax(-1)[..., :length] @ value

    def part(self, rows: Sequence[int], spans: Sequence[slice]) -> tuple[Tensor, Tensor, Tensor]:
        """Some spans of some rows, packed."""
        return tuple(  # type: ignore[return-value]
            torch.cat([x[row][:, span] for row, span in zip(rows, spans, strict=True)], 1)
            for x in (self.query, self.key, self.value)
        )


def layout_of(lengths: Sequence[int], starts: Sequence[int]) -> Layout:
    return Layout(tuple((5,) * n for n in lengths), tuple(starts), packed=True)


def attended(
    state: SharedPass,
    module: nn.Module,
    parts: tuple[Tensor, Tensor, Tensor],
    mask: Callable[..., Tensor],
    softcap: float | None = None,
    sink_H: Tensor | None = None,
) -> Tensor:
    handle = state.mask(mask, CPU)
    return state.attention(module, *parts, handle, 0.3, softcap, sink_H).transpose(0, 1)


@given(
    begins=st.lists(st.integers(1, 7), min_size=1, max_size=3),
    homes=st.lists(st.integers(0, 2), min_size=1, max_size=4).map(sorted),
    ends=st.lists(st.integers(1, 5), min_size=4, max_size=4),
    mask=st.sampled_from(list(MASKS)),
    softcap=st.sampled_from([None, 1.5]),
    sink=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_packed_rows_on_any_prefixes_attend_as_each_row_alone(
    begins: list[int], homes: list[int], ends: list[int], mask: str, softcap: float | None, sink: bool, seed: int
) -> None:
    homes = sorted(home % len(begins) for home in homes)
    ends = ends[: len(homes)]
    heads = Heads([begins[home] + end for home, end in zip(homes, ends, strict=True)], seed)
    for number, home in enumerate(homes):  # rows of one home begin alike
        for x in (heads.query, heads.key, heads.value):
            x[number][:, : begins[home]] = x[homes.index(home)][:, : begins[home]]
    function, sees = MASKS[mask]
    sink_H = torch.linspace(-1, 1, HEADS) if sink else None
    module = nn.Identity()

    used = sorted(set(homes))
    first = SharedPass(layout_of([begins[h] for h in used], [0] * len(used)), record=True)
    owners = [homes.index(home) for home in used]
    attended(first, module, heads.part(owners, [slice(0, begins[h]) for h in used]), function)
    rows = tuple(used.index(home) for home in homes)
    layout = layout_of(ends, [begins[h] for h in homes])
    state = SharedPass(layout, first.memory(), rows if len(used) > 1 else None)
    spans = [slice(begins[h], None) for h in homes]
    out = attended(state, module, heads.part(range(len(homes)), spans), function, softcap, sink_H)

    for number, (home, part) in enumerate(zip(homes, out.split(ends, 1), strict=True)):
        expected = heads.expected(number, sees, softcap, sink_H)[:, begins[home] :]
        assert float((part - expected).abs().max()) < 1e-5


@pytest.mark.parametrize("mask", MASKS)
def test_rows_that_grow_token_by_token_attend_as_each_row_whole(mask: str) -> None:
    function, sees = MASKS[mask]
    module, ends = nn.Identity(), [3, 1, 4]
    heads = Heads([5 + end + 4 for end in ends], seed=1)
    for x in (heads.query, heads.key, heads.value):
        for row in x:
            row[:, :5] = x[0][:, :5]
    first = SharedPass(layout_of([5], [0]), record=True)
    attended(first, module, heads.part([0], [slice(0, 5)]), function)
    begun = SharedPass(layout_of(ends, [5, 5, 5]), first.memory(), record=True)
    attended(begun, module, heads.part([0, 1, 2], [slice(5, 5 + end) for end in ends]), function)
    tail, alive = Tail(begun.memory()), [0, 1, 2]
    for step in range(4):
        if step == 2:
            tail.keep(torch.tensor([0, 2]))
            alive = [0, 2]
        at = [5 + ends[row] + step for row in alive]
        state = SharedPass(layout_of([1] * len(alive), at), first.memory(), tail=tail)
        out = attended(state, module, heads.part(alive, [slice(p, p + 1) for p in at]), function)
        for column, (row, position) in enumerate(zip(alive, at, strict=True)):
            expected = heads.expected(row, sees, None, None)[:, position]
            assert float((out[:, column] - expected).abs().max()) < 1e-5


def memory(rows: int, slots: int, module: nn.Module) -> Memory:
    keys = torch.randn(rows, GROUPS, slots, WIDTH)
    return Memory({module: (keys, keys + 1)}, torch.arange(slots).expand(rows, slots))


def test_a_memory_is_copied_when_it_is_selected_from_or_continued() -> None:
    module = nn.Identity()
    first = memory(3, 4, module)
    some = first.select(torch.tensor([2, 0]))
    longer = some.followed_by(memory(2, 1, module))
    assert torch.equal(longer.layers[module][0][:, :, :4], first.layers[module][0][[2, 0]])
    assert longer.positions_BP.tolist() == [[0, 1, 2, 3, 0]] * 2
    before = first.layers[module][0].clone()
    longer.layers[module][0].zero_()
    some.layers[module][0].zero_()
    assert torch.equal(first.layers[module][0], before)


def test_a_growing_tail_never_writes_to_the_memory_that_it_began_with() -> None:
    module = nn.Identity()
    begun = memory(2, 3, module)
    before = begun.layers[module][0].clone()
    tail = Tail(begun)
    for _ in range(9):
        keys, values = tail.extend(module, torch.zeros(2, GROUPS, 1, WIDTH), torch.zeros(2, GROUPS, 1, WIDTH))
    assert keys.shape == values.shape == (2, GROUPS, 12, WIDTH)
    assert torch.equal(keys[:, :, :3], before)
    assert not keys[:, :, 3:].any()
    assert torch.equal(begun.layers[module][0], before)


def test_rows_of_a_prefix_without_the_prefix_are_refused() -> None:
    with pytest.raises(EngineError, match="no prefix was given"):
        SharedPass(layout_of([1], [0]), prefix_rows=(0,))


def test_attention_with_a_mask_that_the_model_changed_is_refused() -> None:
    state = SharedPass(layout_of([2], [0]))
    parts = Heads([2], 0).part([0], [slice(None)])
    handle = state.mask(causal_mask_function, CPU)
    for other in (None, handle.expand(1, 1, 2, 1), torch.ones(1, 1, 1, 2, dtype=torch.bool)):
        with pytest.raises(EngineError, match="changes the attention mask"):
            state.attention(nn.Identity(), *parts, other, 0.3, None, None)


def implementations(model: PreTrainedModel) -> list[str]:
    return [m.config._attn_implementation for m in model.modules() if hasattr(m, "config")]


@pytest.mark.parametrize("family", ["llama", "gemma3 with its vision tower"])
def test_the_models_own_attention_is_put_back_even_after_an_exception(family: str) -> None:
    model = SHARED[family].build()
    model.set_attn_implementation("eager")
    before = implementations(model)
    run(inspect_model(model), [Row((5, 6, 7)), Row((5, 6, 8))], path="shared")
    assert implementations(model) == before
    state = SharedPass(layout_of([1], [0]))

    def fail() -> None:
        with shared_attention(model, state):
            assert NAME in implementations(model)
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        fail()
    assert implementations(model) == before


def test_shared_attention_outside_a_run_is_refused() -> None:
    model = tiny_model("llama", {})
    model.config._attn_implementation = NAME
    with pytest.raises(EngineError, match="outside a run"):
        model(input_ids=torch.tensor([[5, 6]]))
