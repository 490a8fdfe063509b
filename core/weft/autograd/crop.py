"""Windows of sums are taken before the sums: no gradient is computed where padding was.

The gradient of padding is a window of what flows in. Where that is a sum just made, as behind the
windows of a convolution, its rims would be computed, stored and never looked at.

in:  a node and a window [start, stop) of each of its axes
out: the window, taken below every sum on the way that movement lets it reach
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.uop import GroupOp, Ops, UOp

Window = tuple[tuple[int, int], ...]

# how far a window is taken: the gradient of a convolution is about ten steps for each spatial axis
_DEEPEST = 64
_PASSED = frozenset({Ops.ADD, Ops.CAST})


def cropped(node: UOp, window: Window) -> UOp:
    """`node.shrink(window)`, of the same shape, dtype and values; `node` is no one else's."""
    plain = all(isinstance(end, int) for pair in window for end in pair)
    found = _below(node, window, 0) if plain and _is_static(node) else None
    return node.shrink(window) if found is None else found


def _below(node: UOp, window: Window, depth: int) -> UOp | None:
    """The window of a node where there is a sum below that it reaches, else None."""
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
    """The window below a movement, what its arg becomes, and what is left to be done behind it."""
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
    """The part of a window that is no padding, and what is padding of it."""
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
    """Axes that a reshape leaves alone take their windows along; the others keep theirs."""
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
    """How many elements lie between neighbours along an axis."""
    size = 1
    for extent in shape[axis + 1 :]:
        size *= extent
    return size


def _whole(shape: Sequence[int]) -> Window:
    return tuple((0, extent) for extent in shape)


def _is_static(node: UOp) -> bool:
    return all(isinstance(extent, int) and extent > 0 for extent in node.shape)
