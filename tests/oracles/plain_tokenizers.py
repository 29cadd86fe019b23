"""Small tokenizers of the two common kinds, trained on the spot."""

import string

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

CORPUS = [
    "the register holds code A now and code B later",
    "It now holds code Q K J X",
    "your register: * = ~ + ^ # again",
    "hello there, be brief and answer",
    "so ( zz . ; é",
] * 8
CHAT = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def byte_level(template: str | None = CHAT) -> PreTrainedTokenizerFast:
    """Byte-level BPE, as GPT-2's and Llama 3's; a space belongs to the word after it; no token is added by itself."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=["<|im_start|>", "<|im_end|>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return _wrapped(backend, template, bos_token="<|im_start|>", eos_token="<|im_end|>")


def sentence_pieces(template: str | None = None) -> PreTrainedTokenizerFast:
    """BPE over words marked by a lower block, as Llama 2's and Gemma's; ``<s>`` is put before every text."""
    backend = Tokenizer(models.BPE(unk_token="<unk>"))
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    backend.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    backend.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(vocab_size=200, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False),
    )
    backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return _wrapped(backend, template, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def words(size: int) -> PreTrainedTokenizerFast:
    """One token a word: three special ones, the letters, and made-up words up to a model's vocabulary."""
    known = ["<pad>", "<s>", "</s>", *string.ascii_lowercase]
    known += [f"w{i}" for i in range(len(known), size)]
    backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(known)}, unk_token="<pad>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return _wrapped(backend, None, bos_token="<s>", eos_token="</s>", pad_token="<pad>")


def _wrapped(backend: Tokenizer, template: str | None, **special: str) -> PreTrainedTokenizerFast:
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **special)
    tokenizer.chat_template = template
    return tokenizer
