"""What Transformers leaves out when it rebuilds a tokenizer from a GGUF file.

A GGUF file names the rule by which text is split before merging (``tokenizer.ggml.pre``) but does not hold the rule.
Transformers knows some rules and silently uses GPT-2's for the rest. A vocabulary whose digits were split off first
then gets other tokens: SmolLM2 writes two spaces before a digit as one token, and without its rule as two. Rules that
are known here are put in place; a rule that neither side knows is refused.
"""

from typing import Any

from tokenizers import pre_tokenizers

from firsthand.engine.loading.gguf_header import GgufHeader
from firsthand.errors import ModelError

DIGITS_FIRST = frozenset({"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"})
"""Rules that split off every digit, then split as GPT-2 does (llama.cpp, ``src/llama-vocab.cpp``)."""

GPT2_LIKE = frozenset({"gpt-2", "mpt", "olmo", "jais", "phi-2"})
"""Rules that are GPT-2's own."""


def repair(tokenizer: Any, header: GgufHeader) -> None:
    """Give ``tokenizer`` the splitting rule and the beginning-of-sequence token that its GGUF file asks for.

    Raises:
        ModelError: If the rule is not known, or the beginning-of-sequence token cannot be set as the file says.
    """
    _set_split_rule(tokenizer, header)
    _check_bos(tokenizer, header)


def _set_split_rule(tokenizer: Any, header: GgufHeader) -> None:
    if header.metadata.get("tokenizer.ggml.model") != "gpt2":
        return
    rule = header.metadata.get("tokenizer.ggml.pre")
    if rule in DIGITS_FIRST:
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
            ]
        )
        return
    if rule in GPT2_LIKE or rule in _known_to_transformers():
        return
    raise ModelError(
        f"The GGUF file splits text by the rule {rule!r}, which is not known, so its tokens could be wrong.",
        "Use a release of the model in safetensors, which holds the tokenizer itself.",
    )


def _known_to_transformers() -> frozenset[str]:
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    return frozenset(GGUF_PRE_TOKENIZER_SPLITS)


def _check_bos(tokenizer: Any, header: GgufHeader) -> None:
    """Check that plain text begins with the beginning-of-sequence token exactly if the file says so."""
    default = header.metadata.get("tokenizer.ggml.model") == "llama"
    wanted = bool(header.metadata.get("tokenizer.ggml.add_bos_token", default))
    tokens = tokenizer("a", add_special_tokens=True).input_ids
    given = tokenizer.bos_token_id is not None and tokens.count(tokenizer.bos_token_id) == 1
    if given != wanted:
        state = "adds" if given else "does not add"
        raise ModelError(
            f"The GGUF file {'wants' if wanted else 'does not want'} a beginning-of-sequence token, and the tokenizer "
            f"rebuilt from it {state} one.",
            "Use a release of the model in safetensors, which holds the tokenizer itself.",
        )
