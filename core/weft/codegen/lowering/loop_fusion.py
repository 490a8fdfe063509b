"""Loop fusion: choose the loops that the stores of one kernel share.

Two stores share the loops of their common leading axes, so that what both need is read or computed
once for both; an axis of one element is no loop. Each keeps the rest of its axes as loops of its
own, inside the shared ones.

Loops nest in one order. Whatever two stores share must be outermost in both, so what any two share
is kept a chain: of two such sets of loops, one holds the other.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001): loop fusion.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import NamedTuple

from weft.shape.infer import shape_of
from weft.uop.args import Row
from weft.uop.node import UOp, sint
from weft.uop.ops import Ops

Shape = tuple[sint, ...]


class _Nest(NamedTuple):
    """One store that has its loops: `ranges` by axis."""

    shape: Shape
    value: UOp
    ranges: dict[int, UOp]
    loops: frozenset[UOp]

    def begins_with(self, loops: Collection[UOp]) -> bool:
        """Whether its outermost loops, in the order of its axes, are these."""
        mine = [self.ranges[axis] for axis in sorted(self.ranges)]
        return set(mine[: len(loops)]) == set(loops)


class StoreNests:
    """The loops of the stores of a kernel, those with most axes added first.

    together: whether stores share loops though each would be faster by itself, which is what a
    launch grid needs: without an axis that all stores have there would be no grid.
    outer: how many leading axes stores share in any case where these are equal, since rows are kept
    on chip there.
    """

    def __init__(self, together: bool, outer: int = 0) -> None:
        self.together = together
        self.outer = outer
        self.nests: list[_Nest] = []

    def add(self, shape: Shape, value: UOp, ranges: dict[int, UOp]) -> None:
        """Note a store and its loops."""
        self.nests.append(_Nest(shape, value, dict(ranges), frozenset(ranges.values())))

    def shared(self, shape: Shape, value: UOp) -> dict[int, UOp]:
        """The loops of earlier stores, by axis, in which a store of this shape shall stand."""
        found = [(_common(nest, shape), nest) for nest in self.nests]
        found.sort(key=lambda pair: -len(pair[0]))
        axes = len(_loop_axes(shape))
        for ranges, nest in found:
            alike = len(ranges) == axes and nest.begins_with(ranges.values())
            if ranges and self._nest_in_order(ranges) and self._worth(nest, value, alike):
                return ranges
        for nest in self.nests:
            if nest.shape[: self.outer] == shape[: self.outer]:
                return {axis: loop for axis, loop in nest.ranges.items() if axis < self.outer}
        return {}

    def _nest_in_order(self, ranges: dict[int, UOp]) -> bool:
        sets = [nest.loops for nest in self.nests]
        loops = frozenset(ranges.values())
        sets = [*_connected(sets, loops), loops]
        shared = [a & b for a, b in itertools.combinations(sets, 2)]
        return all(a <= b or b <= a for a, b in itertools.combinations(shared, 2))

    def _worth(self, nest: _Nest, value: UOp, alike: bool) -> bool:
        """alike: whether the loops of a store are all in the other's, which stays as it was."""
        if self.together:
            return True
        mine, theirs = _below(value), _below(nest.value)
        both = mine.keys() & theirs.keys()
        if any(opens_loops(node) and not _is_before(node) for node in both):
            return True
        if _is_tiled(mine) or _is_tiled(theirs):
            return False  # each in the tiles that suit it
        return alike or not _buffers(mine).isdisjoint(_buffers(theirs))


def is_one(extent: sint) -> bool:
    """Whether an axis is no loop."""
    return isinstance(extent, int) and extent == 1


def opens_loops(node: UOp) -> bool:
    """Whether a value is computed in loops of its own: a reduce, or a row kept on chip."""
    if node.op is Ops.CONTIGUOUS:
        return isinstance(node.arg, Row)
    return node.op is Ops.REDUCE_AXIS


def reads_of(value: UOp) -> frozenset[UOp]:
    """What is read in the loop in which `value` is computed."""
    below = value.toposort(gate=lambda u: not opens_loops(u) and u.op is not Ops.LOAD)
    return frozenset(u for u in below if u.op is Ops.LOAD or opens_loops(u))


def _common(nest: _Nest, shape: Shape) -> dict[int, UOp]:
    """The loops of the leading axes that are those of `nest` too; of a shape with more or fewer
    axes, where these are of one element, all loops."""
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
    return [axis for axis, extent in enumerate(shape) if not is_one(extent)]


def _connected(sets: list[frozenset[UOp]], start: frozenset[UOp]) -> list[frozenset[UOp]]:
    """Those of `sets` that share loops with `start`, or with one that does."""
    reached, left, found = start, list(sets), []
    while True:
        more = [one for one in left if not one.isdisjoint(reached)]
        if not more:
            return found
        found += more
        left = [one for one in left if one.isdisjoint(reached)]
        reached = reached.union(*more)


def _below(value: UOp) -> dict[UOp, None]:
    """What is computed for a value in the loops of its store: no row that is there before."""
    return value.toposort(gate=lambda u: u.op is not Ops.LOAD and not _is_before(u))


def _is_before(node: UOp) -> bool:
    """Whether a value is kept on chip, whole, before the loops of any store begin."""
    return node.op is Ops.CONTIGUOUS and isinstance(node.arg, Row) and node.arg.outer == 0


def _buffers(below: dict[UOp, None]) -> frozenset[UOp]:
    return frozenset(u.src[0].src[0] for u in below if u.op is Ops.LOAD)


def _is_tiled(below: dict[UOp, None]) -> bool:
    """Whether a sum of products reads each factor again and again along an axis of its own."""
    return any(node.op is Ops.REDUCE_AXIS and _reuses_both(node) for node in below)


def _reuses_both(reduce: UOp) -> bool:
    shape = shape_of(reduce)
    axes = [axis for axis, extent in enumerate(shape) if not is_one(extent)]
    below = reduce.src[0].toposort(
        gate=lambda u: not opens_loops(u) and u.op not in (Ops.LOAD, Ops.VIEW)
    )
    missed: set[frozenset[int]] = set()
    for node in below:
        if node.op is not Ops.LOAD and node.op is not Ops.VIEW:
            continue
        st = node.src[0].arg if node.op is Ops.LOAD else node.arg
        strides = st.views[-1].strides
        missed.add(frozenset(axis for axis in axes if strides[axis] == 0))
    return any(a - b and b - a for a, b in itertools.combinations(missed, 2))
