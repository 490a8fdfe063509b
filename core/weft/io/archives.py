"""Archives: the members of tar and zip files as lazy tensors of bytes."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

from weft.base.errors import FormatError
from weft.device import registry
from weft.io.windows import Source, TensorIO, from_bytes, not_readable, opened, read, reading
from weft.tensor import Tensor

MOST_UNPACKED = 1 << 30
"""The default limit of unpacked bytes of compressed entries."""

_STORED, _DEFLATED = 0, 8


def tar_extract(source: Source) -> dict[str, Tensor]:
    """The plain files of an uncompressed tar archive by name, each as uint8 of shape (n,), lazy.

    Nothing is written to disk, so that names cannot lead anywhere; links and devices are left out.
    Raises FileError where the file cannot be read, FormatError where it is no tar archive, is
    compressed, or was cut short.

    >>> from weft import io
    >>> import tarfile
    >>> _ = open("hello.txt", "w").write("hi")
    >>> with tarfile.open("all.tar", "w") as archive:
    ...     archive.add("hello.txt")
    >>> bytes(io.tar_extract("all.tar")["hello.txt"].tolist())
    b'hi'
    """
    import tarfile

    everything = opened(source)
    size = int(everything.shape[0])
    found: dict[str, Tensor] = {}
    stream: Any = io.BufferedReader(TensorIO(everything), 1 << 16)
    with reading("tar archive", source), tarfile.TarFile(fileobj=stream) as archive:
        for member in archive:
            if not member.isreg():
                continue
            begin, sparse = member.offset_data, getattr(member, "sparse", None)
            if sparse is not None or member.size < 0 or begin + member.size > size:
                raise not_readable("tar archive", source, f"{member.name!r} ends after the file")
            found[member.name] = everything[begin : begin + member.size]
    if not found and size % 512:
        raise not_readable("tar archive", source, "its length is not a number of blocks")
    return found


def zip_extract(source: Source, most: int = MOST_UNPACKED) -> dict[str, Tensor]:
    """The files of a zip archive by name, each as uint8 of shape (n,).

    Stored entries are lazy windows of the archive. Compressed ones are unpacked now, in the host's
    memory, for the default device. Raises FileError where the file cannot be read, FormatError
    where it is no zip archive, is encrypted, compressed in another way than DEFLATE, damaged, or
    unpacks to more than `most` bytes.

    >>> from weft import io
    >>> import zipfile
    >>> with zipfile.ZipFile("all.zip", "w") as archive:
    ...     archive.writestr("hello.txt", "hi")
    >>> bytes(io.zip_extract("all.zip")["hello.txt"].tolist())
    b'hi'
    """
    everything = opened(source)
    found: dict[str, Tensor] = {}
    for info in zip_entries(everything, source):
        if info.filename.endswith("/"):
            continue
        whole, begin = entry(everything, info, source, most)
        most -= info.file_size if whole is not everything else 0
        found[info.filename] = whole[begin : begin + info.file_size]
    return found


def zip_entries(everything: Tensor, source: Source) -> list[Any]:
    """The table of contents of a zip archive, as the standard library gives it. FormatError."""
    import zipfile

    with reading("zip archive", source):
        return zipfile.ZipFile(TensorIO(everything)).infolist()


def entry(everything: Tensor, info: Any, source: Source, most: int) -> tuple[Tensor, int]:
    """(bytes, where in them those of a zip's entry begin): the archive itself where it is stored,
    else what it was unpacked to. FormatError where that is more than `most`, and for damage."""
    if info.compress_type == _STORED:
        return everything, stored_at(everything, info, source)
    if info.compress_type != _DEFLATED:
        raise _bad_entry(info, source, f"is compressed in way number {info.compress_type}")
    if info.file_size > most:
        raise _bad_entry(info, source, f"unpacks to {info.file_size} bytes, at most {most} may be")
    begin = _begin(everything, info, info.compress_size, source)
    packed = read(everything, begin, begin + info.compress_size)
    with reading("zip archive", source):
        # one byte more than claimed would show that the claim is a lie
        data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, info.file_size + 1)
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise _bad_entry(info, source, "does not unpack to what its checksum says")
    return from_bytes(data).to(registry.canonical()), 0


def stored_at(everything: Tensor, info: Any, source: Source) -> int:
    """Where the bytes of a zip's entry begin. FormatError if they are compressed or not there."""
    if info.compress_type != _STORED:
        raise _bad_entry(info, source, "is compressed")
    return _begin(everything, info, info.file_size, source)


def _begin(everything: Tensor, info: Any, size: int, source: Source) -> int:
    if info.flag_bits & 1:
        raise _bad_entry(info, source, "is encrypted")
    at = info.header_offset
    header = read(everything, at, at + 30) if at >= 0 else b""
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise _bad_entry(info, source, "lies outside the file")
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    begin: int = at + 30 + name_length + extra_length
    if begin + size > int(everything.shape[0]):
        raise _bad_entry(info, source, "ends after the file")
    return begin


def _bad_entry(info: Any, source: Source, what: str) -> FormatError:
    return not_readable("zip archive", source, f"the entry {info.filename!r} {what}")
