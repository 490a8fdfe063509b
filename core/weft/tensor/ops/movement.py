"""Movement: new shapes over the same elements; nothing is copied, everything becomes a view.

A shape is ints or symbolic ints, given as one tuple or as several arguments.
"""

from __future__ import annotations

from typing import Any, Self

from weft.base.errors import ArgumentError, ShapeError
from weft.base.intmath import ceildiv
from weft.base.promotion import least_upper_dtype
from weft.base.sequences import argsort, prod
from weft.engine.capture import recording
from weft.shape.movement import (
    always_inside,
    broadcast_shapes,
    expand_arg,
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
from weft.tensor.ops.operands import cast_node
from weft.tensor.protocol import TensorBase, record
from weft.uop import Ops, UOp
from weft.uop.symbolic.sint import fold


def as_tuple(first: Any, rest: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments given one by one or as one sequence."""
    if rest or not isinstance(first, (tuple, list)):
        return (first, *rest)
    return tuple(first)


class MovementMixin(TensorBase):
    """Methods that rearrange."""

    __slots__ = ()

    # ---- axes ---------------------------------------------------------------------------------

    def _resolve_dim(self, dim: int, *, extra: int = 0) -> int:
        """An axis counted from the front. :raises IndexingError: if there is no such axis."""
        return normalise_axis(dim, len(self.shape) + extra, f"axis {dim!r} of shape {self.shape}")

    def _resolve_dims(self, dims: Any) -> tuple[int, ...]:
        """Axes counted from the front, ascending, each once; all of them for None."""
        if not self.shape and dims in (0, -1, (0,), (-1,)):
            return ()
        return normalise_axes(dims, len(self.shape), f"axes {dims!r} of shape {self.shape}")

    # ---- the six moves ------------------------------------------------------------------------

    def reshape(self, shape: Any, *args: Any) -> Self:
        """The same elements, row-major, in another shape; one extent may be -1, None keeps one.

        :raises ShapeError: if the numbers of elements differ.
        """
        u = self._uop
        own = u.shape
        new = reshape_arg(own, as_tuple(shape, args))
        if new == own:
            return self._wrap(u)
        return self._wrap(record(Ops.RESHAPE, u.dtype, (u,), new))

    def view(self, shape: Any, *args: Any) -> Self:
        """Alias of reshape."""
        return self.reshape(shape, *args)

    def expand(self, shape: Any, *args: Any) -> Self:
        """Axes of size one repeated, new axes in front; -1 keeps an extent.

        :raises ShapeError: if an axis has another size than 1 and than the one asked for.
        """
        return self._expanded(expand_arg(self._uop.shape, as_tuple(shape, args)))

    def _expanded(self, new: tuple[Any, ...]) -> Self:
        u = self._uop
        own = u.shape
        if own == new:
            return self._wrap(u)
        if len(own) < len(new):
            u = record(Ops.RESHAPE, u.dtype, (u,), (1,) * (len(new) - len(own)) + own)
        if u.shape != new:
            u = record(Ops.EXPAND, u.dtype, (u,), new)
        return self._wrap(u)

    def permute(self, order: Any = (), *args: Any) -> Self:
        """Axis i of the result is axis order[i] of self.

        :raises ShapeError: if `order` is not every axis once.
        """
        found = permute_arg(self._uop.shape, as_tuple(order, args))
        if found == tuple(range(len(found))):
            return self._wrap(self._uop)
        return self._wrap(record(Ops.PERMUTE, self._uop.dtype, (self._uop,), found))

    def flip(self, axis: Any, *args: Any) -> Self:
        """The given axes backwards."""
        marks = flip_arg(self._uop.shape, as_tuple(axis, args))
        if not any(marks):
            return self._wrap(self._uop)
        return self._wrap(record(Ops.FLIP, self._uop.dtype, (self._uop,), marks))

    def shrink(self, arg: Any) -> Self:
        """The window [start, stop) of each axis; None keeps an axis whole.

        :raises ShapeError: if a window reaches outside.
        """
        own = self._uop.shape
        window = shrink_arg(own, tuple(arg))
        if (recorder := recording()) is not None:
            for (start, stop), size in zip(window, own):
                if not always_inside(start, stop, size):
                    recorder.refuse_window(f"shrink to {say_shape(window)}", say_shape(size))
        if window == tuple((0, s) for s in own):
            return self._wrap(self._uop)
        return self._wrap(record(Ops.SHRINK, self._uop.dtype, (self._uop,), window))

    def pad(self, padding: Any, mode: str = "constant", value: Any = 0.0) -> Self:
        """Padded at the edges; what is below zero shrinks.

        `padding` is one (before, after) pair per axis (None for none), or flat from the last axis
        on: (left, right, top, bottom, ...). Modes: "constant" with `value`, "reflect",
        "replicate", "circular".

        :raises ArgumentError: for an unknown mode, or padding that does not fit the axes.
        """
        pairs = pad_arg(self._uop.shape, padding)
        if mode == "constant":
            return self._constant_pad(pairs, value)
        if mode not in ("reflect", "replicate", "circular"):
            raise ArgumentError(
                f"there is no padding mode {mode!r}",
                asked=f"pad(mode={mode!r})",
                try_='"constant", "reflect", "replicate" or "circular"',
            )
        padded = self
        for axis, (before, after) in enumerate(pairs):
            padded = padded._edge_pad(axis, max(before, 0), max(after, 0), mode)
        return padded._constant_pad(tuple((min(b, 0), min(a, 0)) for b, a in pairs), 0)

    def _constant_pad(self, pairs: tuple[tuple[Any, Any], ...], value: Any) -> Any:
        if any(isinstance(x, int) and x < 0 for pair in pairs for x in pair):
            window, pairs = split_padding(self._uop.shape, pairs)
            return self.shrink(window)._constant_pad(pairs, value)
        if all(isinstance(x, int) and x == 0 for pair in pairs for x in pair):
            return self._wrap(self._uop)
        u = self._uop
        padded = self._wrap(record(Ops.PAD, u.dtype, (u,), pairs))
        if not isinstance(value, TensorBase) and value == 0:
            return padded
        inside = self.ones_like(dtype="bool")
        inside = inside._wrap(record(Ops.PAD, inside._uop.dtype, (inside._uop,), pairs))
        return inside.where(padded, value)

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

    def squeeze(self, dim: Any = None) -> Self:
        """Without axes of size one: all of them, or the given ones where their size is one."""
        shape = self._uop.shape
        if dim is None:
            return self.reshape(tuple(s for s in shape if s != 1))
        axes = self._resolve_dims(dim)
        return self.reshape(tuple(s for i, s in enumerate(shape) if i not in axes or s != 1))

    def unsqueeze(self, dim: int) -> Self:
        """An axis of size one put in at `dim`."""
        at = self._resolve_dim(dim, extra=1)
        shape = self._uop.shape
        return self.reshape((*shape[:at], 1, *shape[at:]))

    @property
    def T(self) -> Self:
        """Axes 0 and 1 swapped; itself with fewer axes."""
        return self.transpose(0, 1) if len(self.shape) > 1 else self._wrap(self._uop)

    @property
    def mT(self) -> Self:
        """The last two axes swapped."""
        return self.transpose(-1, -2)

    def transpose(self, dim0: int = 1, dim1: int = 0) -> Self:
        """Two axes swapped."""
        order = list(range(len(self.shape)))
        a, b = self._resolve_dim(dim0), self._resolve_dim(dim1)
        if order:
            order[a], order[b] = order[b], order[a]
        return self.permute(*order) if order else self._wrap(self._uop)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Self:
        """The axes from `start_dim` to `end_dim` merged into one."""
        first, last = self._resolve_dim(start_dim), self._resolve_dim(end_dim)
        shape = self._uop.shape
        return self.reshape((*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :]))

    def unflatten(self, dim: int, sizes: Any) -> Self:
        """One axis split into `sizes`, of which one may be -1."""
        at = self._resolve_dim(dim)
        shape = self._uop.shape
        sizes = tuple(sizes)
        if -1 in sizes:
            known = -prod(sizes)
            if known <= 0 or shape[at] % known:
                raise ShapeError(
                    f"axis {dim} does not split into {sizes}",
                    asked=f"unflatten({dim}, {sizes}) of shape {shape}",
                )
            sizes = tuple(shape[at] // known if s == -1 else s for s in sizes)
        return self.reshape((*shape[:at], *sizes, *shape[at + 1 :]))

    # ---- joining and cutting ------------------------------------------------------------------

    def cat(self, *args: Any, dim: int = 0) -> Self:
        """self and others one after another along an axis; dtypes promote.

        :raises ShapeError: if other axes differ in size.
        """
        axis = self._resolve_dim(dim)
        parts: list[Any] = [self, *args]
        for part in parts:
            same = [s for i, s in enumerate(part.shape) if i != axis]
            if len(part.shape) != len(self.shape) or same != [
                s for i, s in enumerate(self.shape) if i != axis
            ]:
                raise ShapeError(
                    "only the axis of joining may differ in size",
                    asked=f"cat of {', '.join(str(p.shape) for p in parts)} along axis {dim}",
                )
        if not self.shape:
            raise ShapeError(
                "0-d tensors have no axis to join along", asked="cat", try_="stack(...)"
            )
        if len(parts) == 1:
            return self._wrap(self._uop)
        dtype = least_upper_dtype(*(p._uop.dtype for p in parts))
        total = sum(p.shape[axis] for p in parts)
        result, at = None, 0
        for part in parts:
            size = part.shape[axis]
            pads = tuple(
                (at, total - at - size) if i == axis else (0, 0) for i in range(len(self.shape))
            )
            at = at + size
            if isinstance(size, int) and size == 0:
                continue
            placed = part._wrap(cast_node(part._uop, dtype))._constant_pad(pads, 0)
            # parts do not overlap: each element is one value plus zeros
            result = placed if result is None else result + placed
        return parts[0].cast(dtype) if result is None else result

    def stack(self, *args: Any, dim: int = 0) -> Self:
        """self and others along a new axis."""
        first = self.unsqueeze(dim)
        return first.cat(*(t.unsqueeze(dim) for t in args), dim=dim)

    def split(self, sizes: Any, dim: int = 0) -> tuple[Self, ...]:
        """Pieces of the given sizes along an axis; of one size (but for the last) for an int.

        :raises ShapeError: if the sizes do not add up.
        """
        axis = self._resolve_dim(dim)
        length = self.shape[axis]
        if isinstance(sizes, (int, UOp)):
            if isinstance(length, UOp) or isinstance(sizes, UOp):
                raise ShapeError(
                    "how many pieces there are depends on variables",
                    asked=f"split({say_shape(sizes)}, dim={dim}) of shape {say_shape(self.shape)}",
                    because=f"axis {axis} has {say_shape(length)} elements",
                    try_="the size of each piece: split([...])",
                )
            if sizes <= 0:
                raise ArgumentError("pieces have at least one element", asked=f"split({sizes})")
            sizes = [min(sizes, length - i) for i in range(0, max(length, 1), sizes)]
        if fold(sum(sizes)) != length:
            raise ShapeError(
                f"the pieces do not add up to {length}",
                asked=f"split({list(sizes)}, dim={dim}) of shape {self.shape}",
                because=f"their sum is {say_shape(fold(sum(sizes)))}",
            )
        pieces, at = [], 0
        for size in sizes:
            window = tuple((at, at + size) if i == axis else None for i in range(len(self.shape)))
            pieces.append(self.shrink(window))
            at += size
        return tuple(pieces)

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Self, ...]:
        """At most `chunks` pieces of equal size (the last may be shorter)."""
        if not isinstance(chunks, int) or chunks <= 0:
            raise ArgumentError("chunks is a number above 0", asked=f"chunk({chunks!r})")
        length = self.shape[self._resolve_dim(dim)]
        if isinstance(length, UOp):
            return self.split(ceildiv(length, chunks), dim)
        if length == 0:
            return tuple(self._wrap(self._uop) for _ in range(chunks))
        return self.split(-(-length // chunks), dim)

    def repeat(self, repeats: Any, *args: Any) -> Self:
        """Tiled: axis i repeated repeats[i] times; new axes in front."""
        times = as_tuple(repeats, args)
        own = (1,) * (len(times) - len(self.shape)) + self.shape
        if len(times) < len(own):
            raise ShapeError(
                "repeat needs a number for every axis",
                asked=f"repeat{times} of shape {self.shape}",
            )
        between = tuple(x for s in own for x in (1, s))
        wide = tuple(x for r, s in zip(times, own) for x in (r, s))
        final = tuple(r * s for r, s in zip(times, own))
        return self.reshape(between).expand(wide).reshape(final)

    def repeat_interleave(self, repeats: int, dim: int | None = None) -> Self:
        """Each element `repeats` times in a row; of the flattened tensor for dim None."""
        if dim is None:
            return self.flatten().repeat_interleave(repeats, 0)
        at = self._resolve_dim(dim)
        s = self.shape
        wide = self.reshape((*s[: at + 1], 1, *s[at + 1 :]))
        wide = wide.expand((*s[: at + 1], repeats, *s[at + 1 :]))
        return wide.reshape((*s[:at], s[at] * repeats, *s[at + 1 :]))

    def roll(self, shifts: Any, dims: Any = None) -> Self:
        """Shifted along axes, what falls off one end coming back at the other."""
        if dims is None:
            return self.flatten().roll(shifts, 0).reshape(self.shape)
        amounts = (shifts,) if isinstance(shifts, int) else tuple(shifts)
        axes = (dims,) if isinstance(dims, int) else tuple(dims)
        if len(amounts) != len(axes):
            raise ArgumentError("a shift for each axis", asked=f"roll({shifts}, {dims})")
        rolled = self
        for amount, dim in zip(amounts, axes):
            axis = self._resolve_dim(dim)
            size = self.shape[axis]
            cut = -amount % size if size else 0
            if cut:
                front, back = rolled.split([cut, size - cut], axis)
                rolled = back.cat(front, dim=axis)
        return rolled

    def unfold(self, dim: int, size: int, step: int) -> Self:
        """Windows of `size` every `step` along an axis, as a new last axis."""
        axis = self._resolve_dim(dim)
        if size < 0 or step <= 0 or size > self.shape[axis]:
            raise ArgumentError(
                "windows have 0 <= size <= length of the axis and a step above 0",
                asked=f"unfold({dim}, {size}, {step}) of shape {self.shape}",
            )
        rank = len(self.shape)
        last = self.permute(*(i for i in range(rank) if i != axis), axis)
        windows = last._pool((size,), (step,), (1,))
        order = list(range(rank - 1))
        order.insert(axis, rank - 1)
        return windows.permute(*order, rank)

    def meshgrid(self, *args: Any, indexing: str = "ij") -> tuple[Self, ...]:
        """Grids of coordinates from 1-d tensors; "xy" swaps the first two axes."""
        if indexing not in ("ij", "xy"):
            raise ArgumentError(
                'indexing is "ij" or "xy"', asked=f"meshgrid(indexing={indexing!r})"
            )
        axes = [self, *args]
        swap = indexing == "xy" and len(axes) > 1
        order = [1, 0, *range(2, len(axes))] if swap else list(range(len(axes)))
        shape = tuple(axes[i].numel() for i in order)
        grids = []
        for i, axis in enumerate(axes):
            place = order.index(i)
            own = tuple(axis.numel() if p == place else 1 for p in range(len(axes)))
            grids.append(axis.reshape(own).expand(shape))
        return tuple(grids)

    def diag(self) -> Self:
        """A vector on the diagonal of a matrix of zeros."""
        if len(self.shape) != 1:
            raise ShapeError("diag is of a vector", asked=f"diag of shape {self.shape}")
        n = self.shape[0]
        if n == 0:
            return self.reshape(0, 0)
        return self.unsqueeze(-1).pad((None, (0, n))).flatten().shrink(((0, n * n),)).reshape(n, n)

    def diagonal(self) -> Self:
        """The main diagonal of a square matrix, as a vector."""
        if len(self.shape) != 2 or self.shape[0] != self.shape[1]:
            raise ShapeError("diagonal is of a square matrix", asked=f"of shape {self.shape}")
        n = self.shape[0]
        if n == 0:
            return self.reshape(0)
        return self.flatten().pad(((0, n),)).reshape(n, n + 1).shrink((None, (0, 1))).reshape(n)

    def _broadcasted_to(self, shape: tuple[Any, ...]) -> Any:
        """self in a shape that it broadcasts to."""
        broadcast_shapes(self._uop.shape, shape)
        return self._expanded(shape)

    @staticmethod
    def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(argsort(order))
