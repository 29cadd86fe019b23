"""A model folder (configuration, safetensors, tokenizer) made into a model ready for evaluation."""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from firsthand.errors import ModelError

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def resolve_device(device: str | None) -> torch.device:
    """The device asked for, or CUDA if there is one, or the CPU.

    Raises:
        ModelError: If it is not a device, or not one of this machine.
    """
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(device)
        torch.empty(1, device=resolved)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        first_line = str(error).splitlines()[0]
        raise ModelError(
            f"The device {device!r} cannot be used here ({first_line}).", "Give 'cpu', or 'cuda' where there is a GPU."
        ) from error
    if resolved.type == "meta":
        raise ModelError("The device 'meta' holds no values.", "Give 'cpu' or 'cuda'.")
    return resolved


def resolve_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """The data type asked for.

    Raises:
        ModelError: If it is not known, or float16 is asked for on a CPU.
    """
    if dtype not in DTYPES:
        raise ModelError(f"The data type {dtype!r} is not known.", f"Give one of {', '.join(DTYPES)}.")
    if dtype == "float16" and device.type == "cpu":
        raise ModelError(
            "float16 on a CPU is refused: many operations are slow or missing there, and large residuals overflow.",
            "Use float32, or bfloat16 to save memory.",
        )
    return DTYPES[dtype]


def load_folder(folder: Path, dtype: torch.dtype, device: torch.device, *, spread: bool = False) -> tuple[Any, Any]:
    """Load the model and tokenizer of a folder that :func:`~firsthand.engine.loading.refuse.check_folder` accepted.

    Args:
        folder: The folder.
        dtype: Data type of the weights.
        device: Where to put the model.
        spread: Instead, let Accelerate spread its layers over all GPUs, and over the CPU if they do not suffice.

    Returns:
        The model, in evaluation mode and without gradients, and the tokenizer.

    Raises:
        ModelError: If the architecture is not a causal language model, weights are missing or have other shapes, a
            library that the folder asks for is not installed, or memory does not suffice.
    """
    tokenizer = _load_tokenizer(folder)
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        _refuse_encoder_decoder(config, folder)
        model, report = AutoModelForCausalLM.from_pretrained(
            folder,
            config=config,
            dtype=dtype,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
            device_map="auto" if spread else None,
        )
        _refuse_missing(report, folder)
        model.eval().requires_grad_(False)
        if spread:
            _refuse_disk(model, folder)
        else:
            model.to(device)
    except ModelError:
        raise
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise ModelError(
            f"{folder} does not fit into the memory of {device}.", "Use bfloat16, a smaller model, or device='cpu'."
        ) from error
    except Exception as error:
        raise ModelError(
            f"Transformers cannot load {folder} as a causal language model: {type(error).__name__}: {error}.",
            "Check that the folder is complete, and that Transformers supports the architecture.",
        ) from error
    if getattr(model, "hf_quantizer", None) is None and model.dtype != dtype:
        raise ModelError(f"{folder} was loaded in {model.dtype}, not {dtype}.", "Use a release that is not quantised.")
    return model, tokenizer


def _load_tokenizer(folder: Path) -> Any:
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:
        raise ModelError(
            f"{folder} has no tokenizer that Transformers can load: {type(error).__name__}: {error}.",
            "Add tokenizer.json and tokenizer_config.json, for example with tokenizer.save_pretrained(folder).",
        ) from error
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(
            f"The tokenizer of {folder} has no fast form, and character offsets are needed to place edits.",
            "Save its fast form (tokenizer.json) into the folder.",
        )
    return tokenizer


def devices_of(model: Any) -> str:
    """Where the parts of a spread model lie, in words."""
    places = {str(place) for place in getattr(model, "hf_device_map", {"": model.device}).values()}
    return ", ".join(sorted(f"cuda:{place}" if place.isdecimal() else place for place in places))


def _refuse_disk(model: Any, folder: Path) -> None:
    if "disk" in {str(place) for place in getattr(model, "hf_device_map", {}).values()}:
        raise ModelError(
            f"{folder} fits into GPUs and memory only with layers on disk, which would be read again for every pass.",
            "Use bfloat16, a smaller model, or a larger machine.",
        )


def _refuse_encoder_decoder(config: Any, folder: Path) -> None:
    if getattr(config, "is_encoder_decoder", False):
        raise ModelError(
            f"{folder} is an encoder-decoder ({config.model_type}), and only decoders are studied here.",
            "Give a decoder-only language model.",
        )


def _refuse_missing(report: dict[str, Any], folder: Path) -> None:
    missing = sorted(report.get("missing_keys", ()))
    mismatched = sorted(str(key) for key in report.get("mismatched_keys", ()))
    if missing or mismatched:
        named = ", ".join([*missing, *mismatched][:4])
        raise ModelError(
            f"{folder} lacks {len(missing) + len(mismatched)} weights that its configuration needs ({named}); they "
            "would be random.",
            "Check that config.json belongs to these weights and that no file is missing.",
        )
