"""File access: the bytes of a source as tensors: a part now, a lazy part, a stream.

All file formats here use it. A source is a path, or a uint8 tensor that holds a file.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.errors import DTypeError, FormatError, WeftError
from weft.base.interrupts import let_through
from weft.base.sequences import prod
from weft.device import registry
from weft.tensor import Tensor
from weft.tensor.complex import view_as_complex

Source = str | PathLike[str] | Tensor

MOST_AXES = 64
"""As many as NumPy and PyTorch have."""


def opened(source: Source) -> Tensor:
    """The bytes of a source, shape (n,), dtype uint8, lazy. DTypeError for other tensors,
    FileError where the file cannot be opened."""
    if not isinstance(source, Tensor):
        return Tensor.from_file(source)
    if source.dtype != dtypes.uint8 or source.ndim != 1:
        raise DTypeError(
            "a file in memory is one row of bytes",
            asked=f"read a file from {source.dtype} of shape {source.shape}",
            because="it must be uint8 with one axis",
            try_="give the path, or the bytes as a uint8 tensor",
        )
    return source


def called(source: Source) -> str:
    """The source's name in messages."""
    return "a tensor of bytes" if isinstance(source, Tensor) else os.fspath(source)


def read(everything: Tensor, begin: int, end: int) -> bytes:
    """The bytes from `begin` to `end`, now. Those that are not there are left out."""
    begin, end = max(begin, 0), min(end, int(everything.shape[0]))
    return bytes(everything[begin:end].data()) if end > begin else b""


def from_bytes(data: bytes) -> Tensor:
    """Bytes as uint8 of shape (n,), where the host's memory is."""
    import numpy

    return Tensor(numpy.frombuffer(data, dtype=numpy.uint8), device=str(registry.staging()))


def not_readable(what: str, source: Source, because: str) -> FormatError:
    """The error for a file that is not what its name promises."""
    return FormatError(
        f"this is no {what} that can be read",
        asked=f"load {called(source)}",
        because=because or "it is damaged",
        try_="get the file again and compare its size",
    )


@contextmanager
def reading(what: str, source: Source) -> Iterator[None]:
    """Whatever a parser raises inside becomes a FormatError.

    The standard library's parsers were written for files that mean well: damaged ones make them
    raise errors of many kinds, which differ between versions of Python.
    """
    try:
        yield
    except WeftError:
        raise
    except Exception as error:
        let_through(error)
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise not_readable(what, source, why[:200]) from None


def window(
    everything: Tensor, begin: int, dtype: DType, shape: tuple[int, ...], device: str | None
) -> Tensor:
    """`shape` elements of `dtype` from byte `begin`, lazy, on `device` or where the file lies.

    A window that does not begin at a multiple of its element's size cannot be reinterpreted in
    place: it is copied to the default device when it is used. FormatError where the file ends
    before the window does, and for shapes of more than MOST_AXES axes.
    """
    if len(shape) > MOST_AXES:
        raise FormatError(
            "a tensor in this file has too many axes",
            asked=f"a tensor of {len(shape)} axes",
            because=f"no library that writes such files makes more than {MOST_AXES}",
            try_="get the file again and compare its size",
        )
    end = begin + prod(shape) * dtype.itemsize
    if begin < 0 or end > int(everything.shape[0]):
        raise FormatError(
            "the file ends before this tensor does",
            asked=f"bytes {begin} to {end} of {everything.shape[0]}",
            because="the file was cut short, or its table of contents is damaged",
            try_="get the file again and compare its size",
        )
    if dtype.is_complex:
        parts = window(everything, begin, dtypes.real_dtype(dtype), (*shape, 2), device)
        return view_as_complex(parts)
    part = everything[begin:end]
    if begin % dtype.itemsize:
        part = part.to(device or registry.canonical())
    tensor = part.bitcast(dtype).reshape(shape)
    return tensor if device is None else tensor.to(device)


class TensorIO(io.RawIOBase):
    """A uint8 tensor of shape (n,) as a readable, seekable stream. Bytes are read on demand.

    Raises DTypeError for any other tensor.

    >>> from weft import io
    >>> stream = io.TensorIO(Tensor(b"hello"))
    >>> stream.read(2), stream.read()
    (b'he', b'llo')
    """

    def __init__(self, tensor: Tensor) -> None:
        self._everything = opened(tensor)
        self._size = int(tensor.shape[0])
        self._at = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """The next byte's number."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a byte, counted from the beginning, from here or from the end."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """The remaining bytes, at most `size`; all without a size.

        No memory is allocated for more bytes than exist, even if a file declares more.
        """
        rest = max(0, self._size - self._at)
        count = rest if size is None or size < 0 else min(size, rest)
        data = read(self._everything, self._at, self._at + count)
        self._at += count
        return data

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` as far as there are bytes; how many there were."""
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self._size - self._at))
        view[:count] = read(self._everything, self._at, self._at + count)
        self._at += count
        return count
