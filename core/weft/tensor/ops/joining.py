"""Joining, cutting, repeating: tensors of other sizes out of the same elements.

Everything is made of the moves of `MovementMixin`: what is joined is padded to the whole and added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import shown, whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, DTypeError, IndexingError, ShapeError
from weft.base.intmath import ceildiv
from weft.base.promotion import least_upper_dtype
from weft.shape.movement import as_size, say_shape
from weft.tensor.ops.argument_lists import all_of, as_tuple
from weft.tensor.ops.operators import cast_node
from weft.tensor.ops.sliding_windows import sliding_windows
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike, Axes, ShapeLike, Size
from weft.uop import UOp
from weft.uop.symbolic.sint import fold


def _first_difference(a: tuple[Any, ...], b: tuple[Any, ...], beside: int | None = None) -> str:
    if len(a) != len(b):
        return f"one has {len(a)} axes, another {len(b)}"
    for axis, (x, y) in enumerate(zip(a, b)):
        if x != y and axis != beside:
            return f"at axis {axis} they have {say_shape(x)} and {say_shape(y)}"
    return "they have the same sizes"


def cat(self: TensorT | Sequence[TensorT], *args: ArrayLike, dim: int = 0) -> TensorT:
    """self and others one after another along an axis; dtypes promote.

    They are given one by one, or as one sequence: `Tensor.cat([a, b], dim=1)`.

    :raises ShapeError: if other axes differ in size.

    >>> Tensor([[1, 2]]).cat(Tensor([[3, 4]])).tolist()
    [[1, 2], [3, 4]]
    >>> Tensor([[1, 2]]).cat(Tensor([[3, 4]]), dim=1).tolist()
    [[1, 2, 3, 4]]
    """
    parts = all_of(self, args, "cat")
    first = parts[0]
    for part in parts:
        if part._interleaved is not None:
            return part._joined(parts, dim)
    axis = first._resolve_dim(dim)
    for part in parts:
        same = [s for i, s in enumerate(part.shape) if i != axis]
        if len(part.shape) != len(first.shape) or same != [
            s for i, s in enumerate(first.shape) if i != axis
        ]:
            shapes = ", ".join(say_shape(p.shape) for p in parts)
            raise ShapeError(
                "only the axis of joining may differ in size",
                asked=f"cat of {shapes} along axis {dim}",
                because=_first_difference(first.shape, part.shape, axis),
                try_="shrink, pad or reshape them to the same other sizes",
            )
    if not first.shape:
        raise IndexingError(
            "0-d tensors have no axis to join along", asked="cat", try_="stack(...)"
        )
    if len(parts) == 1:
        return first._wrap(first._uop)
    dtype = least_upper_dtype(*(p._uop.dtype for p in parts))
    nothing = -0.0 if dtypes.is_float(dtype) else 0
    total = sum(p.shape[axis] for p in parts)
    result: Any = None
    at = 0
    for part in parts:
        size = part.shape[axis]
        pads = tuple(
            (at, total - at - size) if i == axis else (0, 0) for i in range(len(first.shape))
        )
        at = at + size
        # parts do not overlap: each element is one value, plus what changes none
        placed = part._wrap(cast_node(part._uop, dtype))._constant_pad(pads, nothing)
        result = placed if result is None else result + placed
    return result


def stack(self: TensorT | Sequence[TensorT], *args: ArrayLike, dim: int = 0) -> TensorT:
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


def split(self: TensorT, sizes: ShapeLike, dim: int = 0) -> tuple[TensorT, ...]:
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
    asked = f"split({shown(sizes)}, dim={dim}) of shape {say_shape(self.shape)}"
    if not isinstance(sizes, (tuple, list)):
        # how many pieces there are is for the values of now
        each = as_size(sizes, asked)
        now, each = int(length), int(each)
        if each < 0 or (each == 0 and now):
            raise ArgumentError("pieces have at least one element", asked=f"split({each})")
        starts = range(0, now, each) if now else (0,)
        lengths: list[Size] = [min(each, now - at) for at in starts]
    else:
        lengths = [as_size(s, asked) for s in sizes]
        if fold(sum(lengths)) != length:
            raise ShapeError(
                f"the pieces do not add up to {length}",
                asked=f"split({lengths}, dim={dim}) of shape {self.shape}",
                because=f"their sum is {say_shape(fold(sum(lengths)))}",
                try_=f"sizes of {say_shape(length)} in all, or split(n) for pieces of n elements",
            )
    pieces: list[TensorT] = []
    at: Size = 0
    for size in lengths:
        window = tuple((at, at + size) if i == axis else None for i in range(len(self.shape)))
        pieces.append(self.shrink(window))
        at += size
    return tuple(pieces)


def chunk(self: TensorT, chunks: int, dim: int = 0) -> tuple[TensorT, ...]:
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


def repeat(self: TensorT, repeats: ShapeLike, *args: Size) -> TensorT:
    """Tiled: axis i repeated repeats[i] times; new axes in front.

    >>> Tensor([1, 2]).repeat(2).tolist()
    [1, 2, 1, 2]
    >>> Tensor([1, 2]).repeat(2, 1).tolist()
    [[1, 2], [1, 2]]
    """
    times = as_tuple(repeats, args)
    times = tuple(as_size(t, f"repeat{shown(times)} of shape {self.shape}") for t in times)
    own = (1,) * (len(times) - len(self.shape)) + self.shape
    if len(times) < len(own):
        raise ShapeError(
            "repeat needs a number for every axis",
            asked=f"repeat{shown(times)} of shape {self.shape}",
        )
    between = tuple(x for s in own for x in (1, s))
    wide = tuple(x for r, s in zip(times, own) for x in (r, s))
    final = tuple(r * s for r, s in zip(times, own))
    return self.reshape(between)._expanded(wide).reshape(final)


def repeat_interleave(
    self: TensorT, repeats: ArrayLike, dim: int | None = None, *, output_size: int | None = None
) -> TensorT:
    """Each element `repeats` times in a row; of the flattened tensor for dim None.

    `repeats` may be a tensor of integers, one for each element of the axis or one for all. It is
    computed at once, since the size of the result depends on it. `output_size` may give that size;
    another size is an error.

    >>> Tensor([1, 2]).repeat_interleave(2).tolist()
    [1, 1, 2, 2]
    >>> Tensor([1, 2, 3]).repeat_interleave(Tensor([2, 0, 1])).tolist()
    [1, 1, 3]
    """
    if isinstance(repeats, (TensorBase, list, tuple)):
        return _repeated_each(self, repeats, dim, output_size)
    repeats = as_size(repeats, f"repeat_interleave({shown(repeats)})")
    if dim is None:
        return self.flatten().repeat_interleave(repeats, 0)
    at = self._resolve_dim(dim)
    s = self.shape
    wide = self.reshape((*s[: at + 1], 1, *s[at + 1 :]))
    wide = wide._expanded((*s[: at + 1], repeats, *s[at + 1 :]))
    return wide.reshape((*s[:at], s[at] * repeats, *s[at + 1 :]))


def _repeated_each(self: TensorBase, repeats: Any, dim: int | None, output_size: int | None) -> Any:
    """Every element of an axis its own number of times; all of them the same for one number."""
    if dim is None or not self.shape:
        self._resolve_dim(0 if dim is None else dim)
        return _repeated_each(self.flatten(), repeats, 0, output_size)
    at = self._resolve_dim(dim)
    size = int(self.shape[at])
    if not isinstance(repeats, TensorBase):
        repeats = self.__class__(list(repeats), dtype=None if len(repeats) else dtypes.int32)
    if not dtypes.is_int(repeats._uop.dtype):
        raise DTypeError("times are integers", asked=f"repeat_interleave of {repeats._uop.dtype!r}")
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


def roll(self: TensorT, shifts: Axes, dims: Axes | None = None) -> TensorT:
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
    rolled = self._wrap(self._uop)
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


def unfold(self: TensorT, dim: int, size: int, step: int) -> TensorT:
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
    windows = sliding_windows(last, (size,), (step,), (1,))
    order = list(range(rank - 1))
    order.insert(axis, rank - 1)
    rows = [tuple(int(i == j) for j in range(rank)) for i in (*range(rank), axis)]
    rows[axis] = tuple(step * n for n in rows[axis])
    return self._viewed_as(windows.permute(*order, rank)._uop, tuple(rows))


def meshgrid(self: TensorT, *args: ArrayLike, indexing: str = "ij") -> tuple[TensorT, ...]:
    """Grids of coordinates from 1-d tensors; "xy" swaps the first two axes.

    >>> rows, columns = Tensor([1, 2]).meshgrid(Tensor([5, 6, 7]))
    >>> rows.tolist()
    [[1, 1, 1], [2, 2, 2]]
    >>> columns.tolist()
    [[5, 6, 7], [5, 6, 7]]
    """
    if indexing not in ("ij", "xy"):
        raise ArgumentError(
            'indexing is "ij" or "xy"', asked=f"meshgrid(indexing={shown(indexing)})"
        )
    axes = all_of(self, args, "meshgrid")
    swap = indexing == "xy" and len(axes) > 1
    order = [1, 0, *range(2, len(axes))] if swap else list(range(len(axes)))
    shape = tuple(axes[i].numel() for i in order)
    grids = []
    for i, axis in enumerate(axes):
        place = order.index(i)
        own = tuple(axis.numel() if p == place else 1 for p in range(len(axes)))
        grids.append(axis.reshape(own)._expanded(shape))
    return tuple(grids)


def diag(self: TensorT, diagonal: int = 0) -> TensorT:
    """A vector on a diagonal of a matrix of zeros; of a matrix, that diagonal.

    The main one is 0, those above it are 1 and up, those below it -1 and down.

    >>> Tensor([1, 2]).diag().tolist()
    [[1, 0], [0, 2]]
    >>> Tensor([[1, 2], [3, 4]]).diag(1).tolist()
    [2]
    """
    diagonal = whole(diagonal, "diagonal")
    if len(self.shape) == 2:
        found = self.diagonal(diagonal)
        return found._wrap(found._uop)
    if len(self.shape) != 1:
        raise ShapeError("diag is of a vector or a matrix", asked=f"diag of {self.shape}")
    n = self.shape[0]
    if isinstance(n, int) and n == 0:
        return self.reshape(0, 0).pad(((0, abs(diagonal)), (0, abs(diagonal))))
    square = self.unsqueeze(-1).pad((None, (0, n))).flatten().shrink(((0, n * n),))
    below, above = max(-diagonal, 0), max(diagonal, 0)
    return square.reshape(n, n).pad(((below, above), (above, below)))


def diagonal(self: TensorT, offset: int = 0, dim1: int = 0, dim2: int = 1) -> TensorT:
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
    rank = len(order)
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
    flat = x._wrap(x._uop).reshape((*front, n * n)).pad((*kept, (0, n)))
    flat = flat.reshape((*front, n, n + 1)).shrink((*kept, None, (0, 1))).reshape((*front, n))
    rows = [tuple(int(i == j) for j in range(rank + 2)) for i in range(rank)]
    return x._viewed_as(flat._uop, (*rows, (0,) * rank + (1, 1)))
