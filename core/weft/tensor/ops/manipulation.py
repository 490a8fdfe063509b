"""More movement, by the names that NumPy and PyTorch give it: nothing is copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import shown, whole
from weft.base.errors import ArgumentError, ShapeError, WrongKind
from weft.shape.movement import as_size
from weft.tensor.ops.argument_lists import all_of, as_tuple
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike, Axes, ShapeLike, Size
from weft.uop.symbolic.sint import high_of

# ---- axes ---------------------------------------------------------------------------------


def dim(self: TensorBase) -> int:
    """Number of axes.

    >>> Tensor.zeros(2, 3).dim()
    2
    """
    return len(self.shape)


def movedim(self: TensorT, source: Axes, destination: Axes) -> TensorT:
    """The axes `source` moved to the places `destination`; the others stay in order.

    >>> Tensor.zeros(2, 3, 4).movedim(0, -1).shape
    (3, 4, 2)
    """
    several = (tuple, list)
    pairs = [tuple(a) if isinstance(a, several) else (a,) for a in (source, destination)]
    if len(pairs[0]) != len(pairs[1]):
        raise ArgumentError(
            "a destination for each source", asked=f"movedim({source!r}, {destination!r})"
        )
    sources, targets = ([self._resolve_dim(a) for a in axes] for axes in pairs)
    if len({*sources}) != len(sources) or len({*targets}) != len(targets):
        raise ArgumentError("an axis is named twice", asked=f"movedim({source!r}, {destination!r})")
    placed = dict(zip(targets, sources))
    rest = iter(a for a in range(len(self.shape)) if a not in sources)
    return self.permute(
        tuple(placed[i] if i in placed else next(rest) for i in range(len(self.shape)))
    )


def ravel(self: TensorT) -> TensorT:
    """All elements in one axis.

    >>> Tensor([[1, 2], [3, 4]]).ravel().tolist()
    [1, 2, 3, 4]
    """
    return self.reshape((-1,)) if 0 not in self.shape else self.reshape((0,))


def fliplr(self: TensorT) -> TensorT:
    """Axis 1 backwards.

    >>> Tensor([[1, 2], [3, 4]]).fliplr().tolist()
    [[2, 1], [4, 3]]
    """
    _needs_axes(self, "fliplr", 2)
    return self.flip(1)


def flipud(self: TensorT) -> TensorT:
    """Axis 0 backwards.

    >>> Tensor([[1, 2], [3, 4]]).flipud().tolist()
    [[3, 4], [1, 2]]
    """
    _needs_axes(self, "flipud", 1)
    return self.flip(0)


def _needs_axes(self: TensorBase, what: str, least: int) -> None:
    if len(self.shape) < least:
        raise ShapeError(
            f"{what} needs {least} or more axes", asked=f"{what} of shape {self.shape}"
        )


def rot90(self: TensorT, k: int = 1, dims: Sequence[int] = (0, 1)) -> TensorT:
    """Turned by k quarters in the plane of two axes, from the first toward the second.

    >>> Tensor([[1, 2], [3, 4]]).rot90().tolist()
    [[2, 4], [1, 3]]
    """
    _needs_axes(self, "rot90", 2)
    given = dims if isinstance(dims, (tuple, list)) else (dims,)
    axes = [self._resolve_dim(a) for a in given]
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ArgumentError("rot90 rotates in a plane of two axes", asked=f"dims={dims!r}")
    a, b = axes
    quarters = whole(k, "k") % 4
    if quarters == 2:
        return self.flip(a, b)
    if quarters == 1:
        return self.flip(b).transpose(a, b)
    return self.flip(a).transpose(a, b) if quarters else self._viewed(self._uop)


def atleast_1d(self: TensorT) -> TensorT:
    """self, of one axis where it has none.

    >>> Tensor(3).atleast_1d().shape
    (1,)
    """
    return self if self.shape else self.reshape((1,))


def atleast_2d(self: TensorT) -> TensorT:
    """self, with axes of size one in front where it has fewer than two.

    >>> Tensor([1, 2]).atleast_2d().shape
    (1, 2)
    """
    return self if len(self.shape) > 1 else self.reshape((1, *self.atleast_1d().shape))


# ---- like another -------------------------------------------------------------------------


def broadcast_to(self: TensorT, shape: ShapeLike, *args: Size) -> TensorT:
    """`expand`: axes of size one repeated, new axes in front.

    >>> Tensor([1, 2]).broadcast_to((2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    return self.expand(shape, *args)


def expand_as(self: TensorT, other: TensorBase) -> TensorT:
    """Expanded to the shape of `other`.

    >>> Tensor([1, 2]).expand_as(Tensor.zeros(2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    return self.expand(self._as_tensor(other, self).shape)


def reshape_as(self: TensorT, other: TensorBase) -> TensorT:
    """Reshaped to the shape of `other`.

    >>> Tensor([1, 2, 3, 4]).reshape_as(Tensor.zeros(2, 2)).tolist()
    [[1, 2], [3, 4]]
    """
    return self.reshape(self._as_tensor(other, self).shape)


def type_as(self: TensorT, other: TensorBase) -> TensorT:
    """In the dtype and place of `other`.

    >>> Tensor([1, 2]).type_as(Tensor([0.5])).dtype
    dtypes.float
    """
    other = self._as_tensor(other, self)
    return self.cast(other.dtype).to(other.device)


# ---- joining and cutting ------------------------------------------------------------------


def tile(self: TensorT, repeats: Axes, *args: Size) -> TensorT:
    """`repeat`, with ones in front where there are fewer numbers than axes.

    >>> Tensor([[1, 2]]).tile(2).tolist()
    [[1, 2, 1, 2]]
    """
    times = as_tuple(repeats, args)
    return self.repeat((1,) * (len(self.shape) - len(times)) + times)


def hstack(self: TensorT, *args: ArrayLike) -> TensorT:
    """Joined along axis 1, of vectors along axis 0; given as to `cat`.

    >>> Tensor([1, 2]).hstack(Tensor([3])).tolist()
    [1, 2, 3]
    """
    first, *rest = (x.atleast_1d() for x in all_of(self, args, "hstack"))
    return first.cat(*rest, dim=0 if len(first.shape) == 1 else 1)


def vstack(self: TensorT, *args: ArrayLike) -> TensorT:
    """Joined along axis 0, vectors as rows; given as to `cat`.

    >>> Tensor([1, 2]).vstack(Tensor([3, 4])).tolist()
    [[1, 2], [3, 4]]
    """
    first, *rest = (x.atleast_2d() for x in all_of(self, args, "vstack"))
    return first.cat(*rest, dim=0)


def column_stack(self: TensorT, *args: ArrayLike) -> TensorT:
    """Joined along axis 1, vectors as columns; given as to `cat`.

    >>> Tensor([1, 2]).column_stack(Tensor([3, 4])).tolist()
    [[1, 3], [2, 4]]
    """
    parts = all_of(self, args, "column_stack")
    first, *rest = (x if x.ndim > 1 else x.reshape((-1, 1)) for x in parts)
    return first.cat(*rest, dim=1)


def tensor_split(self: TensorT, indices_or_sections: Axes, dim: int = 0) -> tuple[TensorT, ...]:
    """So many pieces, the first ones longer by one where it does not go up; or cut before each
    of several places.

    >>> [piece.tolist() for piece in Tensor([1, 2, 3]).tensor_split(2)]
    [[1, 2], [3]]
    >>> [piece.tolist() for piece in Tensor([1, 2, 3]).tensor_split([1])]
    [[1], [2, 3]]
    """
    _needs_axes(self, "tensor_split", 1)
    size = self.shape[self._resolve_dim(dim)]
    if isinstance(indices_or_sections, TensorBase):
        raise WrongKind(
            "where to cut is known before anything is computed",
            asked=f"tensor_split of {self.shape} at the values of a tensor",
            because="the shapes of the pieces would depend on them",
            try_="x.tensor_split(places.tolist())",
        )
    if not isinstance(indices_or_sections, (tuple, list)):
        sections = whole(indices_or_sections, "indices_or_sections")
        if sections <= 0:
            raise ArgumentError("there is at least one piece", asked=f"tensor_split({sections})")
        each, more = divmod(size, sections)
        return self.split([each + (i < more) for i in range(sections)], dim)
    given = [whole(i, "a place to cut at") for i in indices_or_sections]
    places = [min(max(i + size if i < 0 else i, 0), size) for i in given]
    starts, stops = [0, *places], [*places, size]
    at = self._resolve_dim(dim)
    return tuple(
        self.shrink(tuple((a, max(a, b)) if i == at else None for i in range(len(self.shape))))
        for a, b in zip(starts, stops)
    )


def narrow(self: TensorT, dim: int, start: int, length: int) -> TensorT:
    """`length` elements of an axis from `start` on.

    >>> Tensor([1, 2, 3, 4]).narrow(0, 1, 2).tolist()
    [2, 3]
    """
    at = self._resolve_dim(dim)
    asked = f"narrow({dim}, {shown(start)}, {shown(length)}) of shape {self.shape}"
    first, count = as_size(start, asked), as_size(length, asked)
    first = first + self.shape[at] if isinstance(first, int) and first < 0 else first
    window = (first, first + count)
    return self.shrink(tuple(window if i == at else None for i in range(len(self.shape))))


def select(self: TensorT, dim: int, index: int) -> TensorT:
    """The element at `index` of an axis, which is dropped.

    >>> Tensor([[1, 2], [3, 4]]).select(1, 0).tolist()
    [1, 3]
    """
    at = self._resolve_dim(dim)
    return self[(slice(None),) * at + (index,)]


def unbind(self: TensorT, dim: int = 0) -> tuple[TensorT, ...]:
    """Every element of an axis, which is dropped.

    >>> [row.tolist() for row in Tensor([[1, 2], [3, 4]]).unbind()]
    [[1, 2], [3, 4]]
    """
    _needs_axes(self, "unbind", 1)
    return tuple(self.select(dim, i) for i in range(self.shape[self._resolve_dim(dim)]))


def unstack(self: TensorT, *, axis: int = 0) -> tuple[TensorT, ...]:
    """`unbind`.

    >>> [row.tolist() for row in Tensor([[1, 2], [3, 4]]).unstack(axis=1)]
    [[1, 3], [2, 4]]
    """
    return self.unbind(axis)


# ---- channels and pixels ------------------------------------------------------------------


def pixel_shuffle(self: TensorT, upscale_factor: int) -> TensorT:
    """(..., C r r, H, W) to (..., C, H r, W r).

    >>> Tensor([[[1]], [[2]], [[3]], [[4]]]).pixel_shuffle(2).tolist()
    [[[1, 2], [3, 4]]]
    """
    _needs_axes(self, "pixel_shuffle", 3)
    r = whole(upscale_factor, "upscale_factor")
    *front, channels, height, width = self.shape
    if r < 1 or channels % (r * r):
        raise ShapeError(
            "the channels do not make pixels",
            asked=f"pixel_shuffle({r}) of shape {self.shape}",
            because=f"{channels} is no multiple of {r} * {r}",
        )
    n = len(front)
    x = self.reshape((*front, channels // (r * r), r, r, height, width))
    x = x.permute(tuple(range(n)) + tuple(n + i for i in (0, 3, 1, 4, 2)))
    x = x.reshape((*front, channels // (r * r), height * r, width * r))
    return x._wrap(x._uop)


def pixel_unshuffle(self: TensorT, downscale_factor: int) -> TensorT:
    """(..., C, H r, W r) to (..., C r r, H, W): undoes `pixel_shuffle`.

    >>> Tensor([[[1, 2], [3, 4]]]).pixel_unshuffle(2).flatten().tolist()
    [1, 2, 3, 4]
    """
    _needs_axes(self, "pixel_unshuffle", 3)
    r = whole(downscale_factor, "downscale_factor")
    *front, channels, height, width = self.shape
    if r < 1 or height % r or width % r:
        raise ShapeError(
            "the pixels do not make channels",
            asked=f"pixel_unshuffle({r}) of shape {self.shape}",
            because=f"{height} and {width} are no multiples of {r}",
        )
    n = len(front)
    x = self.reshape((*front, channels, height // r, r, width // r, r))
    x = x.permute(tuple(range(n)) + tuple(n + i for i in (0, 2, 4, 1, 3)))
    x = x.reshape((*front, channels * r * r, height // r, width // r))
    return x._wrap(x._uop)


def triu(self: TensorT, diagonal: int = 0) -> TensorT:
    """The upper triangle of the last two axes, zeros below the given diagonal.

    >>> Tensor([[1, 2], [3, 4]]).triu().tolist()
    [[1, 2], [0, 4]]
    >>> Tensor.ones(2, 3, dtype=dtypes.int).triu(1).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return _upper(self, diagonal).where(self, False)


def tril(self: TensorT, diagonal: int = 0) -> TensorT:
    """The lower triangle of the last two axes, zeros above the given diagonal.

    >>> Tensor([[1, 2], [3, 4]]).tril().tolist()
    [[1, 0], [3, 4]]
    >>> Tensor.ones(2, 3, dtype=dtypes.int).tril(1).tolist()
    [[1, 1, 0], [1, 1, 1]]
    """
    return _upper(self, whole(diagonal, "diagonal") + 1).where(False, self)


def _upper(self: TensorBase, diagonal: int) -> Any:
    if len(self.shape) < 2:
        raise ShapeError("triangles are of matrices", asked=f"shape {self.shape}")
    rows, columns = self.shape[-2:]
    beyond = high_of(rows) + high_of(columns) + 1  # all diagonals from there on are outside
    diagonal = min(max(whole(diagonal, "diagonal"), -beyond), beyond)
    down = self.__class__.arange(rows, device=self.device).unsqueeze(-1)
    return down + diagonal <= self.__class__.arange(columns, device=self.device)


# ---- matrices and shapes --------------------------------------------------------------------


def t(self: TensorT) -> TensorT:
    """A matrix transposed; vectors and numbers as they are.

    :raises ShapeError: for more than two axes.

    >>> Tensor([[1, 2, 3]]).t().shape
    (3, 1)
    """
    if self.ndim > 2:
        raise ShapeError(
            "t is of a matrix",
            asked=f"t() of shape {self.shape}",
            try_="x.mT for a batch of matrices, x.transpose(dim0, dim1)",
        )
    return self.transpose(0, 1) if self.ndim == 2 else self.view(self.shape)


def split_with_sizes(self: TensorT, split_sizes: Axes, dim: int = 0) -> tuple[TensorT, ...]:
    """`split` at the given sizes.

    >>> [part.tolist() for part in Tensor([1, 2, 3]).split_with_sizes([1, 2])]
    [[1], [2, 3]]
    """
    return self.split(split_sizes, dim)


def hsplit(self: TensorT, indices_or_sections: Axes) -> tuple[TensorT, ...]:
    """`tensor_split` along axis 1, of a vector along axis 0.

    >>> [part.tolist() for part in Tensor([[1, 2, 3, 4]]).hsplit(2)]
    [[[1, 2]], [[3, 4]]]
    """
    return _equal_parts(self, "hsplit", indices_or_sections, 0 if self.ndim == 1 else 1)


def vsplit(self: TensorT, indices_or_sections: Axes) -> tuple[TensorT, ...]:
    """`tensor_split` along axis 0.

    >>> [part.tolist() for part in Tensor([[1], [2]]).vsplit(2)]
    [[[1]], [[2]]]
    """
    return _equal_parts(self, "vsplit", indices_or_sections, 0, 2)


def dsplit(self: TensorT, indices_or_sections: Axes) -> tuple[TensorT, ...]:
    """`tensor_split` along axis 2.

    >>> [part.shape for part in Tensor.zeros(1, 2, 4).dsplit(2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return _equal_parts(self, "dsplit", indices_or_sections, 2, 3)


def _equal_parts(
    self: TensorT, name: str, parts: Any, axis: int, least: int = 1
) -> tuple[TensorT, ...]:
    shape = self.shape
    if len(shape) < least or (isinstance(parts, int) and (parts < 1 or shape[axis] % parts)):
        raise ShapeError(
            f"{name} does not divide this shape",
            asked=f"{name}({shown(parts)}) of shape {shape}",
            because=f"axis {axis} has size {shape[axis]}"
            if len(shape) > axis
            else f"it has {len(shape)} axes, and {least} are needed",
            try_="x.tensor_split(n, axis), which gives parts of different sizes",
        )
    return self.tensor_split(parts, axis)
