"""Attention with its log-sum-exp, by a fused kernel where there is one, and by plain arithmetic where not."""

import torch
from torch import Tensor


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    seen: Tensor | None,
    scale: float,
    softcap: float | None,
    *,
    causal: bool,
) -> tuple[Tensor, Tensor]:
    """Softmax attention of grouped heads.

    Args:
        query: ``[batch, heads, queries, width]``.
        key: ``[batch, key heads, keys, width]``.
        value: ``[batch, key heads, keys, value width]``.
        seen: Which keys a query sees ``[batch, queries, keys]``, or ``None`` for all (or all that are not later).
        scale: Factor of the scores.
        softcap: Scores are squeezed below this by ``tanh`` (Gemma 2), if given.
        causal: Whether query ``i`` sees keys up to ``i`` only; then there are as many keys as queries.

    Returns:
        Output ``[batch, heads, queries, value width]`` in the dtype of the query, and the log-sum-exp of the scores
        ``[batch, heads, queries]`` in float32 (or float64); a query that sees nothing gets zeros and minus infinity.
    """
    heads, groups, queries = query.shape[1], key.shape[1], query.shape[2]
    each = heads // groups
    if each > 1 and not causal and seen is None:
        folded = query.reshape(query.shape[0], groups, each * queries, -1)
        out, lse = _attend(folded, key, value, None, scale, softcap, causal=False)
        return out.reshape(query.shape[0], heads, queries, -1), lse.reshape(query.shape[0], heads, queries)
    if each > 1:
        key, value = key.repeat_interleave(each, 1), value.repeat_interleave(each, 1)
    return _attend(query, key, value, seen, scale, softcap, causal=causal)


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    seen: Tensor | None,
    scale: float,
    softcap: float | None,
    *,
    causal: bool,
) -> tuple[Tensor, Tensor]:
    same_width = query.shape[-1] == value.shape[-1]
    if softcap is None and same_width and query.device.type == "cpu":
        bias = None if seen is None else _bias(seen, query.dtype)
        out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, 0.0, causal, attn_mask=bias, scale=scale
        )
        return _unseen(out, lse, seen)
    if softcap is None and same_width and query.device.type == "cuda":
        return _attend_on_cuda(query, key, value, seen, scale, causal=causal)
    return _attend_plainly(query, key, value, seen, scale, softcap, causal=causal)


def _attend_on_cuda(
    query: Tensor, key: Tensor, value: Tensor, seen: Tensor | None, scale: float, *, causal: bool
) -> tuple[Tensor, Tensor]:
    bias = None
    if seen is not None:  # the kernel wants rows of memory that begin at multiples of 16 bytes
        keys = seen.shape[-1]
        roomy = torch.nn.functional.pad(_bias(seen, query.dtype), (0, -keys % 16))
        bias = roomy[..., :keys].expand(query.shape[0], query.shape[1], -1, -1)
    out, lse, _, _ = torch.ops.aten._scaled_dot_product_efficient_attention(
        query, key, value, bias, True, 0.0, causal, scale=scale
    )
    return _unseen(out, lse[..., : query.shape[2]], seen)  # the kernel rounds the number of queries up


def _unseen(out: Tensor, lse: Tensor, seen: Tensor | None) -> tuple[Tensor, Tensor]:
    """Queries that see nothing weigh nothing: kernels give them zeros or no numbers, and an arbitrary log-sum-exp."""
    if seen is None:
        return out, lse
    blind = ~seen.any(-1)[:, None]
    return out.masked_fill(blind[..., None], 0.0), lse.masked_fill(blind, -torch.inf)


def _attend_plainly(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    seen: Tensor | None,
    scale: float,
    softcap: float | None,
    *,
    causal: bool,
) -> tuple[Tensor, Tensor]:
    exact = torch.promote_types(query.dtype, torch.float32)
    scores = (query.to(exact) @ key.to(exact).transpose(-1, -2)) * scale
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if causal:
        seen = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril()[None]
    if seen is not None:
        scores = scores.masked_fill(~seen[:, None], -torch.inf)
    lse = scores.logsumexp(-1)
    return _unseen(((scores - lse[..., None]).exp() @ value.to(exact)).to(query.dtype), lse, seen)


def _bias(seen: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill_(~seen, -torch.inf)[:, None]
