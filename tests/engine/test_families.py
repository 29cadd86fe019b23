"""Every family agrees with the plain twin, or is refused with a reason: nothing in between."""

from typing import Any

import pytest
import torch
from plain_families import HIDDEN, REFUSED, SHARED, VOCABULARY, WHOLE, tiny_model
from plain_run import PlainEdit, PlainRead, plain_run, plain_twin
from transformers import PreTrainedModel

from firsthand.engine import Capture, Edit, inspect_model, run_prefix, run_rows
from firsthand.engine.session import can_share_prefix
from firsthand.errors import EngineError

TOLERANCE = 2e-5
LENGTH = 9  # longer than every window
PREFIX_ROWS = (0, 1, 1, 0)
PREFIX_PLACES = ((2, 3), (8,))
ROW_PLACES = ((9, 11), (9,), (), (10,))

_GENERATOR = torch.Generator().manual_seed(7)
PREFIXES = torch.randint(3, VOCABULARY, (2, LENGTH), generator=_GENERATOR).tolist()
SUFFIXES = [torch.randint(3, VOCABULARY, (n,), generator=_GENERATOR).tolist() for n in (4, 1, 6, 3)]
PREFIX_DELTA = torch.randn(2, HIDDEN, generator=_GENERATOR)
ROW_DELTA = torch.randn(4, HIDDEN, generator=_GENERATOR)


def oracle(model: PreTrainedModel, path: str, row: int, start: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The plain run of one row: with its prefix if ``start`` is not zero, else its own tokens alone."""
    own = [PlainEdit(2, p - LENGTH + start, ROW_DELTA[row]) for p in ROW_PLACES[row]]
    tokens = SUFFIXES[row]
    if start:
        shared = PREFIX_ROWS[row]
        own += [PlainEdit(1, p, PREFIX_DELTA[shared]) for p in PREFIX_PLACES[shared]]
        tokens = PREFIXES[shared] + tokens
    logprobs_V, readings = plain_run(plain_twin(model), path, tokens, own, [PlainRead(2, (len(tokens) - 1,))])
    return logprobs_V, readings[0]


def engine_rows(model: PreTrainedModel, start: int, **options: Any) -> Any:
    places = tuple(tuple(p - LENGTH + start for p in row) for row in ROW_PLACES)
    ends = tuple((start + len(row) - 1,) for row in SUFFIXES)
    edits, captures = [Edit(2, places, ROW_DELTA)], [Capture("end", 2, ends)]
    return run_rows(model, inspect_model(model), SUFFIXES, edits, captures, **options)


def assert_agrees(model: PreTrainedModel, path: str, output: Any, start: int) -> None:
    for row in range(len(SUFFIXES)):
        logprobs_V, reading_H = oracle(model, path, row, start)
        assert float((output.logprobs_RV[row] - logprobs_V).abs().max()) < TOLERANCE
        assert float((output.captures["end"][row] - reading_H).abs().max()) < TOLERANCE


@pytest.mark.parametrize("family", SHARED)
def test_mixed_rows_on_a_twice_used_edited_prefix_equal_the_plain_twin(family: str) -> None:
    model_type, path, configuration = SHARED[family]
    model = tiny_model(model_type, configuration)
    anatomy = inspect_model(model)
    assert (anatomy.path, anatomy.n_layers, anatomy.hidden_size) == (path, 4, HIDDEN)
    edits = [Edit(1, PREFIX_PLACES, PREFIX_DELTA)]
    prefix, readings = run_prefix(model, anatomy, PREFIXES, edits, [Capture("site", 1, PREFIX_PLACES)])
    first = engine_rows(model, LENGTH, prefix=prefix, prefix_rows=PREFIX_ROWS)
    assert_agrees(model, path, first, LENGTH)
    for row, places in enumerate(PREFIX_PLACES):
        written = [PlainEdit(1, p, PREFIX_DELTA[row]) for p in places]
        _, (site_H,) = plain_run(plain_twin(model), path, PREFIXES[row], written, [PlainRead(1, places)])
        assert float((readings["site"][row] - site_H).abs().max()) < TOLERANCE
    again = engine_rows(model, LENGTH, prefix=prefix, prefix_rows=PREFIX_ROWS)
    assert torch.equal(first.logprobs_RV, again.logprobs_RV)
    assert torch.equal(first.captures["end"], again.captures["end"])


@pytest.mark.parametrize("family", {**SHARED, **WHOLE})
def test_mixed_rows_without_a_prefix_equal_the_plain_twin(family: str) -> None:
    model_type, path, configuration = {**SHARED, **WHOLE}[family]
    model = tiny_model(model_type, configuration)
    assert_agrees(model, path, engine_rows(model, 0), 0)


@pytest.mark.parametrize("family", WHOLE)
def test_a_family_whose_cache_is_more_than_keys_and_values_has_its_prefix_refused_by_name(family: str) -> None:
    model_type, path, configuration = WHOLE[family]
    model = tiny_model(model_type, configuration)
    anatomy = inspect_model(model)
    assert anatomy.path == path
    assert not can_share_prefix(model)
    with pytest.raises(EngineError, match=type(model).__name__):
        run_prefix(model, anatomy, PREFIXES)


@pytest.mark.parametrize("family", REFUSED)
def test_a_family_that_edits_would_miss_is_refused_by_name(family: str) -> None:
    model_type, configuration, reason = REFUSED[family]
    model = tiny_model(model_type, configuration)
    with pytest.raises(EngineError, match=reason) as caught:
        inspect_model(model)
    assert type(model).__name__ in str(caught.value)
    assert not any(module._forward_hooks for module in model.modules())


def test_the_edits_of_this_test_matter() -> None:
    model = tiny_model("llama", {})
    prefix, _ = run_prefix(model, inspect_model(model), PREFIXES)
    clean = engine_rows(model, LENGTH, prefix=prefix, prefix_rows=PREFIX_ROWS).logprobs_RV
    edits = [Edit(1, PREFIX_PLACES, PREFIX_DELTA)]
    edited_prefix, _ = run_prefix(model, inspect_model(model), PREFIXES, edits)
    edited = engine_rows(model, LENGTH, prefix=edited_prefix, prefix_rows=PREFIX_ROWS).logprobs_RV
    assert bool(((clean - edited).abs().amax(1) > 0.01).all())
