"""Rows of safetensors files as samples, read on demand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.base.arguments import shown
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError, FileError, IndexingError, ShapeError
from weft.base.interrupts import let_through
from weft.base.regular_file import check_regular
from weft.data.datasets import Dataset
from weft.io import Entry
from weft.io.safetensors_header import PREFIX, header_length, parse_header

_NUMPY = {
    dtypes.bool: "?", dtypes.uint8: "u1", dtypes.int8: "i1", dtypes.uint16: "<u2",
    dtypes.int16: "<i2", dtypes.uint32: "<u4", dtypes.int32: "<i4", dtypes.uint64: "<u8",
    dtypes.int64: "<i8", dtypes.float16: "<f2", dtypes.float32: "<f4", dtypes.float64: "<f8",
    dtypes.bfloat16: "<u2",
}  # fmt: skip


class SafetensorsDataset(Dataset[dict[str, np.ndarray]]):
    """The rows of the tensors of a safetensors file: sample i is a dict of their i-th rows.

    Rows are read on demand, and a batch reads its own rows alone, so that the file may be larger
    than memory. bfloat16 is converted to float32, which represents each of its values.

    :param path: of the file.
    :param names: of the tensors; None: all.
    :raises FileError: if it cannot be read; FormatError: if it is not such a file.
    :raises ArgumentError: for a name that is not in it.
    :raises ShapeError: if the tensors differ in length.

    >>> from weft import io
    >>> io.safe_save({"x": Tensor([[1, 2], [3, 4]]), "y": Tensor([0, 1])}, "rows.safetensors")
    >>> rows = data.SafetensorsDataset("rows.safetensors")
    >>> len(rows), rows[1]["x"].tolist()
    (2, [3, 4])
    """

    def __init__(self, path: str | os.PathLike[str], names: Sequence[str] | None = None) -> None:
        self.path = os.fspath(path)
        with _opened(self.path) as file:
            size = os.fstat(file.fileno()).st_size
            length = header_length(file.read(PREFIX), size)
            header = parse_header(file.read(length), size)
        there = {entry.name: entry for entry in header.entries}
        self._start = header.data_start
        self._entries = {name: _known(there, name, self.path) for name in names or sorted(there)}
        lengths = {e.shape[0] if e.shape else None for e in self._entries.values()}
        if len(lengths) != 1 or None in lengths:
            raise ShapeError(
                "the tensors of a data set have one length",
                asked=f"the rows of {self.path}",
                because=", ".join(f"{n}: {e.shape}" for n, e in self._entries.items()),
                try_="names=[...], those that belong together",
            )
        (self._length,) = lengths

    def __len__(self) -> int:
        return int(self._length or 0)

    def __getitem__(self, index: int) -> dict[str, np.ndarray]:
        return {name: rows[0] for name, rows in self.batch([index]).items()}

    def batch(self, indices: Sequence[int]) -> dict[str, np.ndarray]:
        """The rows of these numbers, by name of the tensor."""
        size = len(self)
        places = [index + size if index < 0 else index for index in indices]
        if any(not 0 <= place < size for place in places):
            raise IndexingError(
                "there is no such row", asked=f"rows {shown(list(indices))}", because=f"of {size}"
            )
        with _opened(self.path) as file:
            return {
                name: self._rows(file.fileno(), entry, places)
                for name, entry in self._entries.items()
            }

    def _rows(self, file: int, entry: Entry, places: list[int]) -> np.ndarray:
        shape = entry.shape[1:]
        size = (entry.end - entry.begin) // max(entry.shape[0], 1)
        raw = bytearray(size * len(places))
        for number, place in enumerate(places):
            os.lseek(file, self._start + entry.begin + place * size, os.SEEK_SET)
            row = os.read(file, size)
            while len(row) < size:
                more = os.read(file, size - len(row))
                if not more:
                    raise FileError(
                        "the file became shorter",
                        asked=f"row {place} of {entry.name!r} in {self.path}",
                    )
                row += more
            raw[number * size : (number + 1) * size] = row
        return _array(raw, entry.dtype).reshape((len(places), *shape))


def _opened(path: str) -> Any:
    try:
        check_regular(path)
        return open(path, "rb", buffering=0)
    except OSError as error:
        let_through(error)
        raise FileError.of(error, "this file cannot be read", path=path, asked=path) from error


def _known(there: dict[str, Entry], name: str, path: str) -> Entry:
    entry = there.get(name)
    if entry is None:
        raise ArgumentError(
            "there is no such tensor in the file",
            asked=f"{name!r} of {path}",
            because=f"there are {', '.join(sorted(there))}",
        )
    if entry.dtype not in _NUMPY:
        raise DTypeError(
            "rows of this dtype cannot be read as an array",
            asked=f"{name!r} of {entry.dtype!r}",
            because="NumPy has no such dtype",
            try_="weft.io.safe_load(path) for tensors, and TensorDataset of them",
        )
    return entry


def _array(raw: bytearray, dtype: DType) -> np.ndarray:
    made = np.frombuffer(raw, dtype=_NUMPY[dtype])
    if dtype is dtypes.bfloat16:
        return (made.astype(np.uint32) << 16).view(np.float32)
    return made
