"""Functions of the representation of floats: mantissas, exponents, neighbours.

Source: IEEE 754-2019; C, `frexp`, `ldexp` and `nextafter`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.base.arguments import no_tensor
from weft.base.dtype import dtypes
from weft.base.promotion import least_upper_float
from weft.tensor import Tensor

__all__ = ["frexp", "ldexp", "nextafter"]

_FORMATS = {
    dtypes.float64: (dtypes.int64, 52, 0x7FF), dtypes.float32: (dtypes.int32, 23, 0xFF),
    dtypes.float16: (dtypes.int16, 10, 0x1F), dtypes.bfloat16: (dtypes.int16, 7, 0xFF),
}  # fmt: skip
"""The integer of equal size, the bits of the mantissa, the largest exponent."""


class FrexpResult(NamedTuple):
    """The result of `frexp`."""

    mantissa: Tensor
    exponent: Tensor


def frexp(input: Tensor) -> FrexpResult:
    """(mantissa, exponent) with input = mantissa * 2**exponent and 0.5 <= |mantissa| < 1.

    Zero, infinities and NaN are their own mantissa, with the exponent 0.

    >>> mantissa, exponent = weft.frexp(Tensor([6.0, 0.0]))
    >>> mantissa.tolist(), exponent.tolist()
    ([0.75, 0.0], [3, 0])
    """
    x = _float("frexp", input)
    own = x.dtype
    x = x if own.itemsize > 2 else x.cast(dtypes.float32)
    kind, bits, largest = _FORMATS[x.dtype]
    is_small = x.abs() < dtypes.finfo(x.dtype).smallest_normal
    scaled = is_small.where(x * 2.0 ** (bits + 1), x)
    exponent = (scaled.detach().bitcast(kind) >> bits) & largest
    is_plain = (x != 0) & (exponent != largest)
    bias = largest >> 1
    exponent = exponent.cast(dtypes.int32) - (bias - 1) - is_small.where(bits + 1, 0)
    exponent = is_plain.where(exponent, 0).cast(dtypes.int32)
    # in two steps: one power of two may have no float
    half = exponent >> 1
    scales = [
        ((bias - each).cast(kind) << bits).bitcast(x.dtype) for each in (half, exponent - half)
    ]
    mantissa = x * scales[0] * scales[1]
    return FrexpResult(mantissa.cast(own), exponent)


def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """input * 2**other, without overflow of the power alone.

    >>> weft.ldexp(Tensor([0.75]), Tensor([3])).tolist()
    [6.0]
    """
    x = _float("ldexp", input)
    power = other if isinstance(other, Tensor) else Tensor(other, device=x.device)
    if dtypes.is_float(power.dtype):
        return x * power.exp2()
    half = power // 2
    first, second = (each.cast(x.dtype).exp2() for each in (half, power - half))
    return x * first * second


def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """The next float after input in the direction of `other`. It has no gradient.

    >>> (weft.nextafter(Tensor([1.0]), Tensor([2.0])) > 1.0).tolist()
    [True]
    """
    found: Tensor = _float("nextafter", input)._next_float(_float("nextafter", other))
    return found


def _float(name: str, x: Any) -> Any:
    if not isinstance(x, Tensor):
        raise no_tensor(name, (x,))
    return x.cast(least_upper_float(x.dtype))
