"""Running one linear program on arrays, without a device or buffers: what tests of passes need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from weft.device import CompiledProgram, Dims, LinearProgram
from weft.testing.reference.renderer import PythonRenderer
from weft.testing.reference.runner import PythonCompiler, PythonRunner


def run_program(
    program: LinearProgram,
    arrays: Mapping[int, Any] | Sequence[Any],
    values: Sequence[int] = (),
) -> None:
    """Render, compile and run a program in plain Python; what it stores is in its arrays then.

    :param arrays: by the numbers of the program's buffers: contiguous NumPy arrays or bytearrays
    :param values: of the program's variables, in their order
    :raises CompileError: if the rendered text is not Python
    """
    renderer, compiler = PythonRenderer(), PythonCompiler()
    source = renderer.render(program)
    binary = compiler.compile(source, program.name)
    runner = PythonRunner(CompiledProgram(program.name, binary, source, program))
    handles = [_bytes(arrays[slot]) for slot in program.globals]
    runner(
        handles,
        global_size=cast("Dims | None", program.global_size),
        local_size=cast("Dims | None", program.local_size),
        values=tuple(values),
    )


def _bytes(array: Any) -> memoryview:
    if isinstance(array, np.ndarray):
        if not array.flags.c_contiguous:
            raise ValueError("asked: to run on an array; it is not contiguous; try a copy of it")
        flat: Any = array.reshape(-1).view(np.uint8)
        return memoryview(flat)
    return memoryview(array).cast("B")
