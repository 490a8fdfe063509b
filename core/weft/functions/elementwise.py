"""Functions of each element with the names of NumPy, and questions about dtypes and equality."""

from __future__ import annotations

from typing import Any

from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.errors import ArgumentError
from weft.base.promotion import least_upper_dtype, least_upper_float
from weft.tensor import Tensor

__all__ = [
    "around", "array_equal", "can_cast", "cbrt", "degrees", "is_nonzero", "isreal", "modf",
    "polyval", "radians", "result_type", "rint", "scalar_tensor",
]  # fmt: skip


def cbrt(x: Tensor) -> Tensor:
    """The real cube root.

    >>> weft.cbrt(Tensor([8.0, -27.0])).round(decimals=4).tolist()
    [2.0, -3.0]
    """
    wide: Any = x.cast(least_upper_float(x.dtype))
    size = wide.abs()
    plain = (size > 0) & (size < float("inf"))
    safe = plain.where(size, 1.0)
    root = safe.pow(1 / 3)
    root = root - (root * root * root - safe) / (3 * root * root)  # one step of Newton's method
    found: Tensor = plain.where(root * wide.sign(), wide)
    return found


def modf(x: Tensor) -> tuple[Tensor, Tensor]:
    """The fractional and the integral part, both with the sign of x.

    >>> [part.tolist() for part in weft.modf(Tensor([1.5, -0.25]))]
    [[0.5, -0.25], [1.0, -0.0]]
    """
    wide: Any = x.cast(least_upper_float(x.dtype))
    whole = wide.trunc()
    return wide.isinf().where(wide.sign() * 0.0, wide - whole).copysign(wide), whole


def degrees(x: Tensor) -> Tensor:
    """Radians as degrees.

    >>> weft.degrees(Tensor([weft.pi])).tolist()
    [180.0]
    """
    return x.rad2deg()


def radians(x: Tensor) -> Tensor:
    """Degrees as radians.

    >>> weft.radians(Tensor([180.0])).round(decimals=4).tolist()
    [3.1416]
    """
    return x.deg2rad()


def rint(x: Tensor) -> Tensor:
    """To the nearest whole number, halves to the even one; as floats.

    >>> weft.rint(Tensor([0.5, 1.5])).tolist()
    [0.0, 2.0]
    """
    return x.cast(least_upper_float(x.dtype)).round()


def around(a: Tensor, decimals: int = 0) -> Tensor:
    """`round`, with the name of NumPy.

    >>> weft.around(Tensor([1.26]), 1).round(decimals=2).tolist()
    [1.3]
    """
    return a.round(decimals)


def polyval(p: Tensor, x: Tensor) -> Tensor:
    """The values at x of the polynomial with these coefficients, the highest power first.

    >>> weft.polyval(Tensor([1.0, 0.0, 2.0]), Tensor([3.0])).tolist()
    [11.0]
    """
    total: Any = x * 0
    for coefficient in p.unbind(0):
        total = total * x + coefficient
    found: Tensor = total
    return found


def isreal(input: Tensor) -> Tensor:
    """Whether each element has no imaginary part.

    >>> weft.isreal(Tensor([1 + 0j, 1j])).tolist()
    [True, False]
    """
    if input.is_complex():
        return input.imag == 0
    return Tensor.ones(*input.shape, dtype=dtypes.bool, device=input.device)


def is_nonzero(input: Tensor) -> bool:
    """Whether a tensor of one element is not 0.

    :raises ArgumentError: for several elements.

    >>> weft.is_nonzero(Tensor([2.0]))
    True
    """
    if input.numel() != 1:
        raise ArgumentError(
            "only one element is zero or not",
            asked=f"is_nonzero of shape {input.shape}",
            try_="x.any() or x.all()",
        )
    return bool(input.item() != 0)


def array_equal(a1: Tensor, a2: Tensor, equal_nan: bool = False) -> bool:
    """Whether two tensors have the same shape and elements.

    :param equal_nan: whether NaN equals NaN.

    >>> weft.array_equal(Tensor([1, 2]), Tensor([1, 2]))
    True
    """
    if a1.shape != a2.shape:
        return False
    same = a1 == a2
    if equal_nan:
        same = same | (a1.isnan() & a2.isnan())
    return bool(same.all().item())


def result_type(tensor1: Any, tensor2: Any) -> DType:
    """The dtype of an operation of both: tensors, or Python numbers beside a tensor.

    >>> weft.result_type(Tensor([1]), 2.5) == weft.float32
    True
    """
    one, other = (each if isinstance(each, Tensor) else Tensor(each) for each in (tensor1, tensor2))
    if isinstance(tensor1, Tensor) == isinstance(tensor2, Tensor):
        return least_upper_dtype(one.dtype, other.dtype)
    tensor, number = (one, tensor2) if isinstance(tensor1, Tensor) else (other, tensor1)
    return (tensor.zeros_like() + type(number)(0)).dtype


def can_cast(from_: Any, to: Any) -> bool:
    """Whether a dtype may be converted to another of the same or a higher kind: bool, integers,
    floats, complex numbers.

    >>> weft.can_cast(weft.int32, weft.float16), weft.can_cast(weft.float32, weft.int64)
    (True, False)
    """
    source, target = to_dtype(from_), to_dtype(to)
    unsigned = dtypes.is_unsigned(target) and not dtypes.is_unsigned(source)
    if unsigned and dtypes.is_int(source):
        return False
    return _kind(source) <= _kind(target)


def _kind(dtype: DType) -> int:
    if dtypes.is_complex(dtype):
        return 3
    return 2 if dtypes.is_float(dtype) else int(dtype is not dtypes.bool)


def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor without axes; of the default float unless `dtype` says otherwise.

    >>> weft.scalar_tensor(3).dtype == weft.float32
    True
    """
    return Tensor(s, dtype=dtypes.default_float if dtype is None else dtype, device=device)
