"""Row buffering: store reductions in a local row buffer so that later operations vectorize.

in:  spec.kernel_ast
out: spec.kernel_ast in which such sums are rows kept on chip (CONTIGUOUS with a Row)

`gelu(x @ w.T)`: both factors lie in memory along the axis that is summed, so the vectors of the sum
run along it, and each sum is one number. Whatever is done with it would be done number by number.
With a row of sums on chip, it is done for a vector of them at a time. Not where many rows share the
weights: these are packed then, and vectors are along the outputs.

Source: none known; sound because the buffer holds the same values.
"""

from __future__ import annotations

from weft.plugin import GroupOp, Ops, Row, Target, UOp, is_one, opens_loops, prod, shape_of, sint
from weft_simd.choice.operand_packing import REUSED

_COSTS = {
    **dict.fromkeys((Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.POW), 20),
    **dict.fromkeys((Ops.FDIV, Ops.RECIP, Ops.SQRT), 8),
}
_WORTH = 16  # operations for each sum from which on it pays to do them as vectors
_SHORTEST = 8  # sums of a row


def run(ast: UOp, target: Target) -> UOp:
    """The kernel with sums kept on chip where that pays; itself elsewhere."""
    limits = target.compute.limits
    if not target.compute.vector_widths or limits.global_size is not None:
        return ast
    known = [node for node in ast.toposort() if opens_loops(node)]
    rows: dict[UOp, UOp] = {}
    for store in ast.src:
        above = store.src[1].toposort(gate=lambda u: not opens_loops(u) and u.op is not Ops.LOAD)
        sums = [u for u in above if u.op is Ops.REDUCE_AXIS]
        if not sums or sum(_COSTS.get(u.op, 1) for u in above if u.op in GroupOp.ALU) < _WORTH:
            continue
        for node in sums:
            axis = _last_axis(node)
            if axis is None or (limits.scratch_bytes and _is_packed(node, axis)):
                continue
            if _fits(node, axis, limits.row_bytes) and _in_lanes(node, axis):
                if all(_keeps_rows(view) for view in above if view.op is Ops.VIEW):
                    rows[node] = UOp(Ops.CONTIGUOUS, node.dtype, (node,), Row(axis))
    # a sum that is also needed by another, or outside the row, would be computed twice
    alone = len(rows) == len(known) and not any(
        opens_loops(below) for node in rows for below in list(node.toposort())[:-1]
    )
    return ast.substitute(rows) if rows and alone else ast


def _last_axis(node: UOp) -> int | None:
    """The innermost axis along which there is more than one sum."""
    axes = [axis for axis, extent in enumerate(shape_of(node)) if not is_one(extent)]
    return axes[-1] if axes else None


def _fits(node: UOp, axis: int, most: int) -> bool:
    shape = shape_of(node)
    if not all(isinstance(extent, int) for extent in shape):
        return False
    length = prod(shape[axis:])
    return length >= _SHORTEST and length * node.dtype.itemsize <= most


def _in_lanes(node: UOp, axis: int) -> bool:
    """Whether nothing that is summed lies in memory along `axis`, and something along the sum."""
    if node.arg.op is not Ops.ADD:
        return False
    summed = max(a for a, extent in enumerate(shape_of(node.src[0])) if a in node.arg.axes)
    along_sum = False
    for strides in _strides_below(node):
        if strides[axis] == 1:
            return False
        along_sum = along_sum or strides[summed] == 1
    return along_sum


def _is_packed(node: UOp, axis: int) -> bool:
    """Whether so many sums share what moves along `axis` that a panel of it pays: lanes are then
    along the outputs, and nothing is done number by number."""
    shape = shape_of(node)
    others = [a for a, extent in enumerate(shape) if a != axis and not is_one(extent)]
    moving = [strides for strides in _strides_below(node) if not _is_still(strides[axis])]
    if not moving or not all(isinstance(shape[a], int) for a in others):
        return False
    shared = [[shape[a] for a in others if _is_still(strides[a])] for strides in moving]
    return all(prod(extents) >= REUSED for extents in shared)


def _is_still(stride: sint) -> bool:
    return isinstance(stride, int) and stride == 0


def _strides_below(node: UOp) -> list[tuple[sint, ...]]:
    """How everything that a sum reads lies in memory."""
    below = node.src[0].toposort(
        gate=lambda u: not opens_loops(u) and u.op not in (Ops.LOAD, Ops.VIEW)
    )
    leaves = (u for u in below if u.op is Ops.LOAD or u.op is Ops.VIEW)
    trackers = (u.src[0].arg if u.op is Ops.LOAD else u.arg for u in leaves)
    return [st.views[-1].strides for st in trackers]


def _keeps_rows(view: UOp) -> bool:
    """Whether a view only adds axes of one element, or takes them away."""
    before = [extent for extent in shape_of(view.src[0]) if not is_one(extent)]
    after = [extent for extent in view.arg.shape if not is_one(extent)]
    return view.arg.contiguous and before == after
