"""Types of arguments, for annotations: what a tensor, a shape, an axis or a dtype may be given as.

Shapes are `tuple[int, ...]` to a type checker. Symbolic sizes (`Variable`) are graph nodes;
methods take those as well (`Size`), and a program that reads one out of a shape casts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Protocol, TypeAlias, TypedDict

from weft.base.dtype import DType
from weft.tensor.protocol import TensorBase
from weft.uop import UOp


class SupportsArray(Protocol):
    """An array or a scalar of NumPy, or an object that NumPy makes an array of."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsDLPack(Protocol):
    """An array that is exchanged by DLPack."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsBuffer(Protocol):
    """Memory by Python's buffer protocol: bytes, memoryview, array.array."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


class SupportsItemSize(Protocol):
    """A dtype object of another library."""

    @property
    def itemsize(self) -> int: ...


Number: TypeAlias = int | float | bool
"""A Python number, as `item` gives it."""

ArrayLike: TypeAlias = (
    TensorBase | UOp | Number | list[Any] | tuple[Any, ...] | range
    | SupportsArray | SupportsDLPack | SupportsBuffer
)  # fmt: skip
"""What a tensor is made of, and what an operator takes beside a tensor."""

DTypeLike: TypeAlias = DType | str | type[Any] | SupportsItemSize
"""A dtype, its name, a Python or NumPy scalar type, a dtype of another library."""

DeviceLike: TypeAlias = str | tuple[str, ...]
"""A device string; several: on each of them."""

Size: TypeAlias = int | UOp
"""The size of an axis: an int or a symbolic int."""

ShapeLike: TypeAlias = Size | Sequence[Size]
"""A shape, or its only size."""

Axes: TypeAlias = int | Sequence[int]
"""An axis, or several; a number for each axis."""

Padding: TypeAlias = int | Sequence[Size | Sequence[Size] | None]
"""Padding of axes: pairs (before, after) or None for each, or numbers from the last axis on."""

Index: TypeAlias = slice | EllipsisType | ArrayLike | None
"""An index of a tensor; a tuple of such for several axes."""


class DeviceOptions(TypedDict, total=False):
    """Keyword arguments of functions that create tensors: where."""

    device: DeviceLike | None


class KindOptions(DeviceOptions, total=False):
    """Keyword arguments of functions that create tensors: where, and of what dtype."""

    dtype: DTypeLike | None


class TensorOptions(KindOptions, total=False):
    """Keyword arguments of functions that create tensors."""

    requires_grad: bool | None
