"""Tensors in the shape, the dtype or on the device of another one."""

from __future__ import annotations

from typing import Any, Unpack

from weft.base.dtype import DType, element_dtype
from weft.base.sequences import prod
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike, DeviceLike, DTypeLike, ShapeLike, TensorOptions
from weft.uop import UOp, stacked


def full_like(self: TensorT, fill_value: ArrayLike, **kwargs: Unpack[TensorOptions]) -> TensorT:
    """`fill_value` everywhere, in the shape, dtype and place of self, cut as it is.

    >>> Tensor([1.5, 2.5]).full_like(3).tolist()
    [3.0, 3.0]
    """
    kwargs.setdefault("dtype", self._uop.dtype)
    if "device" in kwargs or not isinstance(self._uop.device, tuple):
        kwargs.setdefault("device", self.device)
        return self.__class__.full(self.shape, fill_value, **kwargs)
    flag = kwargs.pop("requires_grad", None)
    kwargs["device"] = self.device
    made = self.__class__.full(self.shape, fill_value, **kwargs)
    return self._cut_like(made, flag)


def zeros_like(self: TensorT, **kwargs: Unpack[TensorOptions]) -> TensorT:
    """Zeros in the shape, dtype and place of self.

    >>> Tensor([1, 2]).zeros_like().tolist()
    [0, 0]
    >>> Tensor([1, 2]).zeros_like(dtype=dtypes.float).tolist()
    [0.0, 0.0]
    """
    return self.full_like(0, **kwargs)


def ones_like(self: TensorT, **kwargs: Unpack[TensorOptions]) -> TensorT:
    """Ones in the shape, dtype and place of self.

    >>> Tensor([[1, 2], [3, 4]]).ones_like().tolist()
    [[1, 1], [1, 1]]
    """
    return self.full_like(1, **kwargs)


def empty_like(self: TensorT, **kwargs: Unpack[TensorOptions]) -> TensorT:
    """Storage of its own with uninitialized values, in the shape, dtype and place of self, cut
    as it is.

    >>> Tensor([[1, 2], [3, 4]]).empty_like().shape
    (2, 2)
    """
    kind = kwargs.setdefault("dtype", self._uop.dtype)
    layout = None if "device" in kwargs else self.layout
    if layout is not None and layout.axis is not None:
        flag, kind = kwargs.pop("requires_grad", None), element_dtype(kind)
        parts = [
            _part_memory(device, layout.local_shape(self.shape, place), kind)
            for place, device in enumerate(self.device)
        ]
        return self._from_node(stacked(parts, layout))._with_flag(flag)
    kwargs.setdefault("device", self.device)
    return self.__class__.empty(self.shape, **kwargs)


# ---- new tensors in the dtype and on the device of this one --------------------------------


def new_tensor(
    self: TensorT, data: ArrayLike, dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> TensorT:  # fmt: skip
    """A tensor of `data` in memory of its own, in the dtype and on the device of self.

    >>> Tensor([0.5]).new_tensor([1, 2]).tolist()
    [1.0, 2.0]
    """
    kind, place = _kind_and_place(self, dtype, device)
    made: Any = data
    if isinstance(data, TensorBase):
        made = data.detach().clone().cast(kind).to(place)
    else:
        made = self.__class__(data, dtype=kind, device=place)
    return made.requires_grad_() if requires_grad else made


def new_empty(
    self: TensorT, *size: ShapeLike, dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool | None = None,
) -> TensorT:  # fmt: skip
    """`empty` in the dtype and on the device of self.

    >>> Tensor([0.5]).new_empty(2, 3).shape
    (2, 3)
    """
    kind, place = _kind_and_place(self, dtype, device)
    return self.__class__.empty(*size, dtype=kind, device=place, requires_grad=requires_grad)


def new_zeros(
    self: TensorT, *size: ShapeLike, dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool | None = None,
) -> TensorT:  # fmt: skip
    """`zeros` in the dtype and on the device of self.

    >>> Tensor([1]).new_zeros(2).tolist()
    [0, 0]
    """
    kind, place = _kind_and_place(self, dtype, device)
    return self.__class__.zeros(*size, dtype=kind, device=place, requires_grad=requires_grad)


def new_ones(
    self: TensorT, *size: ShapeLike, dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool | None = None,
) -> TensorT:  # fmt: skip
    """`ones` in the dtype and on the device of self.

    >>> Tensor([0.5]).new_ones((2,)).tolist()
    [1.0, 1.0]
    """
    kind, place = _kind_and_place(self, dtype, device)
    return self.__class__.ones(*size, dtype=kind, device=place, requires_grad=requires_grad)


def new_full(
    self: TensorT, size: ShapeLike, fill_value: ArrayLike, *, dtype: DTypeLike | None = None,
    device: DeviceLike | None = None, requires_grad: bool | None = None,
) -> TensorT:  # fmt: skip
    """`full` in the dtype and on the device of self.

    >>> Tensor([0.5]).new_full((2,), 7).tolist()
    [7.0, 7.0]
    """
    kind, place = _kind_and_place(self, dtype, device)
    return self.__class__.full(
        size, fill_value, dtype=kind, device=place, requires_grad=requires_grad
    )


def _kind_and_place(self: TensorBase, dtype: Any, device: Any) -> tuple[DType, Any]:
    kind = self._uop.dtype if dtype is None else dtype
    return kind, self.device if device is None else device


def _part_memory(device: str, shape: tuple[int, ...], kind: DType) -> UOp:
    """Storage for the part of a sharded value that one device has."""
    if 0 in shape:
        return UOp.const(kind, 0, device).reshape((1,) * len(shape)).expand(shape)
    return UOp.new_buffer(device, prod(shape), kind).reshape(shape)
