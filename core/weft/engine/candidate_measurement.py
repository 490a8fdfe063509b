"""Candidate measurement: build a lowered kernel, run it on memory of its own, time and compare it.

It works the same in a helper process and in this one. The memory of the program is not used: the
module allocates buffers of the sizes that the kernel declares. Their numbers have sums that are
exact in most orders. Buffers that a kernel writes are restored before each timed run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from math import inf
from time import perf_counter
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType, ImageDType, PtrDType, dtypes
from weft.base.errors import CapabilityError
from weft.base.scalars import from_bits
from weft.codegen.opt.search_space import Plan
from weft.codegen.pipeline import lower
from weft.device import Buffer, CompiledProgram, LinearProgram, OpenDevice, Runner
from weft.engine.runners import concrete
from weft.engine.timing import timed
from weft.uop import Ops, UOp

UNOPTIMIZED = Plan((), prepared=False)
"""The plan without optimisations, whose results are the reference."""

_BLOCK = 1 << 16  # elements of content that are repeated; elements that are compared at once
_SAMPLE = 4096
_MOST_TURNS, _LEAST_ROUNDS = 40, 3
_TOLERANCE = {
    dtypes.float64: 1e-8, dtypes.float32: 1e-3, dtypes.float16: 2e-2, dtypes.bfloat16: 1e-1,
    dtypes.fp8e4m3: 0.3, dtypes.fp8e5m2: 0.6,
}  # fmt: skip


@dataclass(frozen=True)
class Built:
    """A kernel made for a device. digest: of its source."""

    program: LinearProgram
    source: str
    binary: bytes

    @property
    def digest(self) -> bytes:
        return hashlib.blake2b(self.source.encode(), digest_size=16).digest()


def build(ast: UOp, plan: Plan, device: OpenDevice) -> Built:
    """Lower, render and compile. Raises what these raise: OptError, CompileError, ..."""
    program = lower(ast, device.target, plan.choose, prepared=plan.prepared)
    source = device.renderer.render(program)
    compiler = device.compiler
    binary = source.encode() if compiler is None else compiler.compile(source, program.name)
    return Built(program, source, binary)


@dataclass(frozen=True)
class Outcome:
    """The result of a measurement. seconds: of each run; equal: whether the results agree; because:
    the first difference."""

    seconds: tuple[float, ...]
    equal: bool
    because: str = ""

    @property
    def shortest(self) -> float:
        """The shortest run: other work on the machine only makes runs longer."""
        return min(self.seconds)


class Measurement:
    """Memory for one kernel on one device, and its reference results.

    :param ast: the kernel.
    :raises CapabilityError: for a kernel whose input cannot be generated.
    :raises OutOfMemory: if there is no memory for it.
    """

    def __init__(self, ast: UOp, device: OpenDevice) -> None:
        self.device = device
        nodes = list(ast.toposort())
        divides = any(node.op in (Ops.IDIV, Ops.MOD) for node in nodes)
        self.content: dict[int, Any] = {}
        self.buffers: dict[int, Buffer] = {}
        self.dtypes: dict[int, DType] = {}
        for node in nodes:
            if node.op is Ops.DEFINE_GLOBAL:
                self._add(node, divides)
        self.wanted: list[dict[int, bytes]] = []
        self.wanted_half: list[dict[int, bytes]] = []

    def _add(self, node: UOp, divides: bool) -> None:
        kind = node.dtype
        if not isinstance(kind, PtrDType) or isinstance(kind, ImageDType) or kind.size < 0:
            raise CapabilityError(
                "this kernel's memory cannot be made up for a search",
                asked=f"{kind!r}",
                because="its size or its layout is not known",
            )
        buffer = Buffer(self.device.id, kind.size, kind.base)
        self.content[node.arg] = contents(kind.base, kind.size, node.arg, divides)
        buffer.copy_in(self.content[node.arg])
        self.dtypes[node.arg] = kind.base
        self.buffers[node.arg] = buffer

    def load(self, built: Built) -> Runner:
        """The runner of a binary."""
        name = built.program.name
        return self.device.runner(CompiledProgram(name, built.binary, built.source, built.program))

    def launch(self, runner: Runner, program: LinearProgram, half: bool = False) -> float:
        """Seconds of one run; variables are as large as they may be, or half as large."""
        values = [(v.vmin + v.vmax) // 2 if half else v.vmax for v in program.variables]
        bound = dict(zip(program.variables, values))
        handles = [self.buffers[slot].handle for slot in program.globals]
        groups, items = (concrete(s, bound) for s in (program.global_size, program.local_size))
        started = perf_counter()

        def run() -> float | None:
            return runner(handles, global_size=groups, local_size=items, values=values, wait=True)

        if self.device.compute.limits.global_size is None:  # a call: this thread does it
            elapsed, taken = timed(run)
            return elapsed if taken is None else min(elapsed, taken)  # neither is too short
        taken = run()
        return perf_counter() - started if taken is None else taken

    def restore(self, program: LinearProgram) -> None:
        """Restore the buffers that the kernel writes."""
        for slot in program.outs:
            self.buffers[slot].copy_in(self.content[slot])

    def results(self, built: Built) -> tuple[float, dict[int, bytes]]:
        """The seconds of a run, and the content of the buffers that it writes."""
        program = built.program
        self.restore(program)
        seconds = self.launch(self.load(built), program)
        return seconds, self.written(program)

    def written(self, program: LinearProgram) -> dict[int, bytes]:
        """The content of the buffers that the kernel writes, by slot."""
        return {slot: bytes(self.buffers[slot].copy_out()) for slot in program.outs}

    def expect(self, built: Built) -> float:
        """Add the results of a kernel to the reference results; returns the seconds of its run."""
        seconds, results = self.results(built)
        self.wanted.append(results)
        if built.program.variables:
            self.wanted_half.append(self.halved(self.load(built), built.program))
        return seconds

    def halved(self, runner: Runner, program: LinearProgram) -> dict[int, bytes]:
        """The results with variables of half the size: a kernel may be correct for the largest
        value alone."""
        self.restore(program)
        self.launch(runner, program, half=True)
        return self.written(program)

    def time(self, built: Built, most_seconds: float, good: float | None) -> Outcome:
        """Run a kernel several times, in about `most_seconds`; once if it takes far more than
        `good` seconds. The results of the first run are compared."""
        program, runner = built.program, self.load(built)
        self.restore(program)
        taken = [self.launch(runner, program)]
        because = self.difference(self.written(program), self.wanted)
        if not because and program.variables:
            because = self.difference(self.halved(runner, program), self.wanted_half)
        if because:
            return Outcome(tuple(taken), False, because)
        again = set(program.outs) & set(program.ins)
        enough = perf_counter() + most_seconds
        while len(taken) < _MOST_TURNS and not (good and min(taken) > 2.5 * good):
            if len(taken) >= _LEAST_ROUNDS and perf_counter() > enough:
                break
            if again:
                self.restore(program)
            taken.append(self.launch(runner, program))
        return Outcome(tuple(taken), True)

    def time_interleaved(self, several: Sequence[Built], most_seconds: float) -> list[float]:
        """The shortest run of each kernel, timed interleaved for about `most_seconds`, so that
        other load on the machine affects all of them equally."""
        runners = [self.load(built) for built in several]
        shortest = [inf] * len(several)
        enough = perf_counter() + most_seconds
        rounds = 0
        while rounds < _LEAST_ROUNDS or perf_counter() < enough:
            for place, (built, runner) in enumerate(zip(several, runners)):
                program = built.program
                if rounds == 0 or set(program.outs) & set(program.ins):
                    self.restore(program)
                shortest[place] = min(shortest[place], self.launch(runner, program))
                if rounds == 0 and self.difference(self.written(program), self.wanted):
                    shortest[place] = -inf
            rounds += 1
        return [inf if seconds < 0 else seconds for seconds in shortest]

    def difference(self, got: dict[int, bytes], expected: Sequence[dict[int, bytes]]) -> str:
        """The difference between results and all reference results; empty if one agrees."""
        found = ""
        for wanted in expected:
            differences = (
                mismatch(self.dtypes[slot], data, wanted[slot])
                for slot, data in got.items()
                if slot in wanted and data != wanted[slot]
            )
            found = next(filter(None, differences), "")
            if not found:
                return ""
        return found


def mismatch(dtype: DType, got: bytes, wanted: bytes) -> str:
    """The difference between two results that the order of a sum does not explain; empty if none.

    The tolerance of an element grows with its value and with the mean of all elements.
    """
    import numpy

    if dtype not in _TOLERANCE:
        return "it gives other integers"
    size = dtype.itemsize
    some = as_floats(dtype, b"".join(_sample(wanted, size)))
    finite = some[numpy.isfinite(some)]
    mean = float(numpy.abs(finite).mean()) if finite.size else 0.0
    for start in range(0, len(wanted), _BLOCK * size):  # as much as fits a cache
        mine, theirs = (memoryview(d)[start : start + _BLOCK * size] for d in (got, wanted))
        if mine == theirs:
            continue
        a, b = as_floats(dtype, mine), as_floats(dtype, theirs)
        with numpy.errstate(all="ignore"):
            tolerance = _TOLERANCE[dtype] * (numpy.abs(b) + mean)
            near = numpy.isfinite(b) & (numpy.abs(a - b) <= tolerance)
            same = (a == b) | (numpy.isnan(a) & numpy.isnan(b)) | near
        if not same.all():
            at = int(numpy.argmin(same))
            place = start // size + at
            return f"element {place} is {a[at]:.6g}, and {b[at]:.6g} without optimisations"
    return ""


def _sample(data: bytes, size: int) -> list[bytes]:
    """Some elements from all over."""
    count = len(data) // size
    step = max(1, count // _SAMPLE)
    return [data[place * size : (place + 1) * size] for place in range(0, count, step)]


def contents(dtype: DType, size: int, seed: int, divides: bool = False) -> Any:
    """`size` elements as an array of bytes. Floats are eighths of -2 to 2, so that most sums of
    products are exact; integers are small, and none is zero where the kernel divides."""
    import numpy

    numbers = numpy.random.default_rng(seed)
    count = min(size, _BLOCK)
    if dtype in (dtypes.fp8e4m3, dtypes.fp8e5m2):
        block = numbers.choice(numpy.array([0x00, 0x30, 0x34, 0xB0, 0x38], numpy.uint8), count)
    elif dtypes.is_float(dtype):
        exact = (numbers.integers(-16, 17, count) / 8).astype(numpy.float32)
        block = _narrow(dtype, exact)
    elif dtype is dtypes.bool:
        block = numbers.integers(0, 2, count).astype(numpy.uint8)
    else:
        sign = "u" if dtypes.is_unsigned(dtype) else "i"
        small = numbers.integers(1 if divides else 0, 16, count)
        block = small.astype(f"{sign}{dtype.itemsize}")
    return numpy.resize(block, size).view(numpy.uint8) if size else block.view(numpy.uint8)


def _narrow(dtype: DType, exact: Any) -> Any:
    if dtype is dtypes.bfloat16:  # its upper half, exactly
        return (exact.view("uint32") >> 16).astype("uint16")
    return exact.astype({2: "float16", 4: "float32", 8: "float64"}[dtype.itemsize])


def as_floats(dtype: DType, data: bytes | memoryview) -> Any:
    """Elements of a float dtype as float64."""
    import numpy

    if dtype is dtypes.bfloat16:
        wide = numpy.frombuffer(data, numpy.uint16).astype(numpy.uint32) << 16
        return wide.view(numpy.float32).astype(numpy.float64)
    if dtype.itemsize == 1:
        table = numpy.array([float(from_bits(bits, dtype)) for bits in range(256)])
        return table[numpy.frombuffer(data, numpy.uint8)]
    return numpy.frombuffer(data, f"f{dtype.itemsize}").astype(numpy.float64)
