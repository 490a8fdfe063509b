"""Places of weights in the bytes of a model: where the raw data of each tensor lies.

A stored program refers to weights by these places, so that loading it parses nothing. A constant is
found by its content: a name may belong to an initializer, to a node, or to a subgraph.

in:  the bytes of a model      out: first byte and length of a constant

Source: Protocol Buffers documentation, "Encoding"; field numbers of `onnx.proto`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_DEEPEST = 64
_SAMPLE = 64  # bytes at either end of a constant, which are compared first
LEAST = 256
"""Bytes of the smallest constant that is looked for."""

# By message: the number of each field that holds tensors, and what that field is.
_RAW_DATA = 9
_CHILDREN = {
    "model": {7: "graph", 25: "function"},
    "function": {7: "node"},
    "graph": {1: "node", 5: "tensor"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph"},
}

Place = tuple[int, int]
"""First byte and length."""


class WeightPlaces:
    """Finds constants in the bytes of a model.

    :raises ValueError: if the bytes are no protobuf message.
    """

    def __init__(self, model: bytes) -> None:
        self._model = model
        self._found: dict[tuple[int, bytes, bytes], list[Place]] = defaultdict(list)
        for start, end in _raw_data(model, "model", 0, len(model), 0):
            if end - start >= LEAST:
                self._found[_sample(model, start, end)].append((start, end - start))

    def of(self, content: memoryview) -> Place | None:
        """Return the place of these bytes; None if they are not there."""
        if len(content) < LEAST:
            return None
        for start, length in self._found.get(_sample(content, 0, len(content)), ()):
            if memoryview(self._model)[start : start + length] == content:
                return start, length
        return None


def _sample(data: bytes | memoryview, start: int, end: int) -> tuple[int, bytes, bytes]:
    return (
        end - start,
        bytes(data[start : min(start + _SAMPLE, end)]),
        bytes(data[max(end - _SAMPLE, start) : end]),
    )


def _raw_data(data: bytes, kind: str, start: int, end: int, depth: int) -> Iterator[Place]:
    """Yield start and end of the raw data of each tensor in a message."""
    if depth > _DEEPEST:
        return
    for number, first, last in _fields(data, start, end):
        if kind == "tensor":
            if number == _RAW_DATA:
                yield first, last
        elif number in _CHILDREN[kind]:
            yield from _raw_data(data, _CHILDREN[kind][number], first, last, depth + 1)


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each length-delimited field of a message."""
    while at < end:
        tag, at = _varint(data, at, end)
        kind = tag & 7
        if kind == _VARINT:
            _, at = _varint(data, at, end)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            at += 8 if kind == _EIGHT_BYTES else 4
        elif kind == _BYTES:
            length, at = _varint(data, at, end)
            if at + length > end:
                raise ValueError("a field is longer than its message")
            yield tag >> 3, at, at + length
            at += length
        else:
            raise ValueError(f"a field has the wire type {kind}")


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
    raise ValueError("a number does not end")
