"""Serialization: a program as bytes, which another process loads without scheduling or compiling.

A header in JSON is followed by binaries of kernels and contents of constants. A constant may be a
reference, which the caller resolves: the weights of a model lie in the file of the model.

in:  `Program`      out: bytes, and back
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from weft.base.dtype import DType
from weft.device import Buffer, CompiledProgram
from weft.engine import kernel_cache
from weft.export.program import Argument, Launch, Memory, Program
from weft.uop import UOp, from_text, to_text
from weft.uop.text import dtype_text, parse_dtype

_LENGTH = 8  # bytes of the length of the header

Reference = Any
"""Plain values, which JSON takes."""


class _Blobs:
    """Bytes behind the header, each by its first byte and its length."""

    def __init__(self) -> None:
        self.parts: list[bytes | memoryview] = []
        self._size = 0

    def add(self, data: bytes | memoryview) -> list[int]:
        place = [self._size, len(data)]
        self.parts.append(data)
        self._size += len(data)
        return place


def to_bytes(
    program: Program,
    reference_of: Callable[[Buffer], Reference | None] = lambda buffer: None,
    notes: Any = None,
) -> bytes:
    """Return a program as bytes.

    :param reference_of: gives the reference of a constant; None: its content is stored.
    :param notes: plain values that are stored with it.
    """
    blobs = _Blobs()
    header = {
        "notes": notes,
        "variables": [to_text(each) for each in program.variables],
        "state": program.state,
        "kernels": [_kernel_facts(each, blobs) for each in program.kernels],
        "memories": [
            (each.kind, each.place, each.device, each.size, dtype_text(each.dtype))
            for each in program.memories
        ],
        "launches": [
            (
                each.kernel,
                [(argument.memory, _window_facts(argument.window)) for argument in each.arguments],
                [(to_text(variable), value) for variable, value in each.values.items()],
            )
            for each in program.launches
        ],
        "constants": [
            (number, _constant_facts(buffer, reference_of, blobs))
            for number, buffer in program.constants.items()
        ],
    }
    text = json.dumps(header).encode()
    return b"".join([len(text).to_bytes(_LENGTH, "little"), text, *blobs.parts])


def from_bytes(data: bytes, resolve: Callable[[Reference, Memory], Buffer]) -> tuple[Program, Any]:
    """Return the program of some bytes, and its notes.

    :param resolve: gives the buffer of a constant by its reference.
    :raises ValueError, TypeError, KeyError, IndexError, WeftError: if the bytes are damaged.
    """
    view = memoryview(data)
    start = _LENGTH + int.from_bytes(view[:_LENGTH], "little")
    header = json.loads(bytes(view[_LENGTH:start]))
    blobs = view[start:]
    memories = [
        Memory(kind, place, device, size, parse_dtype(dtype))
        for kind, place, device, size, dtype in header["memories"]
    ]
    launches = [
        Launch(
            kernel,
            tuple(Argument(number, _window_from(window)) for number, window in arguments),
            {from_text(variable): value for variable, value in values},
        )
        for kernel, arguments, values in header["launches"]
    ]
    constants = {}
    for number, (reference, place) in header["constants"]:
        memory = memories[number]
        constants[number] = (
            resolve(reference, memory) if place is None else memory.filled(_part(blobs, place))
        )
    kernels = [_kernel_from(each, blobs) for each in header["kernels"]]
    variables = tuple(map(from_text, header["variables"]))
    state = int(header["state"])
    program = Program(kernels, memories, launches, constants, None, variables, state)
    return program, header["notes"]


def _constant_facts(
    buffer: Buffer, reference_of: Callable[[Buffer], Reference | None], blobs: _Blobs
) -> tuple[Reference, list[int] | None]:
    reference = reference_of(buffer)
    return (reference, blobs.add(buffer.as_memoryview()) if reference is None else None)


def _kernel_facts(kernel: CompiledProgram, blobs: _Blobs) -> dict[str, Any]:
    program = kernel.program
    places = {"binary": blobs.add(kernel.binary), "source": blobs.add(kernel.source.encode())}
    return kernel_cache.facts_of(program) | places


def _kernel_from(facts: Mapping[str, Any], blobs: memoryview) -> CompiledProgram:
    program = kernel_cache.program_from(facts, None, _nodes_are_missing)
    source = str(_part(blobs, facts["source"]), "utf-8")
    return CompiledProgram(facts["name"], bytes(_part(blobs, facts["binary"])), source, program)


def _nodes_are_missing() -> tuple[UOp, ...]:
    raise AttributeError("the nodes of a stored kernel are not stored")


def _part(blobs: memoryview, place: list[int]) -> memoryview:
    start, length = place
    if start + length > len(blobs):
        raise ValueError("a part is missing")
    return blobs[start : start + length]


def _window_facts(window: tuple[int, DType, int] | None) -> Any:
    return None if window is None else (window[0], dtype_text(window[1]), window[2])


def _window_from(facts: Any) -> tuple[int, DType, int] | None:
    return None if facts is None else (facts[0], parse_dtype(facts[1]), facts[2])
