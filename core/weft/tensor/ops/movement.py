"""Movement: new shapes over the same elements; nothing is copied, everything becomes a view.

A shape is ints or symbolic ints, given as one tuple or as several arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, isfinite
from typing import Any, Self, cast

from weft.base.arguments import kind_of, shown
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, ShapeError, UnknownChoice
from weft.base.sequences import argsort, prod
from weft.engine.capture import recording
from weft.shape.movement import (
    always_inside,
    as_size,
    definite,
    expand_arg,
    fits_always,
    flip_arg,
    normalise_axes,
    normalise_axis,
    pad_arg,
    permute_arg,
    reshape_arg,
    say_shape,
    shrink_arg,
    split_padding,
)
from weft.tensor.ops import joining, manipulation, rearrangement
from weft.tensor.ops.argument_lists import as_tuple
from weft.tensor.protocol import TensorBase, record
from weft.tensor.types import ArrayLike, Axes, Padding, ShapeLike, Size
from weft.uop import Ops, UOp
from weft.uop.symbolic.sint import fold


def _definite(a: Any, b: Any) -> bool:
    return isinstance(a, int) and isinstance(b, int)


def _has_symbol(*shapes: tuple[Any, ...]) -> bool:
    return any(isinstance(size, UOp) for shape in shapes for size in shape)


class MovementMixin(TensorBase):
    """Methods that rearrange."""

    __slots__ = ()

    # ---- axes ---------------------------------------------------------------------------------

    def _resolve_dim(self, dim: int, *, extra: int = 0) -> int:
        """An axis counted from the front. :raises IndexingError: if there is no such axis."""
        return normalise_axis(
            dim, len(self.shape) + extra, f"axis {shown(dim)} of shape {self.shape}"
        )

    def _resolve_dims(self, dims: Any) -> tuple[int, ...]:
        """Axes counted from the front, ascending, each once; all of them for None."""
        if not self.shape and dims in (0, -1, (0,), (-1,)):
            return ()
        several = isinstance(dims, (tuple, list))
        asked = f"{'axes' if several else 'axis'} {shown(dims)} of shape {self.shape}"
        return normalise_axes(dims, len(self.shape), asked)

    # ---- the six moves ------------------------------------------------------------------------

    def reshape(self, shape: ShapeLike, *args: Size) -> Self:
        """The same elements, row-major, in another shape; one extent may be -1, None keeps one.

        An axis whose size is known becomes one of a variable that is bound to that size, and back.

        :raises ShapeError: if the numbers of elements differ.

        >>> Tensor([1, 2, 3, 4]).reshape(2, 2).tolist()
        [[1, 2], [3, 4]]
        >>> Tensor.zeros(2, 6).reshape(4, -1).shape
        (4, 3)
        """
        u = self._uop
        own = u.shape
        new = reshape_arg(own, as_tuple(shape, args))
        if new == own:
            return self._viewed(u)
        if _has_symbol(own, new) and not fits_always(own, new):
            return self._reshaped_for_now(new)
        return self._viewed(record(Ops.RESHAPE, u.dtype, (u,), new))

    def _reshaped_for_now(self, new: tuple[Any, ...]) -> Any:
        """A reshape that fits for what the variables are bound to: by way of definite sizes, to
        which axes are padded, and from which they are windows."""
        own = self._uop.shape
        if (recorder := recording()) is not None:
            recorder.read_values_of(*own, *new)
        now, then = definite(own), definite(new)
        made = self._constant_pad(
            tuple((0, fold(size - s)) for size, s in zip(now or own, own)), 0
        ).reshape(then)
        return made.shrink(tuple((0, size) for size in new))

    def view(self, shape: ShapeLike | DType | str, *args: Size) -> Self:
        """Alias of reshape; given a dtype, of bitcast.

        >>> Tensor([1, 2, 3, 4]).view(2, 2).tolist()
        [[1, 2], [3, 4]]
        >>> Tensor([1.0]).view(dtypes.int32).tolist()
        [1065353216]
        """
        if isinstance(shape, (DType, str)) and not args:
            return self.bitcast(shape)
        return self.reshape(cast("ShapeLike", shape), *args)

    def expand(self, shape: ShapeLike, *args: Size) -> Self:
        """Axes of size one repeated, new axes in front; -1 keeps an extent.

        :raises ShapeError: if an axis has another size than 1 and than the requested one.

        >>> Tensor([[1], [2]]).expand(2, 3).tolist()
        [[1, 1, 1], [2, 2, 2]]
        >>> Tensor([1, 2]).expand(2, -1).tolist()
        [[1, 2], [1, 2]]
        """
        new = expand_arg(self._uop.shape, as_tuple(shape, args))
        return self._viewed(self._expanded_node(new))

    def _expanded(self, new: tuple[Any, ...]) -> Self:
        """A value of that shape, which is no view of self."""
        return self._wrap(self._expanded_node(new))

    def _expanded_node(self, new: tuple[Any, ...]) -> UOp:
        u = self._uop
        own = u.shape
        if own == new:
            return u
        # a wrong node would read memory that is not there
        clash = any(a != b and a != 1 for a, b in zip(own[::-1], new[::-1]) if _definite(a, b))
        if clash or len(own) > len(new):
            raise ShapeError(
                f"shape {say_shape(own)} does not broadcast to {say_shape(new)}",
                asked=f"{say_shape(own)} as {say_shape(new)}",
                because="only axes of size 1 are repeated, and new axes are in front",
                try_="x.reshape(...) or x.unsqueeze(...) first",
            )
        if len(own) < len(new):
            u = record(Ops.RESHAPE, u.dtype, (u,), (1,) * (len(new) - len(own)) + own)
        if u.shape != new:
            u = record(Ops.EXPAND, u.dtype, (u,), new)
        return u

    def permute(self, order: Axes = (), *args: int) -> Self:
        """Axis i of the result is axis order[i] of self.

        :raises ShapeError: if `order` is not every axis once.

        >>> Tensor.zeros(2, 3, 4).permute(2, 0, 1).shape
        (4, 2, 3)
        """
        found = permute_arg(self._uop.shape, as_tuple(order, args))
        if found == tuple(range(len(found))):
            return self._viewed(self._uop)
        return self._viewed(record(Ops.PERMUTE, self._uop.dtype, (self._uop,), found))

    def flip(self, axis: Axes, *args: int) -> Self:
        """The given axes backwards.

        >>> Tensor([[1, 2], [3, 4]]).flip(0).tolist()
        [[3, 4], [1, 2]]
        >>> Tensor([[1, 2], [3, 4]]).flip(0, 1).tolist()
        [[4, 3], [2, 1]]
        """
        marks = flip_arg(self._uop.shape, as_tuple(axis, args))
        if not any(marks):
            return self._viewed(self._uop)
        return self._viewed(record(Ops.FLIP, self._uop.dtype, (self._uop,), marks))

    def shrink(self, arg: Sequence[Any]) -> Self:
        """The window [start, stop) of each axis; None keeps an axis whole.

        :raises ShapeError: if a window reaches outside.

        >>> Tensor([[1, 2, 3], [4, 5, 6]]).shrink((None, (1, 3))).tolist()
        [[2, 3], [5, 6]]
        """
        own = self._uop.shape
        if not isinstance(arg, (tuple, list)):
            raise ShapeError(
                "a window has a pair (start, stop), or None, for every axis",
                asked=f"shrink({shown(arg)}) of shape {own}",
                because=f"that is {kind_of(arg)}",
            )
        window = shrink_arg(own, tuple(arg))
        if (recorder := recording()) is not None:
            for (start, stop), size in zip(window, own):
                if not always_inside(start, stop, size):
                    recorder.read_values_of(start, stop, size)
        if window == tuple((0, s) for s in own):
            return self._viewed(self._uop)
        return self._viewed(record(Ops.SHRINK, self._uop.dtype, (self._uop,), window))

    def pad(self, padding: Padding, mode: str = "constant", value: ArrayLike = 0.0) -> Self:
        """Padded at the edges; what is below zero shrinks.

        `padding` is one (before, after) pair per axis (None for none), or flat from the last axis
        on: (left, right, top, bottom, ...). Modes: "constant" with `value` in the dtype of self,
        a fraction cut off among integers; "reflect", "replicate", "circular".

        :raises ArgumentError: for an unknown mode, padding that does not fit the axes, or infinity
            and NaN among integers.

        >>> Tensor([1, 2]).pad(((1, 2),)).tolist()
        [0, 1, 2, 0, 0]
        >>> Tensor([[1, 2]]).pad((0, 1), value=9).tolist()
        [[1, 2, 9]]
        >>> Tensor([False]).pad((0, 1), value=1).tolist()
        [False, True]
        >>> Tensor([1, 2, 3]).pad((2, 0), mode="reflect").tolist()
        [3, 2, 1, 2, 3]
        """
        pairs = pad_arg(self._uop.shape, padding)
        if mode == "constant":
            return self._constant_pad(pairs, value)
        if mode not in ("reflect", "replicate", "circular"):
            raise UnknownChoice(
                f"there is no padding mode {shown(mode)}",
                asked=f"pad(mode={shown(mode)})",
                try_='"constant", "reflect", "replicate" or "circular"',
            )
        cut = tuple((min(b, 0), min(a, 0)) for b, a in pairs)
        # what goes round is what is left; an edge is mirrored before anything is cut from it
        padded = self._constant_pad(cut, 0) if mode == "circular" else self
        for axis, (before, after) in enumerate(cast("list[tuple[int, int]]", pairs)):
            padded = padded._edge_pad(axis, max(before, 0), max(after, 0), mode)
        return padded if mode == "circular" else padded._constant_pad(cut, 0)

    def _constant_pad(self, pairs: tuple[tuple[Any, Any], ...], value: Any) -> Any:
        if any(isinstance(x, int) and x < 0 for pair in pairs for x in pair):
            window, pairs = split_padding(self._uop.shape, pairs)
            return self.shrink(window)._constant_pad(pairs, value)
        if all(isinstance(x, int) and x == 0 for pair in pairs for x in pair):
            return self._wrap(self._uop)
        u = self._uop
        padded = self._wrap(record(Ops.PAD, u.dtype, (u,), pairs))
        if not isinstance(value, TensorBase) and value == 0:
            if copysign(1.0, value) > 0 or not dtypes.is_float(u.dtype):
                return padded
        inside = self.ones_like(dtype="bool")
        inside = inside._wrap(record(Ops.PAD, inside._uop.dtype, (inside._uop,), pairs))
        return inside.where(padded, self._filling(value))

    def _filling(self, value: Any) -> Any:
        """The padding value, in the dtype of self, as NumPy and PyTorch have it."""
        own, filling = self._uop.dtype, self._operand(value)
        if isinstance(filling, TensorBase):
            return filling.cast(own)
        if dtypes.is_int(own) and not isfinite(filling):
            raise ArgumentError(
                "integers are not padded with what is not finite",
                asked=f"pad(value={value!r}) of {own!r} {self.shape}",
                because=f"{own!r} holds no such number",
                try_="x.float().pad(...), or x.dtype.min and x.dtype.max",
            )
        return dtypes.as_const(filling, own)

    def _edge_pad(self, axis: int, before: int, after: int, mode: str) -> Any:
        size = self.shape[axis]
        if not before and not after:
            return self
        longest = {"reflect": size - 1, "circular": size, "replicate": before + after}[mode]
        if max(before, after) > longest or size == 0:
            raise ArgumentError(
                f"{mode} padding is longer than the axis gives",
                asked=f"({before}, {after}) on axis {axis} of shape {self.shape}",
                because=f"at most {max(longest, 0)} elements are there to be repeated",
            )

        def part(start: int, stop: int) -> Any:
            return self.shrink(
                tuple((start, stop) if i == axis else None for i in range(len(self.shape)))
            )

        pieces = [self]
        if mode == "circular":
            pieces = [part(size - before, size), self, part(0, after)]
        elif mode == "reflect":
            front = part(1, before + 1).flip(axis)
            pieces = [front, self, part(size - 1 - after, size - 1).flip(axis)]
        else:
            repeated = [-1] * len(self.shape)
            front, back = part(0, 1), part(size - 1, size)
            repeated[axis] = before
            first = front.expand(repeated)
            repeated[axis] = after
            pieces = [first, self, back.expand(repeated)]
        pieces = [p for p in pieces if p.shape[axis] != 0]
        return pieces[0].cat(*pieces[1:], dim=axis)

    # ---- axes added, dropped, swapped ---------------------------------------------------------

    def squeeze(self, dim: Axes | None = None) -> Self:
        """Without axes of size one: all of them, or the given ones where their size is one.

        >>> Tensor.zeros(1, 3, 1).squeeze().shape
        (3,)
        >>> Tensor.zeros(1, 3, 1).squeeze(0).shape
        (3, 1)
        """
        shape = self._uop.shape
        if dim is None:
            return self.reshape(tuple(s for s in shape if s != 1))
        axes = self._resolve_dims(dim)
        return self.reshape(tuple(s for i, s in enumerate(shape) if i not in axes or s != 1))

    def unsqueeze(self, dim: int) -> Self:
        """An axis of size one inserted at `dim`.

        >>> Tensor([1, 2]).unsqueeze(0).shape, Tensor([1, 2]).unsqueeze(-1).shape
        ((1, 2), (2, 1))
        """
        at = self._resolve_dim(dim, extra=1)
        shape = self._uop.shape
        return self.reshape((*shape[:at], 1, *shape[at:]))

    @property
    def T(self) -> Self:
        """Axes 0 and 1 swapped; itself with fewer axes.

        >>> Tensor([[1, 2, 3]]).T.tolist()
        [[1], [2], [3]]
        """
        return self.transpose(0, 1) if len(self.shape) > 1 else self._viewed(self._uop)

    @property
    def mT(self) -> Self:
        """The last two axes swapped.

        >>> Tensor.zeros(5, 2, 3).mT.shape
        (5, 3, 2)
        """
        return self.transpose(-1, -2)

    def transpose(self, dim0: int = 1, dim1: int = 0) -> Self:
        """Two axes swapped.

        >>> Tensor([[1, 2], [3, 4]]).transpose().tolist()
        [[1, 3], [2, 4]]
        >>> Tensor.zeros(2, 3, 4).transpose(0, 2).shape
        (4, 3, 2)
        """
        order = list(range(len(self.shape)))
        a, b = self._resolve_dim(dim0), self._resolve_dim(dim1)
        if order:
            order[a], order[b] = order[b], order[a]
        return self.permute(*order) if order else self._viewed(self._uop)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Self:
        """The axes from `start_dim` to `end_dim` merged into one.

        >>> Tensor([[1, 2], [3, 4]]).flatten().tolist()
        [1, 2, 3, 4]
        >>> Tensor.zeros(2, 3, 4).flatten(1).shape
        (2, 12)
        """
        first, last = self._resolve_dim(start_dim), self._resolve_dim(end_dim)
        shape = self._uop.shape
        return self.reshape((*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :]))

    def unflatten(self, dim: int, sizes: Sequence[Size]) -> Self:
        """One axis split into `sizes`, of which one may be -1.

        >>> Tensor.zeros(2, 6).unflatten(1, (2, -1)).shape
        (2, 2, 3)
        """
        at = self._resolve_dim(dim)
        shape = self._uop.shape
        asked = f"unflatten({dim}, {shown(sizes)}) of shape {shape}"
        sizes = tuple(as_size(s, asked) for s in as_tuple(sizes, ()))
        if -1 in sizes:
            known = -prod(sizes)
            if known <= 0 or shape[at] % known:
                raise ShapeError(
                    f"axis {dim} does not split into {sizes}",
                    asked=asked,
                )
            sizes = tuple(shape[at] // known if s == -1 else s for s in sizes)
        return self.reshape((*shape[:at], *sizes, *shape[at + 1 :]))

    @staticmethod
    def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(argsort(order))

    # ---- other names --------------------------------------------------------------------------

    swapaxes = swapdims = transpose
    permute_dims = permute
    expand_dims = unsqueeze

    # ---- joining, splitting, repeating --------------------------------------------------------

    cat = joining.cat
    stack = joining.stack
    split = joining.split
    chunk = joining.chunk
    repeat = joining.repeat
    repeat_interleave = joining.repeat_interleave
    roll = joining.roll
    unfold = joining.unfold
    meshgrid = joining.meshgrid
    diag = joining.diag
    diagonal = joining.diagonal
    concat = concatenate = joining.cat

    # ---- short compositions -------------------------------------------------------------------

    dim = manipulation.dim
    movedim = manipulation.movedim
    ravel = manipulation.ravel
    fliplr = manipulation.fliplr
    flipud = manipulation.flipud
    rot90 = manipulation.rot90
    atleast_1d = manipulation.atleast_1d
    atleast_2d = manipulation.atleast_2d
    broadcast_to = manipulation.broadcast_to
    expand_as = manipulation.expand_as
    reshape_as = manipulation.reshape_as
    type_as = manipulation.type_as
    tile = manipulation.tile
    hstack = manipulation.hstack
    vstack = manipulation.vstack
    column_stack = manipulation.column_stack
    tensor_split = manipulation.tensor_split
    narrow = manipulation.narrow
    select = manipulation.select
    unbind = manipulation.unbind
    unstack = manipulation.unstack
    pixel_shuffle = manipulation.pixel_shuffle
    pixel_unshuffle = manipulation.pixel_unshuffle
    triu = manipulation.triu
    tril = manipulation.tril
    moveaxis = manipulation.movedim
    view_as = manipulation.reshape_as
    rearrange = rearrangement.rearrange
    t = manipulation.t
    split_with_sizes = manipulation.split_with_sizes
    hsplit = manipulation.hsplit
    vsplit = manipulation.vsplit
    dsplit = manipulation.dsplit
    ndimension = manipulation.dim
