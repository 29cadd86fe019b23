"""Tiny random-weight models, and their GGUF files written by hand as llama.cpp's converter would write them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

CORPUS = ["the register holds code seven", "a state is private 12 345", "hello world, the cue says yes"] * 4
TEMPLATE = "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE of a few hundred tokens, trained here, splitting off digits as SmolLM2 does."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator([*CORPUS, *["x   1" for _ in range(40)]], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<|im_start|>", eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def tiny_llama(vocabulary: int, hidden: int = 32, seed: int = 0) -> LlamaForCausalLM:
    """A Llama of four layers with grouped queries, so that a wrong permutation of heads shows."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=64,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        tie_word_embeddings=True,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=2,
        initializer_range=0.3,
    )
    return LlamaForCausalLM(config).eval()


def tiny_gemma3(vocabulary: int) -> Gemma3ForCausalLM:
    """A Gemma 3 of four layers whose norm weights are far from their initial value."""
    torch.manual_seed(1)
    config = Gemma3TextConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=128,
        sliding_window=64,
        initializer_range=0.3,
        query_pre_attn_scalar=256,
    )
    model = Gemma3ForCausalLM(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.normal_(0.0, 0.3)
    return model


def write_gguf(path: Path, architecture: str, model: Any, tokenizer: Any, **changes: Any) -> Path:
    """Write a GGUF file with float32 tensors.

    Args:
        path: Where.
        architecture: ``llama`` (queries and keys permuted) or ``gemma3`` (one added to norms), or any other word.
        model: Source of the weights.
        tokenizer: Source of the vocabulary.
        **changes: ``pre`` (split rule), ``add_bos``, ``extra`` (more tensors by name).
    """
    writer = gguf.GGUFWriter(path, architecture)
    config = model.config
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_vocab_size(config.vocab_size)
    writer.add_rope_freq_base(1_000_000.0 if architecture == "gemma3" else 10_000.0)
    if architecture == "gemma3":
        writer.add_sliding_window(config.sliding_window)
    _write_tokenizer(writer, tokenizer, changes)
    for name, tensor in _gguf_tensors(architecture, model).items():
        writer.add_tensor(name, tensor)
    for name, tensor in changes.get("extra", {}).items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _write_tokenizer(writer: Any, tokenizer: Any, changes: dict[str, Any]) -> None:
    backend = tokenizer.backend_tokenizer
    vocabulary = sorted(backend.get_vocab().items(), key=lambda item: item[1])
    merges = [" ".join(pair) for pair in json.loads(backend.to_str())["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(changes.get("pre", "smollm"))
    writer.add_token_list([token for token, _ in vocabulary])
    writer.add_token_types([3 if token.startswith("<|") else 1 for token, _ in vocabulary])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(changes.get("add_bos", False))
    writer.add_chat_template(TEMPLATE)


def _gguf_tensors(architecture: str, model: Any) -> dict[str, np.ndarray]:
    config = model.config
    names = gguf.get_tensor_name_map(
        gguf.MODEL_ARCH.GEMMA3 if architecture == "gemma3" else gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers
    )
    tensors = {}
    for name, parameter in model.named_parameters():
        array = parameter.detach().numpy().copy()
        if architecture == "llama" and ("q_proj" in name or "k_proj" in name):
            heads = config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
            half = array.shape[0] // heads // 2
            array = array.reshape(heads, 2, half, array.shape[1]).swapaxes(1, 2).reshape(array.shape)
        if architecture == "gemma3" and "norm" in name:
            array = array + 1
        stem, _, suffix = name.rpartition(".")
        tensors[f"{names.get_name(stem)}.{suffix}"] = array
    return tensors


@pytest.fixture(autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for every test, so that nothing is read from or left in the user's."""
    cache = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("FIRSTHAND_CACHE", str(cache))
    return cache


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    return tiny_tokenizer()


@pytest.fixture(scope="session")
def llama(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    return tiny_llama(len(tokenizer))


@pytest.fixture
def make_folder(tmp_path: Path, tokenizer: PreTrainedTokenizerFast) -> Callable[..., Path]:
    """Save a tiny model with its tokenizer into a new folder."""

    def make(name: str = "model", model: Any = None, **options: Any) -> Path:
        folder = tmp_path / name
        (model if model is not None else tiny_llama(len(tokenizer))).save_pretrained(folder, **options)
        tokenizer.save_pretrained(folder)
        return folder

    return make
