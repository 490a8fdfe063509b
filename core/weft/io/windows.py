"""Bytes of a source as tensors: opening, reading a part now, a part as a lazy tensor, a stream.

What all file formats here share. A source is a path, or a uint8 tensor that holds a file.
"""

from __future__ import annotations

import io
import os
from os import PathLike
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.errors import DTypeError, FormatError
from weft.base.sequences import prod
from weft.device import registry
from weft.tensor import Tensor

Source = str | PathLike[str] | Tensor


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
    """The bytes from `begin` to `end`, now."""
    return bytes(everything[begin:end].data()) if end > begin else b""


def window(
    everything: Tensor, begin: int, dtype: DType, shape: tuple[int, ...], device: str | None
) -> Tensor:
    """`shape` elements of `dtype` from byte `begin`, lazy, on `device` or where the file lies.

    A window that does not begin at a multiple of its element's size cannot be reinterpreted in
    place: it is copied to the default device when it is used. FormatError where the file ends
    before the window does.
    """
    end = begin + prod(shape) * dtype.itemsize
    if begin < 0 or end > int(everything.shape[0]):
        raise FormatError(
            "the file ends before this tensor does",
            asked=f"bytes {begin} to {end} of {everything.shape[0]}",
            because="the file was cut short, or its table of contents is damaged",
            try_="get the file again and compare its size",
        )
    part = everything[begin:end]
    if begin % dtype.itemsize:
        part = part.to(device or registry.canonical())
    tensor = part.bitcast(dtype).reshape(shape)
    return tensor if device is None else tensor.to(device)


class TensorIO(io.RawIOBase):
    """A uint8 tensor of shape (n,) as a readable, seekable stream; bytes are read when asked for.

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

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` as far as there are bytes; how many there were."""
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self._size - self._at))
        view[:count] = read(self._everything, self._at, self._at + count)
        self._at += count
        return count
