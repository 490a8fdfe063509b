"""NumPy files: .npy and .npz as lazy tensors.

Layout (NumPy's format description, versions 1 to 3): magic, version, length of the header, the
header (a Python literal of three entries), then the values. Arrays of objects are pickles, which
are not read.
"""

from __future__ import annotations

import ast
import struct

from weft.base.dtype import DType, to_dtype
from weft.base.errors import FormatError
from weft.base.sequences import prod
from weft.device import registry
from weft.io.archives import MOST_UNPACKED, entry, zip_entries
from weft.io.windows import Source, called, not_readable, opened, read, window
from weft.tensor import Tensor

_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 10_000  # NumPy's own limit: longer literals could exhaust the parser's stack

_DTYPES = {
    "|b1": "bool", "|i1": "int8", "|u1": "uint8", "<f2": "float16", "<f4": "float32",
    "<f8": "float64", "<c8": "complex64", "<c16": "complex128", "<i2": "int16", "<i4": "int32",
    "<i8": "int64", "<u2": "uint16", "<u4": "uint32", "<u8": "uint64",
}  # fmt: skip


def npy_load(source: Source, device: str | None = None) -> Tensor:
    """The array of a .npy file, lazy, where the file lies, or on `device`.

    Arrays that are stored column by column are on the default device unless another is given.
    Raises FileError where the file cannot be read, FormatError for damaged files, arrays of
    objects, and big-endian numbers.

    >>> from weft import io
    >>> import numpy
    >>> numpy.save("a.npy", numpy.array([[1, 2], [3, 4]]))
    >>> io.npy_load("a.npy").tolist()
    [[1, 2], [3, 4]]
    """
    everything = opened(source)
    return _array(everything, 0, int(everything.shape[0]), source, device)


def npz_load(
    source: Source, device: str | None = None, most: int = MOST_UNPACKED
) -> dict[str, Tensor]:
    """The arrays of a .npz file by name, each lazy. See `npy_load`.

    Those of `numpy.savez_compressed` are unpacked now, into the host's memory, unless they are more
    than `most` bytes: that is a FormatError. Entries that are no arrays are uint8 of shape (n,).

    >>> from weft import io
    >>> import numpy
    >>> numpy.savez("a.npz", first=numpy.array([1, 2]), second=numpy.array([3.0]))
    >>> {name: each.tolist() for name, each in io.npz_load("a.npz").items()}
    {'first': [1, 2], 'second': [3.0]}
    """
    everything = opened(source)
    found: dict[str, Tensor] = {}
    for info in zip_entries(everything, source):
        whole, begin = entry(everything, info, source, most)
        most -= info.file_size if whole is not everything else 0
        end = begin + info.file_size
        if info.filename.endswith(".npy"):
            name = info.filename.removesuffix(".npy")
            found[name] = _array(whole, begin, end, source, device)
        else:
            part = whole[begin:end]
            found[info.filename] = part if device is None else part.to(device)
    return found


def _array(whole: Tensor, begin: int, end: int, source: Source, device: str | None) -> Tensor:
    """The array in the bytes from `begin` to `end`."""
    head = read(whole, begin, min(begin + 12, end))
    if len(head) < 10 or head[:6] != _MAGIC or head[6] not in (1, 2, 3):
        raise not_readable("npy file", source, "it does not begin as one")
    wide = head[6] > 1
    at = begin + (12 if wide else 10)
    (length,) = struct.unpack("<I", head[8:12].ljust(4, b"\0") if wide else head[8:10] + b"\0\0")
    if at + length > end or length > _LONGEST_HEADER:
        raise not_readable("npy file", source, "its header is cut short, or longer than any")
    dtype, shape, by_columns = _description(read(whole, at, at + length), source)
    order = shape[::-1] if by_columns else shape
    if at + length + prod(shape) * dtype.itemsize > end:
        raise not_readable("npy file", source, f"an array of {shape} and {dtype} does not fit")
    data = window(whole, at + length, dtype, order, device)
    if not by_columns or len(order) < 2:
        return data
    # where a file lies nothing but windows can be read
    return data.to(device or registry.canonical()).permute(*reversed(range(len(order))))


def _description(text: bytes, source: Source) -> tuple[DType, tuple[int, ...], bool]:
    try:
        header = ast.literal_eval(text.decode("latin1").strip())
        kind, by_columns, shape = header["descr"], header["fortran_order"], header["shape"]
        plain = isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
    except (ValueError, SyntaxError, LookupError, TypeError, MemoryError, RecursionError):
        raise not_readable("npy file", source, "its header is damaged") from None
    if not plain or not isinstance(kind, str | list) or not isinstance(by_columns, bool):
        raise not_readable("npy file", source, "its header describes no plain array")
    if isinstance(kind, list) or kind not in _DTYPES:
        raise FormatError(
            "this array has a dtype that weft has not",
            asked=f"load {called(source)}, an array of {str(kind)[:60]!r}",
            because="its objects are a pickle, which may run anything"
            if kind == "|O"
            else "numbers of one little-endian kind are read",
            try_="convert it where it was made: array.astype(numpy.float32), for instance",
        )
    return to_dtype(_DTYPES[kind]), shape, by_columns
