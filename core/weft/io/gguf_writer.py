"""GGUF writer: plain tensors as they are, block-quantised ones as their blocks.

Layout: see `gguf_header`. Notes get the kinds that readers expect: Python integers are uint32 where
they fit, in lists int32; floats are float32.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

from weft.base.arguments import kind_of, shown
from weft.base.atomic_write import replacing
from weft.base.errors import ArgumentError, DTypeError, WrongKind
from weft.io.gguf import PLAIN_DTYPES
from weft.io.gguf_header import BLOCKS, MAGIC
from weft.quantization import storage_of
from weft.tensor import Tensor

_VERSION = 3
_ALIGNMENT = 32
_BOOL, _TEXT, _ARRAY = 7, 8, 9
_INTEGERS = ((4, "I"), (5, "i"), (10, "Q"), (11, "q"))  # uint32, int32, uint64, int64
_FLOAT = (6, "f")
_NUMBERS = {label: number for number, (label, _, _) in BLOCKS.items()}
_LABELS = {dtype: label for label, dtype in PLAIN_DTYPES.items()}


class _Part(NamedTuple):
    """One tensor of the file: its name, shape, the number of its kind, and its bytes."""

    name: str
    shape: tuple[int, ...]
    kind: int
    data: Tensor

    @property
    def nbytes(self) -> int:
        return int(self.data.shape[0])


def gguf_save(
    tensors: Mapping[str, Tensor],
    path: str | PathLike[str],
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Save tensors by name to a GGUF file, version 3.

    Block-quantised tensors (`weft.quantization`) keep their blocks; others are F32, F16, BF16, F64
    or I8 to I64. notes: text, bool, int, float, or lists of one of these, by key. The write is
    atomic.

    :raises ArgumentError: for notes of other kinds.
    :raises DTypeError: for dtypes that the format lacks.
    :raises FileError: when the folder cannot be written or the disk is full.

    >>> from weft import io
    >>> io.gguf_save({"w": Tensor([1.0, 2.0])}, "w.gguf", {"general.name": "example"})
    >>> io.gguf_load("w.gguf")[1]["w"].tolist()
    [1.0, 2.0]
    """
    if not isinstance(tensors, Mapping):
        raise WrongKind(
            "tensors are saved by name",
            asked=f"gguf_save({shown(tensors)}, ...)",
            because=f"that is {kind_of(tensors)}",
            try_='gguf_save({"weight": tensor}, path)',
        )
    parts = [_part(name, tensor) for name, tensor in tensors.items()]
    kept = {key: value for key, value in (notes or {}).items() if key != "general.alignment"}
    head = [struct.pack("<4sIQQ", MAGIC, _VERSION, len(parts), len(kept))]
    head += [_text(key) + _note(key, value) for key, value in kept.items()]
    offset = 0
    for part in parts:
        axes = part.shape[::-1]
        head.append(_text(part.name) + struct.pack(f"<I{len(axes)}Q", len(axes), *axes))
        head.append(struct.pack("<IQ", part.kind, offset))
        offset = _aligned(offset + part.nbytes)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        written = b"".join(head)
        file.write(written.ljust(_aligned(len(written)), b"\0"))
        for part in parts:
            file.write(part.data.data())
            file.write(b"\0" * (_aligned(part.nbytes) - part.nbytes))


def _part(name: str, tensor: Tensor) -> _Part:
    storage = storage_of(tensor)
    if storage is not None:
        return _Part(name, storage.shape, _NUMBERS[storage.format.name.upper()], storage.data)
    label = _LABELS.get(tensor.dtype)
    if label is None:
        raise DTypeError(
            "a GGUF file has no such elements",
            asked=f"save {name!r} of {tensor.dtype}",
            try_="one of " + ", ".join(str(dtype) for dtype in _LABELS),
        )
    flat = tensor.detach().contiguous().reshape(-1)
    return _Part(name, tuple(map(int, tensor.shape)), _NUMBERS[label], flat.bitcast("uint8"))


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


# ---- notes ---------------------------------------------------------------------------------------


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _note(key: str, value: Any) -> bytes:
    """The kind and the bytes of a note."""
    if isinstance(value, str):
        return struct.pack("<I", _TEXT) + _text(value)
    if isinstance(value, (list, tuple)):
        kind, items = _items(key, value)
        return struct.pack("<IIQ", _ARRAY, kind, len(value)) + b"".join(items)
    kind, form = _number_kind(key, (value,), _INTEGERS)
    return struct.pack(f"<I{form}", kind, value)


def _items(key: str, values: Sequence[Any]) -> tuple[int, Iterator[bytes]]:
    """The kind of the items of an array, and the bytes of each."""
    if all(isinstance(value, str) for value in values):
        return _TEXT, map(_text, values)
    kind, form = _number_kind(key, values, (_INTEGERS[1], _INTEGERS[0], *_INTEGERS[2:]))
    return kind, (struct.pack(f"<{form}", value) for value in values)


def _number_kind(
    key: str, values: Sequence[Any], integers: Sequence[tuple[int, str]]
) -> tuple[int, str]:
    """The first kind that holds all values, and its letter in `struct`."""
    if all(isinstance(value, bool) for value in values):
        return _BOOL, "?"
    if all(type(value) is int for value in values):
        for kind, form in integers:
            try:
                struct.pack(f"<{len(values)}{form}", *values)
            except struct.error:
                continue
            return kind, form
    elif all(type(value) in (int, float) for value in values):
        return _FLOAT
    raise ArgumentError(
        "a note is a text, a number, or a list of texts or numbers",
        asked=f"the note {key!r}: {shown(values)}",
        try_="one kind for all items of a list; integers have at most 64 bits",
    )
