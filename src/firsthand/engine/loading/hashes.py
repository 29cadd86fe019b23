"""Fingerprints of weights, tokenizers and configurations.

The weights' SHA-256 is defined over the tensors as they are stored, so that it does not depend on how they are split
over files, on file metadata, on the data type they are later cast to, or on the device. With one line a tensor,

    <name> <stored data type> <shape, comma-separated> <SHA-256 of the tensor's bytes>

it is the SHA-256 of the lines sorted by name, each ended by a newline, in UTF-8. Safetensors files are little-endian
and contiguous, so the bytes are those of the file. Tensors are hashed in parallel.
"""

import hashlib
import json
import mmap
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

from firsthand.errors import ModelError

_MAX_HEADER = 100_000_000
_BITS = {
    "F64": 64, "F32": 32, "F16": 16, "BF16": 16, "I64": 64, "I32": 32, "I16": 16, "I8": 8, "U64": 64, "U32": 32,
    "U16": 16, "U8": 8, "BOOL": 8, "F8_E4M3": 8, "F8_E5M2": 8,
}  # fmt: skip
_VOLATILE_CONFIG = frozenset({"_name_or_path", "transformers_version", "dtype", "torch_dtype", "_commit_hash"})


@dataclass(frozen=True)
class StoredTensor:
    """Where one tensor lies in a safetensors file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    path: Path
    start: int
    end: int


def stored_tensors(path: Path) -> list[StoredTensor]:
    """Read the header of a safetensors file and check that its tensors lie within the file.

    Raises:
        ModelError: If the file is truncated or not a safetensors file.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if size < 8 or length > min(size - 8, _MAX_HEADER):
                raise ValueError("the header is cut off")
            header = json.loads(stream.read(length))
        tensors = [
            _entry(name, entry, path, 8 + length, size) for name, entry in header.items() if name != "__metadata__"
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f"{path} is not a complete safetensors file ({error}).", "Download or copy it again."
        ) from error
    return tensors


def weights_sha256(files: Sequence[Path]) -> str:
    """The SHA-256 of the tensors in ``files``, as the module describes it.

    Args:
        files: All safetensors files of one model or adapter, in any order.

    Raises:
        ModelError: If a file is truncated, or one tensor name occurs in two files.
    """
    tensors = sorted((tensor for path in files for tensor in stored_tensors(path)), key=lambda tensor: tensor.name)
    names = [tensor.name for tensor in tensors]
    for before, after in pairwise(names):
        if before == after:
            raise ModelError(
                f"The tensor {after!r} is stored in two files of {files[0].parent}.", "Keep one set of weights files."
            )
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        digests = list(pool.map(_tensor_sha256, tensors))
    lines = (
        f"{tensor.name} {tensor.dtype} {','.join(map(str, tensor.shape))} {digest}"
        for tensor, digest in zip(tensors, digests, strict=True)
    )
    return lines_sha256(lines)


def lines_sha256(lines: Iterable[str]) -> str:
    """SHA-256 of text lines, each ended by a newline, in UTF-8."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def json_sha256(value: Any) -> str:
    """SHA-256 of a JSON value in its canonical form: sorted keys, no spaces, UTF-8."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def tokenizer_sha256(tokenizer: Any) -> str:
    """SHA-256 over everything that decides how text becomes tokens.

    That is the backend's own serialisation (the content of ``tokenizer.json``, without padding and truncation, which
    are settings of a call), the chat template, and the special tokens that templates and padding refer to.

    Args:
        tokenizer: A fast tokenizer of Transformers. Its padding and truncation settings are left as they were.
    """
    backend = tokenizer.backend_tokenizer
    padding, truncation = backend.padding, backend.truncation
    backend.no_padding()
    backend.no_truncation()
    try:
        content = backend.to_str()
    finally:
        if padding is not None:
            backend.enable_padding(**padding)
        if truncation is not None:
            backend.enable_truncation(**truncation)
    special = {name: str(token) for name, token in tokenizer.special_tokens_map.items() if isinstance(token, str)}
    return json_sha256(
        {
            "tokenizer": hashlib.sha256(content.encode()).hexdigest(),
            "chat_template": tokenizer.chat_template,
            "special_tokens": special,
        }
    )


def config_sha256(path: Path) -> str:
    """SHA-256 of a ``config.json`` in canonical form, without the entries that do not change the model."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return json_sha256({key: value for key, value in content.items() if key not in _VOLATILE_CONFIG})


def _entry(name: str, entry: dict[str, Any], path: Path, data_start: int, size: int) -> StoredTensor:
    dtype, shape = str(entry["dtype"]), tuple(int(length) for length in entry["shape"])
    start, end = (data_start + int(offset) for offset in entry["data_offsets"])
    if not data_start <= start <= end <= size:
        raise ValueError(f"the tensor {name!r} lies beyond the end of the file")
    if dtype in _BITS and prod(shape) * _BITS[dtype] != (end - start) * 8:
        raise ValueError(f"the tensor {name!r} has another size than its shape")
    return StoredTensor(name, dtype, shape, path, start, end)


def _tensor_sha256(tensor: StoredTensor) -> str:
    if tensor.start == tensor.end:
        return hashlib.sha256().hexdigest()
    with tensor.path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        view = memoryview(mapped)
        try:
            with view[tensor.start : tensor.end] as part:
                return hashlib.sha256(part).hexdigest()
        finally:
            view.release()
