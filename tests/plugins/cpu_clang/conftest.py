"""A bench for this plugin: linear programs made by hand, compiled, run on arrays."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy
import pytest

import weft_cpu_clang
from weft.base.dtype import DType, dtypes
from weft.base.scalars import pack, unpack
from weft.plugin import CompiledProgram, Device, DeviceId, DeviceUnavailable, LinearProgram
from weft.uop import Ops, UOp, graph_rewrite
from weft_cpu_clang.compiler import ClangCompiler


class Bench:
    """Compiles and runs one kernel of elementwise outputs."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.renderer = weft_cpu_clang.weft_renderer(device)
        self.compiler: Any = weft_cpu_clang.weft_compiler(device)
        self.allocator = weft_cpu_clang.weft_allocator()
        self.source = ""

    def memory(self, data: bytes) -> Any:
        handle = self.allocator.allocate(max(len(data), 1), None)
        if data:
            self.allocator.copy_in(handle, memoryview(data))
        return handle

    def load(self, name: str, uops: Sequence[UOp]) -> Any:
        program = LinearProgram.of(name, uops)
        self.source = self.renderer.render(program)
        binary = self.compiler.compile(self.source, name)
        compiled = CompiledProgram(name, binary, self.source, program)
        return weft_cpu_clang.weft_runner(self.device, compiled)

    def elementwise(
        self,
        inputs: Sequence[tuple[DType, Sequence[Any]]],
        build: Callable[..., Sequence[UOp]],
        lanes: int = 1,
        rules: bool = True,
    ) -> list[list[Any]]:
        """build(x, y, ...) -> values; each is computed for every row and given back."""
        rows = len(inputs[0][1])
        padded = -(-rows // lanes) * lanes
        counter = UOp.range(padded // lanes, 0)
        at = counter * UOp.const(dtypes.int, lanes) if lanes > 1 else counter
        base = 64  # slots of inputs come after those of outputs
        loads = [
            UOp(Ops.DEFINE_GLOBAL, dtype.ptr(padded), (), base + i)
            .index(at)
            .load(dtype=dtype.vec(lanes))
            for i, (dtype, _) in enumerate(inputs)
        ]
        values = build(*loads)
        stores = []
        for i, value in enumerate(values):
            pointer = UOp(Ops.DEFINE_GLOBAL, value.dtype.scalar().ptr(padded), (), i)
            stores.append(pointer.index(at).store(value))
        sink = UOp.sink(*stores)
        if rules:
            sink = graph_rewrite(sink, self.renderer.rules)
        uops = [u for u in sink.toposort() if u is not sink]
        run = self.load("bench", [*uops, UOp(Ops.ENDRANGE, dtypes.void, (counter,))])
        outs = [self.memory(bytes(padded * v.dtype.scalar().itemsize)) for v in values]
        ins = []
        for dtype, data in inputs:
            filled = [*data, *[data[-1]] * (padded - rows)]
            ins.append(self.memory(pack(filled, dtype)))
        run([*outs, *ins], global_size=None, local_size=None, values=(), wait=True)
        return [unpack(out.window, value.dtype.scalar())[:rows] for out, value in zip(outs, values)]


@pytest.fixture(scope="session")
def bench() -> Bench:
    try:
        return Bench(weft_cpu_clang.weft_open(DeviceId("CPU")))
    except DeviceUnavailable as reason:
        pytest.skip(f"no compiler: {reason}")


@pytest.fixture(scope="session")
def shared_bench(bench: Bench) -> Bench:
    """The same, by way of shared libraries."""
    other = Bench(bench.device)
    other.compiler = ClangCompiler(bench.device.toolchain, shared=True)  # type: ignore[attr-defined]
    return other


def damaged_copies(binary: bytes, seed: int) -> Iterator[bytes]:
    """The same with some bytes that are wrong."""
    random_numbers = random.Random(seed)
    for _ in range(400):
        damaged = bytearray(binary)
        for _ in range(random_numbers.choice((1, 2, 8, 64))):
            damaged[random_numbers.randrange(len(damaged))] = random_numbers.randrange(256)
        yield bytes(damaged)


@pytest.fixture(scope="session")
def damaged_copies_of() -> Callable[[bytes, int], Iterator[bytes]]:
    return damaged_copies


def interesting(dtype: DType) -> list[Any]:
    """Values at the borders of a dtype, and some between."""
    if dtypes.is_bool(dtype):
        return [False, True]
    if dtypes.is_int(dtype):
        low, high = int(dtype.min), int(dtype.max)
        near = [0, 1, 2, 3, 5, 7, 13, 100, low, low + 1, high, high - 1, high // 2, high // 3]
        return sorted({*near, *(-n for n in near if low <= -n <= high)})
    info = dtypes.finfo(dtype)
    some = [0.0, 1.0, 1.5, 2.0, 3.0, 0.1, 1 / 3, 7.75, 100.0, 255.0, 300.0, info.max, info.eps]
    some += [info.smallest_normal, info.smallest_subnormal, float("inf"), 2.0**31, 2.0**63, 2.0**64]
    some += [2.0**31 - 1, 2.0**32, 4.0e9, 1e19, 65504.0, 65519.99, 65520.0, 1e-40, 1e300]
    kept = unpack(pack([*some, *(-s for s in some)], dtype), dtype)
    return [*kept, float("nan")]


@pytest.fixture(scope="session")
def values_of() -> Callable[[DType], list[Any]]:
    return interesting


@pytest.fixture
def rng() -> numpy.random.Generator:
    return numpy.random.default_rng(7)
