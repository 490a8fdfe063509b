"""Views as expressions: where an index lies in memory, and whether it is visible.

The whole computation works on linear forms (see `weft.uop.symbolic.sums`), so its results are
canonical from the start. What the masks of the upper views say is assumed in the views below: there
the expression need only be right where the element is visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.base.dtype import DType, dtypes
from weft.shape.view import View
from weft.uop import Ops, UOp, sint
from weft.uop.bounds import Bounds, bounds_of
from weft.uop.symbolic.conditions import TRUE, all_of, conjuncts, less_than, negation
from weft.uop.symbolic.divmod import floor_divide, floor_modulo, gather
from weft.uop.symbolic.simplify import simplify
from weft.uop.symbolic.sint import as_node, high_of, low_of
from weft.uop.symbolic.sums import BoundsOf, Linear, linear_of, multiply, node_of

if TYPE_CHECKING:
    from weft.shape.tracker import ShapeTracker

_INT_LIMIT = dtypes.int.max


def symbolic_ranges(shape: Sequence[sint]) -> tuple[sint, ...]:
    """A RANGE node for each axis, numbered by axis; 0 for axes of size one."""
    return tuple(
        [
            0 if extent.__class__ is int and extent == 1 else _range(extent, axis)
            for axis, extent in enumerate(shape)
        ]
    )


def _range(extent: sint, axis: int) -> UOp:
    if extent.__class__ is int and extent > _INT_LIMIT:
        return UOp.range(UOp.const(dtypes.long, extent), axis, dtype=dtypes.long)
    return UOp.range(as_node(extent), axis)


def _form(value: sint) -> Linear:
    return linear_of(simplify(value)) if isinstance(value, UOp) else Linear(const=value)


def _add_product(total: Linear, form: Linear, factor: sint, dtype: DType) -> None:
    if factor.__class__ is int:
        total.add(form, factor)
        return
    by = _form(factor)
    product = multiply(form, by, dtype)
    if product is None:
        product = Linear({simplify(node_of(form, dtype) * node_of(by, dtype)): 1})
    total.add(product)


class _Walk:
    """The indices of one value on their way down through its views."""

    def __init__(self, ranges: Sequence[sint], dtype: DType) -> None:
        self.dtype = dtype
        self.indices = [_form(index) for index in ranges]
        self.conditions: list[UOp] = []
        self.known: dict[UOp, Bounds] = {}

    def bounds(self, term: UOp) -> Bounds:
        return self.known.get(term) or bounds_of(term)

    def see_through(self, view: View) -> None:
        """Note what the mask of `view` demands of the indices."""
        for index, (low, high), extent in zip(self.indices, view.mask or (), view.shape):
            if low != 0:
                below = self.less(index, low)
                self.conditions += conjuncts(negation(below))
            if high != extent:
                self.conditions += conjuncts(self.less(index, high))
            self.learn(index, low_of(low), high_of(high) - 1)

    def less(self, index: Linear, limit: sint) -> UOp:
        if limit.__class__ is int:
            return less_than(index, limit, self.bounds if self.known else bounds_of)
        return less_than(index.copy().add(_form(limit), -1), 0, bounds_of)

    def learn(self, index: Linear, low: int, high: int) -> None:
        """Assume low <= index <= high from here on."""
        if len(index.terms) != 1:
            return
        ((term, coefficient),) = index.terms.items()
        if coefficient != 1:
            return
        least, greatest = self.bounds(term)
        least, greatest = max(least, low - index.const), min(greatest, high - index.const)
        if least <= greatest and (least, greatest) != bounds_of(term):
            self.known[term] = (least, greatest)

    def position(self, view: View) -> Linear:
        """offset + sum of index * stride"""
        total = _form(view.offset).copy()
        for index, stride in zip(self.indices, view.strides):
            _add_product(total, index, stride, self.dtype)
        return total

    def unravel(self, position: Linear, view: View) -> None:
        """The indices of `view` whose row-major number is `position`."""
        bounds: BoundsOf = self.bounds if self.known else bounds_of
        indices: list[Linear] = []
        left = len([extent for extent in view.shape if extent != 1])
        for extent in reversed(view.shape):
            if extent.__class__ is int and extent == 1:
                indices.append(Linear())
                continue
            left -= 1
            if left == 0:
                indices.append(position)
                position = Linear()
            elif extent.__class__ is int:
                # where the element is visible the position is not negative; elsewhere anything goes
                indices.append(floor_modulo(position, extent, self.dtype, bounds))
                position = floor_divide(position, extent, self.dtype, bounds)
            else:
                node = node_of(position, self.dtype)
                indices.append(_form(node % extent))
                position = _form(node // extent)
        indices.reverse()
        self.indices = indices


def expr_of_views(
    views: Sequence[View], ranges: Sequence[sint], dtype: DType = dtypes.int
) -> tuple[UOp, UOp | None]:
    """(position, visible) of the element at `ranges`; visible is None where every element is.

    Where `visible` is false, the position means nothing and may lie outside of memory.
    """
    walk = _Walk(ranges, dtype)
    position = Linear()
    for number in range(len(views) - 1, -1, -1):
        view = views[number]
        if view.mask is not None:
            walk.see_through(view)
        position = gather(walk.position(view), dtype)
        if dtype is dtypes.int:
            low, high = position.bounds()
            if high > _INT_LIMIT or low < -_INT_LIMIT:
                return expr_of_views(views, ranges, dtypes.long)
        if number:
            walk.unravel(position, views[number - 1])
    valid = all_of(walk.conditions) if walk.conditions else None
    return node_of(position, dtype), None if valid is TRUE else valid


def expr_from_ranges(st: ShapeTracker, ranges: Sequence[sint]) -> tuple[UOp, UOp | None]:
    """(position in memory, gate) of the element of `st` at `ranges`, both canonical.

    `ranges` are one int or index node per axis; the gate is None where every element is visible.
    The position is of dtype int, or long where memory is larger than that. Where the gate is false
    the position means nothing.
    """
    return expr_of_views(st.views, ranges)


def index_and_valid(st: ShapeTracker, ranges: Sequence[sint]) -> tuple[UOp, UOp]:
    """As `expr_from_ranges`, with a constant True for a gate that is not needed."""
    return to_indexed_uops(st.views, ranges)


def to_indexed_uops(views: Sequence[View], ranges: Sequence[sint] | None = None) -> tuple[UOp, UOp]:
    """(position, visible) over `ranges`, or over RANGE nodes numbered by axis."""
    if ranges is None:
        ranges = symbolic_ranges(views[-1].shape)
    index, valid = expr_of_views(views, ranges)
    return index, TRUE if valid is None else valid


def touched(views: Sequence[View]) -> int:
    """One more than the highest position that can be read; 0 where nothing is."""
    top = views[-1]
    if any(0 in view.shape or view.hides_all for view in views):
        return 0
    bottom = views[0]
    high = high_of(bottom.offset)
    for axis, (extent, stride) in enumerate(zip(bottom.shape, bottom.strides)):
        low, stop = bottom.mask[axis] if bottom.mask is not None else (0, extent)
        reach = stride * (stop - 1) if low_of(stride) >= 0 else stride * low
        high += high_of(simplify(reach)) if isinstance(reach, UOp) else reach
    if len(views) > 1:
        index, valid = expr_of_views(views, symbolic_ranges(top.shape))
        if valid is not None and valid.op is Ops.CONST and not valid.arg:
            return 0
        high = min(high, bounds_of(index)[1])
    return max(0, int(high) + 1)
