"""Small linear programs made by hand, and running them through a device's own parts.

Nothing of scheduling or code generation takes part, so what fails here is the device's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from weft.base.dtype import AddrSpace, DType, dtypes
from weft.base.scalars import pack, truncate, unpack
from weft.device import Buffer, CompiledProgram, LinearProgram, OpenDevice
from weft.spec import linear
from weft.uop import Ops, UOp


class Builder:
    """Nodes in order; every method adds what it makes."""

    def __init__(self) -> None:
        self.nodes: list[UOp] = []
        self._seen: set[UOp] = set()

    def add(self, node: UOp) -> UOp:
        """Add a node, after those of its sources that are missing."""
        for missing in node.toposort():
            if missing not in self._seen:
                self._seen.add(missing)
                self.nodes.append(missing)
        return node

    def argument(self, slot: int, dtype: DType, size: int) -> UOp:
        """A buffer of the kernel."""
        return self.add(UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot))

    def register(self, id: int, dtype: DType, size: int = 1) -> UOp:
        """A register array."""
        return self.add(UOp(Ops.DEFINE_REG, dtype.ptr(size, AddrSpace.REG), (), id))

    def shared(self, name: str, dtype: DType, size: int) -> UOp:
        """Memory of the work group."""
        return self.add(UOp(Ops.DEFINE_LOCAL, dtype.ptr(size, AddrSpace.LOCAL), (), name))

    def loop(self, end: int | UOp, id: int) -> UOp:
        """A loop, to be closed with ``end``."""
        return self.add(UOp.range(end, id))

    def end(self, loop: UOp) -> None:
        """Close a loop."""
        self.add(UOp(Ops.ENDRANGE, dtypes.void, (loop,)))

    def special(self, name: str, extent: int) -> UOp:
        """An index that the launch provides."""
        return self.add(UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, extent),), name))

    def load(self, pointer: UOp, at: UOp | int, *rest: UOp, dtype: DType | None = None) -> UOp:
        """Read; ``rest`` is a gate and what stands where it is false."""
        index = pointer.index(_int(at), *rest[:1])
        return self.add(index.load(*rest[1:], dtype=dtype))

    def store(self, pointer: UOp, at: UOp | int, value: UOp, gate: UOp | None = None) -> None:
        """Write."""
        self.add(pointer.index(_int(at), gate).store(value))


def elementwise(
    inputs: Sequence[DType], make: Callable[[list[UOp]], UOp], count: int
) -> tuple[Builder, DType]:
    """A loop that applies ``make`` to one element of each input: result in slot 0; its dtype."""
    builder = Builder()
    pointers = [builder.argument(n + 1, dtype, count) for n, dtype in enumerate(inputs)]
    loop = UOp.range(count, 0)
    result = make([pointer.index(loop).load() for pointer in pointers])
    out = builder.argument(0, result.dtype, count)
    builder.add(loop)
    builder.add(result)
    builder.store(out, loop, result)
    builder.end(loop)
    return builder, result.dtype


def _int(value: UOp | int) -> UOp:
    return value if isinstance(value, UOp) else UOp.const(dtypes.int, value)


def run(
    device: OpenDevice,
    builder: Builder,
    outputs: Sequence[tuple[DType, int]],
    inputs: Sequence[tuple[DType, Sequence[Any]]] = (),
    values: Sequence[int] = (),
    name: str = "by_hand",
) -> list[list[Any]]:
    """Run a program whose first slots are outputs; their values afterwards."""
    linear.verify(builder.nodes)
    program = LinearProgram.of(name, builder.nodes)
    runner = device.runner(compiled(device, program))
    buffers = [
        Buffer(device.id, size, dtype).copy_in(bytes(size * dtype.itemsize))
        for dtype, size in outputs
    ]
    for dtype, given in inputs:
        buffers.append(Buffer(device.id, len(given), dtype).copy_in(pack(given, dtype)))
    runner(
        [buffer.handle for buffer in buffers],
        global_size=program.global_size,
        local_size=program.local_size,
        values=values,
        wait=True,
    )
    return [unpack(buffers[i].copy_out(), dtype) for i, (dtype, _) in enumerate(outputs)]


def compiled(device: OpenDevice, program: LinearProgram) -> CompiledProgram:
    """Render and compile."""
    source = device.renderer.render(program)
    compiler = device.compiler
    binary = source.encode() if compiler is None else compiler.compile(source, program.name)
    return CompiledProgram(program.name, binary, source, program)


def interesting(dtype: DType) -> list[Any]:
    """Values at which things go wrong."""
    if dtype is dtypes.bool:
        return [False, True]
    if dtypes.is_float(dtype):
        plain = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.25, 3.0, 7.75, -100.0, 200.0, 0.01]
        return [truncate(value, dtype) for value in (*plain, math.inf, -math.inf, math.nan)]
    low, high = int(dtype.min), int(dtype.max)
    values = [low, low + 1, -7, -1, 0, 1, 2, 5, 100, high - 1, high]
    return sorted({value for value in values if low <= value <= high})


def same(found: Any, wanted: Any, dtype: DType, ulps: int = 0) -> bool:
    """Whether two values agree: NaN with NaN, zeros of either sign, floats within some ulps.

    Where some are allowed, a result below the smallest normal number may be zero.
    """
    if not dtypes.is_float(dtype):
        return found == wanted
    if wanted != wanted:
        return found != found
    if found == wanted:
        return True
    if math.isinf(wanted) or math.isinf(found) or found != found:
        return False
    facts = dtypes.finfo(dtype)
    if ulps and max(abs(found), abs(wanted)) < facts.smallest_normal and 0.0 in (found, wanted):
        return True
    exponent = math.frexp(max(abs(wanted), facts.smallest_normal))[1]
    return abs(found - wanted) <= ulps * math.ldexp(1.0, exponent - 1 - facts.mantissa_bits)
