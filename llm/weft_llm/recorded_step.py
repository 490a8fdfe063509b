"""Recorded steps: a step of a model is recorded once for each shape, and replayed without graphs.
Also: ahead-of-time compilation.

Weights and caches are state of the program, not constants in it. So programs are kept on disk by
what describes the model, and a later process neither schedules nor compiles.

in:  a function of tensors and variables
out: `RecordedStep`, which is called with arrays and values

Source: CUDA programming guide, CUDA graphs (stream capture).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from weft import Tensor, UOp
from weft.base.disk_cache import DiskCache
from weft.base.dtype import to_dtype
from weft.base.errors import WeftError
from weft.device import Buffer
from weft.export import (
    Executable,
    Memory,
    Program,
    fill,
    from_bytes,
    memory_of,
    own_tensor,
    record,
    store_key,
    to_bytes,
)

_programs = DiskCache("llm_programs", 1)
_MOST_BYTES = 1 << 24  # of the constants of a program on disk
_DAMAGED = (ValueError, TypeError, KeyError, IndexError, AttributeError, WeftError)
Values = Mapping[UOp, int]


class RecordedStep:
    """A function of tensors and variables that also reads and writes state.

    :param function: from input tensors and bound variables to tensors.
    :param state: tensors of the function, each all of its memory: weights and caches. Others in
        their place, after the first call, are not seen.
    :param description: what the function computes, as text; equal ones share programs on disk.
    """

    def __init__(
        self,
        function: Callable[[Sequence[Tensor], Sequence[UOp]], Sequence[Tensor]],
        state: Sequence[Tensor],
        description: str,
    ) -> None:
        self._function, self._state = function, list(state)
        self._device = str(state[0].device)
        shapes = [(each.shape, each.dtype.name) for each in state]
        self._description = f"{description}\0{shapes}"
        self._buffers: list[Buffer] = []
        self._programs: dict[Any, tuple[Executable, list[int]]] = {}

    def __call__(self, arrays: Sequence[np.ndarray], values: Values) -> list[Buffer]:
        """The results for these inputs and these values of the variables, in new memory."""
        signature = (*((each.shape, each.dtype.char) for each in arrays), len(values))
        found = self._programs.get(signature)
        if found is None or not found[0].is_valid:
            self._buffers = self._buffers or [memory_of(each) for each in self._state]
            program, order = self._program(signature, arrays, values)
            found = self._programs[signature] = (Executable(program), order)
        run, order = found
        inputs = [fill(Buffer.like(self._device, a.size, to_dtype(a.dtype)), a) for a in arrays]
        results = run([*inputs, *self._buffers], values)
        return [results[number] for number in order]

    def _program(
        self, signature: Any, arrays: Sequence[np.ndarray], values: Values
    ) -> tuple[Program, list[int]]:
        """The program of a signature and the outputs of its results: from disk, or recorded."""
        key = self._key(signature, values)
        kept = None if key is None else _programs.get(key)
        if kept is not None:
            try:
                return from_bytes(kept, _no_references)
            except _DAMAGED:
                pass  # recorded again
        inputs = [own_tensor(each, self._device) for each in arrays]
        bound = [variable.bind(value) for variable, value in values.items()]
        program, order, _ = record(
            lambda given: self._function(given[: len(inputs)], bound),
            [*inputs, *self._state], "a step of a model", list(values), len(self._state),
        )  # fmt: skip
        size = sum(each.nbytes for each in program.constants.values())
        if key is not None and size < _MOST_BYTES:
            _programs.put(key, to_bytes(program, notes=order))
        return program, order

    def _key(self, signature: Any, values: Values) -> str | None:
        device = store_key(self._device)
        bounds = [str(variable.arg) for variable in values]
        parts = (_code_stamp(), self._description, str(signature), str(bounds), self._device)
        return None if device is None else "\0".join((*parts, device))


def _no_references(reference: Any, memory: Memory) -> Buffer:
    raise ValueError("no constant is a reference")


@cache
def _code_stamp() -> str:
    """A value that changes with the source files of this package."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return str([(each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in files])
