"""Shrink pushdown: move a SHRINK below the reductions that compute its source.
Also: slice sinking.

The gradient of PAD is a SHRINK of the upstream gradient. In the gradient of a convolution, a
reduction computes that upstream gradient. Without the pushdown, the reduction also computes and
stores the elements of the padding, which no later operation reads.

in:  a node and a window [start, stop) of each of its axes
out: the same window of the node, with each reduction computed on the window alone
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.uop import GroupOp, Ops, UOp

Window = tuple[tuple[int, int], ...]

# depth limit: the gradient of a convolution has about ten nodes for each spatial axis
_DEEPEST = 64
_PASSED = frozenset({Ops.ADD, Ops.CAST})


def push_down_shrink(node: UOp, window: Window) -> UOp:
    """`node.shrink(window)`, with the SHRINK moved below reductions where that is possible.

    Shape, dtype and values are those of `node.shrink(window)`. The node has no other users, so that
    no reduction is computed twice.
    """
    plain = all(isinstance(end, int) for pair in window for end in pair)
    found = _below(node, window, 0) if plain and _is_static(node) else None
    return node.shrink(window) if found is None else found


def _below(node: UOp, window: Window, depth: int) -> UOp | None:
    """The window of a node, moved below a reduction; None if it reaches no reduction."""
    if depth > _DEEPEST or not _is_static(node):
        return None
    if window == _whole(node.shape):
        return None
    if node.op in GroupOp.Movement:
        passed = _through(node, window)
        if passed is None:
            return None
        below, arg, rest = passed
        source = _below(node.src[0], below, depth + 1)
        if source is None:
            return None
        moved = UOp(node.op, node.dtype, (source,), arg)
        return moved if rest == _whole(moved.shape) else moved.shrink(rest)
    if node.op is Ops.REDUCE_AXIS:
        shape = node.src[0].shape
        inner = tuple(
            (0, shape[axis]) if axis in node.arg.axes else pair for axis, pair in enumerate(window)
        )
        source = _below(node.src[0], inner, depth + 1)
        return node.over((node.src[0].shrink(inner) if source is None else source,))
    if node.op in _PASSED and all(source.shape == node.shape for source in node.src):
        parts = [_below(source, window, depth + 1) for source in node.src]
        if all(part is None for part in parts):
            return None
        pairs = zip(node.src, parts)
        return node.over(
            tuple([source.shrink(window) if part is None else part for source, part in pairs])
        )
    return None


def _through(node: UOp, window: Window) -> tuple[Window, object, Window] | None:
    """(window of the source, new arg of the movement, window of its result); None: impossible."""
    shape = node.src[0].shape
    behind = tuple((0, stop - start) for start, stop in window)
    if node.op is Ops.PERMUTE:
        order = node.arg
        return tuple(window[order.index(axis)] for axis in range(len(order))), order, behind
    if node.op is Ops.FLIP:
        mirrored = (
            (extent - stop, extent - start) if flipped else (start, stop)
            for (start, stop), extent, flipped in zip(window, shape, node.arg)
        )
        return tuple(mirrored), node.arg, behind
    if node.op is Ops.EXPAND:
        below = ((0, 1) if extent == 1 else pair for extent, pair in zip(shape, window))
        return tuple(below), tuple(stop - start for start, stop in window), behind
    if node.op is Ops.SHRINK:
        below = (
            (first + start, first + stop) for (first, _), (start, stop) in zip(node.arg, window)
        )
        return tuple(below), behind, behind
    if node.op is Ops.PAD:
        return _through_padding(shape, node.arg, window)
    return _through_reshape(shape, node.shape, window) if node.op is Ops.RESHAPE else None


def _through_padding(
    shape: Sequence[int], pads: Window, window: Window
) -> tuple[Window, object, Window] | None:
    """As `_through`, for PAD: the window of the source, and the padding inside the window."""
    below, left = [], []
    for extent, (before, _), (start, stop) in zip(shape, pads, window):
        first, last = max(start - before, 0), min(stop - before, extent)
        if first >= last:
            return None
        below.append((first, last))
        left.append((max(before - start, 0), max(stop - before - extent, 0)))
    return tuple(below), tuple(left), tuple((0, stop - start) for start, stop in window)


def _through_reshape(
    shape: Sequence[int], after: Sequence[int], window: Window
) -> tuple[Window, object, Window]:
    """As `_through`, for RESHAPE: windows of unchanged axes move below it, others stay above."""
    places = {_behind(shape, axis): axis for axis, extent in enumerate(shape) if extent != 1}
    below = list(_whole(shape))
    arg, rest = list(after), list(window)
    for axis, (extent, (start, stop)) in enumerate(zip(after, window)):
        place = places.get(_behind(after, axis))
        if extent != 1 and place is not None and shape[place] == extent:
            below[place] = (start, stop)
            arg[axis] = stop - start
            rest[axis] = (0, stop - start)
    return tuple(below), tuple(arg), tuple(rest)


def _behind(shape: Sequence[int], axis: int) -> int:
    """The row-major stride of an axis."""
    size = 1
    for extent in shape[axis + 1 :]:
        size *= extent
    return size


def _whole(shape: Sequence[int]) -> Window:
    return tuple((0, extent) for extent in shape)


def _is_static(node: UOp) -> bool:
    return all(isinstance(extent, int) and extent > 0 for extent in node.shape)
