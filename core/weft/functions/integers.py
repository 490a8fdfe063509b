"""Functions of integers: common divisors and multiples, combinations, places in a shape."""

from __future__ import annotations

import itertools
from typing import Any

from weft.base.arguments import no_tensor, whole
from weft.base.dtype import dtypes
from weft.base.errors import DTypeError, ShapeError
from weft.base.promotion import least_upper_dtype
from weft.tensor import Tensor

__all__ = ["combinations", "gcd", "lcm", "unravel_index"]

_STEPS_OF_A_BIT = 1.4405
"""Euclid's algorithm takes the most steps for neighbours in the Fibonacci sequence."""


def gcd(input: Tensor, other: Tensor) -> Tensor:
    """The greatest common divisor, not negative; gcd(0, 0) is 0.

    Source: Euclid's algorithm, with as many steps as the widest numbers of the dtype take.

    :raises DTypeError: if these are no integers.

    >>> weft.gcd(Tensor([12, 0]), Tensor([-18, 5])).tolist()
    [6, 5]
    """
    a, b = _integers("gcd", input, other)
    a, b = a.abs(), b.abs()
    for _ in range(int(8 * a.dtype.itemsize * _STEPS_OF_A_BIT) + 2):
        is_done = b == 0
        a, b = is_done.where(a, b), is_done.where(0, a % is_done.where(1, b))
    return a


def lcm(input: Tensor, other: Tensor) -> Tensor:
    """The least common multiple, not negative; 0 if one number is 0.

    :raises DTypeError: if these are no integers.

    >>> weft.lcm(Tensor([4, 0]), Tensor([-6, 5])).tolist()
    [12, 0]
    """
    a, b = _integers("lcm", input, other)
    divisor = gcd(a, b)
    return (a // (divisor == 0).where(1, divisor) * b).abs()


def _integers(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    for each in (x, y):
        if not isinstance(each, Tensor):
            raise no_tensor(name, (x, y))
    dtype = least_upper_dtype(x.dtype, y.dtype)
    if not dtypes.is_int(dtype) or dtypes.is_bool(dtype):
        raise DTypeError(f"{name} is of integers", asked=f"{name} of {x.dtype} and {y.dtype}")
    return x.cast(dtype), y.cast(dtype)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """The combinations of r elements of a vector, as rows, in the order of `itertools`.

    :raises ShapeError: if it is no vector.

    >>> weft.combinations(Tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    if input.ndim != 1:
        raise ShapeError("combinations are of a vector", asked=f"combinations of {input.shape}")
    count = whole(r, "r", least=0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = list(choose(range(input.shape[0]), count))
    if not places or not count:
        return Tensor.empty(0, count, dtype=input.dtype, device=input.device)
    found: Tensor = input[Tensor(places, device=input.device)]
    return found


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The places along each axis of flat indices into row-major memory of a shape.

    >>> [each.tolist() for each in weft.unravel_index(Tensor([5, 2]), (2, 3))]
    [[1, 0], [2, 2]]
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    rest, found = indices, []
    for size in reversed(sizes):
        found.append(rest % size)
        rest = rest // size
    return tuple(reversed(found))
