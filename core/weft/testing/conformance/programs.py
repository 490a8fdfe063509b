"""Small linear programs made by hand, and running them through a device's own parts.

Nothing of scheduling or code generation takes part, so what fails here is the device's: but that
operations which its language lacks are made of others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from weft.base.dtype import AddrSpace, DType, dtypes
from weft.base.scalars import pack, truncate, unpack
from weft.codegen.linearization import late_decomposition
from weft.device import Buffer, CompiledProgram, Dims, LinearProgram, OpenDevice
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
        """A LOAD; ``rest`` is a gate, and the value if the gate is false."""
        index = pointer.index(_int(at), *rest[:1])
        return self.add(index.load(*rest[1:], dtype=dtype))

    def store(self, pointer: UOp, at: UOp | int, value: UOp, gate: UOp | None = None) -> None:
        """Write."""
        self.add(pointer.index(_int(at), gate).store(value))


@dataclass(frozen=True)
class Elementwise:
    """Something done to every element of a few columns of numbers.

    :param columns: dtype and values of each input, all of one length.
    :param make: the result, from one element of each.
    """

    columns: Sequence[tuple[DType, Sequence[Any]]]
    make: Callable[[list[UOp]], UOp]

    def run(self, device: OpenDevice) -> list[Any]:
        """What a kernel of its own gives."""
        return _run_loops(device, [self])[0]


def run_together(device: OpenDevice, cases: Mapping[Any, Elementwise]) -> dict[Any, list[Any]]:
    """What each of many gives, a loop for each in as few kernels as there may be: on most devices
    a kernel costs more than what it does. Those of a kernel that fails are left out."""
    most = min(device.compute.limits.max_buffers or 31, 31)
    found: dict[Any, list[Any]] = {}
    waiting: dict[Any, Elementwise] = {}

    def run_waiting() -> None:
        try:
            found.update(zip(waiting, _run_loops(device, list(waiting.values()))))
        except Exception:  # each is to be run alone, where its own error is to be seen
            pass
        waiting.clear()

    for key, case in cases.items():
        if waiting and sum(1 + len(c.columns) for c in (*waiting.values(), case)) > most:
            run_waiting()
        waiting[key] = case
    if waiting:
        run_waiting()
    return found


def _run_loops(device: OpenDevice, cases: Sequence[Elementwise]) -> list[list[Any]]:
    builder = Builder()
    outputs: list[tuple[DType, int]] = []
    inputs = [column for case in cases for column in case.columns]
    slot = len(cases)
    for number, case in enumerate(cases):
        count = len(case.columns[0][1])
        pointers = []
        for dtype, _ in case.columns:
            pointers.append(builder.argument(slot, dtype, count))
            slot += 1
        loop = builder.loop(count, number)
        result = builder.add(case.make([pointer.index(loop).load() for pointer in pointers]))
        builder.store(builder.argument(number, result.dtype, count), loop, result)
        builder.end(loop)
        outputs.append((result.dtype, count))
    return run(device, builder, outputs, inputs)


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
    nodes = late_decomposition.run(builder.nodes, device.target)
    linear.verify(nodes)
    program = LinearProgram.of(name, nodes)
    runner = device.runner(compiled(device, program))
    buffers = [
        Buffer(device.id, size, dtype).copy_in(bytes(size * dtype.itemsize))
        for dtype, size in outputs
    ]
    for dtype, given in inputs:
        buffers.append(Buffer(device.id, len(given), dtype).copy_in(pack(given, dtype)))
    runner(
        [buffer.handle for buffer in buffers],
        global_size=cast("Dims | None", program.global_size),
        local_size=cast("Dims | None", program.local_size),
        values=values,
        wait=True,
    )
    found = []
    for buffer, (dtype, _) in zip(buffers, outputs):
        raw = bytes(buffer.copy_out())
        # Others will count them, add them and look at their bits.
        others = {byte for byte in raw if byte > 1} if dtype is dtypes.bool else ()
        assert not others, f"booleans in memory are 0 and 1, and here also {sorted(others)[:3]}"
        found.append(unpack(raw, dtype))
    return found


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
