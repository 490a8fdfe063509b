"""The dataclasses that may stand in `UOp.arg`: frozen, hashable, printable and parseable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.base.members import Member
from weft.uop.ops import Ops

ASYNC = "async"
"""STORE of what is read from memory into memory on chip: it is there after a WAIT at the latest."""

NON_TEMPORAL = "stream"
"""STORE to memory that nobody reads soon: it need not stay in a cache."""

PREFETCH_STREAM = "ahead"
"""LOAD from a long stretch that is read in a row: what comes later may be asked for now."""

PREFETCH_L1 = "coming"
"""LOAD of what a later turn of a loop reads: it is asked for, and nobody uses what it gives."""

PREFETCH_L2 = "later"
"""The same, of what is read only after much else: it need not come all the way to the registers."""

PREFETCHES = frozenset({PREFETCH_L1, PREFETCH_L2})
"""LOADs that nobody uses."""


@dataclass(frozen=True, slots=True)
class Reduce:
    """REDUCE_AXIS: which operation over which axes (kept as size one)."""

    op: Ops
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """CONTIGUOUS inside a kernel: a value that is kept on chip.

    It is computed once for every index of its `outer` first axes; all its inner axes are then an
    array that can be read at any place, by whatever stands at the same outer indices.
    """

    outer: int


@dataclass(frozen=True, slots=True)
class Var:
    """DEFINE_VAR: an integer variable and its inclusive bounds."""

    name: str
    low: int
    high: int


class AxisKind(Member, int):
    """What becomes of an axis of a kernel; the order is the order of the loops, outermost first."""

    GLOBAL = 0  # one launch-grid dimension (a plain loop where there is no grid)
    LOCAL = 1  # one thread of a workgroup
    LOOP = 2  # an ordinary loop
    GROUP_REDUCE = 3  # a reduce, or a loop beside one, shared by the threads of a workgroup
    REDUCE = 4  # a loop that accumulates
    UPCAST = 5  # unrolled into registers
    UNROLL = 6  # a reduce unrolled into registers
    VECTOR = 7  # the lanes of a vector

    def __str__(self) -> str:
        return self.__repr__()


@dataclass(frozen=True, slots=True)
class RangeArg:
    """RANGE: a number that is unique in its kernel, and what becomes of the axis."""

    id: int
    kind: AxisKind = AxisKind.LOOP


@dataclass(frozen=True, slots=True)
class BufferView:
    """BUFFER_VIEW: how many elements from which one on, counted in the view's dtype."""

    size: int
    offset: int


@dataclass(frozen=True, slots=True)
class Window:
    """ASSIGN: the part of the destination that is written; `st` is a ShapeTracker over it."""

    st: Any


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """SINK of a kernel: what is to be said about it beyond its nodes."""

    name: str = ""
    applied: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """KERNEL: the AST and the Tensor methods that are fused in it.

    Two kernels are one where their ASTs are: provenance does not take part in identity.
    """

    ast: Any
    metadata: tuple[Any, ...] = ()

    def __hash__(self) -> int:
        return hash(self.ast)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.ast is other.ast

    def __repr__(self) -> str:
        nodes = len(self.ast.toposort())
        if self.ast.op is Ops.SINK:
            kinds = "".join(f"<{s.op}: {s.op.value}>," for s in self.ast.src)
            root = f"SINK({kinds})"
        else:
            root = self.ast.op.name
        names = ", ".join(dict.fromkeys(str(m) for m in self.metadata))
        return f"<Kernel {nodes} {root} ({names})>"
