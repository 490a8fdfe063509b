"""The argument classes of nodes, `UOp.arg`: frozen, hashable, printable and parseable.

`key_of` makes the keys of hash-consing, whose form depends on the class of the argument.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.base.members import Member
from weft.uop.ops import Ops

ASYNC = "async"
"""STORE of a loaded value to shared memory, as an asynchronous copy that a WAIT completes."""

NON_TEMPORAL = "stream"
"""STORE that bypasses the caches, because the value is not read soon."""

PREFETCH_STREAM = "ahead"
"""LOAD of a streaming access; later elements of the stream may be prefetched."""

PREFETCH_L1 = "coming"
"""LOAD whose value is unused: a prefetch of what a later iteration reads."""

PREFETCH_L2 = "later"
"""The same into the L2 cache, for data that is read later."""

PREFETCHES = frozenset({PREFETCH_L1, PREFETCH_L2})
"""The marks of prefetches."""


@dataclass(frozen=True, slots=True)
class Reduce:
    """REDUCE_AXIS: which operation over which axes (kept as size one)."""

    op: Ops
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """CONTIGUOUS inside a kernel: a value in a local array (a local row).

    It is computed once for every index of its first `outer` axes. The inner axes are an array that
    users at the same outer indices can read at any index.
    """

    outer: int


@dataclass(frozen=True, slots=True)
class Var:
    """DEFINE_VAR: an integer variable and its inclusive bounds."""

    name: str
    low: int
    high: int


class AxisKind(Member, int):
    """The kind of an axis of a kernel, in nesting order of the loops, outermost first."""

    GLOBAL = 0  # one launch-grid dimension (a plain loop where there is no grid)
    LOCAL = 1  # one thread of a workgroup
    LOOP = 2  # an ordinary loop
    GROUP_REDUCE = 3  # a loop of a reduction that the threads of a workgroup share
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
    """SINK of a kernel: its name and the optimisations that were applied."""

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


# ---- keys of hash-consing ------------------------------------------------------------------------

PLAIN: set[type] = {type(None), int, bool, str}
"""Classes of arguments that are in the key of a node as they are."""

_HASHED_IN_PYTHON: set[type] = set()


def key_of(op: Ops, dtype: Any, src: tuple[Any, ...], arg: Any) -> Any:
    """The key of a node whose argument is a float, or may be hashed by a method in Python."""
    kind = arg.__class__
    if kind is float or kind is tuple:
        return (op, dtype, src, _exact(arg))
    if kind not in _HASHED_IN_PYTHON:
        if not isinstance(kind.__hash__, FunctionType):
            PLAIN.add(kind)
            return (op, dtype, src, arg)
        _HASHED_IN_PYTHON.add(kind)
    # a frozenset caches its hash, so removing the entry does not hash again
    return frozenset(((op, dtype, src, arg),))


def _exact(arg: Any) -> Any:
    """A key that distinguishes 0.0 from -0.0, and for which NaN equals itself."""
    items = arg
    if isinstance(arg, tuple):
        return tuple(_exact(item) for item in items)
    if isinstance(arg, float) and (arg == 0.0 or arg != arg):
        return ("float", math.copysign(1.0, arg), "nan" if arg != arg else "zero")
    return arg
