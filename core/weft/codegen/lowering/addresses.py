"""Address computation: translate views into index expressions that are wide enough.

The lowerer translates all views with this module. An index has 64 bits if a view can reach an
address beyond 32 bits.

Source: A. Aho, M. Lam, R. Sethi, J. Ullman, 'Compilers: Principles, Techniques, and Tools' (2006),
section 6.4.3 (addressing array elements).
"""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.base.sequences import prod
from weft.codegen.lowering.loop_fusion import is_one
from weft.shape import ShapeTracker, View, expr_from_ranges, indices_below
from weft.uop import GroupOp, Ops, UOp, sint

Indices = tuple[UOp, ...]

ZERO = UOp.const(dtypes.int, 0)
_INT_MAX = dtypes.int.max


def address(st: ShapeTracker, indices: Indices) -> tuple[UOp, UOp | None]:
    """(address, validity) of an element of `st`, in 64 bits if 32 could overflow."""
    at, valid = expr_from_ranges(st, indices)
    if _exceeds_32_bits(st):
        at = _widened(at)
        valid = None if valid is None else _widened(valid)
    return at, valid


def max_magnitude(extent: sint) -> int:
    """The largest absolute value of a symbolic integer."""
    return extent if isinstance(extent, int) else max(abs(extent.vmin), abs(extent.vmax))


def _exceeds_32_bits(st: ShapeTracker) -> bool:
    """Whether a view of `st` can reach an address beyond 32 bits.

    The number of elements does not matter, because expanded axes have stride 0.
    """
    return any(_max_address(view) > _INT_MAX for view in st.views)


def _max_address(view: View) -> int:
    """The largest absolute value of an address in a view."""
    terms = zip(map(max_magnitude, view.shape), map(max_magnitude, view.strides))
    return max_magnitude(view.offset) + sum(max(n - 1, 0) * stride for n, stride in terms)


def _is_large(st: ShapeTracker) -> bool:
    """Whether a view of `st` has more elements, or a larger address, than 32 bits can count."""
    counts = (prod(max_magnitude(extent) for extent in view.shape) for view in st.views)
    return _exceeds_32_bits(st) or any(count > _INT_MAX for count in counts)


def _widened(expression: UOp) -> UOp:
    """An integer expression computed in 64 bits; comparisons remain bool."""
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
    """(multi-index in a value of `shape`, validity) of an element of `st`."""
    if _is_large(st):
        at, valid = address(st, indices)
        return _unflatten(at, shape), valid
    below, valid = indices_below(st, indices, View.create(shape))
    return tuple([_in_axis_dtype(index, extent) for index, extent in zip(below, shape)]), valid


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
        indices[axis] = _in_axis_dtype(part.simplify(), extent)
        stride = stride * extent
    return tuple(indices)


def _in_axis_dtype(index: UOp, extent: sint) -> UOp:
    """An index of one axis, in 32 bits unless the extent of the axis needs 64."""
    return index.cast(dtypes.long if max_magnitude(extent) > _INT_MAX else dtypes.int)


def row_major(indices: Indices, shape: tuple[sint, ...]) -> UOp:
    """The row-major position of an element in an array of the largest such shape."""
    at, stride = ZERO, 1
    for index, extent in zip(reversed(indices), reversed(shape)):
        if not is_one(extent):
            at = index * stride + at
            stride *= max_magnitude(extent)
    return at.simplify()


def intersect_gates(a: UOp | None, b: UOp | None) -> UOp | None:
    """The conjunction of two gates; None is a gate that is always true."""
    if a is None or b is None or a is b:
        return b if a is None else a
    return UOp(Ops.AND, dtypes.bool, (a, b)).simplify()
