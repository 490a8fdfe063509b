"""Inputs of a call: checks of dtypes and shapes, and conversion to values of the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.base.arguments import kind_of
from weft.base.dtype import DType, dtypes
from weft.base.errors import WeftError
from weft.onnx import small_types
from weft.onnx.errors import OnnxError
from weft.onnx.graph import ValueInfo, ValueType
from weft.tensor import Tensor, from_dlpack


class InputConverter:
    """Converts inputs for a model on a device. `dtype` replaces float32, unless it is None."""

    def __init__(self, device: str, dtype: DType | None) -> None:
        self._device = device
        self._dtype = dtype

    def check(self, declared: Mapping[str, ValueInfo], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given inputs as arrays, tensors, coded tensors, lists or None.

        :raises OnnxError: if a dtype or a shape is not the declared one, or a symbolic size has two
            values.
        """
        sizes: dict[str, tuple[int, str]] = {}
        return {
            name: self._checked(declared[name], declared[name].type, value, sizes)
            for name, value in given.items()
        }

    def to_values(self, checked: Mapping[str, Any]) -> dict[str, Any]:
        """Return checked inputs as values of the interpreter, which are on the device."""
        return {name: self.to_value(value) for name, value in checked.items()}

    def to_value(self, value: Any) -> Any:
        """Return one checked input as a value of the interpreter."""
        if isinstance(value, list):
            return [self.to_value(each) for each in value]
        if isinstance(value, np.ndarray) and value.dtype != object:
            value = small_types.from_numpy(value, self._device)
        if isinstance(value, Tensor):
            value = value if value.device == self._device else value.to(self._device)
            if self._dtype is not None and value.dtype == dtypes.float32:
                return value.cast(self._dtype)
        return value

    def _checked(
        self, info: ValueInfo, kind: ValueType, value: Any, sizes: dict[str, tuple[int, str]]
    ) -> Any:
        if kind.kind == "optional":
            if value is None:
                return None
            kind = kind.element or ValueType()
        if kind.kind == "sequence":
            if not isinstance(value, list | tuple):
                raise _refuse(info, value, "a list is needed")
            return [self._checked(info, kind.element or ValueType(), each, {}) for each in value]
        found = self._array(info, kind, value)
        name = _dtype_name(found)
        if kind.dtype and name != kind.dtype:
            raise _refuse(info, value, f"its dtype is {name}, not {kind.dtype}")
        self._check_shape(info, kind, tuple(found.shape), sizes)
        return found

    def _array(self, info: ValueInfo, kind: ValueType, value: Any) -> Any:
        """Return an array of numbers or strings, a tensor, or a coded tensor."""
        if isinstance(value, Tensor | small_types.Coded):
            return value
        try:
            if not isinstance(value, np.ndarray | np.generic) and hasattr(value, "__dlpack__"):
                return from_dlpack(value)
            array = np.asarray(value)
            if kind.dtype == "string" or array.dtype.kind in "OSU":
                return _strings(array)
            if not isinstance(value, np.ndarray | np.generic) and kind.dtype:
                array = array.astype(kind.dtype)
            if not array.dtype.isnative:
                array = array.astype(array.dtype.newbyteorder("="))
            if array.dtype.isbuiltin == 1 and array.dtype.kind in "biuf":
                return array
            return small_types.from_numpy(
                np.ascontiguousarray(array).reshape(array.shape), self._device
            )
        except WeftError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise _refuse(info, value, str(error)) from None

    def _check_shape(
        self,
        info: ValueInfo,
        kind: ValueType,
        shape: tuple[int, ...],
        sizes: dict[str, tuple[int, str]],
    ) -> None:
        if kind.shape is None:
            return
        if len(shape) != len(kind.shape):
            raise _refuse_shape(info, kind, shape, f"it has {len(shape)} axes")
        for axis, (size, wanted) in enumerate(zip(shape, kind.shape)):
            if isinstance(wanted, int) and size != wanted:
                raise _refuse_shape(info, kind, shape, f"axis {axis} has the size {size}")
            if isinstance(wanted, str):
                known, other = sizes.setdefault(wanted, (size, info.name))
                if known != size:
                    why = f"{wanted!r} is {size} here, and {known} in {other!r}"
                    raise _refuse_shape(info, kind, shape, why)


def _dtype_name(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "string" if value.dtype == object else value.dtype.name
    return small_types.dtype_name(value)


def _strings(array: np.ndarray) -> np.ndarray:
    texts = np.empty(array.shape, object)
    for index, each in np.ndenumerate(array):
        texts[index] = each.decode("utf-8") if isinstance(each, bytes) else str(each)
    return texts


def _refuse(info: ValueInfo, value: Any, because: str) -> OnnxError:
    return OnnxError(
        f"the input {info.name!r} does not fit the model",
        asked=f"{info.name} = {kind_of(value)}",
        because=because,
        try_=f"{info}, for example array.astype({info.dtype!r})" if info.dtype else str(info),
    )


def _refuse_shape(
    info: ValueInfo, kind: ValueType, shape: tuple[int, ...], because: str
) -> OnnxError:
    return OnnxError(
        f"the shape of the input {info.name!r} does not fit the model",
        asked=f"{info.name} of shape {shape}",
        because=because,
        try_=f"{info.name}: {kind}",
    )
