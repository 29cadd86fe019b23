"""Safetensors files: tensors, and a manifest in the metadata where this package wrote them."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from firsthand.errors import StatesError

MANIFEST: Final = "firsthand"
"""Key of the manifest in a file's metadata."""


def read_tensors(path: Path) -> tuple[str | None, dict[str, Tensor]]:
    """The manifest's text, if there is one, and the tensors of a safetensors file.

    Raises:
        StatesError: If the file is missing or not a whole safetensors file.
    """
    if not path.is_file():
        raise StatesError(f"{path} does not exist.", "Check the path.")
    try:
        with safe_open(path, framework="pt") as file:
            return (file.metadata() or {}).get(MANIFEST), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise StatesError(f"{path} is not a whole safetensors file: {error}.", "Copy it again.") from error


def tensors_sha256(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 over names, kinds, shapes and bytes, in the order of the names."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
