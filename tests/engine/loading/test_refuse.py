import json
import pickle

import pytest

from firsthand.engine.loading import load
from firsthand.errors import ModelError


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.pth", "last.ckpt", "weights.pkl"])
def test_pickled_weights_are_refused_unopened(make_folder, name):
    folder = make_folder()
    (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(pickle.dumps({"would": "run code"}))
    with pytest.raises(ModelError, match="pickled") as caught:
        load(str(folder), device="cpu")
    assert name in caught.value.problem
    assert "safetensors" in caught.value.remedy


def test_safetensors_win_over_pickled_weights_beside_them(make_folder):
    folder = make_folder()
    (folder / "pytorch_model.bin").write_bytes(b"not a pickle: opening it would fail")
    assert load(str(folder), device="cpu").n_layers == 4


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_remote_code_is_refused(make_folder, name):
    folder = make_folder()
    content = json.loads((folder / name).read_text())
    content["auto_map"] = {"AutoModelForCausalLM": "evil.Model"}
    (folder / name).write_text(json.dumps(content))
    marker = folder / "ran"
    (folder / "evil.py").write_text(f"open({str(marker)!r}, 'w')")
    with pytest.raises(ModelError, match="auto_map") as caught:
        load(str(folder), device="cpu")
    assert name in caught.value.problem
    assert not marker.exists()


def test_missing_shards_are_named(make_folder, llama):
    folder = make_folder(model=llama, max_shard_size="20KB")
    victim = sorted(folder.glob("model-*.safetensors"))[1]
    victim.unlink()
    with pytest.raises(ModelError, match=victim.name):
        load(str(folder), device="cpu")


def test_an_index_may_not_point_outside_the_folder(make_folder, llama):
    folder = make_folder(model=llama, max_shard_size="20KB")
    index = folder / "model.safetensors.index.json"
    content = json.loads(index.read_text())
    content["weight_map"]["model.norm.weight"] = "../elsewhere.safetensors"
    index.write_text(json.dumps(content))
    with pytest.raises(ModelError, match="elsewhere"):
        load(str(folder), device="cpu")


def test_a_folder_that_is_no_model(tmp_path):
    with pytest.raises(ModelError, match=r"no config\.json"):
        load(str(tmp_path), device="cpu")
    (tmp_path / "tiny.gguf").touch()
    with pytest.raises(ModelError, match=r"tiny\.gguf"):
        load(str(tmp_path), device="cpu")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="no safetensors"):
        load(str(tmp_path), device="cpu")


def test_an_adapter_folder_is_not_a_model(tmp_path):
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError, match="load_adapter"):
        load(str(tmp_path), device="cpu")


def test_broken_json_is_named(make_folder):
    folder = make_folder()
    (folder / "tokenizer_config.json").write_text("{")
    with pytest.raises(ModelError, match=r"tokenizer_config\.json is not valid JSON"):
        load(str(folder), device="cpu")
