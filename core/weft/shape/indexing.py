"""Index expressions of views: the memory position of an element, and whether it is visible.

The computation uses linear forms (`weft.uop.symbolic.sums`), so its results are canonical. The
masks of upper views are assumptions in the views below, because an expression only needs to be
correct where the element is visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weft.base.dtype import DType, dtypes
from weft.shape.view import View, is_static
from weft.uop import Ops, UOp, bounds_of, conjuncts, sint
from weft.uop.bounds import Bounds
from weft.uop.symbolic.conditions import TRUE, all_of, less_than, negation
from weft.uop.symbolic.divmod import constant_divisor, floor_divide, floor_modulo, gather
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
    if isinstance(factor, int):
        total.add(form, factor)
        return
    by = _form(factor)
    product = multiply(form, by, dtype)
    if product is None:
        product = Linear({simplify(node_of(form, dtype) * node_of(by, dtype)): 1})
    total.add(product)


class _IndexTranslation:
    """Translates the indices of an element through the views of a tracker, from top to bottom."""

    def __init__(self, ranges: Sequence[sint], dtype: DType) -> None:
        self.dtype = dtype
        self.indices = [_form(index) for index in ranges]
        self.conditions: list[UOp] = []
        self.known: dict[UOp, Bounds] = {}
        self.derived: dict[UOp, Bounds] = {}

    def bounds(self, term: UOp) -> Bounds:
        return self.known.get(term) or self.bounds_of_part(term)

    def bounds_of_part(self, term: UOp) -> Bounds:
        """The bounds of a quotient or remainder, from the known bounds of its dividend."""
        divisor = constant_divisor(term) if self.known else None
        if divisor is None:
            return bounds_of(term)
        found = self.derived.get(term)
        if found is None:
            low, high = linear_of(term.src[0]).bounds(self.bounds)
            found = bounds_of(term)
            if low >= 0:
                first, last = low // divisor, high // divisor
                if term.op is Ops.IDIV:
                    found = (max(first, found[0]), min(last, found[1]))
                elif first == last:
                    found = (low % divisor, high % divisor)
            self.derived[term] = found
        return found

    def apply_mask(self, view: View) -> None:
        """Add the conditions of the mask of `view`, and assume them from here on."""
        for index, (low, high), extent in zip(self.indices, view.mask or (), view.shape):
            if low != 0:
                below = self.less(index, low)
                self.conditions += conjuncts(negation(below))
            if high != extent:
                self.conditions += conjuncts(self.less(index, high))
            self.assume(index, low_of(low), high_of(high) - 1)

    def less(self, index: Linear, limit: sint) -> UOp:
        if isinstance(limit, int):
            return less_than(index, limit, self.bounds if self.known else bounds_of)
        return less_than(index.copy().add(_form(limit), -1), 0, bounds_of)

    def assume(self, index: Linear, low: int, high: int) -> None:
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
            self.derived.clear()

    def visible(self) -> UOp | None:
        """The condition under which the element is visible; None if it always is."""
        valid = all_of(self.conditions) if self.conditions else None
        return None if valid is TRUE else valid

    def position(self, view: View, first: int = 0) -> Linear:
        """offset + sum of index * stride, over the axes from `first` on"""
        total = _form(view.offset).copy()
        for index, stride in zip(self.indices[first:], view.strides[first:]):
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
            elif isinstance(extent, int):
                # the position is nonnegative where visible; elsewhere any value is correct
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
    translation, position = _translate(views, ranges, dtype)
    return node_of(position, translation.dtype), translation.visible()


def _translate(
    views: Sequence[View], ranges: Sequence[sint], dtype: DType, inside: bool = False
) -> tuple[_IndexTranslation, Linear]:
    """The translation through all `views` and the final position, in 64 bits if necessary.

    inside: the indices are within the axes of the first view.
    """
    translation = _IndexTranslation(ranges, dtype)
    if inside:
        for index, extent in zip(translation.indices, views[-1].shape):
            translation.assume(index, 0, high_of(extent) - 1)
    position = Linear()
    for number in range(len(views) - 1, -1, -1):
        view = views[number]
        if view.mask is not None:
            translation.apply_mask(view)
        position = gather(translation.position(view), dtype)
        if dtype is dtypes.int:
            low, high = position.bounds()
            if high > _INT_LIMIT or low < -_INT_LIMIT:
                return _translate(views, ranges, dtypes.long, inside)
        if number:
            translation.unravel(position, views[number - 1])
    return translation, position


def _kept_axes(view: View, below: View) -> int:
    """The number of leading axes that `view` shares with the row-major view below it.

    The visible elements along the other axes are within one row of `below`.
    """
    if not view.static or not is_static(below.shape):
        return 0
    mask = view.mask or tuple([(0, extent) for extent in view.shape])
    kept = 0
    for axis, (extent, other) in enumerate(zip(view.shape, below.shape)):
        step = below.strides[axis]
        if extent != other or view.strides[axis] != step or mask[axis] != (0, extent):
            break
        kept = axis + 1
    low, high = view.offset, view.offset
    for axis in range(kept, len(view.shape)):
        ends = [place * view.strides[axis] for place in (mask[axis][0], mask[axis][1] - 1)]
        low, high = low + min(ends), high + max(ends)
    while kept and not 0 <= low <= high < _row_size(below.shape, kept):
        kept -= 1
        high += (view.shape[kept] - 1) * view.strides[kept]
    return kept


def _row_size(shape: Sequence[sint], outer: int) -> int:
    size = 1
    for extent in shape[outer:]:
        size *= extent  # type: ignore[assignment]
    return size  # type: ignore[return-value]


def indices_below(
    st: ShapeTracker, ranges: Sequence[sint], below: View
) -> tuple[tuple[UOp, ...], UOp | None]:
    """(index along each axis of `below`, gate) of the element of `st` at `ranges`.

    `below` is the row-major view that `st` is over. As with `expr_from_ranges`, the indices mean
    nothing where the gate is false; elsewhere they lie within the axes of `below`. They mean
    nothing either where `ranges` are beyond the axes of `st`.
    """
    translation, position = _translate(st.views, ranges, dtypes.int, inside=True)
    kept = _kept_axes(st.views[0], below)
    first = translation.indices[:kept]
    if kept:
        position = gather(translation.position(st.views[0], kept), translation.dtype)
    translation.unravel(position, below)
    indices = (*first, *translation.indices[kept:])
    nodes = tuple([node_of(index, translation.dtype) for index in indices])
    return nodes, translation.visible()


def expr_from_ranges(st: ShapeTracker, ranges: Sequence[sint]) -> tuple[UOp, UOp | None]:
    """(position in memory, gate) of the element of `st` at `ranges`, both canonical.

    `ranges` are one int or index node per axis; the gate is None where every element is visible.
    The position is of dtype int, or long where memory is larger than that. Where the gate is false
    the position means nothing.
    """
    return expr_of_views(st.views, ranges)
