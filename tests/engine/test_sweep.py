"""However rows are shared, started in the middle, packed and split, their numbers are those of whole rows, in order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_families import DEPTH, HIDDEN, SHARED, VOCABULARY, WHOLE
from plain_rows import assert_read, assert_told, told_by_the_twin
from plain_run import PlainModel, plain_twin
from torch import Tensor, nn
from transformers import PreTrainedModel

from firsthand.engine import (
    Anatomy,
    Capture,
    Edit,
    Operation,
    Row,
    RunOutput,
    Site,
    inspect_model,
    resid_mid,
    resid_post,
    resid_pre,
    run,
    run_prefix,
    run_rows,
    sweep,
)
from firsthand.engine.sharing import can_share
from firsthand.errors import EngineError


@dataclass(frozen=True)
class Subject:
    anatomy: Anatomy
    twin: PlainModel


def subject_of(family: str) -> Subject:
    known = {**SHARED, **WHOLE}[family]
    model = known.build()
    return Subject(inspect_model(model), plain_twin(model, known.path, known.middle))


SUBJECTS = {family: subject_of(family) for family in ("llama", "gemma2", "mistral", "bloom")}
LLAMA = SUBJECTS["llama"].anatomy
VECTORS = torch.randn(6, HIDDEN, generator=torch.Generator().manual_seed(3))
SITES = [f(layer) for layer in range(DEPTH) for f in (resid_pre, resid_mid, resid_post)]
OUTER = [site for site in SITES if "mid" not in str(site)]


def strengths(operation: Operation) -> st.SearchStrategy[float]:
    """Strengths under which no two edits cancel to a residual of rounding errors, whose direction is anyone's."""
    return st.sampled_from([0.5, -0.5, 2.5] if operation is Operation.PROJECT_OUT else [1.0, -0.5, 2.5, 0.1])


@st.composite
def rows_of_a_tree(draw: st.DrawFn, sites: Sequence[Site]) -> list[Row]:
    """Rows with common beginnings and repeats, edited, read and asked about at drawn places."""
    token = st.integers(3, VOCABULARY - 1)
    trunks = draw(st.lists(st.lists(token, min_size=1, max_size=9).map(tuple), min_size=1, max_size=3))
    rows: list[Row] = []
    for _ in range(draw(st.integers(1, 6))):
        if rows and draw(st.booleans()):
            tokens = draw(st.sampled_from(rows)).tokens
        else:
            tokens = (*draw(st.sampled_from(trunks)), *draw(st.lists(token, max_size=4)))
        places = st.lists(st.integers(0, len(tokens) - 1), unique=True, min_size=1, max_size=3).map(tuple)
        operation = st.sampled_from(Operation)
        edit = operation.flatmap(
            lambda o, places=places: st.builds(
                Edit, st.sampled_from(sites), places, st.sampled_from(list(VECTORS)), st.just(o), strengths(o)
            )
        )
        when = st.sampled_from(["after", "before"])
        captures = [
            Capture(f"{n}", draw(st.sampled_from(sites)), draw(places), draw(when))
            for n in range(draw(st.integers(0, 2)))
        ]
        read = draw(st.one_of(st.just(()), places))
        rows.append(Row(tokens, tuple(draw(st.lists(edit, max_size=2))), tuple(captures), read))
    return rows


def assert_same(one: RunOutput, other: RunOutput, tolerance: float = 2e-5) -> None:
    assert torch.allclose(one.logprobs_RV, other.logprobs_RV, rtol=0, atol=tolerance)
    for found, expected in zip(one.captures, other.captures, strict=True):
        assert_read(found, expected, tolerance)


@pytest.mark.parametrize("family", SUBJECTS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_every_path_agrees_with_the_others_and_with_the_plain_twin(family: str, data: st.DataObject) -> None:
    subject = SUBJECTS[family]
    rows = data.draw(rows_of_a_tree(OUTER if family == "bloom" else SITES))
    told = [told_by_the_twin(subject.twin, row) for row in rows]
    paths = ("plain", "auto") if family == "bloom" else ("plain", "auto", "shared")
    for path in paths:
        assert_told(run(subject.anatomy, rows, path=path), told)


class Counter:
    """Counts the tokens that every block sees."""

    def __init__(self, anatomy: Anatomy) -> None:
        assert can_share(anatomy)  # the trial is over before anything is counted
        self.tokens = [0] * DEPTH
        self.handles = [
            block.mlp.register_forward_hook(lambda module, args, _, layer=layer: self.count(layer, args[0]))
            for layer, block in enumerate(anatomy.blocks)
        ]

    def count(self, layer: int, stream: Tensor) -> None:
        self.tokens[layer] += stream.shape[0] * stream.shape[1]

    def stop(self) -> list[int]:
        for handle in self.handles:
            handle.remove()
        return self.tokens


TRUNK = tuple(range(3, 43))


def test_tokens_that_rows_share_are_computed_once() -> None:
    counter = Counter(LLAMA)
    run(LLAMA, [Row((*TRUNK, i, i + 1)) for i in range(50, 60)])
    assert counter.stop() == [len(TRUNK) + 2 * 10] * DEPTH


def test_edits_of_equal_rows_cost_only_the_layers_above_them_and_the_tokens_after_them() -> None:
    rows = [Row((*TRUNK, 50, 51), (Edit(resid_post(2), (41,), vector),)) for vector in VECTORS]
    counter = Counter(LLAMA)
    run(LLAMA, rows)
    # One token a row is left after the 41 that all share: once clean through all blocks, then edited through the last.
    assert counter.stop() == [42, 42, 42, 42 + len(rows)]


def test_rows_that_start_in_the_middle_keep_their_own_stream_whatever_prefix_they_continue() -> None:
    """Rows of two prefixes, of which some part from their prefix only later, so that they come mixed."""
    rows = [
        Row((*range(first, first + 20), *end), (Edit(resid_pre(1), (20 + at,), vector),))
        for end, at in (((60, 61, 62), 0), ((63, 64, 65), 2))
        for first in (3, 33)
        for vector in VECTORS[:2]
    ]
    twin = SUBJECTS["llama"].twin
    assert_told(run(LLAMA, rows), [told_by_the_twin(twin, row) for row in rows])


def test_plain_runs_compute_every_token_of_every_row() -> None:
    counter = Counter(LLAMA)
    run(LLAMA, [Row((*TRUNK, i)) for i in range(50, 60)], path="plain")
    assert counter.stop() == [410] * DEPTH


def test_rows_are_told_in_the_order_given_whatever_they_share() -> None:
    rows = [Row((*TRUNK, i, *range(60, 60 + i % 3)), read=(40, 39)) for i in range(50, 60)]
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0)).tolist()
    there = run(LLAMA, rows).logprobs_RV.reshape(len(rows), 2, -1)
    mixed = run(LLAMA, [rows[i] for i in order]).logprobs_RV.reshape(len(rows), 2, -1)
    assert torch.allclose(there[order], mixed, atol=2e-5)


@pytest.mark.parametrize("path", ["plain", "auto", "shared"])
@pytest.mark.parametrize("budget", [1, 7, 100])
def test_a_small_budget_changes_the_passes_and_not_the_numbers(
    monkeypatch: pytest.MonkeyPatch, path: Any, budget: int
) -> None:
    rows = [
        Row(
            (*TRUNK[:20], i, 7),
            (Edit(resid_post(i % 4), (20,), VECTORS[i % 6]),),
            (Capture("x", resid_post(2), (21,)),),
        )
        for i in range(50, 60)
    ]
    whole = run(LLAMA, rows, path=path)
    monkeypatch.setattr(sweep, "tokens_at_once", lambda _: budget)
    assert_same(run(LLAMA, rows, path=path), whole)


@pytest.mark.parametrize("path", ["plain", "shared"])
def test_running_out_of_memory_halves_the_rows_and_goes_on(llama: PreTrainedModel, path: Any) -> None:
    anatomy = inspect_model(llama)
    rows = [Row((5, 6, 7), (Edit(resid_post(0), (1,), vector),)) for vector in VECTORS]
    whole, tried = run(anatomy, rows, path=path), []

    def narrow(module: nn.Module, args: tuple[Tensor], output: Tensor) -> None:
        tokens = args[0].shape[0] * args[0].shape[1]
        tried.append(tokens)
        if tokens > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")

    told: list[int] = []
    llama.model.layers[3].register_forward_hook(narrow)
    assert_same(run(anatomy, rows, path=path, advance=told.append), whole)
    assert max(tried) > 3
    assert sum(told) == len(rows)


def test_progress_is_told_for_every_row_once() -> None:
    for path in ("plain", "auto", "shared"):
        told: list[int] = []
        run(LLAMA, [Row((*TRUNK, i)) for i in range(50, 60)] + [Row((5,))], path=path, advance=told.append)
        assert sum(told) == 11


@pytest.mark.parametrize("path", ["plain", "auto", "shared"])
def test_a_reduction_is_told_whose_distributions_it_gets_and_keeps_what_it_wants(path: Any) -> None:
    rows = [Row((*TRUNK, i), read=(40, 39) if i % 2 else ()) for i in range(50, 58)]
    rows.insert(3, Row((5, 6)))
    wanted = torch.arange(len(rows)) + 3

    def reduce(logprobs_RV: Tensor, owners: Sequence[int]) -> Tensor:
        assert len(owners) == len(logprobs_RV)
        owner = torch.tensor(owners)
        return torch.stack([owner.float(), logprobs_RV.gather(1, wanted[owner][:, None])[:, 0]], 1)

    kept = run(LLAMA, rows, path=path, reduce=reduce).logprobs_RV
    owners = [i for i, row in enumerate(rows) for _ in range(len(row.read) or 1)]
    assert kept[:, 0].tolist() == owners
    full = run(LLAMA, rows, path="plain").logprobs_RV
    assert torch.allclose(kept[:, 1], full.gather(1, wanted[owners][:, None])[:, 0], atol=2e-5)


def test_a_reduction_that_loses_distributions_is_refused() -> None:
    with pytest.raises(EngineError, match="1 values for 2 distributions"):
        run(LLAMA, [Row((5, 6), read=(0, 1))], reduce=lambda logprobs, _: logprobs[:1])


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "at least one row"),
        ([Row((5,)), Row(())], "at least one token"),
        ([Row((5, VOCABULARY))], "token id"),
        ([Row((5,) * 65)], "longer than the 64"),
        ([Row((5, 6), (Edit(resid_post(4), (1,), VECTORS[0]),))], "layers 0 to 3"),
        ([Row((5, 6), (Edit(resid_post(1), (2,), VECTORS[0]),))], "positions"),
    ],
)
def test_rows_that_cannot_be_run_exactly_are_refused_before_anything_runs(rows: list[Row], reason: str) -> None:
    counter = Counter(LLAMA)
    for path in ("plain", "auto", "shared"):
        with pytest.raises(EngineError, match=reason):
            run(LLAMA, rows, path=path)
    assert counter.stop() == [0] * DEPTH


def test_a_run_equals_the_same_rows_on_an_explicit_prefix() -> None:
    rows = [Row((*TRUNK, i, 7), (Edit(resid_pre(2), (41,), VECTORS[i % 6]),)) for i in range(50, 56)]
    prefix, _ = run_prefix(LLAMA, [Row(TRUNK)])
    ends = [row.from_position(len(TRUNK)) for row in rows]
    explicit = run_rows(LLAMA, ends, prefix=prefix, prefix_rows=[0] * len(rows))
    assert_same(run(LLAMA, rows), explicit)
    assert_same(run(LLAMA, [replace(row, read=(41,)) for row in rows]), explicit)


def test_a_clean_pass_is_made_only_where_it_saves_more_than_it_costs(
    anatomy: Anatomy, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    own = sweep.Start
    monkeypatch.setattr(sweep, "Start", lambda stage, stream: started.append(stage) or own(stage, stream))
    tokens, vector = tuple(range(5, 27)), torch.ones(32)

    def rows(layer: int, count: int) -> list[Row]:
        return [Row(tokens, (Edit(resid_post(layer), (20,), vector, strength=float(n)),)) for n in range(count)]

    run(anatomy, rows(0, 4))
    assert started == []  # four rows save one of four blocks each, which one clean pass costs
    run(anatomy, rows(2, 4))
    assert set(started) == {3}
    started.clear()
    run(anatomy, rows(0, 2), path="shared")
    assert set(started) == {1}
