import json

import pytest
import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file

from firsthand.engine.loading import load, load_adapter
from firsthand.errors import ModelError

from .conftest import tiny_llama

IDS = torch.arange(3, 30)[None]


@pytest.fixture
def base(make_folder, llama):
    return load(str(make_folder(model=llama)), device="cpu")


@pytest.fixture
def make_adapter(tmp_path, tokenizer):
    """Save a LoRA adapter with random weights, for a model of the given width."""

    def make(name="adapter", hidden=32, seed=5, **options):
        settings = {"r": 4, "lora_alpha": 16, "lora_dropout": 0.5, "target_modules": ["q_proj", "v_proj"], **options}
        wrapped = get_peft_model(tiny_llama(len(tokenizer), hidden), LoraConfig(**settings))
        torch.manual_seed(seed)
        for key, parameter in wrapped.named_parameters():
            if "lora" in key:
                parameter.data.normal_(0, 0.3)
        wrapped.eval().save_pretrained(tmp_path / name)
        with torch.no_grad():
            make.expected = wrapped(IDS).logits
        return tmp_path / name

    return make


def edit_keys(folder, change):
    path = folder / "adapter_model.safetensors"
    save_file({change(key): tensor for key, tensor in load_file(path).items()}, path)


def edit_settings(folder, **changes):
    path = folder / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_an_adapter_gives_what_peft_gives_and_leaves_the_base_alone(base, make_adapter):
    folder = make_adapter()
    before = base.model(IDS).logits
    keys, state = list(base.model.state_dict()), torch.get_rng_state()
    adapted = load_adapter(base, folder)
    torch.testing.assert_close(adapted.model(IDS).logits, make_adapter.expected, atol=2e-5, rtol=0)
    assert (adapted.model(IDS).logits - before).abs().max() > 0.1
    assert torch.equal(base.model(IDS).logits, before)
    assert list(base.model.state_dict()) == keys
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(adapted.unload().model(IDS).logits, before)
    assert adapted.unload() is base


def test_an_adapted_model_is_evaluated_without_dropout_and_keeps_its_paths(base, make_adapter):
    adapted = load_adapter(base, make_adapter())
    assert torch.equal(adapted.model(IDS).logits, adapted.model(IDS).logits)
    assert not any(module.training for module in adapted.model.modules())
    assert not any(parameter.requires_grad for parameter in adapted.model.parameters())
    assert type(adapted.model) is type(base.model)
    assert adapted.model.model.layers[2] is not base.model.model.layers[2]
    shared = adapted.model.model.layers[2].self_attn.q_proj.base_layer.weight
    assert shared is base.model.model.layers[2].self_attn.q_proj.weight
    assert adapted.model.lm_head.weight is adapted.model.model.embed_tokens.weight


def test_hooks_on_one_do_not_reach_the_other(base, make_adapter):
    adapted = load_adapter(base, make_adapter())
    before = base.model(IDS).logits
    handle = adapted.model.model.layers[1].register_forward_hook(lambda _m, _i, out: out * 0)
    assert torch.equal(base.model(IDS).logits, before)
    handle.remove()
    handle = base.model.model.layers[1].register_forward_hook(lambda _m, _i, out: out)
    with pytest.raises(ModelError, match="hook"):
        load_adapter(base, make_adapter())
    handle.remove()


def test_identity_covers_base_tensors_and_settings(base, make_adapter):
    first = load_adapter(base, make_adapter())
    again = load_adapter(base, make_adapter("copy"))
    other = load_adapter(base, make_adapter("other", seed=6))
    assert first.weights_sha256 == again.weights_sha256
    assert len({base.weights_sha256, first.weights_sha256, other.weights_sha256}) == 3
    assert first.card()["base_weights_sha256"] == base.weights_sha256
    assert first.n_parameters > base.n_parameters
    folder = make_adapter("scaled")
    edit_settings(folder, lora_alpha=17)
    assert load_adapter(base, folder).weights_sha256 != first.weights_sha256


@pytest.mark.parametrize(
    "options", [{"use_rslora": True}, {"use_dora": True}, {"target_modules": ["down_proj", "k_proj"]}]
)
def test_other_kinds_of_lora_agree_with_peft(base, make_adapter, options):
    adapted = load_adapter(base, make_adapter(**options))
    torch.testing.assert_close(adapted.model(IDS).logits, make_adapter.expected, atol=5e-5, rtol=0)


def test_a_renamed_key_is_named(base, make_adapter):
    folder = make_adapter()
    edit_keys(folder, lambda key: key.replace("layers.2.self_attn.q_proj", "layers.2.attn.q_proj"))
    with pytest.raises(ModelError, match=r"no place in the model, first model\.layers\.2\.attn\.q_proj") as caught:
        load_adapter(base, folder)
    assert "places get no tensor" in caught.value.problem


def test_a_missing_key_is_named(base, make_adapter):
    folder = make_adapter()
    path = folder / "adapter_model.safetensors"
    tensors = load_file(path)
    gone = next(key for key in tensors if "layers.3" in key)
    del tensors[gone]
    save_file(tensors, path)
    with pytest.raises(ModelError, match=r"1 places get no tensor, first model\.layers\.3"):
        load_adapter(base, folder)


def test_an_adapter_for_another_width_is_refused(base, make_adapter):
    with pytest.raises(ModelError, match="another size"):
        load_adapter(base, make_adapter(hidden=48))


def test_modules_that_do_not_exist_are_refused(base, make_adapter):
    folder = make_adapter()
    edit_settings(folder, target_modules=["c_attn"])
    with pytest.raises(ModelError, match="does not fit"):
        load_adapter(base, folder)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"peft_type": "IA3"}, "IA3"),
        ({"bias": "all"}, "bias"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"init_lora_weights": "pissa"}, "pissa"),
        ({"setting_of_tomorrow": 3}, "setting_of_tomorrow"),
    ],
)
def test_settings_that_would_change_the_base_or_be_ignored_are_refused(base, make_adapter, changes, word):
    folder = make_adapter()
    edit_settings(folder, **changes)
    with pytest.raises(ModelError, match=word):
        load_adapter(base, folder)


def test_pickled_missing_and_truncated_adapters(base, make_adapter, tmp_path):
    folder = make_adapter()
    path = folder / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ModelError, match="not a complete safetensors"):
        load_adapter(base, folder)
    path.rename(folder / "adapter_model.bin")
    with pytest.raises(ModelError, match="pickled"):
        load_adapter(base, folder)
    with pytest.raises(ModelError, match="adapter_config"):
        load_adapter(base, tmp_path / "nowhere")


def test_only_one_adapter_at_a_time(base, make_adapter):
    adapted = load_adapter(base, make_adapter())
    with pytest.raises(ModelError, match="already has an adapter"):
        load_adapter(adapted, make_adapter("second"))
    with pytest.raises(ModelError, match="no adapter"):
        base.unload()
