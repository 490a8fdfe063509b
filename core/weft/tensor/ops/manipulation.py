"""More movement, by the names that NumPy and PyTorch give it: nothing is copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from weft.base.arguments import shown, whole
from weft.base.errors import ArgumentError, ShapeError, WrongKind
from weft.shape.movement import as_size
from weft.tensor.ops.joining import JoiningMixin
from weft.tensor.ops.movement import MovementMixin, all_of, as_tuple
from weft.tensor.protocol import TensorBase
from weft.tensor.types import ArrayLike, Axes, ShapeLike, Size


class ShapesMixin(MovementMixin, JoiningMixin):
    """Methods that rearrange, in terms of those that do."""

    __slots__ = ()

    swapaxes = MovementMixin.transpose
    swapdims = MovementMixin.transpose
    permute_dims = MovementMixin.permute
    expand_dims = MovementMixin.unsqueeze
    concat = JoiningMixin.cat
    concatenate = JoiningMixin.cat

    # ---- axes ---------------------------------------------------------------------------------

    def dim(self) -> int:
        """Number of axes.

        >>> Tensor.zeros(2, 3).dim()
        2
        """
        return len(self.shape)

    def movedim(self, source: Axes, destination: Axes) -> Self:
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
            raise ArgumentError(
                "an axis is named twice", asked=f"movedim({source!r}, {destination!r})"
            )
        placed = dict(zip(targets, sources))
        rest = iter(a for a in range(len(self.shape)) if a not in sources)
        return self.permute(
            tuple(placed[i] if i in placed else next(rest) for i in range(len(self.shape)))
        )

    moveaxis = movedim

    def ravel(self) -> Self:
        """All elements in one axis.

        >>> Tensor([[1, 2], [3, 4]]).ravel().tolist()
        [1, 2, 3, 4]
        """
        return self.reshape((-1,)) if 0 not in self.shape else self.reshape((0,))

    def fliplr(self) -> Self:
        """Axis 1 backwards.

        >>> Tensor([[1, 2], [3, 4]]).fliplr().tolist()
        [[2, 1], [4, 3]]
        """
        self._needs_axes("fliplr", 2)
        return self.flip(1)

    def flipud(self) -> Self:
        """Axis 0 backwards.

        >>> Tensor([[1, 2], [3, 4]]).flipud().tolist()
        [[3, 4], [1, 2]]
        """
        self._needs_axes("flipud", 1)
        return self.flip(0)

    def _needs_axes(self, what: str, least: int) -> None:
        if len(self.shape) < least:
            raise ShapeError(
                f"{what} needs {least} or more axes", asked=f"{what} of shape {self.shape}"
            )

    def rot90(self, k: int = 1, dims: Sequence[int] = (0, 1)) -> Self:
        """Turned by k quarters in the plane of two axes, from the first toward the second.

        >>> Tensor([[1, 2], [3, 4]]).rot90().tolist()
        [[2, 4], [1, 3]]
        """
        self._needs_axes("rot90", 2)
        given = dims if isinstance(dims, (tuple, list)) else (dims,)
        axes = [self._resolve_dim(a) for a in given]
        if len(axes) != 2 or axes[0] == axes[1]:
            raise ArgumentError("rot90 turns in a plane of two axes", asked=f"dims={dims!r}")
        a, b = axes
        turns = whole(k, "k") % 4
        if turns == 2:
            return self.flip(a, b)
        if turns == 1:
            return self.flip(b).transpose(a, b)
        return self.flip(a).transpose(a, b) if turns else self._viewed(self._uop)

    def atleast_1d(self) -> Self:
        """self, of one axis where it has none.

        >>> Tensor(3).atleast_1d().shape
        (1,)
        """
        return self if self.shape else self.reshape((1,))

    def atleast_2d(self) -> Self:
        """self, with axes of size one in front where it has fewer than two.

        >>> Tensor([1, 2]).atleast_2d().shape
        (1, 2)
        """
        return self if len(self.shape) > 1 else self.reshape((1, *self.atleast_1d().shape))

    # ---- like another -------------------------------------------------------------------------

    def broadcast_to(self, shape: ShapeLike, *args: Size) -> Self:
        """`expand`: axes of size one repeated, new axes in front.

        >>> Tensor([1, 2]).broadcast_to((2, 2)).tolist()
        [[1, 2], [1, 2]]
        """
        return self.expand(shape, *args)

    def expand_as(self, other: TensorBase) -> Self:
        """Expanded to the shape of `other`.

        >>> Tensor([1, 2]).expand_as(Tensor.zeros(2, 2)).tolist()
        [[1, 2], [1, 2]]
        """
        return self.expand(self._as_tensor(other, self).shape)

    def reshape_as(self, other: TensorBase) -> Self:
        """Reshaped to the shape of `other`.

        >>> Tensor([1, 2, 3, 4]).reshape_as(Tensor.zeros(2, 2)).tolist()
        [[1, 2], [3, 4]]
        """
        return self.reshape(self._as_tensor(other, self).shape)

    view_as = reshape_as

    def type_as(self, other: TensorBase) -> Self:
        """In the dtype and place of `other`.

        >>> Tensor([1, 2]).type_as(Tensor([0.5])).dtype
        dtypes.float
        """
        other = self._as_tensor(other, self)
        return self.cast(other._uop.dtype).to(other.device)

    # ---- joining and cutting ------------------------------------------------------------------

    def tile(self, repeats: Axes, *args: Size) -> Self:
        """`repeat`, with ones in front where there are fewer numbers than axes.

        >>> Tensor([[1, 2]]).tile(2).tolist()
        [[1, 2, 1, 2]]
        """
        times = as_tuple(repeats, args)
        return self.repeat((1,) * (len(self.shape) - len(times)) + times)

    def hstack(self, *args: ArrayLike) -> Self:
        """Joined along axis 1, of vectors along axis 0; given as to `cat`.

        >>> Tensor([1, 2]).hstack(Tensor([3])).tolist()
        [1, 2, 3]
        """
        first, *rest = (x.atleast_1d() for x in all_of(self, args, "hstack"))
        return first.cat(*rest, dim=0 if len(first.shape) == 1 else 1)

    def vstack(self, *args: ArrayLike) -> Self:
        """Joined along axis 0, vectors as rows; given as to `cat`.

        >>> Tensor([1, 2]).vstack(Tensor([3, 4])).tolist()
        [[1, 2], [3, 4]]
        """
        first, *rest = (x.atleast_2d() for x in all_of(self, args, "vstack"))
        return first.cat(*rest, dim=0)

    def column_stack(self, *args: ArrayLike) -> Self:
        """Joined along axis 1, vectors as columns; given as to `cat`.

        >>> Tensor([1, 2]).column_stack(Tensor([3, 4])).tolist()
        [[1, 3], [2, 4]]
        """
        parts = all_of(self, args, "column_stack")
        first, *rest = (x if x.ndim > 1 else x.reshape((-1, 1)) for x in parts)
        return first.cat(*rest, dim=1)

    def tensor_split(self, indices_or_sections: Axes, dim: int = 0) -> tuple[Self, ...]:
        """So many pieces, the first ones longer by one where it does not go up; or cut before each
        of several places.

        >>> [piece.tolist() for piece in Tensor([1, 2, 3]).tensor_split(2)]
        [[1, 2], [3]]
        >>> [piece.tolist() for piece in Tensor([1, 2, 3]).tensor_split([1])]
        [[1], [2, 3]]
        """
        self._needs_axes("tensor_split", 1)
        size = self.shape[self._resolve_dim(dim)]
        if isinstance(indices_or_sections, TensorBase):
            raise WrongKind(
                "where to cut is known before anything is computed",
                asked=f"tensor_split of {self.shape} at the values of a tensor",
                because="the shapes of the pieces would depend on them",
                try_="x.tensor_split(places.tolist())",
            )
        several = isinstance(indices_or_sections, (tuple, list))
        if several:
            indices_or_sections = [whole(i, "a place to cut at") for i in indices_or_sections]
        else:
            indices_or_sections = whole(indices_or_sections, "indices_or_sections")
        if not several:
            if indices_or_sections <= 0:
                raise ArgumentError(
                    "there is at least one piece", asked=f"tensor_split({indices_or_sections})"
                )
            each, more = divmod(size, indices_or_sections)
            return self.split([each + (i < more) for i in range(indices_or_sections)], dim)
        places = [min(max(i + size if i < 0 else i, 0), size) for i in indices_or_sections]
        starts, stops = [0, *places], [*places, size]
        at = self._resolve_dim(dim)
        return tuple(
            self.shrink(tuple((a, max(a, b)) if i == at else None for i in range(len(self.shape))))
            for a, b in zip(starts, stops)
        )

    def narrow(self, dim: int, start: int, length: int) -> Self:
        """`length` elements of an axis from `start` on.

        >>> Tensor([1, 2, 3, 4]).narrow(0, 1, 2).tolist()
        [2, 3]
        """
        at = self._resolve_dim(dim)
        asked = f"narrow({dim}, {shown(start)}, {shown(length)}) of shape {self.shape}"
        start, length = as_size(start, asked), as_size(length, asked)
        start = start + self.shape[at] if isinstance(start, int) and start < 0 else start
        window = (start, start + length)
        return self.shrink(tuple(window if i == at else None for i in range(len(self.shape))))

    def select(self, dim: int, index: int) -> Self:
        """The element at `index` of an axis, which is dropped.

        >>> Tensor([[1, 2], [3, 4]]).select(1, 0).tolist()
        [1, 3]
        """
        at = self._resolve_dim(dim)
        return self[(slice(None),) * at + (index,)]

    def unbind(self, dim: int = 0) -> tuple[Self, ...]:
        """Every element of an axis, which is dropped.

        >>> [row.tolist() for row in Tensor([[1, 2], [3, 4]]).unbind()]
        [[1, 2], [3, 4]]
        """
        self._needs_axes("unbind", 1)
        return tuple(self.select(dim, i) for i in range(self.shape[self._resolve_dim(dim)]))

    def unstack(self, *, axis: int = 0) -> tuple[Self, ...]:
        """`unbind`.

        >>> [row.tolist() for row in Tensor([[1, 2], [3, 4]]).unstack(axis=1)]
        [[1, 3], [2, 4]]
        """
        return self.unbind(axis)

    # ---- channels and pixels ------------------------------------------------------------------

    def pixel_shuffle(self, upscale_factor: int) -> Self:
        """(..., C r r, H, W) to (..., C, H r, W r).

        >>> Tensor([[[1]], [[2]], [[3]], [[4]]]).pixel_shuffle(2).tolist()
        [[[1, 2], [3, 4]]]
        """
        self._needs_axes("pixel_shuffle", 3)
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

    def pixel_unshuffle(self, downscale_factor: int) -> Self:
        """(..., C, H r, W r) to (..., C r r, H, W): undoes `pixel_shuffle`.

        >>> Tensor([[[1, 2], [3, 4]]]).pixel_unshuffle(2).flatten().tolist()
        [1, 2, 3, 4]
        """
        self._needs_axes("pixel_unshuffle", 3)
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
