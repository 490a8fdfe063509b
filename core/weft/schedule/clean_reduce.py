"""Reduce simplification: replace reduces that need no loop by elementwise operations.

These are reduces of no element, of one element, of constants, and of repeated elements.

in:  spec.tensor
out: spec.tensor, every value equal (a float sum of n equal terms is n times the term, rounded once)

Source: XLA, pass AlgebraicSimplifier (rules for Reduce).
"""

from __future__ import annotations

import math
from typing import Any

from weft.base.dtype import dtypes
from weft.base.scalars import truncate
from weft.base.sequences import prod
from weft.schedule.constants import constant_like, constant_of
from weft.schedule.use_def import SCALARS
from weft.uop import GroupOp, Ops, PatternMatcher, Reduce, UOp, UPat, exec_alu, identity_element

clean_reduce = PatternMatcher("clean_reduce")

# how much of an expression is searched for what moves along an axis
_MOST_NODES = 64


@clean_reduce.rule(UPat(Ops.REDUCE_AXIS, name="node"))
def trivial_reduces(node: UOp) -> UOp | None:
    """reduce(nothing) -> identity element; reduce over axes of size 1 -> x; of a constant -> it"""
    source, reduce = node.src[0], node.arg
    extents = [source.shape[axis] for axis in reduce.axes]
    if any(isinstance(e, UOp) for e in extents):
        return None
    if 0 in extents:
        return constant_like(node, identity_element(reduce.op, node.dtype))
    count = prod(extents)
    if count == 1:
        return source
    const = constant_of(source)
    return None if const is None else constant_like(node, _reduce_of_equals(node, const.arg, count))


def _reduce_of_equals(node: UOp, value: Any, count: int) -> Any:
    """The reduction of `count` equal values."""
    op, dtype = node.arg.op, node.dtype
    if op is Ops.MAX or dtype is dtypes.bool:  # any and all of equal truths are that truth
        return value
    if op is Ops.ADD:
        return exec_alu(Ops.MUL, dtype, (value, count))
    if dtypes.is_float(dtype):
        return exec_alu(Ops.POW, dtype, (value, count))
    return truncate(pow(value, count, 1 << (dtype.itemsize * 8)), dtype)


@clean_reduce.rule(UPat(Ops.REDUCE_AXIS, name="node"))
def reduces_of_repeated_elements(node: UOp) -> UOp | None:
    """sum(expand(x, n)) -> x * n; product -> x ** n by squaring; max -> x

    Every axis along which no source of the expression moves counts.
    """
    source, reduce = node.src[0], node.arg
    repeated = _invariant_axes(source, reduce.axes)
    if not repeated:
        return None
    count = prod(source.shape[axis] for axis in repeated)
    if dtypes.is_float(node.dtype) and not math.isfinite(truncate(float(count), node.dtype)):
        return None
    window = tuple(
        (0, 1) if axis in repeated else (0, extent) for axis, extent in enumerate(source.shape)
    )
    rest = tuple(axis for axis in reduce.axes if axis not in repeated)
    once = _shrunk(source, window, {})
    if rest:
        once = replacement_reduce(node, once, Reduce(reduce.op, rest))
    return _repeated_operation(once, reduce.op, count)


def replacement_reduce(node: UOp, source: UOp, reduce: Reduce) -> UOp:
    """A reduce of `source` that replaces `node` or a part of it."""
    return UOp(Ops.REDUCE_AXIS, node.dtype, (source,), reduce).with_provenance_of(node)


def _invariant_axes(source: UOp, axes: tuple[int, ...]) -> frozenset[int]:
    """The axes in `axes` (longer than one) along which all elements of `source` are equal."""
    found = frozenset(axis for axis in axes if source.shape[axis] != 1)
    stack, seen = [source], {source}
    while stack and found:
        node = stack.pop()
        if node.op in SCALARS:
            continue
        if node.op in GroupOp.Elementwise and _is_index_wise(node):
            stack.extend(s for s in node.src if s not in seen)
            seen.update(node.src)
            if len(seen) > _MOST_NODES:
                return frozenset()
        else:
            found = frozenset(axis for axis in found if _is_invariant(node, axis))
    return found


def _is_index_wise(node: UOp) -> bool:
    """Whether an elementwise node reads its sources index by index; a bitcast may not."""
    return node.op is not Ops.BITCAST or node.src[0].shape == node.shape


def _is_invariant(node: UOp, axis: int) -> bool:
    """Whether a value is equal at all indices of an axis."""
    if node.op not in GroupOp.Movement:
        return False
    view = node.st.views[-1]
    extent, stride = view.shape[axis], view.strides[axis]
    if isinstance(extent, UOp) or isinstance(stride, UOp) or stride != 0:
        return False
    return view.mask is None or view.mask[axis] == (0, extent)


def _shrunk(node: UOp, window: tuple[tuple[Any, Any], ...], done: dict[UOp, UOp]) -> UOp:
    """A window of an expression, taken of its sources; as deep as `_invariant_axes` went."""
    if node.op in SCALARS:
        return node
    if node not in done:
        if node.op in GroupOp.Elementwise and _is_index_wise(node):
            done[node] = node.over(tuple(_shrunk(source, window, done) for source in node.src))
        else:
            done[node] = _simplified_movement(node.shrink(window))
    return done[node]


def _simplified_movement(node: UOp) -> UOp:
    """A reshape of the base where movement ops cancel."""
    base, st = node.base, node.st.simplify()
    if not st.contiguous or st.size != base.size:
        return node
    return base if base.shape == node.shape else base.reshape(node.shape)


def _repeated_operation(x: UOp, op: Ops, count: int) -> UOp:
    """`count` equal values combined."""
    if op is Ops.MAX or x.dtype is dtypes.bool:
        return x
    if op is Ops.ADD:
        return x * UOp.const(x.dtype, truncate(count, x.dtype))
    result, square = None, x
    while True:
        if count & 1:
            result = square if result is None else result * square
        count >>= 1
        if not count:
            return x if result is None else result
        square = square * square
