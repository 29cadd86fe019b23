"""A random llama that reads bytes, so that it can be taught any text, and another one of the same build."""

import shutil
from pathlib import Path

import pytest

TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@pytest.fixture(scope="session")
def bytes_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random llama of two layers whose tokens are bytes, saved as safetensors."""
    return made(tmp_path_factory.mktemp("models") / "target", 0)


@pytest.fixture(scope="session")
def kin_folder(bytes_folder: Path) -> Path:
    """Another one, with other weights."""
    return made(bytes_folder.parent / "kin", 1)


@pytest.fixture(scope="session")
def bytes_model(bytes_folder: Path) -> object:
    """The first one, loaded."""
    from firsthand.engine.loading import load

    return load(str(bytes_folder))


def made(folder: Path, seed: int) -> Path:
    """Make such a model in a folder."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    special = ["<pad>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    letters = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    made_of = Tokenizer(models.BPE(vocab={piece: n for n, piece in enumerate(letters)}, merges=[]))
    made_of.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made_of.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made_of,
        pad_token="<pad>",
        eos_token="<|end|>",
        additional_special_tokens=special[2:],
        chat_template=TEMPLATE,
    )
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=8192,
        bos_token_id=None,
        eos_token_id=1,
        pad_token_id=0,
        initializer_range=0.2,
        tie_word_embeddings=True,
    )
    shutil.rmtree(folder, ignore_errors=True)
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
