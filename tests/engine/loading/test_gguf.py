import io
from contextlib import redirect_stderr

import numpy as np
import pytest
import torch

from firsthand.engine.loading import gguf as conversion
from firsthand.engine.loading import load
from firsthand.errors import ModelError

from .conftest import tiny_gemma3, write_gguf

TEXTS = ["the register holds code seven", "hello  1 two   23\n\n4", "a<|im_start|>b é 漢字 🤖", "  12"]


@pytest.fixture
def llama_gguf(tmp_path, llama, tokenizer):
    return write_gguf(tmp_path / "tiny.gguf", "llama", llama, tokenizer)


def test_llama_queries_and_keys_come_back_in_order(llama_gguf, llama):
    loaded = load(str(llama_gguf), device="cpu")
    ids = torch.arange(3, 40)[None]
    torch.testing.assert_close(loaded.model(ids).logits, llama(ids).logits, atol=2e-5, rtol=0)
    attention = loaded.model.model.layers[1].self_attn
    assert torch.equal(attention.k_proj.weight, llama.model.layers[1].self_attn.k_proj.weight)
    assert loaded.architecture == "llama"
    assert "SHA-256" in loaded.source


def test_gemma3_norms_come_back_in_place(tmp_path, tokenizer):
    model = tiny_gemma3(len(tokenizer))
    loaded = load(str(write_gguf(tmp_path / "gemma.gguf", "gemma3", model, tokenizer)), device="cpu")
    ids = torch.arange(3, 40)[None]
    torch.testing.assert_close(loaded.model(ids).logits, model(ids).logits, atol=2e-4, rtol=0)


@pytest.mark.parametrize("text", TEXTS)
def test_tokenizer_comes_back(llama_gguf, tokenizer, text):
    rebuilt = load(str(llama_gguf), device="cpu").tokenizer
    assert rebuilt(text).input_ids == tokenizer(text).input_ids
    assert rebuilt.decode(rebuilt(text).input_ids) == text
    messages = [{"role": "user", "content": text}]
    assert rebuilt.apply_chat_template(messages, tokenize=False) == tokenizer.apply_chat_template(
        messages, tokenize=False
    )


def test_the_second_load_does_not_dequantise(llama_gguf, monkeypatch):
    first = load(str(llama_gguf), device="cpu")

    def fail(*_args, **_options):
        raise AssertionError("converted again")

    monkeypatch.setattr(conversion, "convert", fail)
    second = load(str(llama_gguf), device="cpu", dtype="bfloat16")
    assert second.weights_sha256 == first.weights_sha256
    assert second.tokenizer_sha256 == first.tokenizer_sha256
    llama_gguf.write_bytes(llama_gguf.read_bytes() + b"\0")
    with pytest.raises(AssertionError, match="converted again"):
        load(str(llama_gguf), device="cpu")


def test_conversion_is_silent_and_reports_to_the_callback(llama_gguf):
    err, said = io.StringIO(), []
    with redirect_stderr(err):
        load(str(llama_gguf), device="cpu", progress=said.append)
    assert err.getvalue() == ""
    assert any(message.startswith("Dequantising") for message in said)


def test_files_beside_the_gguf_have_no_say(llama_gguf, llama):
    (llama_gguf.parent / "config.json").write_text("{broken")
    (llama_gguf.parent / "adapter_config.json").write_text("{broken")
    (llama_gguf.parent / "tokenizer_config.json").write_text('{"auto_map": {"AutoTokenizer": ["evil.T", null]}}')
    assert load(str(llama_gguf), device="cpu").n_layers == 4


def test_an_architecture_without_mapping_is_named(tmp_path, llama, tokenizer):
    path = write_gguf(tmp_path / "odd.gguf", "oddarch", llama, tokenizer)
    with pytest.raises(ModelError, match="'oddarch'") as caught:
        load(str(path), device="cpu")
    assert "safetensors" in caught.value.remedy


def test_a_tensor_that_would_be_dropped_is_refused(tmp_path, llama, tokenizer):
    extra = {"rope_freqs.weight": np.ones(4, dtype=np.float32)}
    path = write_gguf(tmp_path / "scaled.gguf", "llama", llama, tokenizer, extra=extra)
    with pytest.raises(ModelError, match="rope_freqs"):
        load(str(path), device="cpu")


def test_an_unknown_split_rule_is_refused(tmp_path, llama, tokenizer):
    path = write_gguf(tmp_path / "split.gguf", "llama", llama, tokenizer, pre="unheard-of")
    with pytest.raises(ModelError, match="unheard-of"):
        load(str(path), device="cpu")


def test_a_beginning_token_that_is_asked_for_is_there_once(tmp_path, llama, tokenizer):
    path = write_gguf(tmp_path / "bos.gguf", "llama", llama, tokenizer, add_bos=True)
    assert load(str(path), device="cpu").tokenizer("hello").input_ids.count(1) == 1


@pytest.mark.parametrize("keep", [0, 3, 20, 400, -64])
def test_a_truncated_file_is_refused(llama_gguf, keep):
    llama_gguf.write_bytes(llama_gguf.read_bytes()[:keep])
    with pytest.raises(ModelError, match="not a complete GGUF"):
        load(str(llama_gguf), device="cpu")


def test_a_file_of_another_format_is_refused(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"PK" + b"\0" * 400)
    with pytest.raises(ModelError, match="letters GGUF"):
        load(str(tmp_path / "x.gguf"), device="cpu")
    (tmp_path / "x.bin").write_bytes(b"\x80\x04")
    with pytest.raises(ModelError, match="pickled"):
        load(str(tmp_path / "x.bin"), device="cpu")
