"""spec.lowered: one kernel as loops and addresses, still a graph.

RANGE, INDEX, LOAD, STORE, REDUCE over ranges and arithmetic; no views and no axes. The STOREs of a
FILL write a local array. The FILL closes its ranges as a REDUCE does, and a LOAD of the array has
the FILL as its last source. All work items of a workgroup fill shared memory (DEFINE_LOCAL), which
is read after a barrier that the FILL implies.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.base.dtype import ImageDType, PtrDType, dtypes
from weft.spec.check import verify as _verify
from weft.uop import GroupOp, Ops, UOp

_PLAIN = frozenset(
    {
        Ops.SINK, Ops.CONST, Ops.VCONST, Ops.DEFINE_VAR, Ops.DEFINE_GLOBAL, Ops.DEFINE_LOCAL,
        Ops.DEFINE_REG, Ops.SPECIAL, Ops.CAST, Ops.BITCAST, Ops.VECTORIZE, Ops.GEP, Ops.CAT,
        Ops.NOOP, Ops.CUSTOM, Ops.CUSTOMI, Ops.WMMA,
    }
)  # fmt: skip
_LOCAL_ARRAYS = frozenset({Ops.DEFINE_REG, Ops.DEFINE_LOCAL})


def _shuffle_objection(node: UOp) -> str | None:
    """Why a SHUFFLE is malformed."""
    if len(node.src) != 1 or node.dtype is not node.src[0].dtype:
        return "a SHUFFLE has one source of its own dtype"
    whole = isinstance(node.arg, int) and node.arg > 0
    return None if whole else "the arg of a SHUFFLE is a positive lane mask"


def _dot_objection(node: UOp) -> str | None:
    """Why a DOT is malformed."""
    if len(node.src) not in (2, 3) or node.src[0].dtype is not node.src[1].dtype:
        return "a DOT has two factors of one dtype, and perhaps an accumulator"
    words = node.src[0].dtype
    if words.itemsize != node.dtype.itemsize or words.count != node.dtype.count:
        return "a DOT has a word of narrow numbers for each lane"
    if len(node.src) == 3 and node.src[2].dtype is not node.dtype:
        return "a DOT adds to a sum of its own dtype"
    return None


def _alu_objection(node: UOp) -> str | None:
    """Why an arithmetic node is malformed: operands of unequal dtypes or lane counts."""
    op, src = node.op, node.src
    if op is Ops.SHL or op is Ops.SHR or op is Ops.THREEFRY:
        return None
    if op is Ops.WHERE:
        if src[0].dtype.scalar() is not dtypes.bool:
            return "the condition of a WHERE is bool"
        if src[0].dtype.count not in (1, node.dtype.count):
            return "the condition of a WHERE has other lanes than its values"
        src = src[1:]
    if any(source.dtype is not src[0].dtype for source in src):
        return "its operands have different dtypes"
    expected = src[0].dtype
    if op in GroupOp.Comparison:
        expected = dtypes.bool.vec(expected.count) if expected.count > 1 else dtypes.bool
    return None if node.dtype is expected else f"its dtype should be {expected!r}"


def _memory_objection(node: UOp) -> str | None:
    """Why an INDEX, LOAD or STORE is malformed."""
    op, src = node.op, node.src
    if op is Ops.INDEX:
        if not isinstance(src[0].dtype, PtrDType):
            return "an INDEX is into a pointer"
        pixel = (dtypes.int.vec(2),) if isinstance(src[0].dtype, ImageDType) else ()
        if src[1].dtype not in (dtypes.int, dtypes.long, *pixel):
            return "an index is an int or a long, or (x, y) in an image"
        return None if len(src) < 3 or src[2].dtype is dtypes.bool else "a gate is one bool"
    if not src or src[0].op is not Ops.INDEX:
        return f"a {op.name} needs an address"
    gated = len(src[0].src) > 2
    if op is Ops.LOAD:
        if src[-1].op is Ops.FILL:
            src = src[:-1]
        if gated != (len(src) == 2):
            return "a LOAD has an alternative exactly where its address is gated"
        same = not gated or src[1].dtype is node.dtype
        return None if same else "the alternative's dtype differs"
    base = src[0].dtype.base
    if len(src) != 2 or src[1].dtype.scalar() is not base.scalar():
        return f"a STORE into {base!r} has one value of that dtype"
    return None


OBJECTIONS: dict[Ops, Callable[[UOp], str | None]] = {
    **dict.fromkeys(GroupOp.ALU, _alu_objection),
    **dict.fromkeys((Ops.INDEX, Ops.LOAD, Ops.STORE), _memory_objection),
    Ops.SHUFFLE: _shuffle_objection,
    Ops.DOT: _dot_objection,
}
"""Why a node is malformed, as a graph and in a list."""


def _rule(node: UOp) -> str | None:
    op = node.op
    if (objection := OBJECTIONS.get(op)) is not None:
        return objection(node)
    if op is Ops.RANGE:
        whole = node.dtype in (dtypes.int, dtypes.long) and len(node.src) == 1
        return None if whole else "a RANGE counts ints to one end"
    if op is Ops.REDUCE:
        count = node.arg.values
        if not all(loop.op is Ops.RANGE for loop in node.src[count:]) or len(node.src) <= count:
            return "a REDUCE closes ranges"
        same = all(value.dtype is node.dtype for value in node.src[:count])
        return None if same else "a REDUCE accumulates values of its own dtype"
    if op is Ops.FILL:
        count = node.arg.values
        stores, loops = node.src[:count], node.src[count:]
        if not all(loop.op is Ops.RANGE for loop in loops):
            return "a FILL closes ranges"
        whole = bool(stores) and all(
            store.op is Ops.STORE and store.src[0].src[0].op in _LOCAL_ARRAYS for store in stores
        )
        return None if whole else "a FILL has STOREs to local arrays"
    return None if op in _PLAIN else "a lowered kernel has no such node"


def verify(sink: UOp) -> None:
    """SpecError for the first node that is illegal in a lowered kernel."""
    _verify(sink.toposort(), _rule, "lowered")
