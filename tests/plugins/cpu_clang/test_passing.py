"""Sums of two rows at once, half a matrix apart: the same numbers, with any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from weft import Device, Tensor
from weft.codegen.pipeline import lower
from weft.plugin import CompiledProgram
from weft_cpu_clang.renderer import clang_renderer
from weft_cpu_clang.runner import FunctionRunner
from weft_cpu_clang.threads import ThreadPool

COMPUTE = Device["CPU"].compute
ROWS = 258

needs_lines = pytest.mark.skipif(COMPUTE.vector_bytes != 64, reason="no register is a whole line")


@needs_lines
@pytest.mark.parametrize("by_vector", [False, True], ids=["sum", "product"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("threads", [1, 3])
def test_values(
    bench, dtype: Callable[[object], np.generic], by_vector: bool, threads: int
) -> None:
    columns, kind = 1024, np.dtype(dtype).name
    rng = np.random.default_rng(columns)
    matrix = rng.integers(-9, 9, (ROWS, columns)).astype(dtype)
    vector = rng.integers(-9, 9, columns).astype(dtype)
    rows = Tensor.empty(ROWS, columns, dtype=kind, device="CPU")
    found = rows @ Tensor.empty(columns, dtype=kind, device="CPU") if by_vector else rows.sum(1)
    if kind != "int32":
        matrix[3, 7], matrix[ROWS // 2, 5], matrix[-1, -1] = np.nan, np.inf, -np.inf
    facts = replace(bench.device.toolchain.facts, far=True)
    far = replace(Device["CPU"].target, compute=replace(COMPUTE, cache_bytes=1 << 16, walks=2))
    program = lower(found.schedule()[0].ast, far)
    source = clang_renderer(facts).render(program)
    assert source.count("1536), 0, 0)") == 4
    binary = bench.compiler.compile(source, program.name)
    pool = ThreadPool(bench.device.toolchain, threads) if threads > 1 else None
    run = FunctionRunner(CompiledProgram(program.name, binary, source, program), pool)
    given = [matrix, vector] if by_vector else [matrix]
    held = [bench.memory(array.tobytes()) for array in given]
    out = bench.memory(bytes(ROWS * matrix.itemsize))
    run([out, *held])
    with np.errstate(invalid="ignore"):
        wanted = (matrix * vector).sum(1) if by_vector else matrix.sum(1)
    np.testing.assert_array_equal(np.frombuffer(out.window, dtype), wanted)
    if pool is not None:
        pool.stop()
