"""What the special functions share: arguments in a wide dtype, polynomials, Chebyshev series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from weft.base.arguments import no_tensor
from weft.base.dtype import dtypes
from weft.base.promotion import least_upper_float
from weft.tensor import Tensor

_SMALLEST_OF_SINGLE = 1e-9


def elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: the first argument is a real tensor, computed in float32 at least.

    Integers become the default float dtype. 16-bit floats come back in their own dtype.

    :raises WrongKind: if it is no tensor.
    """

    @wraps(function)
    def of_tensor(input: Any, *args: Any) -> Any:
        if not isinstance(input, Tensor):
            raise no_tensor(f"special.{function.__name__}", (input,))
        own = least_upper_float(input.dtype)
        wide = own if own.itemsize > 2 else dtypes.float32
        return function(input.cast(wide), *args).cast(own)

    return of_tensor


def is_double(x: Tensor) -> bool:
    """Whether it is computed in float64."""
    return x.dtype is dtypes.float64


def polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Horner's rule, the constant first."""
    total: Any = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


def chebyshev(x: Any, low: float, high: float, coefficients: Sequence[float]) -> Any:
    """The sum of c[k] T_k(t), where t is from -1 to 1 as x is from `low` to `high`.

    Source: C. W. Clenshaw, "A note on the summation of Chebyshev series" (1955).
    """
    if not is_double(x):
        least = abs(coefficients[0]) * _SMALLEST_OF_SINGLE
        coefficients = [c for c in coefficients if abs(c) > least]
    t = (x - (low + high) / 2) * (2 / (high - low))
    twice = t * 2
    after, before = x * 0.0, x * 0.0
    for coefficient in coefficients[:0:-1]:
        before, after = twice * before - after + coefficient, before
    return t * before - after + coefficients[0]
