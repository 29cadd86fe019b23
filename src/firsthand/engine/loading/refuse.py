"""What is refused in a model folder before anything in it is opened by Transformers, and why.

Two kinds of content can run code on the reader's machine: pickled weights, and Python files named by an ``auto_map``.
A third kind of fault makes a model that is silently not the one meant: shards that are missing.
"""

import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from firsthand.errors import ModelError

PICKLED = frozenset({".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"})
_REMOTE_CODE_FILES = ("config.json", "tokenizer_config.json", "processor_config.json", "preprocessor_config.json")
_INDEX = "model.safetensors.index.json"


def check_folder(folder: Path) -> list[Path]:
    """Check a model folder and return its safetensors files, in the order of their names.

    Args:
        folder: A folder with ``config.json``, weights and a tokenizer.

    Raises:
        ModelError: If it has no configuration, holds an adapter, names remote code, has only pickled weights, no
            weights, or an index whose shards are missing.
    """
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    check_names(names, str(folder))
    for name in _REMOTE_CODE_FILES:
        if name in names:
            refuse_remote_code(read_json(folder / name), folder / name)
    if _INDEX in names:
        return _shards(folder)
    if "model.safetensors" not in names:
        raise ModelError(
            f"{folder} has neither model.safetensors nor {_INDEX}.",
            "Rename a single weights file to model.safetensors, or write the folder with save_pretrained.",
        )
    return [folder / "model.safetensors"]


def check_names(names: Iterable[str], place: str) -> None:
    """Check the list of top-level file names of a model, local or on the hub.

    Args:
        names: File names.
        place: Where they are, for the message.

    Raises:
        ModelError: As :func:`check_folder`, as far as names can tell.
    """
    listed = set(names)
    if "adapter_config.json" in listed:
        raise ModelError(
            f"{place} is an adapter, not a model.",
            "Load its base model, then call load_adapter(base, folder).",
        )
    if "config.json" not in listed:
        gguf = sorted(name for name in listed if name.endswith(".gguf"))
        hint = f"Give the GGUF file itself: {gguf[0]}." if gguf else "Check that this is the folder of a model."
        raise ModelError(f"{place} has no config.json.", hint)
    if any(name.endswith(".safetensors") for name in listed):
        return
    pickled = sorted(name for name in listed if PurePosixPath(name).suffix.lower() in PICKLED)
    if pickled:
        raise ModelError(
            f"{place} has only pickled weights ({pickled[0]}), which can run code when opened, so they are refused.",
            "Use a release of the model in safetensors, or convert it on a machine where that risk is acceptable.",
        )
    raise ModelError(f"{place} has no safetensors weights.", "Use a release of the model in safetensors.")


def refuse_remote_code(content: Any, path: Path) -> None:
    """Refuse a configuration that names Python code to be run.

    Raises:
        ModelError: If an ``auto_map`` occurs anywhere in ``content``.
    """
    pending = [content]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if value.get("auto_map"):
                raise ModelError(
                    f"{path} has an auto_map: the model asks to run Python code that comes with it, which is refused.",
                    "If Transformers supports the architecture itself, use a copy whose auto_map entries are removed.",
                )
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        ModelError: If it is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{path} is not valid JSON ({error}).", "Download or copy the model again.") from error


def _shards(folder: Path) -> list[Path]:
    content = read_json(folder / _INDEX)
    weight_map = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(weight_map, dict) or not weight_map:
        raise ModelError(f"{folder / _INDEX} has no weight_map.", "Download or copy the model again.")
    shards = sorted({str(name) for name in weight_map.values()})
    outside = [name for name in shards if PurePosixPath(name).name != name or not name.endswith(".safetensors")]
    if outside:
        raise ModelError(
            f"{folder / _INDEX} points at {outside[0]!r}, which is not a safetensors file in the same folder.",
            "Download the model again from a source you trust.",
        )
    missing = [name for name in shards if not (folder / name).is_file()]
    if missing:
        raise ModelError(
            f"{folder} lacks {len(missing)} of {len(shards)} weights files, first {missing[0]}.",
            "Download or copy the missing files.",
        )
    return [folder / name for name in shards]
