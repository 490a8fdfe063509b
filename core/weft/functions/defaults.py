"""Defaults of dtype, device and gradient mode, and facts of dtypes, under PyTorch's names."""

from __future__ import annotations

import sys
from typing import Any

from weft.base.dtype import DType, FloatInfo, IntInfo, dtypes, element_dtype
from weft.base.errors import DTypeError
from weft.base.promotion import least_upper_dtype
from weft.base.settings import settings
from weft.device import registry

__all__ = [
    "device", "finfo", "get_default_device", "get_default_dtype", "iinfo", "promote_types",
    "set_default_device", "set_default_dtype",
]  # fmt: skip


def finfo(type: Any = None) -> FloatInfo:
    """Limits of a float dtype; of the default float without one.

    >>> weft.finfo(weft.float16).max
    65504.0
    """
    return dtypes.finfo(dtypes.default_float if type is None else type)


def iinfo(type: Any) -> IntInfo:
    """Limits of an integer dtype.

    >>> weft.iinfo(weft.int8).max
    127
    """
    return dtypes.iinfo(type)


def promote_types(type1: Any, type2: Any) -> DType:
    """The dtype of a result of two dtypes.

    >>> weft.promote_types(weft.int32, weft.float16)
    dtypes.half
    """
    return least_upper_dtype(element_dtype(type1), element_dtype(type2))


def get_default_dtype() -> DType:
    """The dtype of Python floats, and of tensors that are made without a dtype.

    >>> weft.get_default_dtype()
    dtypes.float
    """
    return dtypes.default_float


def set_default_dtype(d: Any, /) -> None:
    """Make a float dtype that of Python floats, as `settings.DEFAULT_FLOAT`, which has overrides
    for a block.

    :raises DTypeError: for a dtype that is not of floats.

    >>> weft.set_default_dtype(weft.float64)
    >>> weft.zeros(1).dtype
    dtypes.double
    >>> weft.set_default_dtype(weft.float32)
    """
    kind = element_dtype(d)
    if not dtypes.is_float(kind):
        raise DTypeError(
            "the default dtype is that of floats",
            asked=f"set_default_dtype({kind!r})",
            because="Python integers are int32, or the integer dtype that holds them",
            try_="weft.float32, weft.float64, weft.float16 or weft.bfloat16",
        )
    dtypes.default_float = kind


def get_default_device() -> str:
    """The device of tensors that are made without one.

    >>> weft.get_default_device() == weft.zeros(1).device
    True
    """
    return registry.canonical(None)


def set_default_device(device: Any, /) -> None:
    """Make a device that of tensors that are made without one, as `settings.DEVICE`, which has
    overrides for a block. None: the best that opens.

    :raises UnknownDevice: if there is no such device.

    >>> before = weft.settings.DEVICE
    >>> weft.set_default_device("REF")
    >>> weft.zeros(1).device
    'REF'
    >>> weft.set_default_device(before or None)
    """
    settings.DEVICE = "" if device is None else registry.canonical(device)


def device(type: Any = None, index: int | None = None) -> str:
    """The device string of a device, in its one spelling; of the default device for None.

    >>> weft.device("ref", 1)
    'REF:1'
    """
    module: Any = sys.modules["weft.device"]  # `weft.device` is the package, which can be called
    found: str = module(type, index)
    return found
