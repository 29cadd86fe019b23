"""Tiny random-weight models of many families, each with the place of its blocks written down by hand.

Windows are shorter than the prefixes of the tests, heads are grouped, and weights are large enough for every part to
matter. A family is in one of three lists: its rows share attention, its rows are run whole, or it is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, PreTrainedModel

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
_GEMMA = {**_HEAD, **_WINDOW, "query_pre_attn_scalar": 8}
_EXPERTS = {"num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
_LLAMA4 = {**_HEAD, **_EXPERTS, "attention_chunk_size": 5, "intermediate_size_mlp": 48}
_SHARED_EXPERT = {"shared_expert_intermediate_size": 24}
_SCALED = {"residual_multiplier": 0.5, "embedding_multiplier": 2.0, "attention_multiplier": 0.3, "logits_scaling": 2.0}
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
_ENCODER_DECODER = {
    "d_model": HIDDEN,
    "decoder_layers": DEPTH,
    "decoder_ffn_dim": 48,
    "decoder_attention_heads": 4,
}

_TOWER = {
    "hidden_size": HIDDEN,
    "intermediate_size": 48,
    "num_hidden_layers": DEPTH,
    "num_attention_heads": 4,
    "image_size": 28,
    "patch_size": 14,
}
_EYES: dict[str, dict[str, Any]] = {
    "gemma3": _TOWER,
    "qwen2_5_vl": {
        "depth": 2,
        "hidden_size": HIDDEN,
        "out_hidden_size": HIDDEN,
        "num_heads": 4,
        "intermediate_size": 48,
        "fullatt_block_indexes": [0],
    },
}
"""Vision towers of models that have one, as deep and as wide as their text where that could be mistaken for it."""


@dataclass(frozen=True)
class Family:
    """A family, and what is known of it by reading its code.

    Attributes:
        model_type: Its name in Transformers.
        configuration: Settings beside the usual ones; ``None`` leaves one to the family's default.
        path: Dotted name of its list of blocks.
        middle: The part of a block (of layers 1 and 2 at least) whose output is added to the block's input before the
            feed-forward part is run; empty where there is none, or the engine says that it cannot tell it apart.
        factor: By what that output is multiplied first.
        unshared: Why its rows are run whole, as part of the engine's reason; empty if they share attention.
        continues: How its own cache can be continued: several tokens at a time, one by one, or not so that it equals
            a run without a cache.
        wrapped: What is made of the model afterwards, if anything.
    """

    model_type: str
    configuration: dict[str, Any] = field(default_factory=dict)
    path: str = "model.layers"
    middle: str = "self_attn"
    factor: float = 1.0
    unshared: str = ""
    continues: Literal["several", "one by one", "not"] = "several"
    wrapped: Callable[[PreTrainedModel], Any] | None = None

    def build(self) -> Any:
        """A model of random weights, always the same."""
        model = tiny_model(self.model_type, self.configuration)
        return model if self.wrapped is None else self.wrapped(model)


def tiny_model(model_type: str, configuration: dict[str, Any], seed: int = 0) -> PreTrainedModel:
    """A model of random weights, in evaluation mode; a setting of ``None`` is left to the family's default."""
    torch.manual_seed(seed)
    settings = {key: value for key, value in {**_USUAL, **configuration}.items() if value is not None}
    if model_type in _EYES:
        tokens = dict.fromkeys(("image_token_id", "video_token_id", "image_token_index"), VOCABULARY - 1)
        config = AutoConfig.for_model(model_type, text_config=settings, vision_config=_EYES[model_type], **tokens)
        return AutoModelForImageTextToText.from_config(config).eval()
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(model_type, **settings)).eval()


def with_lora(model: PreTrainedModel) -> Any:
    """The model with a low-rank adapter whose weights matter and whose dropout is not zero."""
    from peft import LoraConfig, get_peft_model

    wrapped = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj", "v_proj"], lora_dropout=0.1)).eval()
    with torch.no_grad():
        for name, parameter in wrapped.named_parameters():
            if "lora_" in name:
                parameter.normal_(0.0, 0.3)
    return wrapped


_AFTER_NORM = {"middle": "post_attention_layernorm"}
_GPT_BLOCKS: dict[str, Any] = {"path": "transformer.h", "middle": "attn"}
_PARALLEL: dict[str, Any] = {"path": "transformer.h", "middle": ""}

SHARED: dict[str, Family] = {
    "llama": Family("llama"),
    "llama, unused window in its configuration": Family("llama", _WINDOW, continues="not"),  # its cache has a window
    "llama with an adapter": Family("llama", path="base_model.model.model.layers", wrapped=with_lora),
    "qwen2": Family("qwen2"),
    "qwen2, window in upper layers": Family("qwen2", {**_WINDOW, "use_sliding_window": True, "max_window_layers": 2}),
    "qwen2_moe": Family("qwen2_moe", {**_EXPERTS, **_SHARED_EXPERT}),
    "qwen2_5_vl, threefold positions": Family(
        "qwen2_5_vl",
        {"rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}},
        "model.language_model.layers",
    ),
    "qwen3": Family("qwen3", _HEAD),
    "qwen3_moe": Family("qwen3_moe", {**_HEAD, **_EXPERTS}),
    "mistral": Family("mistral", {**_HEAD, **_WINDOW}),
    "mixtral": Family("mixtral", {**_HEAD, **_EXPERTS, **_WINDOW}),
    "gemma": Family("gemma", _HEAD),
    "gemma2": Family("gemma2", _GEMMA, **_AFTER_NORM),
    "gemma3_text": Family("gemma3_text", {**_GEMMA, **_ALTERNATING}, **_AFTER_NORM),
    "gemma3 with its vision tower": Family(
        "gemma3", {**_GEMMA, **_ALTERNATING}, "model.language_model.layers", **_AFTER_NORM
    ),
    "phi": Family("phi", middle=""),
    "phi3": Family("phi3", _WINDOW),
    "gpt_neox": Family("gpt_neox", {}, "gpt_neox.layers", ""),
    "gptj": Family("gptj", {**_GPT, "rotary_dim": 4}, **_PARALLEL),
    "gpt2": Family("gpt2", _GPT, **_GPT_BLOCKS),
    "gpt_bigcode": Family("gpt_bigcode", _GPT, **_GPT_BLOCKS),
    "codegen": Family("codegen", {**_GPT, "rotary_dim": 4}, **_PARALLEL),
    "opt": Family("opt", {"ffn_dim": 48, "word_embed_proj_dim": HIDDEN}, "model.decoder.layers", ""),
    "biogpt": Family("biogpt", {}, "biogpt.layers"),
    "olmo": Family("olmo"),
    "olmo2": Family("olmo2", **_AFTER_NORM),
    "olmo3": Family("olmo3", {**_WINDOW, **_ALTERNATING}, **_AFTER_NORM),
    "olmoe": Family("olmoe", _EXPERTS),
    "gpt_oss": Family("gpt_oss", {**_HEAD, **_EXPERTS, **_WINDOW}),
    "stablelm": Family("stablelm"),
    "cohere": Family("cohere", middle=""),
    "cohere2": Family("cohere2", {**_WINDOW, **_ALTERNATING}, middle=""),
    "granite": Family("granite", _SCALED, factor=0.5),
    "starcoder2": Family("starcoder2", _WINDOW),
    "smollm3": Family("smollm3"),
    "nemotron": Family("nemotron"),
    "deepseek_v3": Family("deepseek_v3", _LATENT),
    "llama4_text": Family("llama4_text", {**_LLAMA4, "attn_temperature_tuning": False}),
    "exaone4": Family("exaone4", {**_WINDOW, **_ALTERNATING}, **_AFTER_NORM),
    "glm4": Family("glm4", _HEAD, middle="post_self_attn_layernorm"),
    "persimmon": Family("persimmon"),
    "phimoe": Family("phimoe", _EXPERTS),
    "granitemoe": Family("granitemoe", _EXPERTS),
    "jetmoe": Family("jetmoe", middle="self_attention"),
    "modernbert-decoder": Family(
        "modernbert-decoder", {"local_attention": 5, "global_attn_every_n_layers": 2}, middle="attn"
    ),
    "ctrl": Family("ctrl", {**_GPT, "dff": 48}, "transformer.h", "multi_head_attention"),
    "ministral3, yarn": Family(
        "ministral3",
        {
            **_HEAD,
            "rope_parameters": {
                "rope_type": "yarn",
                "factor": 4.0,
                "beta_fast": 32.0,
                "beta_slow": 1.0,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
                "original_max_position_embeddings": 4,
                "llama_4_scaling_beta": 0.3,
                "rope_theta": 10000.0,
            },
        },
    ),
}
"""Families whose rows share attention."""

_NOT_REGISTERED = "does not go through the registry"
_NO_POSITIONS = "takes no explicit positions"

WHOLE: dict[str, Family] = {
    "llama, positions that depend on the length": Family(
        "llama",
        {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}},
        unshared="depend on the length",
    ),
    "llama4_text, queries scaled by their place": Family(
        "llama4_text", {**_LLAMA4, "floor_scale": 3, "no_rope_layers": [1, 0, 1, 0]}, unshared="scales queries"
    ),
    "gpt_neo": Family(
        "gpt_neo",
        {"num_layers": DEPTH, "num_heads": 4, "attention_types": [[["global", "local"], 2]], "window_size": 5},
        **_GPT_BLOCKS,
        unshared=_NOT_REGISTERED,
    ),
    "xglm": Family(
        "xglm",
        {"d_model": HIDDEN, "num_layers": DEPTH, "attention_heads": 4, "ffn_dim": 48},
        unshared="cannot be replaced",
    ),
    "falcon": Family("falcon", **_PARALLEL, unshared=_NOT_REGISTERED),
    "falcon, alibi": Family("falcon", {"alibi": True}, **_PARALLEL, unshared=_NOT_REGISTERED),
    "bloom": Family("bloom", {"n_layer": DEPTH, "n_head": 4}, **_PARALLEL, unshared=_NO_POSITIONS),
    "mpt": Family(
        "mpt",
        {"d_model": HIDDEN, "n_layers": DEPTH, "n_heads": 4, "max_seq_len": 64},
        "transformer.blocks",
        "",
        unshared=_NO_POSITIONS,
    ),
    "bart's decoder": Family("bart", _ENCODER_DECODER, "model.decoder.layers", "", unshared=_NO_POSITIONS),
    "whisper's decoder, no choice of logits": Family(
        "whisper",
        {**_ENCODER_DECODER, "encoder_layers": DEPTH, "encoder_attention_heads": 4, "max_target_positions": 64},
        "model.decoder.layers",
        unshared=_NO_POSITIONS,
    ),
    "diffllama": Family("diffllama", _HEAD, unshared="differ by"),
    "gemma4_text, inputs of its own in every layer": Family(
        "gemma4_text",
        {**_GEMMA, **_ALTERNATING, "hidden_size_per_layer_input": 8, "initializer_range": 0.05},
        middle="",
        unshared="inputs of their own",
    ),
    "lfm2, convolutions": Family(
        "lfm2", {"layer_types": ["conv", "full_attention", "full_attention", "conv"]}, unshared="(conv)"
    ),
    "mamba": Family("mamba", {"state_size": 4}, "backbone.layers", "", unshared=_NO_POSITIONS, continues="one by one"),
    "recurrent_gemma": Family(
        "recurrent_gemma",
        {"attention_window_size": 5, "lru_width": HIDDEN},
        middle="temporal_block",
        unshared="(linear_attention)",
        continues="one by one",
    ),
    "rwkv": Family(
        "rwkv", {"attention_hidden_size": HIDDEN}, "rwkv.blocks", "attention", unshared=_NO_POSITIONS, continues="not"
    ),
    "qwen3_next": Family(
        "qwen3_next",
        {
            **_HEAD,
            **_EXPERTS,
            **_SHARED_EXPERT,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 2,
            "linear_key_head_dim": 8,
            "linear_value_head_dim": 8,
        },
        middle="linear_attn",
        unshared="(linear_attention)",
    ),
    "xlstm, no choice of logits": Family(
        "xlstm", {"num_heads": 4}, "backbone.blocks", "", unshared=_NO_POSITIONS, continues="not"
    ),
    "deepseek_v32": Family(
        "deepseek_v32", {**_LATENT, "index_n_heads": 2, "index_head_dim": 8}, unshared="an index of its own"
    ),
}
"""Families whose rows are run whole, with the reason: the numbers are as exact, the price is that of whole rows."""

REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "bert": ("bert", {"is_decoder": True}, "blocks could not be found"),
    "xlnet": (
        "xlnet",
        {"d_model": HIDDEN, "n_layer": DEPTH, "n_head": 4, "d_inner": 48, "max_position_embeddings": None},
        "no residual stream",
    ),
    "openai-gpt": ("openai-gpt", _GPT, "no residual stream"),
    "jamba, blocks of two classes": (
        "jamba",
        {**_EXPERTS, "attn_layer_period": 2, "attn_layer_offset": 1},
        "blocks could not be found",
    ),
    "gemma3n": (
        "gemma3n_text",
        {
            **_HEAD,
            **_WINDOW,
            **_ALTERNATING,
            "num_kv_shared_layers": 2,
            "laurel_rank": 4,
            "hidden_size_per_layer_input": 8,
            "vocab_size_per_layer_input": VOCABULARY,
            "activation_sparsity_pattern": [0.0] * DEPTH,
            "intermediate_size": [48] * DEPTH,
        },
        "no residual stream",
    ),
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
