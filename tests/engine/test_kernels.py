"""Attention and its log-sum-exp are those of the textbook, whichever kernel is used."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from firsthand.engine.kernels import attend


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def by_the_textbook(
    query: Tensor, key: Tensor, value: Tensor, seen: Tensor, scale: float, softcap: float | None
) -> tuple[Tensor, Tensor]:
    """One query at a time, in float64."""
    batch, heads, queries, _ = query.shape
    each = heads // key.shape[1]
    out = torch.zeros(batch, heads, queries, value.shape[-1], dtype=torch.float64)
    lse = torch.full((batch, heads, queries), -torch.inf, dtype=torch.float64)
    for b in range(batch):
        for h in range(heads):
            for q in range(queries):
                keys = seen[b, q].nonzero()[:, 0]
                if len(keys) == 0:
                    continue
                scores = scale * (key[b, h // each, keys].double() @ query[b, h, q].double())
                if softcap is not None:
                    scores = softcap * torch.tanh(scores / softcap)
                lse[b, h, q] = scores.exp().sum().log()
                out[b, h, q] = (scores - lse[b, h, q]).exp() @ value[b, h // each, keys].double()
    return out, lse


DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.mark.parametrize("device", DEVICES)
@given(
    batch=st.integers(1, 2),
    groups=st.integers(1, 2),
    each=st.integers(1, 3),
    queries=st.integers(1, 5),
    more_keys=st.integers(0, 4),
    value_width=st.sampled_from([8, 4]),
    softcap=st.sampled_from([None, 1.5]),
    view=st.sampled_from(["all", "causal", "mask"]),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_attention_of_any_shape_is_that_of_the_textbook(
    device: str,
    batch: int,
    groups: int,
    each: int,
    queries: int,
    more_keys: int,
    value_width: int,
    softcap: float | None,
    view: str,
    seed: int,
) -> None:
    keys = queries if view == "causal" else queries + more_keys
    query, key = drawn(batch, groups * each, queries, 8, seed=seed), drawn(batch, groups, keys, 8, seed=seed + 1)
    value = drawn(batch, groups, keys, value_width, seed=seed + 2)
    seen = torch.ones(batch, queries, keys, dtype=torch.bool)
    if view == "causal":
        seen = seen.tril()
    if view == "mask":
        seen = drawn(batch, queries, keys, seed=seed + 3) > 0.3
    there = [x.to(device) for x in (query, key, value, seen)]
    out, lse = attend(*there[:3], there[3] if view == "mask" else None, 0.4, softcap, causal=view == "causal")
    out, lse = out.cpu(), lse.cpu()
    expected, expected_lse = by_the_textbook(query, key, value, seen, 0.4, softcap)
    assert out.dtype == lse.dtype == torch.float32
    assert float((out - expected).abs().max()) < 1e-5
    blind = expected_lse.isinf()
    assert bool((lse[blind] == -torch.inf).all())
    assert float((lse - expected_lse)[~blind].abs().sum()) < 1e-4


def test_a_query_that_sees_nothing_gets_zeros_and_weighs_nothing() -> None:
    query, key, value = drawn(1, 2, 3, 8), drawn(1, 2, 4, 8, seed=1), drawn(1, 2, 4, 8, seed=2)
    seen = torch.tensor([[[True] * 4, [False] * 4, [True, False, False, False]]])
    for softcap in (None, 5.0):
        out, lse = attend(query, key, value, seen, 1.0, softcap, causal=False)
        assert not out[:, :, 1].any()
        assert bool((lse[:, :, 1] == -torch.inf).all())
        assert not out.isnan().any()
        assert torch.allclose(out[:, :, 2], value[:, :, 0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("softcap", [None, 2.0])
def test_half_precision_comes_back_as_it_was_with_an_exact_log_sum_exp(
    dtype: torch.dtype, softcap: float | None
) -> None:
    query, key, value = (drawn(1, 2, 5, 8, seed=s, dtype=dtype) for s in range(3))
    out, lse = attend(query, key, value, None, 0.35, softcap, causal=False)
    seen = torch.ones(1, 5, 5, dtype=torch.bool)
    expected, expected_lse = by_the_textbook(query, key, value, seen, 0.35, softcap)
    assert (out.dtype, lse.dtype) == (dtype, torch.float32)
    assert float((out - expected).abs().max()) < 2e-2
    assert float((lse - expected_lse).abs().max()) < 1e-3


def test_double_precision_stays_double() -> None:
    query, key, value = (drawn(1, 2, 5, 8, seed=s, dtype=torch.float64) for s in range(3))
    out, lse = attend(query, key, value, None, 0.35, None, causal=True)
    expected, expected_lse = by_the_textbook(
        query, key, value, torch.ones(1, 5, 5, dtype=torch.bool).tril(), 0.35, None
    )
    assert out.dtype == lse.dtype == torch.float64
    assert float((out - expected).abs().max()) < 1e-12
    assert float((lse - expected_lse).abs().max()) < 1e-12


def test_two_parts_of_the_keys_merge_by_their_log_sum_exps_into_the_whole() -> None:
    query, key, value = drawn(1, 4, 6, 8), drawn(1, 2, 9, 8, seed=1), drawn(1, 2, 9, 8, seed=2)
    whole, whole_lse = attend(query, key, value, None, 0.5, None, causal=False)
    (left, a), (right, b) = (
        attend(query, key[:, :, part], value[:, :, part], None, 0.5, None, causal=False)
        for part in (slice(0, 4), slice(4, 9))
    )
    assert torch.allclose(torch.lerp(left, right, torch.sigmoid(b - a)[..., None]), whole, atol=1e-6)
    assert torch.allclose(torch.logaddexp(a, b), whole_lse, atol=1e-6)
