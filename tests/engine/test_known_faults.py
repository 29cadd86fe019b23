"""One test for each fault that engines of this kind are known to have, named after its symptom.

Those that a mirrored test holds already are told there: 1 (a block's output is a tuple) and 5 (an edit made twice) in
test_hooks.py, 9 (families) and 4's chunked decoding in test_families.py and test_generation.py, 13 and 14 (the
beginning token twice, templates) in test_prompts.py, 15 and 16 (answer tokens, their mass) in test_readout.py, most of
21 (adapters) in loading/test_adapter.py, 23 (GGUF) in loading/test_gguf.py, 24 (a text cut at a padded length) in
test_stopping.py.
"""

from dataclasses import replace
from typing import Any

import pytest
import torch
from plain_families import DEPTH, HIDDEN, SHARED
from plain_rows import assert_told, told_by_the_twin
from plain_run import PlainEdit, PlainModel, plain_lifted, plain_run, plain_twin
from torch import Tensor, nn
from transformers import PreTrainedModel

from firsthand.engine import (
    Anatomy,
    Capture,
    Edit,
    Operation,
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

PATHS = ("plain", "auto", "shared")
VECTOR = torch.randn(HIDDEN, generator=torch.Generator().manual_seed(5))
LONG = (5, 6, 7, 8, 9, 10)


def edit(layer: int, *positions: int, **options: Any) -> Edit:
    return Edit(resid_post(layer), positions, VECTOR, **options)


def reading(row: Row, anatomy: Anatomy, path: Any = "plain") -> Tensor:
    return run(anatomy, [row], path=path).captures[0]["x"]


@pytest.fixture(scope="module")
def twin(shared_llama: PreTrainedModel) -> PlainModel:
    return plain_twin(shared_llama, "model.layers", "self_attn")


# A2, A3: padding


@pytest.mark.parametrize("family", ["gpt2", "llama", "opt"])
def test_padding_does_not_shift_the_positions_of_shorter_rows(family: str) -> None:
    anatomy = inspect_model(SHARED[family].build())
    rows = [Row(LONG), Row(LONG[:3]), Row((11,))]
    together = run_rows(anatomy, rows).logprobs_RV
    with torch.no_grad():
        alone = torch.cat([anatomy.model(input_ids=torch.tensor([row.tokens])).logits[:, -1] for row in rows])
    assert float((together - torch.log_softmax(alone, -1)).abs().max()) < 2e-5


@pytest.mark.parametrize("path", PATHS)
def test_a_position_names_the_same_token_whatever_the_other_rows_lengths(
    anatomy: Anatomy, twin: PlainModel, path: Any
) -> None:
    rows = [
        Row(tokens, (edit(1, 1),), (Capture("x", resid_post(1), (1, 2)),)) for tokens in (LONG, LONG[:4], (9, 8, 7))
    ]
    together = run(anatomy, rows, path=path)
    assert_told(together, [told_by_the_twin(twin, row) for row in rows])
    for number, row in enumerate(rows):
        alone = run(anatomy, [row], path=path)
        assert torch.allclose(together.logprobs_RV[number], alone.logprobs_RV[0], atol=2e-5)


# A4, A11: a cache and its chunks


def test_cutting_a_row_anywhere_edits_the_same_tokens(anatomy: Anatomy, twin: PlainModel) -> None:
    own, late = edit(1, 1, 2), edit(0, 4)
    told, _ = told_by_the_twin(twin, Row(LONG, (own, late)))
    for cut in (3, 4):
        prefix, _ = run_prefix(anatomy, [Row(LONG[:cut], (own,))])
        found = run_rows(anatomy, [Row(LONG[cut:], (late,))], prefix=prefix).logprobs_RV
        assert float((found - told).abs().max()) < 2e-5


def test_a_first_chunk_of_one_token_is_not_taken_for_a_generated_one(anatomy: Anatomy, twin: PlainModel) -> None:
    prefix, _ = run_prefix(anatomy, [Row(LONG[:1], (edit(1, 0),))])
    for token in range(1, len(LONG)):
        last = run_rows(anatomy, [Row(LONG[token : token + 1])], prefix=prefix).logprobs_RV
        prefix, _ = run_prefix(anatomy, [Row(LONG[token : token + 1])], prefix=prefix)
    assert float((last - told_by_the_twin(twin, Row(LONG, (edit(1, 0),)))[0]).abs().max()) < 2e-5


# A5: an edit made twice


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("strength", [1.0, -0.25, 40.0])
def test_the_change_is_exactly_as_long_as_strength_times_vector(anatomy: Anatomy, path: Any, strength: float) -> None:
    captures = (Capture("x", resid_post(1), (2,)), Capture("was", resid_post(1), (2,), "before"))
    rows = [Row(LONG, (edit(1, 2, strength=s),), captures) for s in (strength, -strength)]
    for found in run(anatomy, rows, path=path).captures:
        length = float((found["x"] - found["was"]).double().norm())
        assert length == pytest.approx(abs(strength) * float(VECTOR.double().norm()), rel=1e-6, abs=1e-6)


# A6: prefixes that remember


def test_a_prefix_under_an_edit_is_never_served_to_a_clean_run(anatomy: Anatomy, twin: PlainModel) -> None:
    clean = Row((*range(3, 40), 41))
    edited = replace(clean, edits=(edit(0, 1),))
    for order in ([edited, clean, edited, clean], [clean, edited]):
        assert_told(run(anatomy, order), [told_by_the_twin(twin, row) for row in order])
    assert torch.equal(run(anatomy, [clean]).logprobs_RV, run(anatomy, [edited, clean]).logprobs_RV[1:])


def test_a_prefix_used_twice_gives_identical_results(anatomy: Anatomy) -> None:
    prefix, _ = run_prefix(anatomy, [Row(LONG, (edit(1, 2),))])
    rows = [Row((11, 12), (edit(2, 6),)), Row((13,))]
    first, again = (run_rows(anatomy, rows, prefix=prefix, prefix_rows=[0, 0]).logprobs_RV for _ in range(2))
    assert torch.equal(first, again)


@pytest.mark.parametrize("path", PATHS)
def test_a_row_that_is_read_gets_all_its_readings_even_if_another_has_run_its_tokens(
    anatomy: Anatomy, twin: PlainModel, path: Any
) -> None:
    tokens = tuple(range(3, 40))
    captures = (Capture("first", resid_pre(0), (0,)), Capture("late", resid_post(3), (36, 5)))
    rows = [Row(tokens), Row(tokens, captures=captures), Row(tokens, captures=captures[:1]), Row(tokens)]
    assert_told(run(anatomy, rows, path=path), [told_by_the_twin(twin, row) for row in rows])


# A7: off by one, and the final norm


def test_the_output_of_the_last_block_is_read_before_the_final_norm(
    shared_llama: PreTrainedModel, anatomy: Anatomy
) -> None:
    last = reading(Row(LONG, captures=(Capture("x", resid_post(DEPTH - 1), (5,)),)), anatomy)
    with torch.no_grad():
        output = shared_llama(input_ids=torch.tensor([LONG]), output_hidden_states=True)
        normed = shared_llama.model.norm(last)
    assert torch.allclose(normed, output.hidden_states[-1][0, 5:], atol=1e-5)
    assert not torch.allclose(last, output.hidden_states[-1][0, 5:], atol=0.1)


def test_a_block_is_given_what_the_block_below_returned_and_the_first_one_the_embedding(
    shared_llama: PreTrainedModel, anatomy: Anatomy
) -> None:
    places = tuple(range(6))
    sites = [resid_pre(layer) for layer in range(DEPTH)] + [resid_post(layer) for layer in range(DEPTH)]
    found = run(anatomy, [Row(LONG, captures=tuple(Capture(str(s), s, places) for s in sites))]).captures[0]
    assert torch.equal(found["resid_pre[0]"], shared_llama.get_input_embeddings().weight[list(LONG)].detach())
    for layer in range(1, DEPTH):
        assert torch.equal(found[f"resid_pre[{layer}]"], found[f"resid_post[{layer - 1}]"])


# A8: readings that depend on who came first


def test_a_reading_does_not_depend_on_when_it_was_listed_or_what_else_is_read(anatomy: Anatomy) -> None:
    sites = (resid_pre(2), resid_post(1), resid_mid(2))
    captures = [Capture(f"{s} {when}", s, (2, 3), when) for s in sites for when in ("after", "before")]
    edits = (edit(1, 2), Edit(resid_pre(2), (2,), VECTOR), Edit(resid_mid(2), (3,), VECTOR, Operation.REPLACE))
    whole = run(anatomy, [Row(LONG, edits, tuple(captures))]).captures[0]
    back = run(anatomy, [Row(LONG, edits, tuple(captures[::-1]))]).captures[0]
    for capture in captures:
        alone = run(anatomy, [Row(LONG, edits, (capture,))]).captures[0]
        assert torch.equal(whole[capture.name], back[capture.name])
        assert torch.equal(whole[capture.name], alone[capture.name])


# A9: an embedding that is scaled


@pytest.mark.parametrize("path", ["plain", "shared"])
def test_a_scaled_embedding_is_scaled_once_however_a_pass_starts(path: Any) -> None:
    model = SHARED["gemma"].build()
    embedding = reading(Row(LONG, captures=(Capture("x", resid_pre(0), (2,)),)), inspect_model(model))
    weight = model.get_input_embeddings().weight[LONG[2]].detach()
    assert torch.allclose(embedding[0], weight * HIDDEN**0.5, atol=1e-5)
    rows = [Row(LONG, (edit(layer, 3),)) for layer in range(DEPTH)]
    told = [told_by_the_twin(plain_twin(model, "model.layers"), row) for row in rows]
    assert_told(run(inspect_model(model), rows, path=path), told)


# A10: masks


@pytest.mark.parametrize("family", ["mistral", "llama4_text", "gemma3_text", "gpt_oss"])
def test_a_window_is_kept_over_a_prefix_that_is_longer_than_it(family: str) -> None:
    known = SHARED[family]
    model = known.build()
    twin = plain_twin(model, known.path)
    tokens = tuple(range(3, 40))
    rows = [Row((*tokens, 50 + i)) for i in range(3)]
    assert_told(run(inspect_model(model), rows, path="shared"), [told_by_the_twin(twin, row) for row in rows])


def test_packed_rows_do_not_see_each_other(anatomy: Anatomy) -> None:
    prefix, _ = run_prefix(anatomy, [Row(LONG)])
    first = run_rows(anatomy, [Row((20, 21)), Row((30, 31, 32))], prefix=prefix, prefix_rows=[0, 0]).logprobs_RV
    other = run_rows(anatomy, [Row((40, 41)), Row((30, 31, 32))], prefix=prefix, prefix_rows=[0, 0]).logprobs_RV
    assert torch.allclose(first[1], other[1], atol=1e-6)
    assert not torch.allclose(first[0], other[0], atol=1e-2)


def test_packed_rows_whose_positions_start_anew_are_not_cut_apart_by_the_model_itself(
    anatomy: Anatomy, twin: PlainModel
) -> None:
    rows = [Row(LONG), Row(LONG[::-1]), Row((9, 8))]
    prefix, _ = run_prefix(anatomy, rows)
    output = run_rows(anatomy, [Row((11,))] * 3, prefix=prefix)
    assert_told(output, [told_by_the_twin(twin, Row((*row.tokens, 11))) for row in rows])


# A12: the cache's name


def test_the_twins_second_pass_really_continues_a_cache(twin: PlainModel) -> None:
    whole, _ = plain_run(twin, LONG)
    lifted, _ = plain_lifted(twin, LONG, 3)
    fresh, _ = plain_run(twin, LONG[3:])
    assert float((whole - lifted).abs().max()) < 2e-5
    assert float((lifted[3:] - fresh).abs().max()) > 0.1


# A18: strength in units of the residual


def test_a_strength_in_norms_means_the_same_in_a_model_whose_residuals_are_larger(llama: PreTrainedModel) -> None:
    def share(model: PreTrainedModel) -> float:
        captures = (Capture("x", resid_post(0), (2,)), Capture("was", resid_post(0), (2,), "before"))
        row = Row(LONG, (edit(0, 2, operation=Operation.ADD_SCALED, strength=0.3),), captures)
        found = run(inspect_model(model), [row]).captures[0]
        return float((found["x"] - found["was"]).norm() / found["was"].norm())

    small = share(llama)
    with torch.no_grad():
        llama.get_input_embeddings().weight.mul_(1000.0)
    assert share(llama) == pytest.approx(small, rel=1e-5)
    assert small == pytest.approx(0.3, rel=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("operation", [Operation.ADD, Operation.REPLACE])
def test_half_precision_that_overflows_at_the_edit_raises(
    llama: PreTrainedModel, dtype: torch.dtype, operation: Operation
) -> None:
    anatomy = inspect_model(llama.to(dtype))
    rows = [Row((5, 6, 7), (Edit(resid_post(1), (2,), torch.full((HIDDEN,), 3.4e38), operation, 2.0),))] * 2
    for path in PATHS:
        with pytest.raises(EngineError, match=r"resid_post\[1\] is not finite"):
            run(anatomy, rows, path=path)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_without_overflow_is_near_the_plain_twin_on_every_path(
    llama: PreTrainedModel, dtype: torch.dtype
) -> None:
    anatomy = inspect_model(llama.to(dtype))
    assert can_share(anatomy)
    twin = plain_twin(llama, "model.layers", "self_attn")
    captures = (Capture("x", resid_post(3), (4,)),)
    rows = [
        Row(LONG, (Edit(site, (3, 4), VECTOR, operation, 0.5),), captures)
        for site in (resid_pre(1), resid_mid(2), resid_post(2))
        for operation in Operation
    ]
    told = [told_by_the_twin(twin, row) for row in rows]
    for path in PATHS:
        output = run(anatomy, rows, path=path)
        assert output.logprobs_RV.dtype == output.captures[0]["x"].dtype == torch.float32
        assert_told(output, told, 0.2 if dtype == torch.bfloat16 else 0.03)


def test_double_precision_is_kept_on_every_path(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama.double())
    rows = [Row(LONG, (edit(layer, 3),), (Capture("x", resid_post(3), (4,)),)) for layer in (0, 1, 1)]
    plain = run(anatomy, rows, path="plain")
    assert plain.logprobs_RV.dtype == plain.captures[0]["x"].dtype == torch.float64
    for path in ("auto", "shared"):
        output = run(anatomy, rows, path=path)
        assert float((output.logprobs_RV - plain.logprobs_RV).abs().max()) < 1e-12


# A20: what a run leaves behind


def everything_hung_on(model: nn.Module) -> list[Any]:
    return [
        (list(m._forward_hooks.items()), list(m._forward_pre_hooks.items()), m.__dict__.get("forward"))
        for m in model.modules()
    ]


@pytest.mark.parametrize("where", ["model.layers.1", "model.layers.3", "lm_head", "model.layers.2.self_attn.q_proj"])
@pytest.mark.parametrize("path", PATHS)
def test_an_exception_leaves_no_hook_no_skipped_block_and_no_other_attention_behind(
    llama: PreTrainedModel, path: Any, where: str
) -> None:
    def raising(*_: object) -> None:
        raise RuntimeError("in the middle")

    llama.model.layers[0].register_forward_pre_hook(lambda *_: None)
    anatomy = inspect_model(llama)
    rows = [
        Row(LONG, (Edit(site, (3,), VECTOR),)) for site in (resid_pre(2), resid_mid(2), resid_post(0), resid_post(2))
    ]
    whole = run(anatomy, rows, path=path).logprobs_RV
    handle = llama.get_submodule(where).register_forward_hook(raising)
    before, attention = everything_hung_on(llama), llama.config._attn_implementation
    with pytest.raises(RuntimeError, match="in the middle"):
        run(anatomy, rows, path=path)
    assert everything_hung_on(llama) == before
    assert llama.config._attn_implementation == attention
    handle.remove()
    assert torch.equal(run(anatomy, rows, path=path).logprobs_RV, whole)


# A21: adapters


def test_the_dropout_of_an_adapter_is_not_live(llama: PreTrainedModel) -> None:
    model = SHARED["llama with an adapter"].build()
    anatomy = inspect_model(model)
    assert torch.equal(run(anatomy, [Row(LONG)]).logprobs_RV, run(anatomy, [Row(LONG)]).logprobs_RV)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()
    with pytest.raises(EngineError, match="training mode"):
        run(anatomy, [Row(LONG)])


def test_hooks_reach_the_blocks_under_a_wrapper(twin: PlainModel) -> None:
    anatomy = inspect_model(SHARED["llama with an adapter"].build())
    captures = (Capture("x", resid_post(3), (3,)),)
    edited, clean = (reading(Row(LONG, edits, captures), anatomy) for edits in ((edit(1, 3),), ()))
    assert float((edited - clean).abs().max()) > 0.1


# A22: the shape of a batch


@pytest.mark.parametrize("family", ["llama", "gemma2", "mixtral", "gpt2"])
def test_a_rows_numbers_do_not_depend_on_its_company(family: str) -> None:
    anatomy = inspect_model(SHARED[family].build())
    row = Row(LONG, (edit(1, 3),))
    alone = run(anatomy, [row], path="plain").logprobs_RV[0]
    others = [Row(tuple(range(3, 4 + n)), (edit(2, 0),)) for n in (1, 5, 30, 6, 2)]
    for path in PATHS:
        for company in ([row, *others], [*others, row], [row] * 17):
            found = run(anatomy, company, path=path).logprobs_RV[company.index(row)]
            assert float((found - alone).abs().max()) < 2e-5


# Timing: what lifted means


def test_a_lifted_edit_is_met_in_the_cache_only(anatomy: Anatomy, twin: PlainModel) -> None:
    """Two passes, the second without any hook, say the same as one pass that touches the early positions only."""
    lifted = edit(1, 1, 2, timing=Timing.LIFTED, until=3)
    delayed = edit(1, 1, 2, timing=Timing.DELAYED, until=3, question=4)
    told, _ = plain_lifted(twin, LONG, 3, [PlainEdit(1, p, VECTOR) for p in (1, 2)])
    for path in PATHS:
        rows = [Row(LONG, (lifted,), read=(3, 4, 5)), Row(LONG, (delayed,), read=(4, 5))]
        found = run(anatomy, rows, path=path).logprobs_RV
        assert float((found - told[[3, 4, 5, 4, 5]]).abs().max()) < 2e-5
