"""Small tensor graphs and their kernels, without any device: for tests of the scheduler."""

from __future__ import annotations

from weft.base.dtype import DType, dtypes
from weft.device.capabilities import Capabilities, ComputeCaps, MemoryCaps
from weft.schedule import ScheduleContext, kernel_writes, kernelize_map, sorted_writes
from weft.uop import Ops, UOp

COMPUTES = Capabilities(compute=ComputeCaps())
STORES = Capabilities(memory=MemoryCaps(persistent=True, resident=False))


def lookup(**devices: Capabilities) -> ScheduleContext:
    """A context in which the named devices have these capabilities, and all others compute."""
    return ScheduleContext(lambda name: devices.get(name, COMPUTES))


def buffer(size: int = 4, dtype: DType = dtypes.float, device: str = "X") -> UOp:
    """A new BUFFER node without memory."""
    return UOp.new_buffer(device, size, dtype)


def writes(*nodes: UOp, ctx: ScheduleContext | None = None) -> list[UOp]:
    """The ASSIGN(memory, KERNEL) nodes that compute `nodes`, in the order they are run in."""
    sink = UOp.sink(*nodes)
    return sorted_writes(kernel_writes(sink.substitute(kernelize_map(sink, ctx or lookup()))))


def kernels(*nodes: UOp, ctx: ScheduleContext | None = None) -> list[UOp]:
    """The ASTs of the kernels that compute `nodes`, in the order they are run in."""
    found = dict.fromkeys(write.src[1] for write in writes(*nodes, ctx=ctx))
    return [kernel.arg.ast for kernel in found]


def ops_of(ast: UOp) -> list[Ops]:
    """The operations of a graph, sources first."""
    return [node.op for node in ast.toposort()]
