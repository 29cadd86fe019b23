import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import torch
from accelerate import dispatch_model
from safetensors.torch import load_file, save_file
from transformers.utils import logging as transformers_logging

from firsthand.engine import Edit, Row, inspect_model, resid_post, run
from firsthand.engine.loading import load
from firsthand.errors import ModelError


def test_folder_gives_the_saved_model_in_evaluation_mode(make_folder, llama, tokenizer):
    loaded = load(str(make_folder(model=llama)), device="cpu")
    ids = torch.tensor([tokenizer("the register holds").input_ids])
    assert torch.equal(loaded.model(ids).logits, llama(ids).logits)
    assert not any(module.training for module in loaded.model.modules())
    assert not any(parameter.requires_grad for parameter in loaded.model.parameters())
    assert (loaded.architecture, loaded.n_layers, loaded.hidden_size) == ("llama", 4, 32)
    assert loaded.n_parameters == sum(p.numel() for p in llama.parameters())
    assert loaded.tokenizer("the register holds 12").input_ids == tokenizer("the register holds 12").input_ids


def test_card_is_plain_json_and_names_the_identity(make_folder):
    loaded = load(str(make_folder()), device="cpu", dtype="bfloat16")
    card = json.loads(json.dumps(loaded.card()))
    assert card["dtype"] == "bfloat16"
    assert card["device"] == "cpu"
    assert card["weights_sha256"] == loaded.weights_sha256
    assert loaded.model.dtype == torch.bfloat16


def test_identity_does_not_depend_on_dtype_or_sharding_but_on_every_weight(make_folder, llama):
    whole = load(str(make_folder("whole", llama)), device="cpu")
    half = load(str(make_folder("whole", llama)), device="cpu", dtype="bfloat16")
    folder = make_folder("sharded", llama, max_shard_size="20KB")
    assert (folder / "model.safetensors.index.json").exists()
    sharded = load(str(folder), device="cpu")
    assert whole.weights_sha256 == half.weights_sha256 == sharded.weights_sha256
    assert whole.tokenizer_sha256 == sharded.tokenizer_sha256
    tensors = load_file(make_folder("changed", llama) / "model.safetensors")
    tensors["model.norm.weight"][3] += 1e-6
    save_file(tensors, make_folder("changed", llama) / "model.safetensors", metadata={"format": "pt"})
    assert load(str(folder.parent / "changed"), device="cpu").weights_sha256 != whole.weights_sha256


def test_configuration_has_its_own_fingerprint(make_folder):
    folder = make_folder()
    before = load(str(folder), device="cpu")
    config = json.loads((folder / "config.json").read_text())
    config["rms_norm_eps"] = 1e-3
    (folder / "config.json").write_text(json.dumps(config))
    after = load(str(folder), device="cpu")
    assert after.weights_sha256 == before.weights_sha256
    assert after.config_sha256 != before.config_sha256


def test_loading_is_silent_and_restores_verbosity(make_folder):
    folder = make_folder()
    transformers_logging.set_verbosity_info()
    transformers_logging.enable_progress_bar()
    out, err, said = io.StringIO(), io.StringIO(), []
    try:
        with redirect_stdout(out), redirect_stderr(err):
            load(str(folder), device="cpu", progress=said.append)
        assert transformers_logging.get_verbosity() == transformers_logging.INFO
        assert transformers_logging.is_progress_bar_enabled()
    finally:
        transformers_logging.set_verbosity_warning()
    assert out.getvalue() == ""
    assert err.getvalue() == ""
    assert any("float32" in message for message in said)


def test_a_weight_that_is_missing_is_never_made_up(make_folder):
    folder = make_folder()
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.2.mlp.up_proj.weight"]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"model\.layers\.2\.mlp\.up_proj\.weight"):
        load(str(folder), device="cpu")


def test_truncated_weights_are_refused(make_folder):
    folder = make_folder()
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-100])
    with pytest.raises(ModelError, match="not a complete safetensors"):
        load(str(folder), device="cpu")


def test_a_folder_without_tokenizer_is_refused(tmp_path, llama):
    llama.save_pretrained(tmp_path / "bare")
    with pytest.raises(ModelError, match="no tokenizer"):
        load(str(tmp_path / "bare"), device="cpu")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"dtype": "float16", "device": "cpu"}, "float16 on a CPU"),
        ({"dtype": "int3", "device": "cpu"}, "not known"),
        ({"device": "abacus"}, "cannot be used"),
        ({"device": "meta"}, "holds no values"),
        ({"revision": "main", "device": "cpu"}, "no revisions"),
    ],
)
def test_impossible_options_are_refused(make_folder, options, word):
    with pytest.raises(ModelError, match=word):
        load(str(make_folder()), **options)


def test_an_encoder_is_refused(make_folder):
    folder = make_folder()
    (folder / "config.json").write_text(json.dumps({"model_type": "t5", "is_encoder_decoder": True}))
    with pytest.raises(ModelError, match="encoder-decoder"):
        load(str(folder), device="cpu")


def test_a_model_that_is_spread_over_devices_runs_edits_and_resumes_as_one_in_one_place(tiny_folder: Path) -> None:
    spread, whole = load(str(tiny_folder), device="auto"), load(str(tiny_folder))
    assert spread.device == "auto (cpu)" if not torch.cuda.is_available() else spread.device.startswith("auto (cuda")
    # With one device Accelerate wraps nothing, so its wrapping of every block's forward is asked for as well.
    dispatched = dispatch_model(spread.model, {"": "cpu"}, force_hooks=True)
    vector = torch.ones(32)
    rows = [Row((5, 6, 7, 8), (Edit(resid_post(layer), (2,), vector),)) for layer in (0, 1, 2)]
    found = run(inspect_model(dispatched), rows, path="shared").logprobs_RV
    assert torch.allclose(found, run(inspect_model(whole.model), rows, path="plain").logprobs_RV, atol=2e-5)
    assert torch.allclose(run(inspect_model(dispatched), rows, path="plain").logprobs_RV, found, atol=2e-5)
