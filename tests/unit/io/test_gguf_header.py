"""The table of contents of GGUF files, written by hand."""

import io
import struct

import pytest

from weft.base.errors import FormatError
from weft.io.gguf_header import parse_gguf


def text(s: str) -> bytes:
    return struct.pack("<Q", len(s)) + s.encode()


def file(notes=b"", count=0, rows=b"", tensors=0, values=b"") -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", 3, tensors, count) + notes + rows
    return head + b"\0" * (-len(head) % 32) + values


def row(name="w", axes=(4,), kind=0, offset=0) -> bytes:
    return text(name) + struct.pack(f"<I{len(axes)}QIQ", len(axes), *axes, kind, offset)


def parse(data: bytes):
    return parse_gguf(io.BytesIO(data), len(data))


def test_a_tensor():
    data = file(rows=row(axes=(4, 2)), tensors=1, values=bytes(32))
    (entry,) = parse(data).entries
    assert (entry.name, entry.shape, entry.nbytes) == ("w", (2, 4), 32)
    assert entry.begin == len(data) - 32


def test_the_alignment_is_a_note():
    notes = text("general.alignment") + struct.pack("<II", 4, 64)
    data = file(notes, 1, row(), 1) + bytes(64)
    assert parse(data).entries[0].begin % 64 == 0


@pytest.mark.parametrize("data", [
    file(rows=row(), tensors=1),  # no values
    file(rows=row(offset=1 << 60), tensors=1, values=bytes(16)),
    file(rows=row(axes=(1 << 50,)), tensors=1, values=bytes(16)),
    file(rows=row(axes=(1,) * 9), tensors=1, values=bytes(16)),
    file(rows=row(kind=77), tensors=1, values=bytes(16)),
    file(rows=row(axes=(33,), kind=2), tensors=1, values=bytes(100)),
    file(rows=row() + row(), tensors=2, values=bytes(16)),
    file(tensors=1 << 60), file(count=1 << 60),
    file(text("k") + struct.pack("<I", 99), 1),
    file(text("k") + struct.pack("<IIQ", 9, 9, 1), 1),
    file(text("k") + struct.pack("<IIQ", 9, 0, 1 << 60), 1),
    file(text("general.alignment") + struct.pack("<II", 4, 0), 1),
    file(struct.pack("<Q", 1 << 62), 1),
])  # fmt: skip
def test_damaged_tables(data):
    with pytest.raises(FormatError, match="GGUF"):
        parse(data)
