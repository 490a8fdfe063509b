"""View: one affine map from the indices of a shape to positions in memory, with a mask.

Index (i0, i1, ...) is the element at `offset + i0 * strides[0] + i1 * strides[1] + ...`
where every `mask[k][0] <= ik < mask[k][1]`, and for zero elsewhere. Every number is an int or a
symbolic int. Views are interned (equal views are one object) and canonical: axes of size one and
axes whose mask leaves one index have stride 0, a mask that hides nothing is None, one that hides
everything is (0, 0) on every axis.

A move gives the moved view, or None if one affine map cannot express it.
"""

from __future__ import annotations

from functools import lru_cache
from operator import methodcaller
from typing import Any, TypeAlias, cast

from weft.base.errors import ShapeError
from weft.base.weak import entry_type
from weft.uop import UOp, sint
from weft.uop.symbolic.sint import fold, resolve, smax, smin, sprod, unbind_sint, variables_of

Shape: TypeAlias = tuple[sint, ...]
Mask: TypeAlias = tuple[tuple[sint, sint], ...]


_interned: dict[Any, Any] = {}
_Entry = entry_type(_interned)


def is_static(values: tuple[sint, ...]) -> bool:
    """Whether all of them are plain ints."""
    for value in values:
        if value.__class__ is not int:
            return False
    return True


@lru_cache(maxsize=4096)
def _static_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(0 if extent == 1 else step)
        step *= extent
    return tuple(reversed(strides))


def row_major(shape: Shape) -> Shape:
    """The strides of `shape` stored in order, 0 for axes of size one."""
    if is_static(shape):
        return _static_strides(shape)
    strides: list[sint] = []
    step: sint = 1
    for extent in reversed(shape):
        strides.append(0 if extent == 1 else step)
        step = fold(step * extent)
    return tuple(reversed(strides))


class View:
    """One strided window; made by `View.create` and the moves, compared by identity.

    shape, strides, offset, mask   as in the module's docstring; mask is None where all is visible
    contiguous                     row-major from position 0, nothing masked
    static                         no number in it is symbolic
    """

    __slots__ = (
        "__weakref__", "_size", "contiguous", "mask", "offset", "shape", "static", "strides",
    )  # fmt: skip

    shape: Shape
    strides: Shape
    offset: sint
    mask: Mask | None
    contiguous: bool
    static: bool

    @staticmethod
    def _make(shape: Shape, strides: Shape, offset: sint, mask: Mask | None) -> View:
        key = (shape, strides, offset, mask)
        entry = _interned.get(key)
        if entry is not None:
            known = entry()
            if known is not None:
                return known
        view = object.__new__(View)
        view.shape, view.strides, view.offset, view.mask = key
        view.static = (
            is_static(shape)
            and is_static(strides)
            and offset.__class__ is int
            and (mask is None or all(is_static(pair) for pair in mask))
        )
        view.contiguous = mask is None and (
            0 in shape or (offset.__class__ is int and offset == 0 and strides == row_major(shape))
        )
        _interned[key] = _Entry(view, methodcaller("drop", key))
        return view

    @staticmethod
    def create(
        shape: Shape, strides: Shape | None = None, offset: sint = 0, mask: Mask | None = None
    ) -> View:
        """The canonical view of these numbers; row-major where `strides` is None.

        >>> View.create((2, 3)).strides
        (3, 1)
        """
        if 0 in shape:
            return View._make(shape, (0,) * len(shape), 0, None)
        if strides is None:
            strides = row_major(shape)
        elif 1 in shape:
            strides = tuple([0 if extent == 1 else s for extent, s in zip(shape, strides)])
        if mask is not None:
            if mask == tuple([(0, extent) for extent in shape]):
                mask = None
            else:
                adjusted = list(strides)
                for axis, (low, high) in enumerate(mask):
                    width = (
                        high - low if high.__class__ is low.__class__ is int else fold(high - low)
                    )
                    if width.__class__ is not int:
                        continue
                    if width <= 0:
                        return View.hidden(shape)
                    if width == 1 and adjusted[axis] != 0:
                        # only one index is seen: its stride is a constant
                        offset = offset + low * adjusted[axis]
                        adjusted[axis] = 0
                strides = tuple(adjusted)
        return View._make(shape, strides, offset if offset.__class__ is int else fold(offset), mask)

    @staticmethod
    def hidden(shape: Shape) -> View:
        """The view whose mask leaves nothing, of a shape with axes.

        >>> View.hidden((2,)).hides_all
        True
        """
        mask = None if 0 in shape else ((0, 0),) * len(shape)
        return View._make(shape, (0,) * len(shape), 0, mask)

    def __reduce__(self) -> tuple[Any, ...]:
        return (View.create, (self.shape, self.strides, self.offset, self.mask))

    def __repr__(self) -> str:
        return (
            f"View(shape={self.shape}, strides={self.strides}, offset={self.offset}, "
            f"mask={self.mask}, contiguous={self.contiguous})"
        )

    @property
    def size(self) -> sint:
        """The number of elements of the shape.

        >>> View.create((2, 3)).size
        6
        """
        try:
            return self._size
        except AttributeError:
            self._size: sint = sprod(self.shape)
            return self._size

    @property
    def hides_all(self) -> bool:
        """Whether the mask leaves nothing (and the shape is not empty).

        >>> View.create((2,)).hides_all
        False
        """
        return self.mask is not None and len(self.mask) > 0 and self.mask[0] == (0, 0)

    def vars(self) -> set[UOp]:
        """The variables in it.

        >>> n = Variable("n", 1, 8)
        >>> View.create((n, 3)).vars() == {n}
        True
        """
        bounds = [bound for pair in self.mask or () for bound in pair]
        numbers = (*self.shape, *self.strides, self.offset, *bounds)
        return set[UOp]().union(*map(variables_of, numbers))

    def _mapped(self, function: Any) -> View:
        return View.create(
            tuple(map(function, self.shape)),
            tuple(map(function, self.strides)),
            function(self.offset),
            None
            if self.mask is None
            else tuple([(function(a), function(b)) for a, b in self.mask]),
        )

    def substitute(self, replacements: dict[UOp, UOp]) -> View:
        """The view with nodes replaced in every number.

        >>> n = Variable("n", 1, 8)
        >>> View.create((n, 3)).substitute({n: n.const_like(4)}).shape
        (4, 3)
        """
        if self.static or not replacements:
            return self

        def substituted(number: sint) -> sint:
            return fold(number.substitute(replacements)) if isinstance(number, UOp) else number

        return self._mapped(substituted)

    def unbind(self) -> tuple[View, dict[UOp, int]]:
        """The view with its bound variables free, and what each was bound to.

        >>> n = Variable("n", 1, 8).bind(4)
        >>> list(View.create((n, 3)).unbind()[1].values())
        [4]
        """
        if self.static:
            return self, {}
        values: dict[UOp, int] = {}

        def free(number: sint) -> sint:
            result, found = unbind_sint(number)
            values.update(found)
            return result

        return self._mapped(free), values

    # ---- moves: the arguments are taken as checked ----------------------------------------------

    def permute(self, order: tuple[int, ...]) -> View:
        """Axis k of the result is axis order[k] of self.

        >>> View.create((2, 3)).permute((1, 0)).shape
        (3, 2)
        """
        mask = self.mask
        return View._make(
            tuple([self.shape[axis] for axis in order]),
            tuple([self.strides[axis] for axis in order]),
            self.offset,
            None if mask is None else tuple([mask[axis] for axis in order]),
        )

    def flip(self, axes: tuple[bool, ...]) -> View:
        """Axes marked true run backwards.

        >>> flipped = View.create((3,)).flip((True,))
        >>> flipped.strides, flipped.offset
        ((-1,), 2)
        """
        if 0 in self.shape:
            return self
        offset = self.offset
        strides = list(self.strides)
        mask = None if self.mask is None else list(self.mask)
        for axis, flipped in enumerate(axes):
            if flipped:
                extent, stride = self.shape[axis], strides[axis]
                offset = offset + (extent - 1) * stride
                strides[axis] = -stride if stride.__class__ is int else fold(-stride)
                if mask is not None:
                    low, high = mask[axis]
                    mask[axis] = (fold(extent - high), fold(extent - low))
        if self.hides_all:
            return self
        return View.create(
            self.shape, tuple(strides), offset, None if mask is None else tuple(mask)
        )

    def shrink(self, window: tuple[tuple[sint, sint], ...]) -> View:
        """The window [start, stop) of each axis.

        >>> View.create((4,)).shrink(((1, 3),)).offset
        1
        """
        shape = tuple([fold(stop - start) for start, stop in window])
        if self.hides_all:
            return View.hidden(shape)
        offset = self.offset
        for (start, _), stride in zip(window, self.strides):
            offset = offset + start * stride
        mask: Mask | None = None
        if self.mask is not None:
            mask = tuple(
                [
                    (_clamp(low - start, extent), _clamp(high - start, extent))
                    for (low, high), (start, _), extent in zip(self.mask, window, shape)
                ]
            )
        return View.create(shape, self.strides, offset, mask)

    def pad(self, padding: tuple[tuple[sint, sint], ...]) -> View:
        """Zeros before and after each axis; the amounts are not negative.

        >>> View.create((2,)).pad(((1, 1),)).mask
        ((1, 3),)
        """
        if all(pair == (0, 0) for pair in padding):
            return self
        shape = tuple(
            [fold(extent + before + after) for extent, (before, after) in zip(self.shape, padding)]
        )
        if 0 in self.shape or self.hides_all:
            return View.hidden(shape)
        offset = self.offset
        for (before, _), stride in zip(padding, self.strides):
            offset = offset - before * stride
        old = self.mask or tuple([(0, extent) for extent in self.shape])
        mask = tuple(
            [
                (fold(low + before), fold(high + before))
                for (low, high), (before, _) in zip(old, padding)
            ]
        )
        return View.create(shape, self.strides, offset, mask)

    def expand(self, shape: Shape) -> View | None:
        """Axes of size one repeated; None if such an axis has a symbolic mask.

        >>> View.create((2, 1)).expand((2, 3)).strides
        (1, 0)
        """
        if shape == self.shape:
            return self
        if 0 in shape:
            return View.create(shape)
        mask = self.mask
        if mask is not None:
            widened: list[tuple[sint, sint]] = []
            for pair, old, new in zip(mask, self.shape, shape):
                if old == new or pair == (0, 0):
                    widened.append(pair)
                elif pair == (0, 1):
                    widened.append((0, new))
                else:
                    return None
            mask = tuple(widened)
        return View.create(shape, self.strides, self.offset, mask)

    def reshape(self, shape: Shape) -> View | None:
        """The same indices in row-major order under another shape; None where that needs two views.

        ShapeError where the two shapes have different numbers of elements.

        >>> View.create((2, 3)).reshape((6,)).strides
        (1,)
        >>> View.create((2, 3)).permute((1, 0)).reshape((6,)) is None
        True
        """
        if shape == self.shape:
            return self
        _check_same_size(self, shape)
        if 0 in self.shape or 0 in shape or self.contiguous:
            return View.create(shape)
        if self.hides_all:
            if not shape:
                return None  # a shape without axes has no mask that could express it
            return View.hidden(shape)
        offset, axes = merged_axes(self)
        return _split_axes(offset, axes, shape)


def _clamp(value: sint, extent: sint) -> sint:
    """The value moved into 0 ... extent."""
    if value.__class__ is int and extent.__class__ is int:
        return 0 if value < 0 else extent if value > extent else value
    return smin(smax(0, fold(value)), extent)


def _check_same_size(view: View, new: Shape) -> None:
    old, before, after = view.shape, view.size, sprod(new)
    if before.__class__ is after.__class__ is int:
        fits = before == after
    else:
        fits = before == after or resolve(UOp.eq(cast(UOp, before - after), 0), default=True)
    if not fits:
        raise ShapeError(
            f"a reshape keeps the number of elements: {before} is not {after}",
            asked=f"reshape {old} -> {new}",
            because=f"{old} has {before} elements and {new} has {after}",
        )


class Axis:
    """A run of axes that one stride describes: its size, stride and visible interval."""

    __slots__ = ("high", "low", "size", "stride")

    def __init__(self, size: sint, stride: sint, low: sint, high: sint) -> None:
        self.size, self.stride, self.low, self.high = size, stride, low, high

    @property
    def full(self) -> bool:
        """Whether the mask hides nothing of it."""
        return self.low == 0 and self.high == self.size

    @property
    def single(self) -> bool:
        """Whether the mask leaves one known index."""
        return self.low.__class__ is self.high.__class__ is int and self.high - self.low == 1


def merged_axes(view: View) -> tuple[sint, list[Axis]]:
    """The fewest axes with the same elements in the same order, and the offset that goes with them.

    Neighbours (a, b) become one axis where a's stride is b's stride times b's size and what the
    masks leave is one interval of the product: b is seen whole, or a is seen at one index (then a's
    stride is arbitrary).
    """
    offset = view.offset
    axes: list[Axis] = []
    mask = view.mask or tuple([(0, extent) for extent in view.shape])
    for extent, stride, (low, high) in zip(view.shape, view.strides, mask):
        if extent == 1 and (low, high) == (0, 1):
            continue
        inner = Axis(extent, stride, low, high)
        if axes and (inner.full or axes[-1].single):
            outer = axes[-1]
            step = fold(stride * extent)
            fits = outer.stride == step
            if not fits and outer.single and outer.stride == 0:
                offset = fold(offset - outer.low * step)
                fits = True
            if fits:
                if inner.full:
                    low, high = fold(outer.low * extent), fold(outer.high * extent)
                else:
                    low, high = fold(outer.low * extent + low), fold(outer.low * extent + high)
                axes[-1] = Axis(fold(outer.size * extent), stride, low, high)
                continue
        axes.append(inner)
    return offset, axes


def _split_axes(offset: sint, axes: list[Axis], shape: Shape) -> View | None:
    """The view of `shape` over merged axes; None where a new axis would span two of them."""
    strides: list[sint] = []
    mask: list[tuple[sint, sint]] = []
    position = len(shape) - 1
    for axis in reversed(axes):
        group: list[sint] = []
        reached: sint = 1
        while reached != axis.size:
            if position < 0:
                return None
            group.append(shape[position])
            reached = fold(reached * shape[position])
            position -= 1
            if reached.__class__ is axis.size.__class__ is int and reached > axis.size:
                return None
        pieces = _split_interval(axis, group)
        if pieces is None:
            return None
        mask += pieces
        stride = axis.stride
        for extent in group:
            strides.append(0 if extent == 1 else stride)
            stride = fold(stride * extent)
    while position >= 0:
        if shape[position] != 1:
            return None
        strides.append(0)
        mask.append((0, 1))
        position -= 1
    return View.create(shape, tuple(reversed(strides)), offset, tuple(reversed(mask)))


def _split_interval(axis: Axis, group: list[sint]) -> list[tuple[sint, sint]] | None:
    """The interval of an axis as one interval per piece, innermost first; None if it is no box."""
    if axis.full:
        return [(0, extent) for extent in group]
    pieces: list[tuple[sint, sint]] = []
    low, high = axis.low, axis.high
    wide = [position for position, extent in enumerate(group) if extent != 1]
    if not wide:
        return None
    for position, extent in enumerate(group):
        if extent == 1:
            pieces.append((0, 1))
        elif position == wide[-1]:
            pieces.append((low, high))
        elif not is_static((low, high, extent)):
            return None
        elif low % extent == 0 and high % extent == 0:
            pieces.append((0, extent))
            low, high = low // extent, high // extent
        elif low // extent == (high - 1) // extent:
            pieces.append((low % extent, (high - 1) % extent + 1))
            low, high = low // extent, low // extent + 1
        else:
            return None
    return pieces
