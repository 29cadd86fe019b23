"""Prefixes and rows that continue them: exact, reusable, and nothing left behind."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from peft import LoraConfig, get_peft_model
from plain_families import DEPTH, HIDDEN, VOCABULARY, tiny_model
from plain_rows import assert_read, assert_told, told_by_the_twin
from plain_run import plain_twin
from torch import Tensor, nn
from transformers import PreTrainedModel

from firsthand.engine import (
    Anatomy,
    Capture,
    Edit,
    Prefix,
    Row,
    Timing,
    inspect_model,
    resid_mid,
    resid_post,
    resid_pre,
    run,
    run_prefix,
    run_rows,
)
from firsthand.engine.sharing import can_share
from firsthand.errors import EngineError

MODEL = tiny_model("llama", {})
ANATOMY = inspect_model(MODEL)
TWIN = plain_twin(MODEL, "model.layers", "self_attn")
ROWS = [Row((5, 6, 7)), Row((8, 9, 10))]


def direction(seed: int) -> Tensor:
    return torch.randn(HIDDEN, generator=torch.Generator().manual_seed(seed))


def edit(site: int, position: int, seed: int = 0) -> Edit:
    return Edit(resid_post(site), (position,), direction(seed))


tokens_of = st.integers(3, VOCABULARY - 1)
sites_of = st.sampled_from([f(layer) for layer in range(DEPTH) for f in (resid_pre, resid_mid, resid_post)])


@st.composite
def split_rows(draw: st.DrawFn) -> tuple[list[Row], list[Row], list[int]]:
    """Rows of a prefix, rows that continue them, and which continues which; edits and readings on both sides."""

    def row(start: int) -> Row:
        tokens = tuple(draw(st.lists(tokens_of, min_size=1, max_size=6)))
        places = st.integers(start, start + len(tokens) - 1)
        several = st.lists(places, unique=True, min_size=1, max_size=3).map(tuple)
        edits = draw(
            st.lists(
                st.builds(
                    Edit,
                    sites_of,
                    several,
                    st.integers(0, 9).map(direction),
                    strength=st.floats(-3, 3, width=32),
                ),
                max_size=2,
            )
        )
        captures = [Capture(f"{n}", draw(sites_of), draw(several)) for n in range(draw(st.integers(0, 2)))]
        return Row(tokens, tuple(edits), tuple(captures))

    begun = [row(0) for _ in range(draw(st.integers(1, 3)))]
    homes = draw(st.lists(st.integers(0, len(begun) - 1), min_size=1, max_size=4))
    return begun, [row(len(begun[home].tokens)) for home in homes], homes


@given(split_rows())
@settings(max_examples=40, deadline=None)
def test_any_split_of_any_edited_rows_equals_the_plain_twin(case: tuple[list[Row], list[Row], list[int]]) -> None:
    begun, rows, homes = case
    prefix, readings = run_prefix(ANATOMY, begun)
    for row, found in zip(begun, readings, strict=True):
        assert_read(found, told_by_the_twin(TWIN, row)[1])
    output = run_rows(ANATOMY, rows, prefix=prefix, prefix_rows=homes)
    whole = [
        replace(row, tokens=(*begun[h].tokens, *row.tokens), edits=(*begun[h].edits, *row.edits))
        for h, row in zip(homes, rows, strict=True)
    ]
    assert_told(output, [told_by_the_twin(TWIN, row) for row in whole])


def test_a_prefix_of_a_prefix_continues_and_reads_each_its_own_row_in_any_order() -> None:
    capture = (Capture("site", resid_post(1), (3,)),)
    first, _ = run_prefix(ANATOMY, [replace(ROWS[0], edits=(edit(0, 1),)), ROWS[1]])
    longer = [Row((11, 12), (edit(1, 3, seed),), capture) for seed in range(4)]
    homes = [1, 0, 1, 0]
    second, readings = run_prefix(ANATOMY, longer, prefix=first, prefix_rows=homes)
    whole = [
        Row((*ROWS[h].tokens, 11, 12, 13), ((edit(0, 1),) if h == 0 else ()) + row.edits, capture)
        for h, row in zip(homes, longer, strict=True)
    ]
    told = [told_by_the_twin(TWIN, row) for row in whole]
    for found, (_, expected) in zip(readings, told, strict=True):
        assert_read(found, expected)
    output = run_rows(ANATOMY, [Row((13,))] * 4, prefix=second)
    assert_told(output, [(logprobs_EV, {}) for logprobs_EV, _ in told])
    assert second.lengths == (5, 5, 5, 5)


def test_the_twin_that_everything_is_compared_with_reacts_to_its_edit() -> None:
    clean, _ = told_by_the_twin(TWIN, ROWS[0])
    edited, _ = told_by_the_twin(TWIN, replace(ROWS[0], edits=(edit(1, 0),)))
    assert float((clean - edited).abs().max()) > 0.01


def test_clean_after_edited_equals_fresh_clean() -> None:
    more = [Row((4,)), Row((4,))]
    fresh = run_rows(ANATOMY, more, prefix=run_prefix(ANATOMY, ROWS)[0])
    edited, _ = run_prefix(ANATOMY, [replace(row, edits=(edit(0, r),)) for r, row in enumerate(ROWS)])
    run_rows(ANATOMY, [replace(row, edits=(edit(2, 3, 1),)) for row in more], prefix=edited)
    clean = run_rows(ANATOMY, more, prefix=run_prefix(ANATOMY, ROWS)[0])
    assert torch.equal(fresh.logprobs_RV, clean.logprobs_RV)
    assert float((fresh.logprobs_RV - run_rows(ANATOMY, more, prefix=edited).logprobs_RV).abs().max()) > 0.01


def test_a_prefix_is_not_changed_by_being_used() -> None:
    prefix, _ = run_prefix(ANATOMY, ROWS)
    before = {module: (k.clone(), v.clone()) for module, (k, v) in prefix.memory.layers.items()}
    assert len(before) == DEPTH
    for homes in ([0, 0, 1, 1], [1], [1, 0]):
        rows = [Row((4, 5), (edit(0, 3, i),)) for i in range(len(homes))]
        run_rows(ANATOMY, rows, prefix=prefix, prefix_rows=homes)
        run_prefix(ANATOMY, rows, prefix=prefix, prefix_rows=homes)
    for module, (keys, values) in prefix.memory.layers.items():
        assert torch.equal(keys, before[module][0])
        assert torch.equal(values, before[module][1])
    assert prefix.lengths == (3, 3)


def test_a_sham_through_another_edit_of_the_same_value_is_the_same_to_the_bit() -> None:
    prefix, _ = run_prefix(ANATOMY, ROWS)
    capture = (Capture("end", resid_post(3), (4,)),)

    def runs(*edits: tuple[Edit, ...]) -> tuple[Tensor, list[Tensor]]:
        rows = [Row(tokens, e, capture) for tokens, e in zip(((4, 5), (6, 7)), edits, strict=True)]
        output = run_rows(ANATOMY, rows, prefix=prefix)
        return output.logprobs_RV, [found["end"] for found in output.captures]

    one = edit(1, 3)
    base = runs((one,), (one,))
    for again in (runs((one,), (edit(1, 3),)), runs((edit(1, 3),), (replace(one, timing=Timing.LIVE),))):
        assert torch.equal(base[0], again[0])
        assert all(torch.equal(a, b) for a, b in zip(base[1], again[1], strict=True))


def test_a_row_of_one_token_on_a_prefix_of_one_token_is_an_ordinary_row() -> None:
    prefix, _ = run_prefix(ANATOMY, [Row((5,))])
    output = run_rows(ANATOMY, [Row((6,), (edit(1, 1),))], prefix=prefix)
    assert_told(output, [told_by_the_twin(TWIN, Row((5, 6), (edit(1, 1),)))])


def test_a_row_in_a_mixed_batch_equals_the_row_alone() -> None:
    rows = [Row((5, 6, 7, 8, 9)), Row((10,)), Row((11, 12, 13))]
    together = run_rows(ANATOMY, rows).logprobs_RV
    for number, row in enumerate(rows):
        assert torch.allclose(together[number], run_rows(ANATOMY, [row]).logprobs_RV[0], atol=2e-5)


def test_rows_continue_the_rows_of_their_number_unless_told_otherwise() -> None:
    prefix, _ = run_prefix(ANATOMY, [Row((5, 6)), Row((7, 8))])
    rows = [Row((9,)), Row((9,))]
    implied = run_rows(ANATOMY, rows, prefix=prefix).logprobs_RV
    assert torch.equal(implied, run_rows(ANATOMY, rows, prefix=prefix, prefix_rows=[0, 1]).logprobs_RV)
    swapped = run_rows(ANATOMY, rows, prefix=prefix, prefix_rows=[1, 0]).logprobs_RV
    assert torch.equal(implied, swapped.flip(0))
    assert not torch.equal(implied[0], implied[1])


@pytest.mark.parametrize("with_prefix", [False, True])
def test_several_reads_of_a_row_come_in_the_order_asked_for_after_those_of_the_row_before(with_prefix: bool) -> None:
    rows = [Row((4, 5, 6, 7), read=(6, 3, 5)), Row((8, 9)), Row((4, 5), read=(3,))]
    homes = [1, 0, 0]
    whole = [replace(row, tokens=(*ROWS[h].tokens, *row.tokens)) for h, row in zip(homes, rows, strict=True)]
    told = [told_by_the_twin(TWIN, row) for row in whole]
    if with_prefix:
        output = run_rows(ANATOMY, rows, prefix=run_prefix(ANATOMY, ROWS)[0], prefix_rows=homes)
    else:
        output = run_rows(ANATOMY, whole)
    assert output.logprobs_RV.shape == (5, VOCABULARY)
    assert_told(output, told)


def test_results_are_ordinary_tensors_that_a_caller_may_change_and_differentiate() -> None:
    row = Row((5, 6), captures=(Capture("end", resid_post(1), (1,)), Capture("too", resid_post(1), (1, 0))))
    output = run_rows(ANATOMY, [row])
    before = output.captures[0]["too"].clone()
    output.captures[0]["end"] += 1.0
    assert torch.equal(output.captures[0]["too"], before)
    weight = torch.ones(HIDDEN, requires_grad=True)
    (output.captures[0]["end"] * weight).sum().backward()
    assert output.logprobs_RV.dtype == output.captures[0]["end"].dtype == torch.float32
    assert torch.allclose(output.logprobs_RV.exp().sum(1), torch.ones(1))


def test_a_model_that_cannot_share_continues_its_prefix_by_running_rows_whole() -> None:
    model = tiny_model("bloom", {"n_layer": 4, "n_head": 4})
    anatomy = inspect_model(model)
    assert not can_share(anatomy)
    capture = (Capture("site", resid_post(1), (1,)),)
    prefix, readings = run_prefix(anatomy, [replace(ROWS[0], edits=(edit(1, 1),), captures=capture)])
    assert prefix.memory is None
    twin = plain_twin(model, "transformer.h")
    output = run_rows(anatomy, [Row((4, 5), (edit(0, 3),))], prefix=prefix)
    assert_told(output, [told_by_the_twin(twin, Row((5, 6, 7, 4, 5), (edit(1, 1), edit(0, 3))))])
    assert_read(readings[0], told_by_the_twin(twin, Row((5, 6, 7), (edit(1, 1),), capture))[1])


def test_a_lifted_edit_may_last_to_the_end_of_its_prefix_and_is_read_after_its_end_only() -> None:
    def begun(until: int, **options: Any) -> Prefix:
        lifted = replace(edit(1, 1), until=until, **{"timing": Timing.LIFTED, **options})
        return run_prefix(ANATOMY, [Row((5, 6, 7), (lifted,))])[0]

    told = told_by_the_twin(TWIN, Row((5, 6, 7, 8, 9), (replace(edit(1, 1), timing=Timing.LIFTED, until=3),)))
    assert_told(run_rows(ANATOMY, [Row((8, 9))], prefix=begun(3)), [told])
    late, delayed = begun(4), begun(3, timing=Timing.DELAYED, question=4)
    for prefix in (late, delayed):
        assert_told(run_rows(ANATOMY, [Row((8, 9))], prefix=prefix), [told])
        with pytest.raises(EngineError, match=r"in the prefix of row 0 is .*read at 3"):
            run_rows(ANATOMY, [Row((8,))], prefix=prefix)
    with pytest.raises(EngineError, match="reaches position 1"):
        begun(1)


def with_prefix(**options: object) -> Callable[[], object]:
    def runs() -> object:
        prefix, _ = run_prefix(ANATOMY, [Row((5, 6)), Row((7, 8))])
        return run_rows(ANATOMY, [Row((9,))] * 3, prefix=prefix, **options)  # type: ignore[arg-type]

    return runs


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        (lambda: run_rows(ANATOMY, []), "at least one row"),
        (lambda: run_rows(ANATOMY, [Row((5,)), Row(())]), "at least one token"),
        (lambda: run_prefix(ANATOMY, []), "at least one row"),
        (lambda: run_prefix(ANATOMY, [Row(())]), "at least one token"),
        (lambda: run_rows(ANATOMY, [Row((5, VOCABULARY))]), "token id"),
        (lambda: run_rows(ANATOMY, [Row((-1,))]), "token id"),
        (lambda: run_rows(ANATOMY, [Row((5,) * 65)]), "longer than the 64"),
        (lambda: run_rows(ANATOMY, [Row((5,))], prefix_rows=[0]), "without a prefix"),
        (with_prefix(), "do not name one of 2 prefix rows"),
        (with_prefix(prefix_rows=[0, 1]), "do not name one of 2 prefix rows"),
        (with_prefix(prefix_rows=[0, 1, 2]), "do not name one of 2 prefix rows"),
        (with_prefix(prefix_rows=[0, 1, -1]), "do not name one of 2 prefix rows"),
    ],
)
def test_a_run_that_does_not_fit_is_refused(runs: Callable[[], object], reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        runs()


def test_a_prefix_and_its_rows_may_be_as_long_as_the_model_allows_and_no_longer() -> None:
    prefix, _ = run_prefix(ANATOMY, [Row((5,) * 60)])
    run_rows(ANATOMY, [Row((6,) * 4)], prefix=prefix)
    with pytest.raises(EngineError, match="longer than the 64"):
        run_rows(ANATOMY, [Row((6,) * 5)], prefix=prefix)


def test_the_prefix_of_another_model_is_refused(llama: PreTrainedModel) -> None:
    prefix, _ = run_prefix(inspect_model(llama), [Row((5, 6))])
    with pytest.raises(EngineError, match="another model"):
        run_rows(ANATOMY, [Row((7,))], prefix=prefix)


class Twice(nn.Module):
    """Calls a block two times, as recomputation does."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block
        self.eval()

    def forward(self, *args: object, **kwargs: object) -> object:
        self.block(*args, **kwargs)
        return self.block(*args, **kwargs)


@pytest.mark.parametrize("times", [0, 2])
def test_a_block_that_runs_twice_or_never_raises(llama: PreTrainedModel, times: int) -> None:
    anatomy = inspect_model(llama)
    llama.model.layers[2] = Twice(llama.model.layers[2]) if times == 2 else nn.Sequential(llama.model.layers[3])[0]
    for row in (Row((5, 6), (edit(2, 1),)), Row((5, 6), captures=(Capture("end", resid_pre(2), (1,)),))):
        with pytest.raises(EngineError, match=rf"\[2\] {times} times"):
            run_rows(anatomy, [row])
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in llama.modules())


def test_gradient_checkpointing_in_evaluation_mode_changes_nothing(llama: PreTrainedModel) -> None:
    llama.gradient_checkpointing_enable()
    there = run(inspect_model(llama), [Row((5, 6), (edit(1, 1),))]).logprobs_RV
    assert torch.equal(there, run(ANATOMY, [Row((5, 6), (edit(1, 1),))]).logprobs_RV)


def test_a_prefix_is_refused_once_weights_or_adapters_have_changed(llama: PreTrainedModel) -> None:
    adapted = get_peft_model(llama, LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False)).eval()
    anatomy = inspect_model(adapted)
    prefix, _ = run_prefix(anatomy, [Row((5, 6, 7))])
    again = run_rows(anatomy, [Row((8,))], prefix=prefix).logprobs_RV
    with adapted.disable_adapter(), pytest.raises(EngineError, match="have changed since"):
        run_rows(anatomy, [Row((8,))], prefix=prefix)
    assert torch.equal(run_rows(anatomy, [Row((8,))], prefix=prefix).logprobs_RV, again)
    with torch.no_grad():
        next(adapted.parameters()).mul_(2.0)
    with pytest.raises(EngineError, match="have changed since"):
        run_rows(anatomy, [Row((8,))], prefix=prefix)


def test_what_was_read_of_a_row_is_found_by_its_number(anatomy: Anatomy) -> None:
    rows = [Row((5, 6, 7), read=(0, 2)), Row((8, 9)), Row((5, 6), read=(1, 0))]
    for output in (run_rows(anatomy, rows), run(anatomy, rows)):
        assert [len(output.of(i)) for i in range(3)] == [2, 1, 2]
        assert torch.equal(torch.cat([output.of(i) for i in range(3)]), output.logprobs_RV)
        alone = run_rows(anatomy, [Row((5, 6), read=(1, 0))]).logprobs_RV
        assert torch.allclose(output.of(2), alone, atol=2e-5)
