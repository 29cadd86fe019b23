"""Members of a zip file, those included that Zstandard packed, which Python's own module reads from 3.14 on."""

import struct
import zlib
from typing import Final
from zipfile import ZipFile, ZipInfo

ZSTANDARD: Final = 93
"""Number of the method in section 4.4.5 of the format's description (APPNOTE)."""

_LOCAL_HEADER: Final = 30


def member(archive: ZipFile, info: ZipInfo) -> bytes:
    """The bytes of a member.

    Raises:
        ValueError: If it is damaged, or packed by a method that is not known.
    """
    if info.compress_type != ZSTANDARD:
        try:
            return archive.read(info)
        except Exception as error:  # zipfile raises what its decompressors raise
            raise ValueError(f"{info.filename}: {error}") from error
    import pyarrow

    try:
        data = pyarrow.decompress(_packed(archive, info), info.file_size, codec="zstd", asbytes=True)
    except (pyarrow.ArrowException, OSError, struct.error) as error:
        raise ValueError(f"{info.filename}: {error}") from error
    if zlib.crc32(data) != info.CRC:
        raise ValueError(f"{info.filename}: its checksum is another")
    return bytes(data)


def _packed(archive: ZipFile, info: ZipInfo) -> bytes:
    """A member's packed bytes, which begin after a local header that ends in a name and further fields."""
    stream = archive.fp
    if stream is None:
        raise OSError("the archive is closed")
    stream.seek(info.header_offset)
    name, more = struct.unpack("<HH", stream.read(_LOCAL_HEADER)[26:30])
    stream.seek(name + more, 1)
    return stream.read(info.compress_size)
