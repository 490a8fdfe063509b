"""Non-temporal stores: at any alignment, and visible to other threads afterwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft import Device, Tensor
from weft.codegen.pipeline import lower
from weft.plugin import CompiledProgram
from weft.schedule import create_schedule_with_vars, kernelize_map
from weft.uop import UOp
from weft_cpu_clang.caches import last_cache
from weft_cpu_clang.runner import FunctionRunner
from weft_cpu_clang.threads import ThreadPool

COMPUTE = Device["CPU"].compute
SIZE = 1 << 20

needs_vectors = pytest.mark.skipif(not COMPUTE.vector_bytes, reason="this processor has no vectors")


@needs_vectors
@pytest.mark.parametrize("offset", [0, 4, 32, 60])
@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_equal_at_every_output_offset(bench, offset, threads):
    sink = UOp.sink((Tensor.empty(SIZE, device="CPU") * 2).uop)
    (item,) = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))[0]
    small = replace(Device["CPU"].target, compute=replace(COMPUTE, cache_bytes=1 << 16))
    program = lower(item.ast, small)
    source = bench.renderer.render(program)
    assert "__builtin_nontemporal_store" in source
    binary = bench.compiler.compile(source, program.name)
    pool = ThreadPool(bench.device.toolchain, threads) if threads > 1 else None
    run = FunctionRunner(CompiledProgram(program.name, binary, source, program), pool)
    values = np.arange(SIZE, dtype=np.float32)
    given = bench.memory(values.tobytes())
    whole = bench.memory(bytes(4 * SIZE + 128))
    run([bench.allocator.view(whole, offset, 4 * SIZE), given])
    found = np.frombuffer(whole.window, np.uint8)
    np.testing.assert_array_equal(found[offset : offset + 4 * SIZE].view(np.float32), 2 * values)
    assert not found[:offset].any() and not found[offset + 4 * SIZE :].any()
    if pool is not None:
        pool.stop()


def test_the_last_cache_is_the_largest():
    assert last_cache() >= 0
    assert COMPUTE.cache_bytes == last_cache(), "at every processor level"
