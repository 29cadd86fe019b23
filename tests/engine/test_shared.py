"""Rows that begin alike are computed together, and come out as if each had been run whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_families import SHARED, WHOLE, tiny_model
from plain_run import plain_run, plain_twin

from firsthand.engine import inspect_model
from firsthand.engine import shared as module
from firsthand.engine.shared import alike, run_shared, together
from firsthand.errors import EngineError

VOCABULARY = 97


def model_of(family: str = "llama") -> tuple[object, str]:
    model_type, path, configuration = {**SHARED, **WHOLE}[family]
    return tiny_model(model_type, configuration), path


def tree(seed: int) -> list[tuple[int, ...]]:
    """Rows of a tree: common beginnings of several lengths, rows that end where others go on, and repeats."""
    rng = np.random.default_rng(seed)

    def draw(n: int) -> tuple[int, ...]:
        return tuple(int(x) for x in rng.integers(3, VOCABULARY, n))

    trunk, left, right = draw(17), draw(16), draw(5)
    rows = [trunk + left + draw(3), trunk + left + draw(6), trunk + right + draw(4), trunk + right, trunk, draw(9)]
    rows.append(rows[0])
    return [rows[i] for i in rng.permutation(len(rows))]


@pytest.mark.parametrize("family", ["llama", "mistral", "gemma3_text", "gpt2", "bloom", "mamba"])
def test_every_row_equals_the_plain_twin(family: str) -> None:
    model, path = model_of(family)
    rows = tree(1)
    found = run_shared(model, inspect_model(model), rows)
    twin = plain_twin(model)
    for row, logprobs_V in zip(rows, found, strict=True):
        assert np.allclose(logprobs_V, plain_run(twin, path, row)[0], atol=2e-5)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 24))
def test_the_result_does_not_depend_on_how_much_is_shared(seed: int, least: int) -> None:
    model, _ = model_of()
    anatomy, rows = inspect_model(model), tree(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LEAST_SHARED", 1000)
        whole = run_shared(model, anatomy, rows)
        patch.setattr(module, "LEAST_SHARED", least)
        assert np.allclose(run_shared(model, anatomy, rows), whole, atol=2e-5)


def test_what_is_shared_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = model_of()
    anatomy, tokens = inspect_model(model), []
    run_prefix, run_rows = module.run_prefix, module.run_rows

    def counting(run: object) -> object:
        def counted(
            model: object, anatomy: object, rows: list[tuple[int, ...]], *rest: object, **named: object
        ) -> object:
            tokens.append(sum(map(len, rows)))
            return run(model, anatomy, rows, *rest, **named)  # type: ignore[operator]

        return counted

    monkeypatch.setattr(module, "run_prefix", counting(run_prefix))
    monkeypatch.setattr(module, "run_rows", counting(run_rows))
    trunk = tuple(range(3, 43))
    rows = [(*trunk, i, i + 1) for i in range(50, 60)]
    run_shared(model, anatomy, rows)
    assert sum(tokens) == len(trunk) + 2 * len(rows)


def test_an_empty_row_is_refused() -> None:
    model, _ = model_of()
    with pytest.raises((EngineError, ValueError)):
        run_shared(model, inspect_model(model), [(), (5, 6)])


def test_grouping_keeps_order_and_batches_keep_padding_small() -> None:
    assert together([3, 1, 4, 1, 5], lambda x: x % 2) == [[3, 1, 1, 5], [4]]
    batches = alike([10, 100, 11, 12, 105], lambda x: x)
    assert batches == [[10, 11, 12], [100, 105]]
