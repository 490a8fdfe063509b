"""GGUF header: parse and check the table of contents.

Layout (ggml's documentation of GGUF, versions 2 and 3, little-endian): magic, version, number of
tensors, number of notes; the notes (key, kind, value); the tensors (name, axes, innermost first,
kind, offset); then, from a multiple of `general.alignment`, the values.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from weft.base.errors import FormatError

MAGIC = b"GGUF"
_SCALARS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_TEXT, _ARRAY = 8, 9
_LONGEST_TEXT = 1 << 28
_MOST_AXES = 8

# elements and bytes of a block, by the number of its kind
BLOCKS: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22), 7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210),
    20: ("IQ4_NL", 32, 18), 24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4),
    27: ("I64", 1, 8), 28: ("F64", 1, 8), 30: ("BF16", 1, 2), 39: ("MXFP4", 32, 17),
}  # fmt: skip


@dataclass(frozen=True)
class GGUFEntry:
    """One tensor: its shape (outermost axis first), the number of its kind, and its bytes."""

    name: str
    shape: tuple[int, ...]
    kind: int
    begin: int
    nbytes: int


@dataclass(frozen=True)
class GGUFHeader:
    """The notes by name, and the tensors in the order of the file."""

    notes: dict[str, Any]
    entries: tuple[GGUFEntry, ...]


def damaged(because: str) -> FormatError:
    """The error for bytes that are no GGUF file."""
    return FormatError(
        "this is no GGUF file that can be read",
        because=because,
        try_="get the file again and compare its size",
    )


def parse_gguf(stream: BinaryIO, size: int) -> GGUFHeader:
    """The table of contents at the stream's position; `size` is that of the file in bytes.

    Raises FormatError for anything that does not lie within the file or that is not known.
    """
    reader = _Reader(stream, size)
    if reader.take(4) != MAGIC:
        raise damaged("it does not begin with GGUF")
    version = reader.number("I")
    if version not in (2, 3):
        raise damaged(f"its version is {version}; 2 and 3 are read")
    tensors, count = reader.count(24), reader.count(12)
    notes: dict[str, Any] = {}
    for _ in range(count):
        key = reader.text()
        notes[key] = reader.value(reader.number("I"))
    rows = [reader.row() for _ in range(tensors)]
    alignment = notes.get("general.alignment", 32)
    if type(alignment) is not int or not 0 < alignment <= 1 << 20:
        raise damaged(f"its alignment is {alignment!r}")
    start = -(-reader.at // alignment) * alignment
    entries = tuple(_entry(*row, start, size) for row in rows)
    if len({entry.name for entry in entries}) != len(entries):
        raise damaged("two tensors have one name")
    return GGUFHeader(notes, entries)


def _entry(
    name: str, axes: tuple[int, ...], kind: int, offset: int, start: int, size: int
) -> GGUFEntry:
    if kind not in BLOCKS:
        known = ", ".join(label for label, _, _ in BLOCKS.values())
        raise damaged(f"{name!r} is quantised in way number {kind}; known are {known}")
    label, elements, nbytes = BLOCKS[kind]
    if axes and axes[0] % elements:
        raise damaged(
            f"the rows of {name!r} are {axes[0]} long, no multiple of {label}'s {elements}"
        )
    total = math.prod(axes) // elements * nbytes
    if start + offset + total > size:
        raise damaged(f"{name!r} ends after the file")
    return GGUFEntry(name, axes[::-1], kind, start + offset, total)


class _Reader:
    """Numbers and texts one after the other, never beyond the end of the file."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self.stream, self.size, self.at = stream, size, 0

    def take(self, count: int) -> bytes:
        if self.at + count > self.size:
            raise damaged("it was cut short")
        data = self.stream.read(count)
        if len(data) != count:
            raise damaged("it was cut short")
        self.at += count
        return data

    def number(self, form: str) -> Any:
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def count(self, least: int) -> int:
        """How many things of at least so many bytes follow; more than fit is refused at once."""
        count: int = self.number("Q")
        if count * least > self.size - self.at:
            raise damaged(f"it claims to hold {count} entries, more than its size allows")
        return count

    def text(self) -> str:
        length = self.number("Q")
        if length > min(_LONGEST_TEXT, self.size - self.at):
            raise damaged("a text is longer than the file")
        return self.take(length).decode("utf-8", "replace")

    def texts(self, count: int) -> list[str]:
        """As many texts, as `text` reads them: a vocabulary has a hundred thousand."""
        read, length_of, at, size = self.stream.read, struct.Struct("<Q").unpack, self.at, self.size
        found = []
        for _ in range(count):
            head = read(8) if at + 8 <= size else b""
            if len(head) != 8:
                raise damaged("it was cut short")
            (length,) = length_of(head)
            at += 8 + length
            if length > _LONGEST_TEXT or at > size:
                raise damaged("a text is longer than the file")
            data = read(length)
            if len(data) != length:
                raise damaged("it was cut short")
            found.append(data.decode("utf-8", "replace"))
        self.at = at
        return found

    def value(self, kind: int) -> Any:
        """A note; arrays (of one kind, not of arrays of arrays of arrays) become lists."""
        if kind != _ARRAY:
            return self.plain(kind)()
        inner = self.number("I")
        if inner == _ARRAY:
            raise damaged("a note is an array of arrays")
        width = struct.calcsize("<" + _SCALARS[inner]) if inner in _SCALARS else 8
        count = self.count(width)
        if inner in _SCALARS:
            return list(struct.unpack(f"<{count}{_SCALARS[inner]}", self.take(count * width)))
        if inner == _TEXT:
            return self.texts(count)
        read = self.plain(inner)
        return [read() for _ in range(count)]

    def plain(self, kind: int) -> Callable[[], Any]:
        if kind == _TEXT:
            return self.text
        if kind in _SCALARS:
            return lambda: self.number(_SCALARS[kind])
        raise damaged(f"a note is of unknown kind {kind}")

    def row(self) -> tuple[str, tuple[int, ...], int, int]:
        name, rank = self.text(), self.number("I")
        if rank > _MOST_AXES:
            raise damaged(f"{name!r} has {rank} axes")
        axes = tuple(self.number("Q") for _ in range(rank))
        if any(extent >= 1 << 40 for extent in axes):
            raise damaged(f"{name!r} has an axis of {max(axes)}")
        return name, axes, self.number("I"), self.number("Q")
