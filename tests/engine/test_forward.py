"""One pass reads the tokens that were asked for, and refuses a model that answers something else."""

import pytest
import torch
from plain_families import SHARED, VOCABULARY, WHOLE
from torch import Tensor
from transformers import PreTrainedModel

from firsthand.engine import Anatomy, Capture, Row, inspect_model, resid_post, run_prefix, run_rows
from firsthand.engine.forward import arguments_of, forward
from firsthand.engine.layout import Layout
from firsthand.errors import EngineError

ROWS = [Row((5, 6, 7), read=(2, 0)), Row((8,)), Row((9, 10), read=(0,))]


@pytest.mark.parametrize("family", ["llama", "gemma", "gptj", "biogpt", "xlstm, no choice of logits", "bloom"])
def test_logits_are_those_after_the_tokens_that_are_read(family: str) -> None:
    model = {**SHARED, **WHOLE}[family].build()
    passed = forward(inspect_model(model), ROWS, Layout.of(ROWS, [0, 0, 0], packed=False))
    with torch.no_grad():
        alone = [model(input_ids=torch.tensor([row.tokens]), use_cache=False).logits[0] for row in ROWS]
    expected = torch.stack([alone[0][2], alone[0][0], alone[1][0], alone[2][0]])
    assert passed.logits_EV.shape == (4, VOCABULARY)
    assert float((passed.logits_EV - expected).abs().max()) < 2e-5


def test_without_logits_the_head_runs_on_one_token_and_readings_are_taken_all_the_same(llama: PreTrainedModel) -> None:
    anatomy, seen = inspect_model(llama), []
    llama.lm_head.register_forward_hook(lambda module, args, output: seen.append(args[0].shape[1]))
    rows = [Row((5, 6, 7), captures=(Capture("site", resid_post(1), (0,)),))]
    passed = forward(anatomy, rows, Layout.of(rows, [0], packed=False), logits=False)
    assert seen == [1]
    assert passed.readings[0]["site"].shape == (1, 32)


def test_a_model_that_swallows_the_choice_of_logits_is_refused_rather_than_read_at_another_token(
    llama: PreTrainedModel,
) -> None:
    anatomy, own = inspect_model(llama), llama.forward

    def deaf(
        input_ids: Tensor, position_ids: object = None, use_cache: bool = True, logits_to_keep: object = 0
    ) -> object:
        return own(input_ids, use_cache=use_cache)

    llama.forward = deaf
    with pytest.raises(EngineError, match="LlamaForCausalLM returned logits"):
        run_rows(anatomy, ROWS)


def test_overflow_above_the_edit_raises(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama)
    with torch.no_grad():
        llama.lm_head.weight.mul_(1e38).mul_(1e3)
    with pytest.raises(EngineError, match="overflowed"):
        run_rows(anatomy, ROWS)


def test_the_arguments_are_those_of_the_model_inside_a_wrapper() -> None:
    model = SHARED["llama with an adapter"].build()
    assert {"input_ids", "position_ids", "logits_to_keep"} <= arguments_of(model)


def test_no_pass_leaves_a_graph_behind(anatomy: Anatomy) -> None:
    prefix, _ = run_prefix(anatomy, [Row((5, 6))])
    assert not any(k.requires_grad or v.requires_grad for k, v in prefix.memory.layers.values())
    assert not run_rows(anatomy, ROWS).logprobs_RV.requires_grad
