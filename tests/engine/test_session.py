"""Shared prefixes and rows that continue them: exact, reusable, and nothing left behind."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_families import DEPTH, HIDDEN, VOCABULARY, tiny_model
from plain_run import PlainEdit, PlainRead, plain_run, plain_twin
from torch import Tensor, nn
from transformers import PreTrainedModel

from firsthand.engine import Anatomy, Capture, Edit, inspect_model, run_prefix, run_rows
from firsthand.errors import EngineError

MODEL = tiny_model("llama", {})
ANATOMY = inspect_model(MODEL)
TWIN = plain_twin(MODEL)
PATH = "model.layers"
TOLERANCE = 2e-5


def direction(seed: int, rows: int = 1) -> Tensor:
    return torch.randn(rows, HIDDEN, generator=torch.Generator().manual_seed(seed))


tokens_of = st.integers(3, VOCABULARY - 1)


@st.composite
def split_runs(draw: st.DrawFn) -> dict[str, object]:
    """A prefix batch, rows that continue it, and one edit and one reading on either side of the split."""
    length, prefixes, rows = draw(st.integers(1, 7)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    chosen = draw(st.lists(st.integers(0, prefixes - 1), min_size=rows, max_size=rows))
    suffixes = [draw(st.lists(tokens_of, min_size=1, max_size=5)) for _ in range(rows)]

    def places(low: int, high: int, least: int) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(low, high - 1), unique=True, min_size=least, max_size=3)))

    return {
        "prefixes": [draw(st.lists(tokens_of, min_size=length, max_size=length)) for _ in range(prefixes)],
        "chosen": chosen,
        "suffixes": suffixes,
        "early": (draw(st.integers(0, DEPTH - 1)), tuple(places(0, length, 0) for _ in range(prefixes))),
        "late": (
            draw(st.integers(0, DEPTH - 1)),
            tuple(places(length, length + len(suffix), 0) for suffix in suffixes),
        ),
        "read": (
            draw(st.integers(0, DEPTH - 1)),
            tuple(places(length, length + len(suffix), 1) for suffix in suffixes),
        ),
        "doses": (draw(st.floats(-4, 4)), draw(st.floats(-4, 4))),
    }


@given(split_runs())
@settings(max_examples=40, deadline=None)
def test_any_split_of_any_edited_rows_equals_the_plain_twin(case: dict) -> None:
    (early_layer, early), (late_layer, late), (read_layer, read) = case["early"], case["late"], case["read"]
    prefixes, chosen, suffixes = case["prefixes"], case["chosen"], case["suffixes"]
    early_delta = case["doses"][0] * direction(1, len(prefixes))
    late_delta = case["doses"][1] * direction(2, len(suffixes))
    prefix, _ = run_prefix(MODEL, ANATOMY, prefixes, [Edit(early_layer, early, early_delta)])
    output = run_rows(
        MODEL,
        ANATOMY,
        suffixes,
        [Edit(late_layer, late, late_delta)],
        [Capture("read", read_layer, read)],
        prefix=prefix,
        prefix_rows=chosen,
    )
    for row, shared in enumerate(chosen):
        edits = [PlainEdit(early_layer, p, early_delta[shared]) for p in early[shared]]
        edits += [PlainEdit(late_layer, p, late_delta[row]) for p in late[row]]
        logprobs_V, (reading_H,) = plain_run(
            TWIN, PATH, prefixes[shared] + suffixes[row], edits, [PlainRead(read_layer, read[row])]
        )
        assert torch.allclose(output.logprobs_RV[row].double(), logprobs_V, rtol=0, atol=TOLERANCE)
        assert torch.allclose(output.captures["read"][row], reading_H, rtol=1e-5, atol=TOLERANCE)


def test_the_twin_that_everything_is_compared_with_reacts_to_its_edit() -> None:
    clean, _ = plain_run(TWIN, PATH, [5, 6, 7])
    edited, _ = plain_run(TWIN, PATH, [5, 6, 7], [PlainEdit(1, 0, direction(0)[0])])
    assert float((clean - edited).abs().max()) > 0.01


def test_clean_after_edited_equals_fresh_clean() -> None:
    rows = [[5, 6, 7], [8, 9, 10]]
    fresh = run_rows(MODEL, ANATOMY, [[4], [4]], prefix=run_prefix(MODEL, ANATOMY, rows)[0])
    edited, _ = run_prefix(MODEL, ANATOMY, rows, [Edit(0, ((0,), (1,)), direction(0, 2))])
    run_rows(MODEL, ANATOMY, [[4], [4]], [Edit(2, ((3,), (3,)), direction(1, 2))], prefix=edited)
    clean = run_rows(MODEL, ANATOMY, [[4], [4]], prefix=run_prefix(MODEL, ANATOMY, rows)[0])
    assert torch.equal(fresh.logprobs_RV, clean.logprobs_RV)
    assert (
        float((fresh.logprobs_RV - run_rows(MODEL, ANATOMY, [[4], [4]], prefix=edited).logprobs_RV).abs().max()) > 0.01
    )


def test_a_prefix_is_not_changed_by_being_used() -> None:
    prefix, _ = run_prefix(MODEL, ANATOMY, [[5, 6, 7], [8, 9, 10]])
    before = [(layer.keys.clone(), layer.values.clone()) for layer in prefix.cache.layers]
    for rows in ([0, 0, 1, 1], [1], [0, 1]):
        places = tuple((3,) for _ in rows)
        run_rows(
            MODEL,
            ANATOMY,
            [[4, 5] for _ in rows],
            [Edit(0, places, direction(0, len(rows)))],
            prefix=prefix,
            prefix_rows=rows,
        )
    for layer, (keys, values) in zip(prefix.cache.layers, before, strict=True):
        assert torch.equal(layer.keys, keys)
        assert torch.equal(layer.values, values)
    assert (prefix.rows, prefix.length) == (2, 3)


def test_a_sham_through_another_edit_of_the_same_value_is_the_same_to_the_bit() -> None:
    prefix, _ = run_prefix(MODEL, ANATOMY, [[5, 6, 7], [8, 9, 10]])
    value = direction(3, 2)
    captures = [Capture("end", 3, ((4,), (4,)))]

    def run(edits: list[Edit]) -> tuple[Tensor, Tensor]:
        output = run_rows(MODEL, ANATOMY, [[4, 5], [6, 7]], edits, captures, prefix=prefix)
        return output.logprobs_RV, output.captures["end"]

    base = run([Edit(1, ((3,), (3,)), value)])
    split = run([Edit(1, ((3,), ()), value), Edit(1, ((), (3,)), value.clone())])
    swapped = run([Edit(1, ((), (3,)), value.clone()), Edit(1, ((3,), ()), value)])
    for other in (split, swapped):
        assert torch.equal(base[0], other[0])
        assert torch.equal(base[1], other[1])


def test_a_row_of_one_token_on_a_prefix_of_one_token_is_an_ordinary_row() -> None:
    prefix, _ = run_prefix(MODEL, ANATOMY, [[5]])
    output = run_rows(MODEL, ANATOMY, [[6]], [Edit(1, ((1,),), direction(0))], prefix=prefix)
    logprobs_V, _ = plain_run(TWIN, PATH, [5, 6], [PlainEdit(1, 1, direction(0)[0])])
    assert torch.allclose(output.logprobs_RV[0].double(), logprobs_V, atol=TOLERANCE)


def test_a_row_in_a_mixed_batch_equals_the_row_alone() -> None:
    rows = [[5, 6, 7, 8, 9], [10], [11, 12, 13]]
    together = run_rows(MODEL, ANATOMY, rows).logprobs_RV
    for row, tokens in enumerate(rows):
        assert torch.allclose(together[row], run_rows(MODEL, ANATOMY, [tokens]).logprobs_RV[0], atol=TOLERANCE)


def test_rows_continue_the_rows_of_their_number_unless_told_otherwise() -> None:
    prefix, _ = run_prefix(MODEL, ANATOMY, [[5, 6], [7, 8]])
    implied = run_rows(MODEL, ANATOMY, [[9], [9]], prefix=prefix).logprobs_RV
    assert torch.equal(implied, run_rows(MODEL, ANATOMY, [[9], [9]], prefix=prefix, prefix_rows=[0, 1]).logprobs_RV)
    assert not torch.equal(implied[0], implied[1])


def test_results_are_ordinary_tensors_that_a_caller_may_change_and_differentiate() -> None:
    output = run_rows(MODEL, ANATOMY, [[5, 6]], captures=[Capture("end", 1, ((1,),))])
    output.captures["end"] += 1.0
    weight = torch.ones(HIDDEN, requires_grad=True)
    (output.captures["end"][0] * weight).sum().backward()
    assert output.logprobs_RV.dtype == output.captures["end"].dtype == torch.float32
    assert torch.allclose(output.logprobs_RV.exp().sum(1), torch.ones(1))


def with_prefix(**options: object) -> Callable[[], object]:
    def run() -> object:
        prefix, _ = run_prefix(MODEL, ANATOMY, [[5, 6], [7, 8]])
        return run_rows(MODEL, ANATOMY, [[9], [9], [9]], prefix=prefix, **options)

    return run


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (lambda: run_rows(MODEL, ANATOMY, []), "at least one row"),
        (lambda: run_rows(MODEL, ANATOMY, [[5], []]), "at least one token"),
        (lambda: run_prefix(MODEL, ANATOMY, []), "equally long and not empty"),
        (lambda: run_prefix(MODEL, ANATOMY, [[]]), "equally long and not empty"),
        (lambda: run_prefix(MODEL, ANATOMY, [[5, 6], [7]]), "equally long and not empty"),
        (lambda: run_rows(MODEL, ANATOMY, [[5, VOCABULARY]]), "token id"),
        (lambda: run_rows(MODEL, ANATOMY, [[-1]]), "token id"),
        (lambda: run_rows(MODEL, ANATOMY, [[5] * 65]), "longer than the 64"),
        (lambda: run_rows(MODEL, ANATOMY, [[5]], prefix_rows=[0]), "without a prefix"),
        (with_prefix(), "do not name one of 2 prefix rows"),
        (with_prefix(prefix_rows=[0, 1]), "do not name one of 2 prefix rows"),
        (with_prefix(prefix_rows=[0, 1, 2]), "do not name one of 2 prefix rows"),
        (with_prefix(prefix_rows=[0, 1, -1]), "do not name one of 2 prefix rows"),
    ],
)
def test_a_run_that_does_not_fit_is_refused(run: Callable[[], object], reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        run()


def test_a_prefix_and_its_rows_may_be_as_long_as_the_model_allows_and_no_longer() -> None:
    prefix, _ = run_prefix(MODEL, ANATOMY, [[5] * 60])
    run_rows(MODEL, ANATOMY, [[6] * 4], prefix=prefix)
    with pytest.raises(EngineError, match="longer than the 64"):
        run_rows(MODEL, ANATOMY, [[6] * 5], prefix=prefix)


def test_the_prefix_of_another_model_is_refused(llama: PreTrainedModel) -> None:
    prefix, _ = run_prefix(llama, inspect_model(llama), [[5, 6]])
    with pytest.raises(EngineError, match="another model"):
        run_rows(MODEL, ANATOMY, [[7]], prefix=prefix)


def test_a_model_that_ignores_the_cache_it_is_given_is_refused(llama: PreTrainedModel) -> None:
    anatomy, forward = inspect_model(llama), llama.forward

    def forgetful(input_ids: Tensor, past_key_values: object = None, use_cache: bool = True) -> object:
        return forward(input_ids, use_cache=False)

    llama.forward = forgetful
    with pytest.raises(EngineError, match="did not fill the cache"):
        run_prefix(llama, anatomy, [[5, 6]])


def test_a_model_that_swallows_the_choice_of_logits_is_refused_rather_than_read_at_another_token(
    llama: PreTrainedModel,
) -> None:
    anatomy, forward = inspect_model(llama), llama.forward

    def deaf(input_ids: Tensor, use_cache: bool = True, logits_to_keep: object = 0) -> object:
        return forward(input_ids, use_cache=use_cache)

    llama.forward = deaf
    with pytest.raises(EngineError, match="returned logits"):
        run_rows(llama, anatomy, [[5, 6, 7]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_that_overflows_at_the_edit_raises(llama: PreTrainedModel, dtype: torch.dtype) -> None:
    model = llama.to(dtype)
    huge = torch.full((1, HIDDEN), 3.4e38)
    with pytest.raises(EngineError, match="not finite"):
        run_rows(model, inspect_model(model), [[5, 6]], [Edit(1, ((1,),), huge)])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_without_overflow_is_near_the_plain_twin(llama: PreTrainedModel, dtype: torch.dtype) -> None:
    model = llama.to(dtype)
    output = run_rows(model, inspect_model(model), [[5, 6]], [Edit(1, ((1,),), direction(0))])
    logprobs_V, _ = plain_run(plain_twin(model), PATH, [5, 6], [PlainEdit(1, 1, direction(0)[0])])
    assert torch.allclose(output.logprobs_RV[0].double(), logprobs_V, atol=0.2)


def test_overflow_above_the_edit_raises_too(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama)
    with torch.no_grad():
        llama.lm_head.weight.mul_(1e38).mul_(1e3)
    with pytest.raises(EngineError, match="overflowed"):
        run_rows(llama, anatomy, [[5, 6]])
    with pytest.raises(EngineError, match="overflowed"):
        run_prefix(llama, anatomy, [[5, 6]])


class Twice(nn.Module):
    """Calls a block two times, as recomputation does."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block
        self.eval()

    def forward(self, *args: object, **kwargs: object) -> object:
        self.block(*args, **kwargs)
        return self.block(*args, **kwargs)


@pytest.mark.parametrize("runs", [0, 2])
def test_a_block_that_runs_twice_or_never_raises(llama: PreTrainedModel, runs: int) -> None:
    anatomy = inspect_model(llama)
    llama.model.layers[2] = Twice(llama.model.layers[2]) if runs == 2 else nn.Sequential(llama.model.layers[3])[0]
    with pytest.raises(EngineError, match=f"Layer 2 ran {runs} times"):
        run_rows(llama, anatomy, [[5, 6]], [Edit(2, ((1,),), direction(0))])
    with pytest.raises(EngineError, match=f"Layer 2 ran {runs} times"):
        run_rows(llama, anatomy, [[5, 6]], captures=[Capture("end", 2, ((1,),))])
    assert not any(block._forward_hooks for block in anatomy.blocks)


def test_gradient_checkpointing_in_evaluation_mode_changes_nothing(llama: PreTrainedModel, anatomy: Anatomy) -> None:
    llama.gradient_checkpointing_enable()
    edits = [Edit(1, ((1,),), direction(0))]
    there = run_rows(llama, inspect_model(llama), [[5, 6]], edits).logprobs_RV
    assert torch.equal(there, run_rows(MODEL, ANATOMY, [[5, 6]], edits).logprobs_RV)
