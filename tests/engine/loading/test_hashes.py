import hashlib

import pytest
import torch
from safetensors.torch import save_file

from firsthand.engine.loading.hashes import stored_tensors, tokenizer_sha256, weights_sha256
from firsthand.errors import ModelError


def test_weights_follow_their_definition(tmp_path):
    tensors = {"b": torch.arange(6.0).reshape(2, 3), "a": torch.ones(3, dtype=torch.bfloat16), "e": torch.zeros(0)}
    save_file(tensors, tmp_path / "x.safetensors", metadata={"format": "pt"})
    sha = lambda data: hashlib.sha256(data).hexdigest()  # noqa: E731
    ones = sha(b"\x80\x3f" * 3)
    counts = sha(tensors["b"].numpy().tobytes())
    lines = f"a BF16 3 {ones}\nb F32 2,3 {counts}\ne F32 0 {sha(b'')}\n"
    assert weights_sha256([tmp_path / "x.safetensors"]) == sha(lines.encode())


def test_a_tensor_stored_twice_is_refused(tmp_path):
    for name in ("x", "y"):
        save_file({"a": torch.ones(2)}, tmp_path / f"{name}.safetensors")
    with pytest.raises(ModelError, match="two files"):
        weights_sha256([tmp_path / "x.safetensors", tmp_path / "y.safetensors"])


@pytest.mark.parametrize(
    "content", [b"", b"\x10", b"\xff" * 16, b"\x02\0\0\0\0\0\0\0[]", b"\x08\0\0\0\0\0\0\0" + b'{"a":{}}']
)
def test_garbage_is_refused(tmp_path, content):
    (tmp_path / "x.safetensors").write_bytes(content)
    with pytest.raises(ModelError, match="not a complete safetensors"):
        stored_tensors(tmp_path / "x.safetensors")


def test_tokenizer_fingerprint_ignores_call_settings_and_sees_the_template():
    from .conftest import tiny_tokenizer

    tokenizer = tiny_tokenizer()
    before = tokenizer_sha256(tokenizer)
    tokenizer(["a", "hello world"], padding=True, truncation=True, max_length=3)
    padding, truncation = tokenizer.backend_tokenizer.padding, tokenizer.backend_tokenizer.truncation
    assert padding is not None
    assert tokenizer_sha256(tokenizer) == before == tokenizer_sha256(tiny_tokenizer())
    assert (tokenizer.backend_tokenizer.padding, tokenizer.backend_tokenizer.truncation) == (padding, truncation)
    tokenizer.chat_template += " "
    assert tokenizer_sha256(tokenizer) != before


def test_tokenizer_fingerprint_sees_vocabulary_and_special_tokens():
    from .conftest import tiny_tokenizer

    before = tokenizer_sha256(tiny_tokenizer())
    grown, renamed = tiny_tokenizer(), tiny_tokenizer()
    grown.add_tokens(["zzz"])
    renamed.bos_token = "<|endoftext|>"
    assert len({before, tokenizer_sha256(grown), tokenizer_sha256(renamed)}) == 3
