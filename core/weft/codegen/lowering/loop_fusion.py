"""Loop fusion: choose the loops that the stores of one kernel share.

Two stores share the loops of their common leading axes, so common loads and values are computed
once. An axis of one element has no loop. The remaining axes of each store are its own loops, nested
in the shared ones.

Loops have one nesting order: shared loops must be outermost in both stores. So for any two sets of
shared loops, one contains the other.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001): loop fusion.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import NamedTuple

from weft.shape import shape_of
from weft.uop import Ops, Row, UOp, sint

Shape = tuple[sint, ...]


class _Nest(NamedTuple):
    """The loops of a store: `ranges` by axis."""

    shape: Shape
    value: UOp
    ranges: dict[int, UOp]
    loops: frozenset[UOp]

    def has_outermost(self, loops: Collection[UOp]) -> bool:
        """Whether these loops are the outermost ones, in the order of the axes."""
        mine = [self.ranges[axis] for axis in sorted(self.ranges)]
        return set(mine[: len(loops)]) == set(loops)


class StoreNests:
    """The loop nests of the stores of a kernel; stores with the most axes are added first.

    always_fuse: whether stores share loops even if that is not profitable. A launch grid needs an
    axis that all stores share.
    outer: the number of leading axes that stores always share if equal, because local rows are
    filled in these loops.
    """

    def __init__(self, always_fuse: bool, outer: int = 0) -> None:
        self.always_fuse = always_fuse
        self.outer = outer
        self.nests: list[_Nest] = []

    def add(self, shape: Shape, value: UOp, ranges: dict[int, UOp]) -> None:
        """Record a store and its loops."""
        self.nests.append(_Nest(shape, value, dict(ranges), frozenset(ranges.values())))

    def shared(self, shape: Shape, value: UOp) -> dict[int, UOp]:
        """The loops of earlier stores that a store of this shape shares, by axis."""
        found = [(_common(nest, shape), nest) for nest in self.nests]
        found.sort(key=lambda pair: -len(pair[0]))
        axes = len(_loop_axes(shape))
        for ranges, nest in found:
            complete = len(ranges) == axes and nest.has_outermost(ranges.values())
            if ranges and self._is_legal(ranges) and self._is_profitable(nest, value, complete):
                return ranges
        for nest in self.nests:
            if nest.shape[: self.outer] == shape[: self.outer]:
                return {axis: loop for axis, loop in nest.ranges.items() if axis < self.outer}
        return {}

    def _is_legal(self, ranges: dict[int, UOp]) -> bool:
        """Whether one nesting order satisfies all stores if another one shares these loops."""
        sets = [nest.loops for nest in self.nests]
        loops = frozenset(ranges.values())
        sets = [*_connected(sets, loops), loops]
        shared = [a & b for a, b in itertools.combinations(sets, 2)]
        return all(a <= b or b <= a for a, b in itertools.combinations(shared, 2))

    def _is_profitable(self, nest: _Nest, value: UOp, complete: bool) -> bool:
        """Whether a store should share loops with `nest`.

        complete: whether all loops of the store are loops of `nest`, which stays unchanged.
        """
        if self.always_fuse:
            return True
        mine, theirs = _computed_in_loops(value), _computed_in_loops(nest.value)
        common = mine.keys() & theirs.keys()
        if any(opens_loops(node) and not _is_global_row(node) for node in common):
            return True
        if _is_tiled(mine) or _is_tiled(theirs):
            return False  # each store needs its own tile shape
        return complete or not _buffers(mine).isdisjoint(_buffers(theirs))


def is_one(extent: sint) -> bool:
    """Whether an axis has one element, and so no loop."""
    return isinstance(extent, int) and extent == 1


def opens_loops(node: UOp) -> bool:
    """Whether a value is computed in loops of its own: a reduction or a local row."""
    if node.op is Ops.CONTIGUOUS:
        return isinstance(node.arg, Row)
    return node.op is Ops.REDUCE_AXIS


def reads_of(value: UOp) -> frozenset[UOp]:
    """The loads, reductions and rows that `value` uses directly."""
    below = value.toposort(gate=lambda u: not opens_loops(u) and u.op is not Ops.LOAD)
    return frozenset(u for u in below if u.op is Ops.LOAD or opens_loops(u))


def _common(nest: _Nest, shape: Shape) -> dict[int, UOp]:
    """The loops of `nest` for the leading axes that it has in common with a shape.

    Shapes that differ only in axes of one element have all loops in common.
    """
    if len(shape) != len(nest.shape):
        own, its = _loop_axes(shape), _loop_axes(nest.shape)
        if [shape[axis] for axis in own] == [nest.shape[axis] for axis in its]:
            return {axis: nest.ranges[other] for axis, other in zip(own, its)}
    ranges: dict[int, UOp] = {}
    for axis, (mine, theirs) in enumerate(zip(shape, nest.shape)):
        if is_one(mine) or is_one(theirs):
            continue
        if mine != theirs:
            break
        ranges[axis] = nest.ranges[axis]
    return ranges


def _loop_axes(shape: Shape) -> list[int]:
    """The axes of more than one element."""
    return [axis for axis, extent in enumerate(shape) if not is_one(extent)]


def _connected(sets: list[frozenset[UOp]], start: frozenset[UOp]) -> list[frozenset[UOp]]:
    """The sets that are connected with `start` by shared loops."""
    reached, left = start, list(sets)
    found: list[frozenset[UOp]] = []
    while True:
        more = [one for one in left if not one.isdisjoint(reached)]
        if not more:
            return found
        found += more
        left = [one for one in left if one.isdisjoint(reached)]
        reached = reached.union(*more)


def _computed_in_loops(value: UOp) -> dict[UOp, None]:
    """The nodes that are computed in the loops of a store; global rows are computed before."""
    return value.toposort(gate=lambda u: u.op is not Ops.LOAD and not _is_global_row(u))


def _is_global_row(node: UOp) -> bool:
    """Whether a value is a local row that is filled once, before the loops of all stores."""
    return node.op is Ops.CONTIGUOUS and isinstance(node.arg, Row) and node.arg.outer == 0


def _buffers(below: dict[UOp, None]) -> frozenset[UOp]:
    """The buffers that nodes load from."""
    return frozenset(u.src[0].src[0] for u in below if u.op is Ops.LOAD)


def _is_tiled(below: dict[UOp, None]) -> bool:
    """Whether a sum of products reuses each factor along another axis, as a matrix product does."""
    return any(node.op is Ops.REDUCE_AXIS and _reuses_both(node) for node in below)


def _reuses_both(reduce: UOp) -> bool:
    """Whether two operands of a reduction are each invariant in an axis of the other."""
    shape = shape_of(reduce)
    axes = [axis for axis, extent in enumerate(shape) if not is_one(extent)]
    below = reduce.src[0].toposort(
        gate=lambda u: not opens_loops(u) and u.op not in (Ops.LOAD, Ops.VIEW)
    )
    invariant: set[frozenset[int]] = set()
    for node in below:
        if node.op is not Ops.LOAD and node.op is not Ops.VIEW:
            continue
        st = node.src[0].arg if node.op is Ops.LOAD else node.arg
        strides = st.views[-1].strides
        invariant.add(frozenset(axis for axis in axes if strides[axis] == 0))
    return any(a - b and b - a for a, b in itertools.combinations(invariant, 2))
