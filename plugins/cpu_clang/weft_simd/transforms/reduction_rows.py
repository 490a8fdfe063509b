"""Row buffering: store reductions in a local row buffer so that later operations vectorize.
Also: loop distribution, loop fission.

in:  spec.kernel_ast
out: spec.kernel_ast in which such reductions are local rows (CONTIGUOUS with a Row)

In `gelu(x @ w.T)` both factors are contiguous along the reduced axis. The vector lanes are along
that axis, so each result is a scalar, and its epilogue would be scalar code. With a local row of
results the epilogue is vectorized. If many rows share the weights, operand packing applies instead,
and lanes are along the outputs.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001): scalar
expansion and loop distribution.
"""

from __future__ import annotations

from weft.plugin import GroupOp, Ops, Row, Target, UOp, is_one, opens_loops, prod, shape_of, sint
from weft_simd import thresholds

_COSTS = {
    **dict.fromkeys((Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.POW), thresholds.TRANSCENDENTAL_OPERATIONS),
    **dict.fromkeys((Ops.FDIV, Ops.RECIP, Ops.SQRT), thresholds.DIVISION_OPERATIONS),
}


def run(ast: UOp, target: Target) -> UOp:
    """The kernel with local rows of reductions; the same kernel if they are not profitable."""
    limits = target.compute.limits
    if not target.compute.vector_widths or limits.global_size is not None:
        return ast
    all_nests = [node for node in ast.toposort() if opens_loops(node)]
    rows: dict[UOp, UOp] = {}
    for store in ast.src:
        above = store.src[1].toposort(gate=lambda u: not opens_loops(u) and u.op is not Ops.LOAD)
        sums = [u for u in above if u.op is Ops.REDUCE_AXIS]
        operations = sum(_COSTS.get(u.op, 1) for u in above if u.op in GroupOp.ALU)
        if not sums or operations < thresholds.ROW_OPERATIONS:
            continue
        for node in sums:
            axis = _last_axis(node)
            if axis is None or (limits.scratch_bytes and _is_packed(node, axis)):
                continue
            if _fits(node, axis, limits.row_bytes) and _has_lanes_along_reduction(node, axis):
                if all(_preserves_rows(view) for view in above if view.op is Ops.VIEW):
                    rows[node] = UOp(Ops.CONTIGUOUS, node.dtype, (node,), Row(axis))
    # a reduction that another one uses would be computed twice
    independent = len(rows) == len(all_nests) and not any(
        opens_loops(below) for node in rows for below in list(node.toposort())[:-1]
    )
    return ast.substitute(rows) if rows and independent else ast


def _last_axis(node: UOp) -> int | None:
    """The innermost axis with more than one result; None for a scalar."""
    axes = [axis for axis, extent in enumerate(shape_of(node)) if not is_one(extent)]
    return axes[-1] if axes else None


def _fits(node: UOp, axis: int, limit: int) -> bool:
    """Whether a row from `axis` on is long enough, and has at most `limit` bytes."""
    shape = shape_of(node)
    if not all(isinstance(extent, int) for extent in shape):
        return False
    length = prod(shape[axis:])
    return length >= thresholds.LEAST_ROW_LENGTH and length * node.dtype.itemsize <= limit


def _has_lanes_along_reduction(node: UOp, axis: int) -> bool:
    """Whether no operand of a sum is contiguous along `axis`, and one is along the reduced axis."""
    if node.arg.op is not Ops.ADD:
        return False
    reduced = max(a for a, extent in enumerate(shape_of(node.src[0])) if a in node.arg.axes)
    found = False
    for strides in _operand_strides(node):
        if strides[axis] == 1:
            return False
        found = found or strides[reduced] == 1
    return found


def _is_packed(node: UOp, axis: int) -> bool:
    """Whether so many results share the operands along `axis` that operand packing applies.

    Lanes are then along the outputs, and the epilogue is vectorized anyway.
    """
    shape = shape_of(node)
    others = [a for a, extent in enumerate(shape) if a != axis and not is_one(extent)]
    varying = [strides for strides in _operand_strides(node) if not _is_zero(strides[axis])]
    if not varying or not all(isinstance(shape[a], int) for a in others):
        return False
    shared = [[shape[a] for a in others if _is_zero(strides[a])] for strides in varying]
    return all(prod(extents) >= thresholds.REUSED for extents in shared)


def _is_zero(stride: sint) -> bool:
    return isinstance(stride, int) and stride == 0


def _operand_strides(node: UOp) -> list[tuple[sint, ...]]:
    """The strides of each operand of a reduction."""
    below = node.src[0].toposort(
        gate=lambda u: not opens_loops(u) and u.op not in (Ops.LOAD, Ops.VIEW)
    )
    leaves = (u for u in below if u.op is Ops.LOAD or u.op is Ops.VIEW)
    trackers = (u.src[0].arg if u.op is Ops.LOAD else u.arg for u in leaves)
    return [st.views[-1].strides for st in trackers]


def _preserves_rows(view: UOp) -> bool:
    """Whether a view only inserts or removes axes of one element."""
    before = [extent for extent in shape_of(view.src[0]) if not is_one(extent)]
    after = [extent for extent in view.arg.shape if not is_one(extent)]
    return view.arg.contiguous and before == after
