"""ShapeTracker: a stack of views, the lowest over memory, each other over the one below.

Most chains of moves are one view. A move that one view cannot express (a reshape of a transposed
value) adds another view, and after each move the top views are composed again if possible.
Trackers are immutable and interned: equal trackers are one object, and hash and compare by
identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import methodcaller
from typing import Any, cast

from weft.base.errors import ArgumentError
from weft.base.weak import entry_type
from weft.shape.indexing import expr_of_views, symbolic_ranges
from weft.shape.view import Shape, View, is_static
from weft.shape.view_merge import compose
from weft.uop import Ops, UOp, sint
from weft.uop.symbolic.sint import sprod
from weft.uop.symbolic.sums import linear_terms

_interned: dict[Any, Any] = {}
_Entry = entry_type(_interned)


@lru_cache(1024)
def _in_order(shape: tuple[int, ...]) -> ShapeTracker:
    return ShapeTracker((View.create(shape),))


class ShapeTracker:
    """`ShapeTracker(views)`: where the elements of a value are; `views[-1].shape` is its shape.

    The moves (`reshape`, `permute`, `expand`, `pad`, `shrink`, `flip`) take arguments as UOp's
    moves do and check nothing but the size of a reshape. `a + b` reads b over a: b's memory is a's
    shape.
    """

    __slots__ = ("__weakref__", "_real_strides", "views")

    views: tuple[View, ...]

    def __new__(cls, views: Sequence[View]) -> ShapeTracker:
        key = tuple(views)
        entry = _interned.get(key)
        if entry is not None:
            known = entry()
            if known is not None:
                return known
        if not key:
            raise ArgumentError(
                "a ShapeTracker has at least one view",
                asked="ShapeTracker(())",
                try_="ShapeTracker.from_shape(shape)",
            )
        tracker = object.__new__(cls)
        tracker.views = key
        _interned[key] = _Entry(tracker, methodcaller("drop", key))
        return tracker

    @staticmethod
    def from_shape(shape: Shape, strides: Shape | None = None) -> ShapeTracker:
        """One row-major view of `shape` (or one of the given strides).

        >>> ShapeTracker.from_shape((2, 3)).real_strides()
        (3, 1)
        """
        shape = tuple(shape)
        if strides is None and is_static(shape):
            return _in_order(shape)
        return ShapeTracker((View.create(shape, strides),))

    def __reduce__(self) -> tuple[Any, ...]:
        return (ShapeTracker, (self.views,))

    def __copy__(self) -> ShapeTracker:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ShapeTracker:
        return self

    def __repr__(self) -> str:
        return f"ShapeTracker(views={self.views})"

    # ---- facts ----------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """The shape of the value.

        >>> ShapeTracker.from_shape((2, 3)).shape
        (2, 3)
        """
        return self.views[-1].shape

    @property
    def size(self) -> sint:
        """The number of elements of the value.

        >>> ShapeTracker.from_shape((2, 3)).size
        6
        """
        return self.views[-1].size

    @property
    def contiguous(self) -> bool:
        """Whether it reads memory in order from position 0, nothing masked.

        >>> ShapeTracker.from_shape((2, 3)).contiguous
        True
        >>> ShapeTracker.from_shape((2, 3)).permute((1, 0)).contiguous
        False
        """
        return len(self.views) == 1 and self.views[0].contiguous

    @property
    def static(self) -> bool:
        """Whether no number in it is symbolic.

        >>> ShapeTracker.from_shape((2, 3)).static
        True
        """
        return all(view.static for view in self.views)

    @property
    def masked(self) -> bool:
        """Whether any view hides anything.

        >>> ShapeTracker.from_shape((2,)).pad(((1, 0),)).masked
        True
        """
        return any(view.mask is not None for view in self.views)

    def vars(self) -> set[UOp]:
        """The variables in it.

        >>> n = Variable("n", 1, 8)
        >>> ShapeTracker.from_shape((n, 3)).vars() == {n}
        True
        """
        return set[UOp]().union(*(view.vars() for view in self.views))

    def real_strides(self, ignore_valid: bool = False) -> tuple[sint | None, ...]:
        """The stride of each axis in memory; None where it is not constant.

        With several views a masked axis counts as not constant, unless `ignore_valid`.

        >>> ShapeTracker.from_shape((2, 3)).real_strides()
        (3, 1)
        """
        if len(self.views) == 1 and (ignore_valid or self.views[0].mask is None):
            return self.views[0].strides
        if not ignore_valid:
            try:
                return self._real_strides
            except AttributeError:
                pass
        strides: list[sint | None] = []
        ranges = symbolic_ranges(self.shape)
        index, valid = expr_of_views(self.views, ranges)
        terms = linear_terms(index)
        hidden = valid.toposort() if valid is not None else {}
        for extent, axis in zip(self.shape, ranges):
            if extent == 1:
                strides.append(0)
            elif not ignore_valid and axis in hidden:
                strides.append(None)
            else:
                others = [term for term in terms if term is not axis and axis in term.toposort()]
                strides.append(None if others else terms.get(cast(UOp, axis), 0))
        result = tuple(strides)
        if not ignore_valid:
            self._real_strides: tuple[sint | None, ...] = result
        return result

    # ---- composition ----------------------------------------------------------------------------

    def __add__(self, other: ShapeTracker) -> ShapeTracker:
        result = self
        for view in other.views:
            result = result._push(view)
        return result

    def _push(self, view: View) -> ShapeTracker:
        """`view` read over self, composed as far as it goes."""
        views = list(self.views)
        while views:
            composed = compose(view, views[-1])
            if composed is None:
                break
            view = composed
            views.pop()
        return ShapeTracker((*views, view))

    def simplify(self) -> ShapeTracker:
        """The same map in as few views as composition of neighbours finds.

        >>> ShapeTracker.from_shape((2, 3)).reshape((6,)).simplify().contiguous
        True
        """
        if len(self.views) == 1:
            return self
        result = ShapeTracker(self.views[:1])
        for view in self.views[1:]:
            result = result._push(view)
        return result

    def invert(self, out_shape: Shape) -> ShapeTracker | None:
        """The tracker that undoes this one, giving `out_shape` again; None where none exists.

        Only what loses and repeats nothing can be undone: reshapes, permutations, flips.

        >>> transposed = ShapeTracker.from_shape((2, 3)).permute((1, 0))
        >>> transposed.invert((2, 3)).real_strides()
        (1, 2)
        """
        undone: ShapeTracker | None = None
        for position in range(len(self.views) - 1, -1, -1):
            below = self.views[position - 1].shape if position else tuple(out_shape)
            inverse = _invert_view(self.views[position], below)
            if inverse is None:
                return None
            undone = inverse if undone is None else undone + inverse
        return undone

    def substitute(self, replacements: dict[UOp, UOp]) -> ShapeTracker:
        """Nodes replaced in every number.

        >>> n = Variable("n", 1, 8)
        >>> ShapeTracker.from_shape((n, 3)).substitute({n: n.const_like(4)}).size
        12
        """
        return ShapeTracker([view.substitute(replacements) for view in self.views])

    def unbind(self) -> tuple[ShapeTracker, dict[UOp, int]]:
        """Self with bound variables free, and what each was bound to.

        >>> n = Variable("n", 1, 8).bind(4)
        >>> list(ShapeTracker.from_shape((n, 3)).unbind()[1].values())
        [4]
        """
        if self.static:
            return self, {}
        values: dict[UOp, int] = {}
        views: list[View] = []
        for view in self.views:
            free, found = view.unbind()
            views.append(free)
            values.update(found)
        return ShapeTracker(views), values

    # ---- moves ----------------------------------------------------------------------------------

    def _moved(self, view: View) -> ShapeTracker:
        views = self.views
        if len(views) == 1:
            return ShapeTracker((view,))
        return ShapeTracker(views[:-1])._push(view)

    def reshape(self, shape: Shape) -> ShapeTracker:
        """The same elements in row-major order; ShapeError where the sizes differ.

        >>> ShapeTracker.from_shape((2, 3)).reshape((6,)).shape
        (6,)
        """
        moved = self.views[-1].reshape(shape)
        if moved is None:
            return ShapeTracker((*self.views, View.create(shape)))
        return self._moved(moved)

    def permute(self, order: tuple[int, ...]) -> ShapeTracker:
        """Axis k of the result is axis order[k] of self.

        >>> ShapeTracker.from_shape((2, 3)).permute((1, 0)).real_strides()
        (1, 3)
        """
        return self._moved(self.views[-1].permute(order))

    def expand(self, shape: Shape) -> ShapeTracker:
        """Axes of size one repeated.

        >>> ShapeTracker.from_shape((2, 1)).expand((2, 3)).real_strides()
        (1, 0)
        """
        moved = self.views[-1].expand(shape)
        if moved is None:
            fresh = View.create(self.shape).expand(shape)
            if fresh is None:
                raise ArgumentError(f"{self.shape} cannot be expanded", asked=f"expand to {shape}")
            return ShapeTracker((*self.views, fresh))
        return self._moved(moved)

    def pad(self, padding: tuple[tuple[sint, sint], ...]) -> ShapeTracker:
        """Zeros before and after each axis.

        >>> ShapeTracker.from_shape((2, 3)).pad(((0, 0), (1, 2))).shape
        (2, 6)
        """
        return self._moved(self.views[-1].pad(padding))

    def shrink(self, window: tuple[tuple[sint, sint], ...]) -> ShapeTracker:
        """The window [start, stop) of each axis.

        >>> ShapeTracker.from_shape((4, 4)).shrink(((1, 3), (0, 4))).shape
        (2, 4)
        """
        return self._moved(self.views[-1].shrink(window))

    def flip(self, axes: tuple[bool, ...]) -> ShapeTracker:
        """Axes marked true run backwards.

        >>> ShapeTracker.from_shape((3,)).flip((True,)).real_strides()
        (-1,)
        """
        return self._moved(self.views[-1].flip(axes))

    def move(self, op: Ops, arg: Any) -> ShapeTracker:
        """The movement op of a node, with its arg.

        >>> ShapeTracker.from_shape((2, 3)).move(Ops.PERMUTE, (1, 0)).shape
        (3, 2)
        """
        return _MOVES[op](self, arg)


_MOVES = {
    Ops.RESHAPE: ShapeTracker.reshape,
    Ops.PERMUTE: ShapeTracker.permute,
    Ops.EXPAND: ShapeTracker.expand,
    Ops.PAD: ShapeTracker.pad,
    Ops.SHRINK: ShapeTracker.shrink,
    Ops.FLIP: ShapeTracker.flip,
}


def _invert_view(view: View, below: Shape) -> ShapeTracker | None:
    """The inverse of one view that rearranges all of `below`."""
    if view.mask is not None or view.size != sprod(below):
        return None
    if view.contiguous:
        return ShapeTracker.from_shape(view.shape).reshape(below)
    if not view.static:
        return None
    if 0 in view.shape:
        return ShapeTracker.from_shape(below)
    strides = cast(tuple[int, ...], view.strides)
    flipped = tuple([stride < 0 for stride in strides])
    start = sum((n - 1) * -s for n, s in zip(view.shape, view.strides) if s < 0)
    order = sorted(range(len(view.shape)), key=lambda k: (-abs(strides[k]), view.shape[k] == 1))
    step = 1
    for axis in reversed(order):
        if view.shape[axis] != 1:
            if abs(strides[axis]) != step:
                return None
            step *= view.shape[axis]
    if view.offset != start:
        return None
    # axes of size one have stride 0 and sort last: harmless, the reshape drops them
    return ShapeTracker.from_shape(view.shape).flip(flipped).permute(tuple(order)).reshape(below)
