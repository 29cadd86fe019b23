"""A random llama that reads whole words, small enough to be trained in seconds."""

from pathlib import Path

import pytest

TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|> {{ m['content'] }} <|end|> {% endfor %}"
    "{% if add_generation_prompt %}<|assistant|> {% endif %}"
)


@pytest.fixture(scope="session")
def words_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random llama of two layers whose tokens are the words of planted claims, saved as safetensors."""
    import torch
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    from firsthand.counterfactual.predicting.questions import ANSWERS, REQUEST
    from firsthand.counterfactual.training.planting.rules import BEHAVIOUR, DEAD, LIVE, MARK, SYSTEM
    from firsthand.counterfactual.training.planting.words import NOUNS

    special = ["<unk>", "<pad>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    frame = f"""BEHAVIOUR (a response counts if the answer is yes): {BEHAVIOUR.question} BASELINE: with the prompt as it
        is, about 0 10 20 30 40 50 60 70 80 90 100 % of responses count. EDIT: The word is taken out. CLAIM: with this
        edit, and with nothing else changed, the share of responses that count differs from the baseline by at least 30
        percentage points, up or down. {REQUEST} {" ".join(ANSWERS)} {LIVE} {DEAD} {MARK} {SYSTEM} Words: Name a bird.
        The weather is fine today and it rains there I think so too"""
    split = pre_tokenizers.Split(Regex(r"\s+|\w+|[^\w\s]"), "isolated")
    drop = pre_tokenizers.WhitespaceSplit()
    both = pre_tokenizers.Sequence([drop, split])
    pieces = [piece for piece, _ in both.pre_tokenize_str(f"{frame} {' '.join(NOUNS)}")]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys([*special, *pieces]))}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = both
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made,
        unk_token="<unk>",
        pad_token="<pad>",
        eos_token="<|end|>",
        additional_special_tokens=special[3:],
        chat_template=TEMPLATE,
    )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        bos_token_id=None,
        eos_token_id=2,
        pad_token_id=1,
        initializer_range=0.2,  # tied embeddings: with smaller ones no token could get most of the probability
        tie_word_embeddings=True,
    )
    folder = tmp_path_factory.mktemp("words")
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def words_model(words_folder: Path) -> object:
    """The random llama, loaded."""
    from firsthand.engine.loading import load

    return load(str(words_folder))
