"""Address computation: translate views into index expressions that are wide enough.

Everything the lowerer asks of views goes through here.

Source: none known; sound because every index type holds the largest address of its view.
"""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.base.sequences import prod
from weft.codegen.lowering.loop_fusion import is_one
from weft.shape.indexing import expr_from_ranges, indices_below
from weft.shape.tracker import ShapeTracker
from weft.shape.view import View
from weft.uop.node import UOp, sint
from weft.uop.ops import GroupOp, Ops

Indices = tuple[UOp, ...]

ZERO = UOp.const(dtypes.int, 0)
_LARGEST = dtypes.int.max


def address(st: ShapeTracker, indices: Indices) -> tuple[UOp, UOp | None]:
    """Where an element of `st` is, and whether it is: in 64 bits where 32 could overflow."""
    at, valid = expr_from_ranges(st, indices)
    if isinstance(at, int):
        at = UOp.const(dtypes.int, at)
    if _reaches_far(st):
        at = _widened(at)
        valid = None if valid is None else _widened(valid)
    return at, valid


def most(extent: sint) -> int:
    return extent if isinstance(extent, int) else max(abs(extent.vmin), abs(extent.vmax))


def _reaches_far(st: ShapeTracker) -> bool:
    """Whether some place that a view of `st` reaches could be beyond what 32 bits hold.

    How many elements it has does not matter: those of an axis that is repeated are in one place.
    """
    return any(_reach(view) > _LARGEST for view in st.views)


def _reach(view: View) -> int:
    steps = zip(view.shape, view.strides)
    return most(view.offset) + sum(max(most(n) - 1, 0) * most(stride) for n, stride in steps)


def _is_large(st: ShapeTracker) -> bool:
    """Whether some view of `st` has or reaches more than 32 bits can count."""
    counts = (prod(most(extent) for extent in view.shape) for view in st.views)
    return _reaches_far(st) or any(count > _LARGEST for count in counts)


def _widened(expression: UOp) -> UOp:
    """The same integer expression computed in 64 bits; comparisons stay bool."""
    wide: dict[UOp, UOp] = {}
    for node in expression.toposort(gate=lambda u: u.op not in (Ops.RANGE, Ops.DEFINE_VAR)):
        if node.dtype is not dtypes.int and not node.src:
            wide[node] = node
        elif node.op is Ops.CONST:
            wide[node] = UOp.const(dtypes.long, node.arg)
        elif node.op is Ops.CAST and node.dtype is dtypes.long:
            wide[node] = wide[node.src[0]]
        elif node.op in GroupOp.ALU:
            dtype = dtypes.long if node.dtype is dtypes.int else node.dtype
            wide[node] = UOp(node.op, dtype, tuple(wide[s] for s in node.src), node.arg)
        else:
            wide[node] = node.cast(dtypes.long)
    return wide[expression]


def indices_in(
    st: ShapeTracker, indices: Indices, shape: tuple[sint, ...]
) -> tuple[Indices, UOp | None]:
    """Which element of a value of `shape` an element of `st` is, and whether it is any."""
    if _is_large(st):
        at, valid = address(st, indices)
        return _unflatten(at, shape), valid
    below, valid = indices_below(st, indices, View.create(shape))
    return tuple([_along(extent, index) for index, extent in zip(below, shape)]), valid


def _unflatten(at: UOp, shape: tuple[sint, ...]) -> Indices:
    """The multi-index of element number `at` of a value of this shape."""
    axes = [axis for axis, extent in enumerate(shape) if not is_one(extent)]
    indices = [ZERO] * len(shape)
    if not axes:
        return tuple(indices)
    stride: sint = 1
    for place, axis in enumerate(reversed(axes)):
        extent = shape[axis]
        part = at if is_one(stride) else at // stride
        if place < len(axes) - 1:
            part = part % extent
        indices[axis] = _along(extent, part.simplify())
        stride = stride * extent
    return tuple(indices)


def _along(extent: sint, index: UOp) -> UOp:
    """An index of one axis: 32 bits nearly always do, whatever the number of all elements."""
    return index.cast(dtypes.long if most(extent) > _LARGEST else dtypes.int)


def flat(indices: Indices, shape: tuple[sint, ...]) -> UOp:
    """The place of an element in an array that has room for the largest such shape."""
    at, stride = ZERO, 1
    for index, extent in zip(reversed(indices), reversed(shape)):
        if not is_one(extent):
            at = index * stride + at
            stride *= most(extent)
    return at.simplify()


def both(a: UOp | None, b: UOp | None) -> UOp | None:
    if a is None or b is None or a is b:
        return b if a is None else a
    return UOp(Ops.AND, dtypes.bool, (a, b)).simplify()
