"""Arithmetic of nodes over NumPy arrays: a quick way to try an expression on a million values.

Exact per operation in every dtype that NumPy has; a multiply-add of float32 is computed in float64,
one of float64 as sum and product of two numbers each (Dekker, 1971; Knuth, TAOCP 2, 4.2.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.base.dtype import dtypes
from weft.uop import Ops, UOp


def evaluate_arrays(root: UOp, values: Mapping[UOp, Any]) -> Any:
    """The value of `root` where some nodes below it are given as arrays of their dtype.

    :raises KeyError: for an operation or a dtype that has no counterpart in NumPy.
    """
    import numpy

    kinds = {
        dtypes.float: numpy.float32, dtypes.double: numpy.float64, dtypes.int: numpy.int32,
        dtypes.long: numpy.int64, dtypes.bool: numpy.bool_, dtypes.uint: numpy.uint32,
        dtypes.ulong: numpy.uint64, dtypes.ushort: numpy.uint16, dtypes.uchar: numpy.uint8,
        dtypes.short: numpy.int16, dtypes.char: numpy.int8, dtypes.half: numpy.float16,
    }  # fmt: skip

    def multiply_add(a: Any, b: Any, c: Any) -> Any:
        if a.dtype == numpy.float64:
            return _multiply_add(a, b, c)
        wide = numpy.float64 if a.dtype == numpy.float32 else numpy.longdouble
        return a.astype(wide) * b.astype(wide) + c.astype(wide)

    def divide(a: Any, b: Any) -> Any:
        safe = numpy.where(b == 0, 1, b)
        floor = a // safe
        up = (floor < 0) & (floor * safe != a)
        return numpy.where(b == 0, 0, floor + up)

    meanings = {
        Ops.ADD: numpy.add, Ops.SUB: numpy.subtract, Ops.MUL: numpy.multiply,
        Ops.FDIV: numpy.divide, Ops.NEG: numpy.negative, Ops.SQRT: numpy.sqrt,
        Ops.TRUNC: numpy.trunc, Ops.AND: numpy.bitwise_and, Ops.OR: numpy.bitwise_or,
        Ops.XOR: numpy.bitwise_xor, Ops.CMPLT: numpy.less, Ops.CMPNE: numpy.not_equal,
        Ops.CMPEQ: numpy.equal, Ops.WHERE: numpy.where, Ops.MAX: numpy.maximum,
        Ops.RECIP: numpy.reciprocal, Ops.IDIV: divide, Ops.MULACC: multiply_add,
        Ops.SHL: lambda a, b: numpy.left_shift(a, b.astype(a.dtype)),
        Ops.SHR: lambda a, b: numpy.right_shift(a, b.astype(a.dtype)),
    }  # fmt: skip
    known = dict(values)
    with numpy.errstate(all="ignore"):
        for node in root.toposort():
            if node in known:
                continue
            kind = kinds[node.dtype]
            sources = [known[source] for source in node.src]
            if node.op is Ops.CONST:
                result = numpy.array(node.arg)
            elif node.op is Ops.BITCAST:
                result = sources[0].view(kind)
            elif node.op is Ops.CAST:
                result = sources[0]
            else:
                result = meanings[node.op](*sources)
            known[node] = numpy.asarray(result).astype(kind)
    return known[root]


def _multiply_add(a: Any, b: Any, c: Any) -> Any:
    """a * b + c of doubles, without the rounding of the product."""
    import numpy

    product = a * b
    (a_head, a_tail), (b_head, b_tail) = _halves(a), _halves(b)
    lost = a_head * b_head - product + a_head * b_tail + a_tail * b_head + a_tail * b_tail
    total = product + c
    added = total - product
    lost = lost + ((product - (total - added)) + (c - added))
    # nothing is added to what has the sign of zero, or is no number
    return numpy.where(numpy.isfinite(lost) & (lost != 0), total + lost, total)


def _halves(x: Any) -> tuple[Any, Any]:
    """Two numbers of 26 digits whose sum is x (Veltkamp, 1968)."""
    scaled = x * (2.0**27 + 1)
    head = scaled - (scaled - x)
    return head, x - head
