"""Edits are made exactly once, readings see what they should, and hooks never outlive a pass."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from plain_families import HIDDEN, SHARED, WHOLE
from plain_rows import assert_told, told_by_the_twin
from plain_run import plain_twin
from torch import Tensor, nn
from transformers import PreTrainedModel

from firsthand.engine import (
    Anatomy,
    Capture,
    Edit,
    Operation,
    Row,
    Site,
    inspect_model,
    resid_mid,
    resid_post,
    resid_pre,
    run_prefix,
    run_rows,
)
from firsthand.engine.hooks import intervened
from firsthand.engine.layout import Layout
from firsthand.errors import EngineError

TOKENS = ((5, 6, 7, 8), (9, 10))
PLACES = ((1, 2), (0,))
VECTORS = torch.randn(2, HIDDEN, generator=torch.Generator().manual_seed(0))
SITES = [resid_pre(1), resid_mid(1), resid_post(1)]


def rows(edits: Callable[[int], list[Edit]], *captures: tuple[str, Site]) -> list[Row]:
    return [
        Row(TOKENS[r], tuple(edits(r)), tuple(Capture(name, site, PLACES[r]) for name, site in captures))
        for r in range(2)
    ]


def change(site: Site, r: int, **options: Any) -> Edit:
    return Edit(site, PLACES[r], VECTORS[r], **options)


def none(_: int) -> list[Edit]:
    return []


def read(anatomy: Anatomy, edits: Callable[[int], list[Edit]], site: Site = SITES[2]) -> list[Tensor]:
    return [found["site"] for found in run_rows(anatomy, rows(edits, ("site", site))).captures]


@pytest.mark.parametrize(
    ("family", "site"),
    [(f, s) for f in ("llama", "bloom", "mpt") for s in SITES if f == "llama" or s != resid_mid(1)],
    ids=str,
)
def test_the_change_at_the_site_is_the_vector_once_for_blocks_that_return_tensors_or_tuples(
    family: str, site: Site
) -> None:
    anatomy = inspect_model({**SHARED, **WHOLE}[family].build())
    edited, clean = read(anatomy, lambda r: [change(site, r)], site), read(anatomy, none, site)
    for r in range(2):
        moved = edited[r] - clean[r]
        assert torch.allclose(moved, VECTORS[r].expand_as(moved), rtol=0, atol=1e-6)
        assert torch.allclose(moved.norm(dim=1), VECTORS[r].norm(), rtol=1e-6)


def test_the_change_in_a_prefix_and_after_it_is_the_vector_once(anatomy: Anatomy) -> None:
    def site(vector_H: Tensor) -> tuple[Tensor, Tensor]:
        capture = Capture("site", resid_post(1), (1,))
        _, (found,) = run_prefix(anatomy, [Row((5, 6), (Edit(resid_post(1), (1,), vector_H),), (capture,))])
        later = Row((7,), (Edit(resid_post(1), (2,), vector_H),), (replace(capture, positions=(2,)),))
        again = run_rows(anatomy, [later], prefix=run_prefix(anatomy, [Row((5, 6))])[0])
        return found["site"][0], again.captures[0]["site"][0]

    for edited, clean in zip(site(VECTORS[0]), site(0 * VECTORS[0]), strict=True):
        assert torch.allclose(edited - clean, VECTORS[0], rtol=0, atol=1e-6)


def test_scaled_addition_moves_by_its_strength_in_norms_of_the_residual(anatomy: Anatomy) -> None:
    scaled = {"operation": Operation.ADD_SCALED, "strength": 0.25}
    edited, clean = read(anatomy, lambda r: [change(resid_post(1), r, **scaled)]), read(anatomy, none)
    for after, before in zip(edited, clean, strict=True):
        assert torch.allclose((after - before).norm(dim=1), 0.25 * before.norm(dim=1), rtol=1e-5)


def test_a_replaced_residual_is_the_vector_and_a_projected_one_has_nothing_along_it(anatomy: Anatomy) -> None:
    replaced, halfway, clean = (
        read(anatomy, lambda r, s=s: [change(resid_post(1), r, operation=Operation.REPLACE, strength=s)])
        for s in (1.0, 0.5, 0.0)
    )
    projected = read(anatomy, lambda r: [change(resid_post(1), r, operation=Operation.PROJECT_OUT)])
    for r in range(2):
        assert torch.equal(replaced[r], VECTORS[r].expand_as(replaced[r]))
        assert torch.allclose(halfway[r], (VECTORS[r] + clean[r]) / 2, atol=1e-6)
        assert float((projected[r] @ VECTORS[r]).abs().max()) < 1e-4


def test_other_positions_and_sites_below_stay_as_they_are(anatomy: Anatomy) -> None:
    def around(edits: Callable[[int], list[Edit]]) -> list[dict[str, Tensor]]:
        beside = [Capture("beside", resid_post(1), (3 * (1 - r) + r,)) for r in range(2)]
        given = rows(edits, ("below", resid_post(0)), ("mid", resid_mid(1)))
        given = [replace(row, captures=(*row.captures, b)) for row, b in zip(given, beside, strict=True)]
        return run_rows(anatomy, given).captures

    clean, edited = around(none), around(lambda r: [change(resid_post(1), r)])
    for before, after in zip(clean, edited, strict=True):
        assert all(torch.equal(before[name], after[name]) for name in ("beside", "below", "mid"))


def test_two_edits_of_one_place_are_both_made(anatomy: Anatomy) -> None:
    twice = read(anatomy, lambda r: [change(resid_post(1), r), change(resid_post(1), r)])
    double = read(anatomy, lambda r: [change(resid_post(1), r, strength=2.0)])
    for there, here in zip(twice, double, strict=True):
        assert torch.allclose(there, here, rtol=0, atol=2e-6)


def test_edits_of_one_place_are_made_in_the_order_given_beside_rows_with_other_orders(
    shared_llama: PreTrainedModel, anatomy: Anatomy
) -> None:
    add = change(resid_post(1), 0)
    out = replace(add, vector_H=VECTORS[1], operation=Operation.PROJECT_OUT)
    put = replace(add, vector_H=VECTORS.sum(0), operation=Operation.REPLACE, strength=0.5)
    capture = (Capture("site", resid_post(1), (1, 2, 3)),)
    orders = [(add, out, put), (put, add, out), (out, put, add), (add,), (out, add), ()]
    given = [Row(TOKENS[0], order, capture) for order in orders]
    twin = plain_twin(shared_llama, "model.layers")
    output = run_rows(anatomy, given)
    assert_told(output, [told_by_the_twin(twin, row) for row in given])
    assert not torch.allclose(output.captures[0]["site"], output.captures[1]["site"], atol=0.1)


def test_a_reading_sees_edits_below_it_and_those_of_its_own_place_only_if_it_asks_to(
    shared_llama: PreTrainedModel, anatomy: Anatomy
) -> None:
    given = [
        replace(
            row,
            captures=(
                *row.captures,
                *(Capture(f"{c.name} before", c.site, c.positions, "before") for c in row.captures),
            ),
        )
        for row in rows(
            lambda r: [change(site, r) for site in (resid_pre(1), resid_mid(1), resid_post(2))],
            *((str(site), site) for site in (resid_pre(1), resid_mid(1), resid_post(1), resid_post(2))),
        )
    ]
    twin = plain_twin(shared_llama, "model.layers", "self_attn")
    output = run_rows(anatomy, given)
    assert_told(output, [told_by_the_twin(twin, row) for row in given])
    for r, found in enumerate(output.captures):
        assert torch.equal(found["resid_post[1]"], found["resid_post[1] before"])
        moved = found["resid_post[2]"] - found["resid_post[2] before"]
        assert torch.allclose(moved, VECTORS[r].expand_as(moved), rtol=0, atol=1e-6)


def test_readings_and_edits_of_different_sites_may_be_listed_in_any_order(anatomy: Anatomy) -> None:
    given = rows(
        lambda r: [change(resid_post(2), r), change(resid_post(0), r), change(resid_mid(1), r)],
        *((str(site), site) for site in (resid_post(2), resid_pre(0), resid_mid(1))),
    )
    there = run_rows(anatomy, given)
    back = run_rows(anatomy, [replace(r, edits=r.edits[::-1], captures=r.captures[::-1]) for r in given])
    assert torch.equal(there.logprobs_RV, back.logprobs_RV)
    for a, b in zip(there.captures, back.captures, strict=True):
        assert all(torch.equal(a[name], b[name]) for name in a)


def test_the_callers_vector_is_not_changed(anatomy: Anatomy) -> None:
    given = VECTORS[0].clone()
    for operation in Operation:
        run_rows(anatomy, [Row(TOKENS[0], (Edit(resid_pre(1), (1,), given, operation, 2.0),))])
    assert torch.equal(given, VECTORS[0])


@pytest.mark.parametrize("site", [resid_pre(2), resid_post(1)], ids=str)
def test_the_tensor_that_a_block_returned_is_not_written_to(llama: PreTrainedModel, site: Site) -> None:
    anatomy, kept = inspect_model(llama), []
    llama.model.layers[1].register_forward_hook(lambda module, args, output: kept.append((output, output.clone())))
    read(anatomy, lambda r: [change(site, r)])
    (returned, before) = kept[0]
    assert torch.equal(returned, before)


def test_a_vector_of_another_precision_or_with_a_gradient_is_taken(anatomy: Anatomy) -> None:
    single = read(anatomy, lambda r: [change(resid_post(1), r)])
    for vectors in (VECTORS.double(), VECTORS.clone().requires_grad_(True)):
        other = read(anatomy, lambda r, v=vectors: [Edit(resid_post(1), PLACES[r], v[r])])
        assert all(torch.equal(a, b) for a, b in zip(single, other, strict=True))
        assert not any(found.requires_grad for found in other)


def test_one_vector_may_serve_many_rows_and_one_row_many_vectors(
    shared_llama: PreTrainedModel, anatomy: Anatomy
) -> None:
    one = VECTORS[0]
    given = [Row(TOKENS[0], (Edit(resid_post(1), (p,), one, strength=s),)) for p, s in ((0, 1.0), (3, 1.0), (3, -2.0))]
    given.append(Row(TOKENS[1], (Edit(resid_post(1), (0,), one), Edit(resid_post(1), (1,), VECTORS[1]))))
    twin = plain_twin(shared_llama, "model.layers")
    assert_told(run_rows(anatomy, given), [told_by_the_twin(twin, row) for row in given])


def all_hooks(model: nn.Module) -> list[list[tuple[int, Callable[..., Any]]]]:
    return [list(m._forward_hooks.items()) + list(m._forward_pre_hooks.items()) for m in model.modules()]


def raising(*_: object) -> None:
    raise RuntimeError("in the middle")


@pytest.mark.parametrize("where", [0, 3])
def test_hooks_are_gone_after_an_exception_and_those_of_others_stay(llama: PreTrainedModel, where: int) -> None:
    anatomy = inspect_model(llama)
    llama.model.layers[1].register_forward_hook(lambda *_: None)
    llama.model.layers[1].mlp.register_forward_pre_hook(lambda *_: None)
    llama.model.layers[where].register_forward_hook(raising)
    before = all_hooks(llama)
    with pytest.raises(RuntimeError, match="in the middle"):
        read(anatomy, lambda r: [change(site, r) for site in (*SITES, resid_mid(2), resid_post(3))])
    assert all_hooks(llama) == before


def test_hooks_of_others_stay_and_run_after_an_ordinary_pass(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama)
    seen: list[int] = []
    llama.model.layers[1].register_forward_hook(lambda *_: seen.append(1))
    before = all_hooks(llama)
    read(anatomy, lambda r: [change(resid_post(1), r)])
    assert seen == [1]
    assert all_hooks(llama) == before


def test_hooks_are_gone_after_a_site_was_refused(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama)
    anatomy = replace(anatomy, midpoints=(None,) * 4)
    with pytest.raises(EngineError, match=r"no resid_mid\[1\]"):
        read(anatomy, lambda r: [change(resid_pre(0), r), change(resid_mid(1), r)])
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in llama.modules())


class Odd(nn.Module):
    """A block that returns what it was made with."""

    def __init__(self, output: object) -> None:
        super().__init__()
        self.output = output

    def forward(self) -> object:
        return self.output


def odd_anatomy(model: PreTrainedModel, block: nn.Module) -> Anatomy:
    return Anatomy(model, (block,), (None,), HIDDEN, "odd", returns_tuple=False)


@pytest.mark.parametrize(
    "output",
    [None, [torch.zeros(2, 4, HIDDEN)], torch.zeros(2, HIDDEN), torch.zeros(4, 2, HIDDEN), torch.zeros(2, 4, 8)],
)
def test_a_block_that_returns_something_else_than_the_residual_stream_is_refused(
    shared_llama: PreTrainedModel, output: object
) -> None:
    odd, given = Odd(output), rows(lambda r: [change(resid_post(0), r)])
    layout = Layout.of(given, [0, 0], packed=False)
    with (
        pytest.raises(EngineError, match="residual stream"),
        intervened(odd_anatomy(shared_llama, odd), given, layout),
    ):
        odd()
    assert not odd._forward_hooks


@pytest.mark.parametrize("times", [0, 2])
def test_a_site_that_is_passed_twice_or_never_raises(shared_llama: PreTrainedModel, times: int) -> None:
    odd = Odd(torch.zeros(2, 4, HIDDEN))

    def passes(given: list[Row]) -> None:
        with intervened(odd_anatomy(shared_llama, odd), given, Layout.of(given, [0, 0], packed=False)):
            for _ in range(times):
                odd()

    for given in (rows(lambda r: [change(resid_post(0), r)]), rows(none, ("site", resid_post(0)))):
        with pytest.raises(EngineError, match=f"{times} times"):
            passes(given)
    assert not odd._forward_hooks


def test_a_stream_that_is_not_finite_where_it_is_read_raises(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama)
    llama.model.layers[1].register_forward_hook(lambda module, args, output: output / 0.0)
    with pytest.raises(EngineError, match=r"resid_post\[1\] is not finite"):
        read(anatomy, none)
