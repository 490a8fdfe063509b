"""Movement: new shapes over the same elements; nothing is copied, everything becomes a view.

A shape is ints or symbolic ints, given as one tuple or as several arguments.
"""

from __future__ import annotations

from typing import Any, Self

from weft.base.arguments import kind_of, shown, whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, DTypeError, IndexingError, ShapeError, UnknownChoice
from weft.base.intmath import ceildiv
from weft.base.promotion import least_upper_dtype
from weft.base.sequences import argsort, prod
from weft.engine.capture import recording
from weft.shape.movement import (
    always_inside,
    as_size,
    broadcast_shapes,
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
from weft.tensor.ops.operands import cast_node
from weft.tensor.protocol import TensorBase, record
from weft.uop import Ops, UOp
from weft.uop.symbolic.sint import fold


def as_tuple(first: Any, rest: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments given one by one or as one sequence."""
    if rest or not isinstance(first, (tuple, list)):
        return (first, *rest)
    return tuple(first)


def _definite(a: Any, b: Any) -> bool:
    return isinstance(a, int) and isinstance(b, int)


def _has_symbol(*shapes: tuple[Any, ...]) -> bool:
    return any(isinstance(size, UOp) for shape in shapes for size in shape)


def _first_difference(a: tuple[Any, ...], b: tuple[Any, ...], beside: int | None = None) -> str:
    if len(a) != len(b):
        return f"one has {len(a)} axes, another {len(b)}"
    for axis, (x, y) in enumerate(zip(a, b)):
        if x != y and axis != beside:
            return f"at axis {axis} they have {say_shape(x)} and {say_shape(y)}"
    return "they have the same sizes"


def all_of(first: Any, rest: tuple[Any, ...], what: str) -> list[Any]:
    """Tensors given one by one, or as one sequence.

    :raises ArgumentError: for none, or for both.
    """
    if not isinstance(first, (tuple, list)):
        if len(rest) == 1 and isinstance(rest[0], (tuple, list)):
            rest = tuple(rest[0])
        return [first, *(first._as_tensor(x, first) for x in rest)]
    if rest or not first:
        raise ArgumentError(
            f"{what} takes tensors one by one, or one sequence of them",
            asked=f"{what} of a sequence of {len(first)}, and {len(rest)} more",
            try_=f"Tensor.{what}(a, b, c) or Tensor.{what}([a, b, c])",
        )
    return all_of(first[0], tuple(first[1:]), what)


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
        several = isinstance(dims, (tuple, list))
        asked = f"{'axes' if several else 'axis'} {dims!r} of shape {self.shape}"
        return normalise_axes(dims, len(self.shape), asked)

    # ---- the six moves ------------------------------------------------------------------------

    def reshape(self, shape: Any, *args: Any) -> Self:
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
            return self._wrap(u)
        if _has_symbol(own, new) and not fits_always(own, new):
            return self._reshaped_for_now(new)
        return self._wrap(record(Ops.RESHAPE, u.dtype, (u,), new))

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

    def view(self, shape: Any, *args: Any) -> Self:
        """Alias of reshape.

        >>> Tensor([1, 2, 3, 4]).view(2, 2).tolist()
        [[1, 2], [3, 4]]
        """
        return self.reshape(shape, *args)

    def expand(self, shape: Any, *args: Any) -> Self:
        """Axes of size one repeated, new axes in front; -1 keeps an extent.

        :raises ShapeError: if an axis has another size than 1 and than the one asked for.

        >>> Tensor([[1], [2]]).expand(2, 3).tolist()
        [[1, 1, 1], [2, 2, 2]]
        >>> Tensor([1, 2]).expand(2, -1).tolist()
        [[1, 2], [1, 2]]
        """
        return self._expanded(expand_arg(self._uop.shape, as_tuple(shape, args)))

    def _expanded(self, new: tuple[Any, ...]) -> Self:
        u = self._uop
        own = u.shape
        if own == new:
            return self._wrap(u)
        # a wrong node would read memory that is not there
        clash = any(a != b and a != 1 for a, b in zip(own[::-1], new[::-1]) if _definite(a, b))
        if clash or len(own) > len(new):
            raise ShapeError(
                f"shape {say_shape(own)} does not broadcast to {say_shape(new)}",
                asked=f"{say_shape(own)} as {say_shape(new)}",
                because="only axes of size 1 are repeated, and new axes stand in front",
                try_="x.reshape(...) or x.unsqueeze(...) first",
            )
        if len(own) < len(new):
            u = record(Ops.RESHAPE, u.dtype, (u,), (1,) * (len(new) - len(own)) + own)
        if u.shape != new:
            u = record(Ops.EXPAND, u.dtype, (u,), new)
        return self._wrap(u)

    def permute(self, order: Any = (), *args: Any) -> Self:
        """Axis i of the result is axis order[i] of self.

        :raises ShapeError: if `order` is not every axis once.

        >>> Tensor.zeros(2, 3, 4).permute(2, 0, 1).shape
        (4, 2, 3)
        """
        found = permute_arg(self._uop.shape, as_tuple(order, args))
        if found == tuple(range(len(found))):
            return self._wrap(self._uop)
        return self._wrap(record(Ops.PERMUTE, self._uop.dtype, (self._uop,), found))

    def flip(self, axis: Any, *args: Any) -> Self:
        """The given axes backwards.

        >>> Tensor([[1, 2], [3, 4]]).flip(0).tolist()
        [[3, 4], [1, 2]]
        >>> Tensor([[1, 2], [3, 4]]).flip(0, 1).tolist()
        [[4, 3], [2, 1]]
        """
        marks = flip_arg(self._uop.shape, as_tuple(axis, args))
        if not any(marks):
            return self._wrap(self._uop)
        return self._wrap(record(Ops.FLIP, self._uop.dtype, (self._uop,), marks))

    def shrink(self, arg: Any) -> Self:
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
            return self._wrap(self._uop)
        return self._wrap(record(Ops.SHRINK, self._uop.dtype, (self._uop,), window))

    def pad(self, padding: Any, mode: str = "constant", value: Any = 0.0) -> Self:
        """Padded at the edges; what is below zero shrinks.

        `padding` is one (before, after) pair per axis (None for none), or flat from the last axis
        on: (left, right, top, bottom, ...). Modes: "constant" with `value`, "reflect",
        "replicate", "circular".

        :raises ArgumentError: for an unknown mode, or padding that does not fit the axes.

        >>> Tensor([1, 2]).pad(((1, 2),)).tolist()
        [0, 1, 2, 0, 0]
        >>> Tensor([[1, 2]]).pad((0, 1), value=9).tolist()
        [[1, 2, 9]]
        >>> Tensor([1, 2, 3]).pad((2, 0), mode="reflect").tolist()
        [3, 2, 1, 2, 3]
        """
        pairs = pad_arg(self._uop.shape, padding)
        if mode == "constant":
            return self._constant_pad(pairs, value)
        if mode not in ("reflect", "replicate", "circular"):
            raise UnknownChoice(
                f"there is no padding mode {mode!r}",
                asked=f"pad(mode={mode!r})",
                try_='"constant", "reflect", "replicate" or "circular"',
            )
        cut = tuple((min(b, 0), min(a, 0)) for b, a in pairs)
        # what goes round is what is left; an edge is mirrored before anything is cut from it
        padded = self._constant_pad(cut, 0) if mode == "circular" else self
        for axis, (before, after) in enumerate(pairs):
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
        """An axis of size one put in at `dim`.

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
        return self.transpose(0, 1) if len(self.shape) > 1 else self._wrap(self._uop)

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
        return self.permute(*order) if order else self._wrap(self._uop)

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

    def unflatten(self, dim: int, sizes: Any) -> Self:
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

    # ---- joining and cutting ------------------------------------------------------------------

    def cat(self, *args: Any, dim: int = 0) -> Self:
        """self and others one after another along an axis; dtypes promote.

        They are given one by one, or as one sequence: `Tensor.cat([a, b], dim=1)`.

        :raises ShapeError: if other axes differ in size.

        >>> Tensor([[1, 2]]).cat(Tensor([[3, 4]])).tolist()
        [[1, 2], [3, 4]]
        >>> Tensor([[1, 2]]).cat(Tensor([[3, 4]]), dim=1).tolist()
        [[1, 2, 3, 4]]
        """
        self, *args = parts = all_of(self, args, "cat")
        axis = self._resolve_dim(dim)
        for part in parts:
            same = [s for i, s in enumerate(part.shape) if i != axis]
            if len(part.shape) != len(self.shape) or same != [
                s for i, s in enumerate(self.shape) if i != axis
            ]:
                shapes = ", ".join(say_shape(p.shape) for p in parts)
                raise ShapeError(
                    "only the axis of joining may differ in size",
                    asked=f"cat of {shapes} along axis {dim}",
                    because=_first_difference(self.shape, part.shape, axis),
                    try_="shrink, pad or reshape them to the same other sizes",
                )
        if not self.shape:
            raise IndexingError(
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
            placed = part._wrap(cast_node(part._uop, dtype))._constant_pad(pads, 0)
            # parts do not overlap: each element is one value plus zeros
            result = placed if result is None else result + placed
        return result

    def stack(self, *args: Any, dim: int = 0) -> Self:
        """self and others along a new axis, given as to `cat`.

        >>> Tensor([1, 2]).stack(Tensor([3, 4])).tolist()
        [[1, 2], [3, 4]]
        >>> Tensor([1, 2]).stack(Tensor([3, 4]), dim=1).tolist()
        [[1, 3], [2, 4]]
        """
        parts = all_of(self, args, "stack")
        for part in parts:
            if part.shape != parts[0].shape:
                raise ShapeError(
                    "what is stacked has one shape",
                    asked=f"stack of {', '.join(say_shape(p.shape) for p in parts)}",
                    because=_first_difference(parts[0].shape, part.shape),
                    try_="cat joins along an axis that is there, of any size",
                )
        first, *rest = (part.unsqueeze(dim) for part in parts)
        return first.cat(*rest, dim=dim)

    def split(self, sizes: Any, dim: int = 0) -> tuple[Self, ...]:
        """Pieces of the given sizes along an axis; of one size (but for the last) for an int.

        :raises ShapeError: if the sizes do not add up.

        >>> [piece.tolist() for piece in Tensor([1, 2, 3, 4, 5]).split(2)]
        [[1, 2], [3, 4], [5]]
        >>> [piece.tolist() for piece in Tensor([1, 2, 3, 4, 5]).split([1, 4])]
        [[1], [2, 3, 4, 5]]
        """
        if not self.shape:
            raise ShapeError("a 0-d tensor has no axis to cut", asked=f"split({shown(sizes)})")
        axis = self._resolve_dim(dim)
        length = self.shape[axis]
        several = isinstance(sizes, (tuple, list))
        asked = f"split({shown(sizes)}, dim={dim}) of shape {say_shape(self.shape)}"
        sizes = [as_size(s, asked) for s in sizes] if several else as_size(sizes, asked)
        if not several:
            # how many pieces there are is for the values of now
            now, sizes = int(length), int(sizes)
            if sizes < 0 or (sizes == 0 and now):
                raise ArgumentError("pieces have at least one element", asked=f"split({sizes})")
            starts = range(0, now, sizes) if now else (0,)
            sizes = [min(sizes, now - at) for at in starts]
        elif fold(sum(sizes)) != length:
            raise ShapeError(
                f"the pieces do not add up to {length}",
                asked=f"split({list(sizes)}, dim={dim}) of shape {self.shape}",
                because=f"their sum is {say_shape(fold(sum(sizes)))}",
                try_=f"sizes of {say_shape(length)} in all, or split(n) for pieces of n elements",
            )
        pieces, at = [], 0
        for size in sizes:
            window = tuple((at, at + size) if i == axis else None for i in range(len(self.shape)))
            pieces.append(self.shrink(window))
            at += size
        return tuple(pieces)

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Self, ...]:
        """At most `chunks` pieces of equal size (the last may be shorter).

        >>> [piece.tolist() for piece in Tensor([1, 2, 3, 4, 5]).chunk(2)]
        [[1, 2, 3], [4, 5]]
        """
        chunks = whole(chunks, "chunks", least=1)
        if not self.shape:
            raise ShapeError("a 0-d tensor has no axis to cut", asked=f"chunk({chunks})")
        length = int(self.shape[self._resolve_dim(dim)])
        if length == 0:
            return tuple(self._wrap(self._uop) for _ in range(chunks))
        return self.split(ceildiv(length, chunks), dim)

    def repeat(self, repeats: Any, *args: Any) -> Self:
        """Tiled: axis i repeated repeats[i] times; new axes in front.

        >>> Tensor([1, 2]).repeat(2).tolist()
        [1, 2, 1, 2]
        >>> Tensor([1, 2]).repeat(2, 1).tolist()
        [[1, 2], [1, 2]]
        """
        times = as_tuple(repeats, args)
        times = tuple(as_size(t, f"repeat{times} of shape {self.shape}") for t in times)
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

    def repeat_interleave(
        self, repeats: Any, dim: int | None = None, *, output_size: int | None = None
    ) -> Self:
        """Each element `repeats` times in a row; of the flattened tensor for dim None.

        `repeats` may be a tensor of integers, one for each element of the axis or one for all. It
        is computed at once, as the size of the result depends on it; who knows that size may name
        it by `output_size`, and is told where it is another.

        >>> Tensor([1, 2]).repeat_interleave(2).tolist()
        [1, 1, 2, 2]
        >>> Tensor([1, 2, 3]).repeat_interleave(Tensor([2, 0, 1])).tolist()
        [1, 1, 3]
        """
        if isinstance(repeats, (TensorBase, list, tuple)):
            return self._repeated_each(repeats, dim, output_size)
        repeats = as_size(repeats, f"repeat_interleave({shown(repeats)})")
        if dim is None:
            return self.flatten().repeat_interleave(repeats, 0)
        at = self._resolve_dim(dim)
        s = self.shape
        wide = self.reshape((*s[: at + 1], 1, *s[at + 1 :]))
        wide = wide.expand((*s[: at + 1], repeats, *s[at + 1 :]))
        return wide.reshape((*s[:at], s[at] * repeats, *s[at + 1 :]))

    def _repeated_each(self, repeats: Any, dim: int | None, output_size: int | None) -> Any:
        """Every element of an axis its own number of times; all of them the same for one number."""
        if dim is None or not self.shape:
            self._resolve_dim(0 if dim is None else dim)
            return self.flatten()._repeated_each(repeats, 0, output_size)
        at = self._resolve_dim(dim)
        size = int(self.shape[at])
        if not isinstance(repeats, TensorBase):
            repeats = self.__class__(list(repeats), dtype=None if len(repeats) else dtypes.int32)
        if not dtypes.is_int(repeats._uop.dtype):
            raise DTypeError(
                "times are integers", asked=f"repeat_interleave of {repeats._uop.dtype!r}"
            )
        times = repeats.flatten().tolist()
        if len(times) == 1:
            times *= size
        if len(repeats.shape) > 1 or len(times) != size:
            raise ShapeError(
                "a number of times for each element",
                asked=f"repeat_interleave({repeats.shape}) along axis {at} of {self.shape}",
                because=f"it has one number, or the shape ({size},)",
            )
        if any(n < 0 for n in times):
            raise ArgumentError(
                "nothing is there less than 0 times", asked=f"{min(times)} times an element"
            )
        places = [i for i, n in enumerate(times) for _ in range(n)]
        if output_size is not None and output_size != len(places):
            raise ArgumentError(
                "the result has another size",
                asked=f"repeat_interleave(output_size={output_size})",
                because=f"the numbers of times make {len(places)} elements",
            )
        index = self.__class__(places, dtype=dtypes.int32, device=self.device)
        return self.index_select(at, index)

    def roll(self, shifts: Any, dims: Any = None) -> Self:
        """Shifted along axes, what falls off one end coming back at the other.

        >>> Tensor([1, 2, 3]).roll(1).tolist()
        [3, 1, 2]
        >>> Tensor([[1, 2], [3, 4]]).roll(1, dims=0).tolist()
        [[3, 4], [1, 2]]
        """
        if dims is None:
            return self.flatten().roll(shifts, 0).reshape(self.shape)
        amounts = tuple(whole(shift, "shifts") for shift in as_tuple(shifts, ()))
        axes = as_tuple(dims, ())
        if len(amounts) != len(axes):
            raise ArgumentError("a shift for each axis", asked=f"roll({shifts}, {dims})")
        rolled = self
        for amount, dim in zip(amounts, axes):
            axis = self._resolve_dim(dim)
            size = self.shape[axis]
            if isinstance(size, UOp):
                back = amount if 0 <= amount <= size.vmin else amount % max(int(size), 1)
                cut = size - back if back else 0
            else:
                cut = -amount % size if size else 0
            if isinstance(cut, UOp) or cut:
                front, back = rolled.split([cut, size - cut], axis)
                rolled = back.cat(front, dim=axis)
        return rolled

    def unfold(self, dim: int, size: int, step: int) -> Self:
        """Windows of `size` every `step` along an axis, as a new last axis.

        >>> Tensor([1, 2, 3, 4]).unfold(0, 2, 1).tolist()
        [[1, 2], [2, 3], [3, 4]]
        """
        if not self.shape:  # one element along an axis, of which there is one window
            return self.reshape(1).unfold(dim, size, step).reshape(size)
        axis = self._resolve_dim(dim)
        size, step = whole(size, "size"), whole(step, "step")
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
        """Grids of coordinates from 1-d tensors; "xy" swaps the first two axes.

        >>> rows, columns = Tensor([1, 2]).meshgrid(Tensor([5, 6, 7]))
        >>> rows.tolist()
        [[1, 1, 1], [2, 2, 2]]
        >>> columns.tolist()
        [[5, 6, 7], [5, 6, 7]]
        """
        if indexing not in ("ij", "xy"):
            raise ArgumentError(
                'indexing is "ij" or "xy"', asked=f"meshgrid(indexing={indexing!r})"
            )
        axes = all_of(self, args, "meshgrid")
        swap = indexing == "xy" and len(axes) > 1
        order = [1, 0, *range(2, len(axes))] if swap else list(range(len(axes)))
        shape = tuple(axes[i].numel() for i in order)
        grids = []
        for i, axis in enumerate(axes):
            place = order.index(i)
            own = tuple(axis.numel() if p == place else 1 for p in range(len(axes)))
            grids.append(axis.reshape(own).expand(shape))
        return tuple(grids)

    def diag(self, diagonal: int = 0) -> Self:
        """A vector on a diagonal of a matrix of zeros; of a matrix, that diagonal.

        The main one is 0, those above it are 1 and up, those below it -1 and down.

        >>> Tensor([1, 2]).diag().tolist()
        [[1, 0], [0, 2]]
        >>> Tensor([[1, 2], [3, 4]]).diag(1).tolist()
        [2]
        """
        diagonal = whole(diagonal, "diagonal")
        if len(self.shape) == 2:
            return self.diagonal(diagonal)
        if len(self.shape) != 1:
            raise ShapeError("diag is of a vector or a matrix", asked=f"diag of {self.shape}")
        n = self.shape[0]
        if isinstance(n, int) and n == 0:
            return self.reshape(0, 0).pad(((0, abs(diagonal)), (0, abs(diagonal))))
        square = self.unsqueeze(-1).pad((None, (0, n))).flatten().shrink(((0, n * n),))
        below, above = max(-diagonal, 0), max(diagonal, 0)
        return square.reshape(n, n).pad(((below, above), (above, below)))

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Self:
        """The diagonals of the matrices in two axes, as a new last axis; numbered as for `diag`.

        :raises ShapeError: with fewer than two axes.

        >>> Tensor([[1, 2], [3, 4]]).diagonal().tolist()
        [1, 4]
        """
        if len(self.shape) < 2:
            raise ShapeError("diagonals are of matrices", asked=f"diagonal of shape {self.shape}")
        offset = whole(offset, "offset")
        first, second = self._resolve_dim(dim1), self._resolve_dim(dim2)
        if first == second:
            raise ArgumentError("a matrix has two axes", asked=f"diagonal of {dim1} and {dim2}")
        order = [i for i in range(len(self.shape)) if i not in (first, second)]
        x = self.permute(*order, first, second)
        *front, n, m = x.shape
        kept = (None,) * len(front)
        if offset or n != m:
            down, right = max(-offset, 0), max(offset, 0)
            n = max(min(n - down, m - right), 0)
            if n == 0:
                return x.shrink((*kept, (0, 0), (0, 0))).reshape((*front, 0))
            x = x.shrink((*kept, (down, down + n), (right, right + n)))
        if isinstance(n, int) and n == 0:
            return x.reshape((*front, 0))
        flat = x.reshape((*front, n * n)).pad((*kept, (0, n)))
        return flat.reshape((*front, n, n + 1)).shrink((*kept, None, (0, 1))).reshape((*front, n))

    def _broadcasted_to(self, shape: tuple[Any, ...]) -> Any:
        """self in a shape that it broadcasts to."""
        broadcast_shapes(self._uop.shape, shape)
        return self._expanded(shape)

    @staticmethod
    def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(argsort(order))
