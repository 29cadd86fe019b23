"""The header of a GGUF file: what it says about itself, read without touching its tensors.

Layout as in the GGUF specification, versions 2 and 3, little-endian: magic, version, number of tensors, number of
metadata entries, the entries, one record a tensor, padding, tensor data.
"""

import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

from firsthand.errors import ModelError

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MAX_STRING = 1 << 24


@dataclass(frozen=True)
class GgufHeader:
    """What is needed from a GGUF file before converting it.

    Attributes:
        architecture: ``general.architecture``.
        metadata: Scalars and strings by key. An array is represented by its length.
        tensors: Number of values of each tensor by name.
    """

    architecture: str
    metadata: dict[str, Any]
    tensors: dict[str, int]

    @property
    def n_values(self) -> int:
        """Number of values in all tensors."""
        return sum(self.tensors.values())


def read_header(path: Path) -> GgufHeader:
    """Read the header of a GGUF file and check that the file holds the tensors it lists.

    Raises:
        ModelError: If it is not a GGUF file, is truncated, or has a version or tensor type that is not known.
    """
    try:
        with path.open("rb") as stream:
            return _read(stream, path.stat().st_size)
    except (ValueError, KeyError, struct.error, UnicodeDecodeError) as error:
        raise ModelError(
            f"{path} is not a complete GGUF file ({error}).", "Download or install it again, and check its size."
        ) from error


def _read(stream: BinaryIO, size: int) -> GgufHeader:
    if stream.read(4) != b"GGUF":
        raise ValueError("it does not begin with the letters GGUF")
    version, n_tensors, n_entries = _unpack(stream, "IQQ")
    if version not in (2, 3):
        raise ValueError(f"its GGUF version is {version}, and 2 and 3 are known")
    metadata: dict[str, Any] = {}
    for _ in range(n_entries):
        key = _string(stream)
        metadata[key] = _value(stream, _unpack(stream, "I")[0])
    tensors: dict[str, int] = {}
    end = 0
    for _ in range(n_tensors):
        name = _string(stream)
        shape = _unpack(stream, f"{_unpack(stream, 'I')[0]}Q")
        kind, offset = _unpack(stream, "IQ")
        block, n_bytes = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
        tensors[name] = prod(shape)
        end = max(end, offset + prod(shape) // block * n_bytes)
    alignment = int(metadata.get("general.alignment", 32))
    data_start = -(-stream.tell() // alignment) * alignment
    if data_start + end > size:
        raise ValueError(f"it has {size} bytes where its tensors need {data_start + end}")
    return GgufHeader(str(metadata["general.architecture"]), metadata, tensors)


def _unpack(stream: BinaryIO, layout: str) -> tuple[Any, ...]:
    length = struct.calcsize(f"<{layout}")
    return struct.unpack(f"<{layout}", stream.read(length))


def _string(stream: BinaryIO) -> str:
    (length,) = _unpack(stream, "Q")
    if length > _MAX_STRING:
        raise ValueError(f"a text of {length} bytes in its header")
    content = stream.read(length)
    if len(content) != length:
        raise ValueError("its header is cut off")
    return content.decode("utf-8")


def _value(stream: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(stream)
    if kind != _ARRAY:
        return _unpack(stream, _SCALARS[kind])[0]
    element, count = _unpack(stream, "IQ")
    if element == _STRING:
        for _ in range(count):
            _string(stream)
    elif element == _ARRAY:
        for _ in range(count):
            _value(stream, _ARRAY)
    else:
        stream.seek(count * struct.calcsize(f"<{_SCALARS[element]}"), 1)
    return int(count)
