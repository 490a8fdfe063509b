"""Tar archives and NumPy's files: what is in them, as lazy tensors."""

from __future__ import annotations

import ast
import struct
from typing import Any

from weft.base.dtype import DType, to_dtype
from weft.base.errors import FormatError, WeftError
from weft.io.windows import Source, TensorIO, called, opened, read, window
from weft.tensor import Tensor

_NPY = b"\x93NUMPY"


def _bad(what: str, source: Source, because: str) -> FormatError:
    return FormatError(
        f"this is no {what} that can be read",
        asked=f"load {called(source)}",
        because=because,
        try_="get the file again and compare its size",
    )


def tar_extract(source: Source) -> dict[str, Tensor]:
    """The plain files of an uncompressed tar archive by name, each as uint8 of shape (n,), lazy.

    Nothing is written to disk, so that names cannot lead anywhere. Raises FileError where the file
    cannot be read, FormatError where it is no tar archive, is compressed, or was cut short.

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
    try:
        with tarfile.TarFile(fileobj=TensorIO(everything)) as archive:  # type: ignore[arg-type]
            for member in archive:
                end = member.offset_data + member.size
                if not member.isreg():
                    continue
                if member.sparse is not None or member.size < 0 or end > size:  # type: ignore[attr-defined]
                    raise _bad("tar archive", source, f"{member.name!r} ends after the file")
                found[member.name] = everything[member.offset_data : end]
    except WeftError:
        raise
    except (tarfile.TarError, ValueError, OverflowError, OSError, IndexError) as error:
        raise _bad("tar archive", source, str(error) or type(error).__name__) from None
    if not found and size % 512:
        raise _bad("tar archive", source, "its length is not a number of blocks")
    return found


def npy_load(source: Source, device: str | None = None) -> Tensor:
    """The array of a .npy file, lazy, where the file lies, or on `device`.

    Raises FileError where the file cannot be read, FormatError for damaged files, arrays of
    objects, and big-endian numbers.

    >>> from weft import io
    >>> import numpy
    >>> numpy.save("a.npy", numpy.array([[1, 2], [3, 4]]))
    >>> io.npy_load("a.npy").tolist()
    [[1, 2], [3, 4]]
    """
    return _npy(opened(source), source, device)


def npz_load(source: Source, device: str | None = None) -> dict[str, Tensor]:
    """The arrays of an uncompressed .npz file by name, each lazy. See `npy_load`.

    >>> from weft import io
    >>> import numpy
    >>> numpy.savez("a.npz", first=numpy.array([1, 2]), second=numpy.array([3.0]))
    >>> {name: each.tolist() for name, each in io.npz_load("a.npz").items()}
    {'first': [1, 2], 'second': [3.0]}
    """
    import zipfile

    everything = opened(source)
    found: dict[str, Tensor] = {}
    try:
        entries = zipfile.ZipFile(TensorIO(everything)).infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise _bad("npz file", source, str(error)) from None
    for info in entries:
        begin = stored_at(everything, info, source)
        part = everything[begin : begin + info.file_size]
        found[info.filename.removesuffix(".npy")] = _npy(part, source, device, everything, begin)
    return found


def stored_at(everything: Tensor, info: Any, source: Source) -> int:
    """Where the bytes of a zip's entry begin. FormatError if they are compressed or not there."""
    if info.compress_type != 0 or info.flag_bits & 1:
        raise _bad("zip", source, f"the entry {info.filename!r} is compressed or encrypted")
    header = read(everything, info.header_offset, min(info.header_offset + 30, everything.shape[0]))
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise _bad("zip", source, f"the entry {info.filename!r} lies outside the file")
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    begin: int = info.header_offset + 30 + name_length + extra_length
    if begin + info.file_size > int(everything.shape[0]):
        raise _bad("zip", source, f"the entry {info.filename!r} ends after the file")
    return begin


def _npy(
    part: Tensor, source: Source, device: str | None, whole: Tensor | None = None, at: int = 0
) -> Tensor:
    """The array in the bytes `part`, which begin at byte `at` of `whole`."""
    size = int(part.shape[0])
    head = read(part, 0, min(12, size))
    if len(head) < 10 or head[:6] != _NPY or head[6] not in (1, 2, 3):
        raise _bad("npy file", source, "it does not begin as one")
    wide = head[6] > 1
    start = 12 if wide else 10
    (length,) = struct.unpack("<I" if wide else "<H", head[8:start].ljust(4 if wide else 2, b"\0"))
    if start + length > size or length > 1 << 20:
        raise _bad("npy file", source, "its header is cut short")
    dtype, shape, by_columns = _description(read(part, start, start + length), source)
    order = shape[::-1] if by_columns else shape
    data = window(part if whole is None else whole, at + start + length, dtype, order, device)
    return data.permute(*reversed(range(len(order)))) if by_columns and len(order) > 1 else data


def _description(text: bytes, source: Source) -> tuple[DType, tuple[int, ...], bool]:
    try:
        header = ast.literal_eval(text.decode("latin1").strip())
        kind, by_columns, shape = header["descr"], header["fortran_order"], header["shape"]
        fits = all(type(n) is int and 0 <= n < 1 << 48 for n in shape)
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):
        raise _bad("npy file", source, "its header is damaged") from None
    if not fits or not isinstance(shape, tuple) or not isinstance(kind, str):
        raise _bad("npy file", source, "its header describes no plain array")
    names = {"|b1": "bool", "|i1": "int8", "|u1": "uint8", "<f2": "float16", "<f4": "float32",
             "<f8": "float64"}  # fmt: skip
    names |= {f"<{k}{n}": f"{'u' * (k == 'u')}int{8 * n}" for k in "iu" for n in (2, 4, 8)}
    if kind not in names:
        raise _bad("npy file", source, f"weft has no dtype for {kind!r}")
    return to_dtype(names[kind]), shape, bool(by_columns)
