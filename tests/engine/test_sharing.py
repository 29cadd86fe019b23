"""Whether attention can be shared is tried, not looked up, and a trial that fails is told once."""

import logging

import pytest
import torch
from plain_families import SHARED, WHOLE, tiny_model
from transformers import PreTrainedModel

from firsthand.engine import Edit, Row, inspect_model, logit_lens, resid_post, run
from firsthand.engine.sharing import can_resume, can_share, refusal_to_share
from firsthand.errors import EngineError


def test_a_model_that_does_more_than_attend_is_found_out_by_its_numbers(llama: PreTrainedModel) -> None:
    """A block that also adds what stood before, as recurrent layers do, mixes rows that are packed."""
    block = llama.model.layers[1]
    block.register_forward_hook(lambda module, args, output: output + 0.1 * output.cumsum(1))
    anatomy = inspect_model(llama)
    assert "log-probabilities differ by" in refusal_to_share(anatomy)
    rows = [Row((5, 6, 7, 8)), Row((5, 6, 7, 9))]
    whole = [run(anatomy, [row], path="plain").logprobs_RV for row in rows]
    assert torch.allclose(run(anatomy, rows).logprobs_RV, torch.cat(whole), atol=2e-5)


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("rope_parameters", {"rope_type": "dynamic", "factor": 2.0}, "depend on the length"),
        ("rope_parameters", {"full_attention": {"rope_type": "longrope"}, "other": {}}, "depend on the length"),
        ("attn_temperature_tuning", True, "by their place"),
        ("num_kv_shared_layers", 2, "keys of other layers"),
        ("hidden_size_per_layer_input", 8, "inputs of their own"),
        ("index_topk", 4, "an index of its own"),
    ],
)
def test_what_no_short_trial_would_notice_is_known_by_its_setting(
    llama: PreTrainedModel, setting: str, value: object, reason: str
) -> None:
    setattr(llama.config, setting, value)
    assert reason in refusal_to_share(inspect_model(llama))


def test_a_refusal_is_told_once_with_its_reason_and_its_price(caplog: pytest.LogCaptureFixture) -> None:
    anatomy = inspect_model(WHOLE["bloom"].build())
    with caplog.at_level(logging.WARNING, "firsthand.engine"):
        assert not can_share(anatomy)
        assert not can_share(anatomy)
        run(anatomy, [Row((5, 6))])
    (told,) = [record.getMessage() for record in caplog.records if record.name == "firsthand.engine"]
    assert told.startswith("BloomForCausalLM: it takes no explicit positions.")
    assert "run whole through all 4 blocks" in told


def test_a_model_that_shares_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "firsthand.engine"):
        assert can_share(inspect_model(SHARED["llama"].build()))
    assert not [record for record in caplog.records if record.name == "firsthand.engine"]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_models_of_other_precisions_share_too(dtype: torch.dtype) -> None:
    assert can_share(inspect_model(tiny_model("llama", {}).to(dtype)))


def test_sharing_that_is_demanded_of_a_model_that_cannot_is_refused_by_name() -> None:
    anatomy = inspect_model(WHOLE["mpt"].build())
    with pytest.raises(EngineError, match="MptForCausalLM cannot share a prefix: it takes no explicit positions"):
        run(anatomy, [Row((5, 6))], path="shared")


def test_the_trial_leaves_hooks_and_attention_as_they_were(llama: PreTrainedModel) -> None:
    anatomy = inspect_model(llama)
    before = llama.config._attn_implementation
    assert can_share(anatomy)
    assert llama.config._attn_implementation == before
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in llama.modules())


def test_a_model_whose_stream_does_not_say_it_all_is_not_resumed_and_has_no_lens(llama: PreTrainedModel) -> None:
    """The last block also adds what the first one returned, which a pass that starts in the middle never computes."""
    seen: list[torch.Tensor] = []
    llama.model.layers[0].register_forward_hook(lambda module, args, output: seen.append(output))
    llama.model.layers[3].register_forward_hook(lambda module, args, output: output + 0.5 * seen[-1])
    anatomy = inspect_model(llama)
    assert not can_resume(anatomy)
    assert can_share(anatomy)
    vector = torch.ones(32)
    rows = [Row(tuple(range(5, 27)), (Edit(resid_post(2), (20,), vector, strength=s),)) for s in (1.0, 2.0, 3.0)]
    whole = run(anatomy, rows, path="plain").logprobs_RV
    assert torch.allclose(run(anatomy, rows, path="shared").logprobs_RV, whole, atol=2e-5)
    with pytest.raises(EngineError, match="no logit lens"):
        logit_lens(anatomy, torch.zeros(1, 32))
