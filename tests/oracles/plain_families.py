"""Tiny random-weight models of many families, each with the place of its blocks written down by hand.

Windows are shorter than the prefixes of the tests, heads are grouped, and weights are large enough for every part to
matter. A family is in one of three lists: its prefix can be shared, it can only be run whole, or it is refused.
"""

from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

VOCABULARY = 97
HIDDEN = 32
DEPTH = 4

_USUAL: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "intermediate_size": 48,
    "num_hidden_layers": DEPTH,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "initializer_range": 0.2,
}
_HEAD = {"head_dim": 8}
_WINDOW = {"sliding_window": 5}
_GPT = {"n_embd": HIDDEN, "n_layer": DEPTH, "n_head": 4, "n_positions": 64}
_ALTERNATING = {"layer_types": ["sliding_attention", "full_attention"] * 2}
_EXPERTS = {"num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
_LATENT = {
    "num_key_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 4,
    "v_head_dim": 8,
    "n_routed_experts": 4,
    "n_group": 1,
    "topk_group": 1,
    "num_experts_per_tok": 2,
    "first_k_dense_replace": 1,
    "moe_intermediate_size": 24,
}

SHARED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("llama", "model.layers", {}),
    "llama, unused window in its configuration": ("llama", "model.layers", {"sliding_window": 5}),
    "qwen2": ("qwen2", "model.layers", {}),
    "qwen2, window in upper layers": (
        "qwen2",
        "model.layers",
        {**_WINDOW, "use_sliding_window": True, "max_window_layers": 2},
    ),
    "qwen3": ("qwen3", "model.layers", _HEAD),
    "qwen3_moe": ("qwen3_moe", "model.layers", {**_HEAD, **_EXPERTS}),
    "mistral": ("mistral", "model.layers", {**_HEAD, **_WINDOW}),
    "mixtral": ("mixtral", "model.layers", {**_HEAD, **_EXPERTS, **_WINDOW}),
    "gemma": ("gemma", "model.layers", _HEAD),
    "gemma2": ("gemma2", "model.layers", {**_HEAD, **_WINDOW, "query_pre_attn_scalar": 8}),
    "gemma3_text": ("gemma3_text", "model.layers", {**_HEAD, **_WINDOW, **_ALTERNATING, "query_pre_attn_scalar": 8}),
    "phi": ("phi", "model.layers", {}),
    "phi3": ("phi3", "model.layers", _WINDOW),
    "gpt_neox": ("gpt_neox", "gpt_neox.layers", {}),
    "gptj": ("gptj", "transformer.h", {**_GPT, "rotary_dim": 4}),
    "gpt2": ("gpt2", "transformer.h", _GPT),
    "gpt_neo": (
        "gpt_neo",
        "transformer.h",
        {"num_layers": DEPTH, "num_heads": 4, "attention_types": [[["global", "local"], 2]], "window_size": 5},
    ),
    "gpt_bigcode": ("gpt_bigcode", "transformer.h", _GPT),
    "codegen": ("codegen", "transformer.h", {**_GPT, "rotary_dim": 4}),
    "opt": ("opt", "model.decoder.layers", {"ffn_dim": 48, "word_embed_proj_dim": HIDDEN}),
    "xglm": (
        "xglm",
        "model.layers",
        {"d_model": HIDDEN, "num_layers": DEPTH, "attention_heads": 4, "ffn_dim": 48},
    ),
    "biogpt": ("biogpt", "biogpt.layers", {}),
    "olmo2": ("olmo2", "model.layers", {}),
    "olmo3": ("olmo3", "model.layers", {**_WINDOW, **_ALTERNATING}),
    "olmoe": ("olmoe", "model.layers", _EXPERTS),
    "gpt_oss": ("gpt_oss", "model.layers", {**_HEAD, **_EXPERTS, **_WINDOW}),
    "falcon": ("falcon", "transformer.h", {}),
    "falcon, alibi": ("falcon", "transformer.h", {"alibi": True}),
    "bloom": ("bloom", "transformer.h", {"n_layer": DEPTH, "n_head": 4}),
    "mpt": ("mpt", "transformer.blocks", {"d_model": HIDDEN, "n_layers": DEPTH, "n_heads": 4, "max_seq_len": 64}),
    "stablelm": ("stablelm", "model.layers", {}),
    "cohere": ("cohere", "model.layers", {}),
    "cohere2": ("cohere2", "model.layers", {**_WINDOW, **_ALTERNATING}),
    "granite": ("granite", "model.layers", {}),
    "starcoder2": ("starcoder2", "model.layers", _WINDOW),
    "smollm3": ("smollm3", "model.layers", {}),
    "deepseek_v3": ("deepseek_v3", "model.layers", _LATENT),
    "llama4_text": (
        "llama4_text",
        "model.layers",
        {**_HEAD, **_EXPERTS, "attention_chunk_size": 5, "intermediate_size_mlp": 48},
    ),
    "exaone4": ("exaone4", "model.layers", {**_WINDOW, **_ALTERNATING}),
    "glm4": ("glm4", "model.layers", _HEAD),
    "persimmon": ("persimmon", "model.layers", {}),
    "bart's decoder": (
        "bart",
        "model.decoder.layers",
        {"d_model": HIDDEN, "decoder_layers": DEPTH, "decoder_ffn_dim": 48, "decoder_attention_heads": 4},
    ),
    "whisper's decoder, no choice of logits": (
        "whisper",
        "model.decoder.layers",
        {
            "d_model": HIDDEN,
            "decoder_layers": DEPTH,
            "decoder_ffn_dim": 48,
            "decoder_attention_heads": 4,
            "encoder_layers": DEPTH,
            "encoder_attention_heads": 4,
            "max_target_positions": 64,
        },
    ),
}
"""Families whose prefix can be shared: ``(model type, path of the blocks, configuration)``."""

WHOLE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "mamba": ("mamba", "backbone.layers", {"state_size": 4}),
    "recurrent_gemma": ("recurrent_gemma", "model.layers", {"attention_window_size": 5, "lru_width": HIDDEN}),
    "rwkv": ("rwkv", "rwkv.blocks", {"attention_hidden_size": HIDDEN}),
    "qwen3_next": (
        "qwen3_next",
        "model.layers",
        {
            **_HEAD,
            **_EXPERTS,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 2,
            "linear_key_head_dim": 8,
            "linear_value_head_dim": 8,
            "shared_expert_intermediate_size": 24,
        },
    ),
    "xlstm, no choice of logits": ("xlstm", "backbone.blocks", {"num_heads": 4}),
    "deepseek_v32": ("deepseek_v32", "model.layers", {**_LATENT, "index_n_heads": 2, "index_head_dim": 8}),
}
"""Families that run whole rows exactly, and whose prefix is refused."""

REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "bert": ("bert", {"is_decoder": True}, "blocks could not be found"),
    "xlnet": (
        "xlnet",
        {"d_model": HIDDEN, "n_layer": DEPTH, "n_head": 4, "d_inner": 48, "max_position_embeddings": None},
        "no residual stream",
    ),
    "openai-gpt": ("openai-gpt", _GPT, "no residual stream"),
    "dory": ("dory", _HEAD, "exactly once"),
    "prophetnet": (
        "prophetnet",
        {
            "num_decoder_layers": DEPTH,
            "num_decoder_attention_heads": 4,
            "decoder_ffn_dim": 48,
            "num_hidden_layers": None,
        },
        "blocks could not be found",
    ),
    "longcat_flash": (
        "longcat_flash",
        {**_LATENT, "num_layers": 2, "ffn_hidden_size": 48},
        "blocks could not be found",
    ),
}
"""Families that are refused by inspection: ``(model type, configuration, part of the reason)``."""


def tiny_model(model_type: str, configuration: dict[str, Any], seed: int = 0) -> PreTrainedModel:
    """A model of random weights, in evaluation mode; a setting of ``None`` is left to the family's default."""
    torch.manual_seed(seed)
    settings = {key: value for key, value in {**_USUAL, **configuration}.items() if value is not None}
    config = AutoConfig.for_model(model_type, **settings)
    return AutoModelForCausalLM.from_config(config).eval()
