"""The blocks are found in wrapped and nested models, and nothing is guessed."""

import copy

import pytest
import torch
from peft import PromptTuningConfig, get_peft_model
from plain_families import with_lora
from plain_rows import assert_told, told_by_the_twin
from plain_run import plain_twin
from torch import nn
from transformers import PreTrainedModel

from firsthand.engine import Edit, Row, inspect_model, resid_post, run, run_rows
from firsthand.errors import EngineError

ROWS = [Row((5, 6, 7, 8), (Edit(resid_post(1), (1,), torch.ones(32)),)), Row((9, 10))]


def test_edits_under_a_lora_wrapper_change_the_adapted_model(llama: PreTrainedModel) -> None:
    bare = plain_twin(copy.deepcopy(llama), "model.layers")
    anatomy = inspect_model(with_lora(llama))
    assert anatomy.path == "base_model.model.model.layers"
    assert anatomy.name == "LlamaForCausalLM"
    told = [told_by_the_twin(plain_twin(anatomy.model, anatomy.path), row) for row in ROWS]
    assert_told(run(anatomy, ROWS), told)
    for row, (logprobs_EV, _) in zip(ROWS, told, strict=True):
        assert float((logprobs_EV - told_by_the_twin(bare, row)[0]).abs().max()) > 0.01


def test_an_adapter_of_virtual_tokens_is_refused_because_it_shifts_positions(llama: PreTrainedModel) -> None:
    model = get_peft_model(llama, PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)).eval()
    with pytest.raises(EngineError, match="virtual tokens"):
        inspect_model(model)


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
    for runs in (run, run_rows):
        with pytest.raises(EngineError, match="training mode"):
            runs(anatomy, ROWS)


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
    assert not any(module._forward_pre_hooks for module in llama.modules())
