"""A pass that starts in the middle is the rest of a whole pass, and every block gets its own forward back."""

import pytest
import torch
from accelerate import dispatch_model
from plain_families import DEPTH, SHARED
from torch import Tensor, nn
from transformers import PreTrainedModel

from firsthand.engine import Anatomy, Row, inspect_model, run
from firsthand.engine.skipping import skipping

IDS = torch.tensor([[5, 6, 7, 8]])


def logits_and_streams(model: PreTrainedModel) -> tuple[Tensor, list[Tensor]]:
    with torch.no_grad():
        output = model(input_ids=IDS, use_cache=False, output_hidden_states=True)
    return output.logits, list(output.hidden_states)


@pytest.mark.parametrize("family", ["llama", "gemma2", "gpt2", "llama4_text", "biogpt", "llama with an adapter"])
@pytest.mark.parametrize("stage", range(1, DEPTH))
def test_upper_blocks_do_to_a_given_stream_what_they_do_in_a_whole_pass(family: str, stage: int) -> None:
    model = SHARED[family].build()
    logits, streams = logits_and_streams(model)
    anatomy = inspect_model(model)
    with skipping(anatomy, stage, streams[stage]):
        again, _ = logits_and_streams(model)
    assert torch.allclose(again, logits, atol=1e-6)
    with skipping(anatomy, stage, streams[stage].flip(-1)):
        other, _ = logits_and_streams(model)
    assert not torch.allclose(other, logits, atol=1e-2)


def test_skipped_blocks_are_not_run(llama: PreTrainedModel) -> None:
    anatomy, ran = inspect_model(llama), []
    for layer, block in enumerate(anatomy.blocks):
        block.mlp.register_forward_hook(lambda *_, layer=layer: ran.append(layer))
    with skipping(anatomy, 3, torch.zeros(1, 4, 32)):
        llama(input_ids=IDS)
    assert ran == [3]


def forwards(anatomy: Anatomy) -> list[object]:
    return [block.__dict__.get("forward") for block in anatomy.blocks]


@pytest.mark.parametrize("dispatched", [False, True])
def test_forwards_are_as_before_even_after_an_exception_and_where_a_dispatcher_wrapped_them(
    llama: PreTrainedModel, dispatched: bool
) -> None:
    if dispatched:
        names = [
            "model.embed_tokens",
            "model.norm",
            "model.rotary_emb",
            "lm_head",
            *(f"model.layers.{i}" for i in range(4)),
        ]
        llama = dispatch_model(llama, dict.fromkeys(names, "cpu"), force_hooks=True)
    anatomy = inspect_model(llama)
    before, whole = forwards(anatomy), llama(input_ids=IDS).logits
    assert all(before) is dispatched

    def fail() -> None:
        with skipping(anatomy, 2, torch.zeros(1, 4, 32)):
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        fail()
    assert forwards(anatomy) == before
    assert torch.equal(llama(input_ids=IDS).logits, whole)


def test_nothing_is_skipped_at_stage_zero(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama)
    with skipping(anatomy, 0, None):
        assert forwards(anatomy) == [None] * DEPTH


def test_hooks_of_others_on_skipped_blocks_are_left_alone(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama)
    handle = nn.Module.register_forward_hook(llama.model.layers[0], lambda *_: None)
    run(anatomy, [Row((5, 6, 7))] * 2, path="shared")
    assert list(llama.model.layers[0]._forward_hooks) == [handle.id]
