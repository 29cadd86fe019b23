"""The blocks are found in wrapped and nested models, and nothing is guessed."""

import copy

import pytest
import torch
from peft import LoraConfig, PromptTuningConfig, get_peft_model
from plain_run import PlainEdit, plain_run, plain_twin
from torch import nn
from transformers import (
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    Gemma3TextConfig,
    PreTrainedModel,
    SiglipVisionConfig,
)

from firsthand.engine import Edit, inspect_model, run_prefix, run_rows
from firsthand.errors import EngineError

ROWS = [[5, 6, 7, 8], [9, 10]]
DELTA = torch.ones(2, 32)


def with_lora(model: PreTrainedModel) -> PreTrainedModel:
    wrapped = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj", "v_proj"], lora_dropout=0.1)).eval()
    with torch.no_grad():
        for name, parameter in wrapped.named_parameters():
            if "lora_" in name:
                parameter.normal_(0.0, 0.3)
    return wrapped


def test_edits_under_a_lora_wrapper_equal_the_plain_twin_with_and_without_a_prefix(llama: PreTrainedModel) -> None:
    bare = copy.deepcopy(llama)
    model = with_lora(llama)
    anatomy = inspect_model(model)
    assert anatomy.path == "base_model.model.model.layers"
    edits = [Edit(1, ((1,), (0,)), DELTA)]
    whole = run_rows(model, anatomy, ROWS, edits).logprobs_RV
    prefix, _ = run_prefix(model, anatomy, [row[:1] for row in ROWS], [Edit(1, ((), (0,)), DELTA)])
    split = run_rows(
        model, anatomy, [row[1:] for row in ROWS], [Edit(1, ((1,), ()), DELTA)], prefix=prefix, prefix_rows=[0, 1]
    ).logprobs_RV
    for row, place in enumerate((1, 0)):
        edit = [PlainEdit(1, place, DELTA[row])]
        logprobs_V, _ = plain_run(plain_twin(model), anatomy.path, ROWS[row], edit)
        without, _ = plain_run(plain_twin(bare), "model.layers", ROWS[row], edit)
        assert torch.allclose(whole[row].double(), logprobs_V, atol=2e-5)
        assert torch.allclose(split[row].double(), logprobs_V, atol=2e-5)
        assert float((logprobs_V - without).abs().max()) > 0.01


def test_an_adapter_of_virtual_tokens_is_refused_because_it_shifts_positions(llama: PreTrainedModel) -> None:
    model = get_peft_model(llama, PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)).eval()
    with pytest.raises(EngineError, match="virtual tokens"):
        inspect_model(model)


def test_a_vision_tower_as_deep_as_the_text_is_not_mistaken_for_it() -> None:
    text = Gemma3TextConfig(
        vocab_size=97,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        sliding_window=2,
        query_pre_attn_scalar=8,
        initializer_range=0.2,
        layer_types=["sliding_attention", "full_attention"] * 2,
    )
    vision = SiglipVisionConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=4, num_attention_heads=4, image_size=28, patch_size=14
    )
    config = Gemma3Config(
        text_config=text,
        vision_config=vision,
        mm_tokens_per_image=4,
        image_token_index=96,
        boi_token_index=94,
        eoi_token_index=95,
    )
    torch.manual_seed(0)
    model = Gemma3ForConditionalGeneration(config).eval()
    anatomy = inspect_model(model)
    assert anatomy.path == "model.language_model.layers"
    prefix, _ = run_prefix(model, anatomy, [[5, 6, 7, 8]], [Edit(1, ((1,),), DELTA[:1])])
    output = run_rows(model, anatomy, [[9, 10]], prefix=prefix)
    logprobs_V, _ = plain_run(plain_twin(model), anatomy.path, [5, 6, 7, 8, 9, 10], [PlainEdit(1, 1, DELTA[0])])
    assert torch.allclose(output.logprobs_RV[0].double(), logprobs_V, atol=2e-5)


def test_two_lists_that_fit_are_refused_with_both_names(llama: PreTrainedModel) -> None:
    llama.spare = nn.ModuleList(nn.Linear(2, 2).eval() for _ in range(4))
    with pytest.raises(EngineError, match=r"model\.layers, spare|spare, model\.layers"):
        inspect_model(llama)


def test_as_many_experts_as_blocks_inside_the_blocks_do_not_matter(llama: PreTrainedModel) -> None:
    for block in llama.model.layers:
        block.experts = nn.ModuleList(nn.Linear(2, 2) for _ in range(4)).eval()
    assert inspect_model(llama).path == "model.layers"


def test_a_model_in_training_mode_is_refused(llama: PreTrainedModel) -> None:
    with pytest.raises(EngineError, match="training mode"):
        inspect_model(llama.train())


def test_a_live_dropout_deep_inside_is_refused_when_running(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama)
    llama.model.layers[2].mlp.train()
    with pytest.raises(EngineError, match="training mode"):
        run_rows(llama, anatomy, ROWS)


def test_a_model_that_sees_later_tokens_is_refused(llama: PreTrainedModel) -> None:
    def mixed(module: nn.Module, _: object, output: torch.Tensor) -> torch.Tensor:
        return output + output.mean(1, keepdim=True)

    llama.model.layers[0].register_forward_hook(mixed)
    with pytest.raises(EngineError, match="not causal"):
        inspect_model(llama)


def test_inspection_leaves_hooks_as_they_were(llama: PreTrainedModel) -> None:
    handle = llama.model.layers[1].register_forward_hook(lambda *_: None)
    inspect_model(llama)
    assert list(llama.model.layers[1]._forward_hooks) == [handle.id]
    assert not llama.model.layers[0]._forward_hooks
