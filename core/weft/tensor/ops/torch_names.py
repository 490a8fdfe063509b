"""Methods under the names of `torch.Tensor`, each one line of other methods.

They exist so that code moves over unchanged; the methods that they call are documented in full.
"""

from __future__ import annotations

from typing import Any, Self

from weft.base.arguments import shown
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.tensor.protocol import TensorBase
from weft.tensor.types import ArrayLike, Axes, DeviceLike, DTypeLike, ShapeLike


class TorchNamesMixin(TensorBase):
    """Other names of methods, and methods that make a tensor like this one."""

    __slots__ = ()

    # ---- elementwise functions ------------------------------------------------------------------

    def absolute(self) -> Self:
        """`abs`.

        >>> Tensor([-1, 2]).absolute().tolist()
        [1, 2]
        """
        return self.abs()

    def arccos(self) -> Self:
        """`acos`.

        >>> Tensor([1.0]).arccos().tolist()
        [0.0]
        """
        return self.acos()

    def arccosh(self) -> Self:
        """`acosh`.

        >>> Tensor([1.0]).arccosh().tolist()
        [0.0]
        """
        return self.acosh()

    def arcsin(self) -> Self:
        """`asin`.

        >>> Tensor([0.0]).arcsin().tolist()
        [0.0]
        """
        return self.asin()

    def arcsinh(self) -> Self:
        """`asinh`.

        >>> Tensor([0.0]).arcsinh().tolist()
        [0.0]
        """
        return self.asinh()

    def arctan(self) -> Self:
        """`atan`.

        >>> Tensor([0.0]).arctan().tolist()
        [0.0]
        """
        return self.atan()

    def arctanh(self) -> Self:
        """`atanh`.

        >>> Tensor([0.0]).arctanh().tolist()
        [0.0]
        """
        return self.atanh()

    def fix(self) -> Self:
        """`trunc`: rounded toward zero.

        >>> Tensor([1.7, -1.7]).fix().tolist()
        [1.0, -1.0]
        """
        return self.trunc()

    def sgn(self) -> Self:
        """`sign`; the two differ for complex numbers alone, which do not exist here.

        >>> Tensor([-3, 0, 2]).sgn().tolist()
        [-1, 0, 1]
        """
        return self.sign()

    def bitwise_left_shift(self, other: ArrayLike) -> Self:
        """`lshift`: self << other.

        >>> Tensor([1, 2]).bitwise_left_shift(3).tolist()
        [8, 16]
        """
        return self.lshift(other)

    def bitwise_right_shift(self, other: ArrayLike) -> Self:
        """`rshift`: self >> other.

        >>> Tensor([8, 16]).bitwise_right_shift(3).tolist()
        [1, 2]
        """
        return self.rshift(other)

    # ---- matrices and shapes --------------------------------------------------------------------

    def t(self) -> Self:
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

    def inverse(self) -> Self:
        """`inv`: the inverse of a matrix.

        >>> Tensor([[2.0, 0.0], [0.0, 4.0]]).inverse().tolist()
        [[0.5, 0.0], [0.0, 0.25]]
        """
        return self.inv()

    def ger(self, vec2: ArrayLike) -> Self:
        """`outer`: the outer product of two vectors.

        >>> Tensor([1, 2]).ger(Tensor([3, 4])).tolist()
        [[3, 4], [6, 8]]
        """
        return self.outer(vec2)

    def split_with_sizes(self, split_sizes: Axes, dim: int = 0) -> tuple[Self, ...]:
        """`split` at the given sizes.

        >>> [part.tolist() for part in Tensor([1, 2, 3]).split_with_sizes([1, 2])]
        [[1], [2, 3]]
        """
        return self.split(split_sizes, dim)

    def hsplit(self, indices_or_sections: Axes) -> tuple[Self, ...]:
        """`tensor_split` along axis 1, of a vector along axis 0.

        >>> [part.tolist() for part in Tensor([[1, 2, 3, 4]]).hsplit(2)]
        [[[1, 2]], [[3, 4]]]
        """
        return self._equal_parts("hsplit", indices_or_sections, 0 if self.ndim == 1 else 1)

    def vsplit(self, indices_or_sections: Axes) -> tuple[Self, ...]:
        """`tensor_split` along axis 0.

        >>> [part.tolist() for part in Tensor([[1], [2]]).vsplit(2)]
        [[[1]], [[2]]]
        """
        return self._equal_parts("vsplit", indices_or_sections, 0, 2)

    def dsplit(self, indices_or_sections: Axes) -> tuple[Self, ...]:
        """`tensor_split` along axis 2.

        >>> [part.shape for part in Tensor.zeros(1, 2, 4).dsplit(2)]
        [(1, 2, 2), (1, 2, 2)]
        """
        return self._equal_parts("dsplit", indices_or_sections, 2, 3)

    def _equal_parts(self, name: str, parts: Any, axis: int, least: int = 1) -> tuple[Self, ...]:
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

    def nelement(self) -> int:
        """`numel`: the number of elements.

        >>> Tensor([[1, 2], [3, 4]]).nelement()
        4
        """
        return self.numel()

    def ndimension(self) -> int:
        """`ndim`: the number of axes.

        >>> Tensor([[1, 2], [3, 4]]).ndimension()
        2
        """
        return self.ndim

    # ---- dtypes ---------------------------------------------------------------------------------

    @property
    def itemsize(self) -> int:
        """Bytes of one element.

        >>> Tensor([1, 2], dtype=dtypes.int16).itemsize
        2
        """
        return self._uop.dtype.itemsize

    def type(self, dtype: DTypeLike | None = None) -> Self:
        """`cast`.

        :raises ArgumentError: without a dtype; `x.dtype` is that of x.

        >>> Tensor([1, 2]).type(dtypes.float).tolist()
        [1.0, 2.0]
        """
        if dtype is None:
            raise ArgumentError(
                "type converts, and needs a dtype",
                asked="type()",
                because="tensors of all dtypes are of one class",
                try_="x.dtype for the dtype, x.type(dtype) to convert",
            )
        return self.cast(dtype)

    def byte(self) -> Self:
        """As uint8.

        >>> Tensor([1.0, 2.0]).byte().tolist()
        [1, 2]
        """
        return self.cast(dtypes.uint8)

    def char(self) -> Self:
        """As int8.

        >>> Tensor([1.0, -2.0]).char().tolist()
        [1, -2]
        """
        return self.cast(dtypes.int8)

    # ---- new tensors in the dtype and on the device of this one --------------------------------

    def new_tensor(
        self, data: ArrayLike, dtype: DTypeLike | None = None, device: DeviceLike | None = None,
        requires_grad: bool = False,
    ) -> Self:  # fmt: skip
        """A tensor of `data` in memory of its own, in the dtype and on the device of self.

        >>> Tensor([0.5]).new_tensor([1, 2]).tolist()
        [1.0, 2.0]
        """
        kind, place = self._kind_and_place(dtype, device)
        made: Any = data
        if isinstance(data, TensorBase):
            made = data.detach().clone().cast(kind).to(place)
        else:
            made = self.__class__(data, dtype=kind, device=place)
        return made.requires_grad_() if requires_grad else made

    def new_empty(
        self, *size: ShapeLike, dtype: DTypeLike | None = None, device: DeviceLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """`empty` in the dtype and on the device of self.

        >>> Tensor([0.5]).new_empty(2, 3).shape
        (2, 3)
        """
        kind, place = self._kind_and_place(dtype, device)
        return self.__class__.empty(*size, dtype=kind, device=place, requires_grad=requires_grad)

    def new_zeros(
        self, *size: ShapeLike, dtype: DTypeLike | None = None, device: DeviceLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """`zeros` in the dtype and on the device of self.

        >>> Tensor([1]).new_zeros(2).tolist()
        [0, 0]
        """
        kind, place = self._kind_and_place(dtype, device)
        return self.__class__.zeros(*size, dtype=kind, device=place, requires_grad=requires_grad)

    def new_ones(
        self, *size: ShapeLike, dtype: DTypeLike | None = None, device: DeviceLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """`ones` in the dtype and on the device of self.

        >>> Tensor([0.5]).new_ones((2,)).tolist()
        [1.0, 1.0]
        """
        kind, place = self._kind_and_place(dtype, device)
        return self.__class__.ones(*size, dtype=kind, device=place, requires_grad=requires_grad)

    def new_full(
        self, size: ShapeLike, fill_value: ArrayLike, *, dtype: DTypeLike | None = None,
        device: DeviceLike | None = None, requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """`full` in the dtype and on the device of self.

        >>> Tensor([0.5]).new_full((2,), 7).tolist()
        [7.0, 7.0]
        """
        kind, place = self._kind_and_place(dtype, device)
        return self.__class__.full(
            size, fill_value, dtype=kind, device=place, requires_grad=requires_grad
        )

    def _kind_and_place(self, dtype: Any, device: Any) -> tuple[DType, Any]:
        kind = self._uop.dtype if dtype is None else dtype
        return kind, self.device if device is None else device
