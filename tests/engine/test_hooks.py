"""Edits are made exactly once, readings see them, and hooks never outlive a pass."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from plain_families import HIDDEN, tiny_model
from plain_run import PlainEdit, PlainRead, plain_run, plain_twin
from torch import Tensor, nn
from transformers import PreTrainedModel

from firsthand.engine import Anatomy, Capture, Edit, inspect_model, run_prefix, run_rows
from firsthand.engine.hooks import intervened
from firsthand.errors import EngineError

ROWS = [[5, 6, 7, 8], [9, 10]]
DELTA = torch.randn(2, HIDDEN, generator=torch.Generator().manual_seed(0))
SITE = ((1, 2), (0,))


def read(model: PreTrainedModel, anatomy: Anatomy, edits: list[Edit], layer: int = 1) -> Tensor:
    return run_rows(model, anatomy, ROWS, edits, [Capture("site", layer, SITE)]).captures["site"]


@pytest.mark.parametrize("family", ["llama", "bloom", "mpt"])
def test_the_delta_at_the_site_is_the_vector_once_for_blocks_that_return_tensors_or_tuples(family: str) -> None:
    more = {"llama": {}, "bloom": {"n_layer": 4, "n_head": 4}, "mpt": {"d_model": HIDDEN, "n_layers": 4, "n_heads": 4}}
    model = tiny_model(family, more[family])
    anatomy = inspect_model(model)
    moved = read(model, anatomy, [Edit(1, SITE, DELTA)]) - read(model, anatomy, [])
    assert torch.allclose(moved, DELTA, rtol=0, atol=1e-6)
    assert torch.allclose(moved.norm(dim=1), DELTA.norm(dim=1), rtol=1e-6)


def test_the_delta_in_a_prefix_is_the_vector_once(shared_llama: PreTrainedModel, anatomy: Anatomy) -> None:
    def site(edits: list[Edit]) -> Tensor:
        capture = Capture("site", 1, ((1,), (0,)))
        return run_prefix(shared_llama, anatomy, [[5, 6], [9, 10]], edits, [capture])[1]["site"]

    assert torch.allclose(site([Edit(1, ((1,), (0,)), DELTA)]) - site([]), DELTA, rtol=0, atol=1e-6)


def test_other_positions_and_layers_below_stay_as_they_are(shared_llama: PreTrainedModel, anatomy: Anatomy) -> None:
    def around(edits: list[Edit]) -> dict[str, Tensor]:
        captures = [Capture("before", 1, ((0,), (1,))), Capture("below", 0, SITE)]
        return run_rows(shared_llama, anatomy, ROWS, edits, captures).captures

    clean, edited = around([]), around([Edit(1, ((1, 2), (0,)), DELTA)])
    assert torch.equal(clean["below"], edited["below"])
    assert torch.equal(clean["before"], edited["before"])


def test_two_edits_of_one_place_add_up(shared_llama: PreTrainedModel, anatomy: Anatomy) -> None:
    twice = read(shared_llama, anatomy, [Edit(1, SITE, DELTA), Edit(1, SITE, DELTA)])
    assert torch.allclose(twice, read(shared_llama, anatomy, [Edit(1, SITE, 2 * DELTA)]), rtol=0, atol=2e-6)


def test_a_reading_sees_the_edits_of_its_layer_and_of_layers_below_whatever_the_order(
    shared_llama: PreTrainedModel, anatomy: Anatomy
) -> None:
    edits = [Edit(2, SITE, DELTA), Edit(0, SITE, DELTA)]
    captures = [Capture("two", 2, SITE), Capture("zero", 0, SITE)]
    there = run_rows(shared_llama, anatomy, ROWS, edits, captures)
    back = run_rows(shared_llama, anatomy, ROWS, edits[::-1], captures[::-1])
    assert torch.equal(there.logprobs_RV, back.logprobs_RV)
    for name, layer in (("two", 2), ("zero", 0)):
        assert torch.equal(there.captures[name], back.captures[name])
        for row, places in enumerate(SITE):
            plain = [PlainEdit(depth, p, DELTA[row]) for depth in (0, 2) for p in places]
            twin = plain_twin(shared_llama)
            _, (reading_H,) = plain_run(twin, "model.layers", ROWS[row], plain, [PlainRead(layer, places)])
            assert torch.allclose(there.captures[name][row], reading_H, rtol=0, atol=2e-5)


def test_the_callers_delta_is_not_changed(shared_llama: PreTrainedModel, anatomy: Anatomy) -> None:
    given = DELTA.clone()
    read(shared_llama, anatomy, [Edit(1, SITE, given)])
    assert torch.equal(given, DELTA)


def test_the_tensor_that_a_block_returned_is_not_written_to(llama: PreTrainedModel) -> None:
    anatomy, kept = inspect_model(llama), []
    llama.model.layers[1].register_forward_hook(lambda module, args, output: kept.append((output, output.clone())))
    read(llama, anatomy, [Edit(1, SITE, DELTA)])
    (returned, before) = kept[0]
    assert torch.equal(returned, before)


def test_a_delta_of_another_precision_or_with_a_gradient_is_taken(
    shared_llama: PreTrainedModel, anatomy: Anatomy
) -> None:
    single = read(shared_llama, anatomy, [Edit(1, SITE, DELTA)])
    for delta in (DELTA.double(), DELTA.clone().requires_grad_(True)):
        assert torch.equal(single, read(shared_llama, anatomy, [Edit(1, SITE, delta)]))


def all_hooks(model: nn.Module) -> list[list[tuple[int, Callable[..., Any]]]]:
    return [list(m._forward_hooks.items()) + list(m._forward_pre_hooks.items()) for m in model.modules()]


def raising(*_: object) -> None:
    raise RuntimeError("in the middle")


@pytest.mark.parametrize("where", [0, 3])
def test_hooks_are_gone_after_an_exception_and_those_of_others_stay(llama: PreTrainedModel, where: int) -> None:
    anatomy = inspect_model(llama)
    seen: list[int] = []
    llama.model.layers[1].register_forward_hook(lambda *_: seen.append(1))
    llama.model.layers[where].register_forward_hook(raising)
    before = all_hooks(llama)
    edits = [Edit(layer, SITE, DELTA) for layer in range(4)]
    with pytest.raises(RuntimeError, match="in the middle"):
        run_rows(llama, anatomy, ROWS, edits, [Capture("site", 1, SITE)])
    assert all_hooks(llama) == before


def test_hooks_of_others_stay_and_run_after_an_ordinary_pass(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama)
    seen: list[int] = []
    llama.model.layers[1].register_forward_hook(lambda *_: seen.append(1))
    before = all_hooks(llama)
    read(llama, anatomy, [Edit(1, SITE, DELTA)])
    assert seen == [1]
    assert all_hooks(llama) == before


def test_two_readings_of_one_name_are_refused(shared_llama: PreTrainedModel, anatomy: Anatomy) -> None:
    captures = [Capture("site", 1, SITE), Capture("site", 2, SITE)]
    with pytest.raises(EngineError, match="share a name"):
        run_rows(shared_llama, anatomy, ROWS, captures=captures)
    assert not any(block._forward_hooks for block in anatomy.blocks)


@pytest.mark.parametrize(
    "output",
    [None, [torch.zeros(2, 4, HIDDEN)], torch.zeros(2, HIDDEN), torch.zeros(4, 2, HIDDEN), torch.zeros(2, 4, 8)],
)
def test_a_block_that_returns_something_else_than_the_residual_stream_is_refused(output: object) -> None:
    class Odd(nn.Module):
        def forward(self) -> object:
            return output

    odd = Odd()
    anatomy = Anatomy((odd,), HIDDEN, "odd")
    with (
        pytest.raises(EngineError, match="residual stream"),
        intervened(anatomy, [Edit(0, SITE, DELTA)], [], 0, (2, 4)),
    ):
        odd()
    assert not odd._forward_hooks


def test_a_stream_that_is_not_finite_where_it_is_read_raises(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama)
    llama.model.layers[1].register_forward_hook(lambda module, args, output: output / 0.0)
    with pytest.raises(EngineError, match="not finite"):
        run_rows(llama, anatomy, ROWS, captures=[Capture("site", 1, SITE)])
