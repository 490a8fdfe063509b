"""Butterflies: unrolled transforms of a few complex numbers, as expressions of their parts.

In: the parts of r numbers. Out: the parts of their transform, in order.

Source: J. W. Cooley, J. W. Tukey, "An Algorithm for the Machine Calculation of Complex Fourier
Series", Mathematics of Computation (1965).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

Number: TypeAlias = tuple[Any, Any]
"""The real and the imaginary part."""


def transform(numbers: Sequence[Number], sign: int) -> list[Number]:
    """The sums of numbers[i] * exp(sign * 2 pi i j k / r) over i, for each k."""
    size = len(numbers)
    if size == 1:
        return list(numbers)
    if size == 2:
        return [_plus(*numbers), _minus(*numbers)]
    if size == 4:
        return _of_four(numbers, sign)
    if size % 2:
        return _of_odd(numbers, sign)
    first = 4 if size % 4 == 0 else 2
    return _of_product(numbers, first, size // first, sign)


def times(number: Number, root: complex) -> Number:
    """The product with a constant; with 1, i, -1 and -i nothing is multiplied."""
    a, b = number
    if root == 1:
        return number
    if root == -1:
        return -a, -b
    if root in (1j, -1j):
        return (-b, a) if root == 1j else (b, -a)
    return a * root.real - b * root.imag, a * root.imag + b * root.real


def root_of_unity(place: int, size: int, sign: int) -> complex:
    """exp(sign * 2 pi i place / size), exact at the axes."""
    place = sign * place % size
    if place * 4 % size == 0:
        return (1, 1j, -1, -1j)[place * 4 // size]
    return cmath.exp(2j * math.pi * place / size)


def _plus(x: Number, y: Number) -> Number:
    return x[0] + y[0], x[1] + y[1]


def _minus(x: Number, y: Number) -> Number:
    return x[0] - y[0], x[1] - y[1]


def _of_four(numbers: Sequence[Number], sign: int) -> list[Number]:
    a, b, c, d = numbers
    s, t, u, v = _plus(a, c), _minus(a, c), _plus(b, d), _minus(b, d)
    v = times(v, sign * 1j)
    return [_plus(s, u), _plus(t, v), _minus(s, u), _minus(t, v)]


def _of_odd(numbers: Sequence[Number], sign: int) -> list[Number]:
    """By sums and differences of the numbers that are multiplied by conjugate roots."""
    size = len(numbers)
    half = range(1, size // 2 + 1)
    sums = {j: _plus(numbers[j], numbers[size - j]) for j in half}
    differences = {j: _minus(numbers[j], numbers[size - j]) for j in half}
    total = numbers[0]
    for j in half:
        total = _plus(total, sums[j])
    made = {0: total}
    for k in half:
        even, odd = numbers[0], None
        for j in half:
            root = root_of_unity(j * k, size, sign)
            even = _plus(even, (sums[j][0] * root.real, sums[j][1] * root.real))
            turned = -differences[j][1] * root.imag, differences[j][0] * root.imag
            odd = turned if odd is None else _plus(odd, turned)
        made[k], made[size - k] = _plus(even, odd), _minus(even, odd)  # type: ignore[arg-type]
    return [made[k] for k in range(size)]


def _of_product(numbers: Sequence[Number], first: int, second: int, sign: int) -> list[Number]:
    """Of first * second numbers: transforms of `first`, roots of unity, transforms of `second`."""
    size = first * second
    columns = [transform(numbers[j::second], sign) for j in range(second)]
    made: list[Any] = [None] * size
    for k in range(first):
        row = [times(columns[j][k], root_of_unity(j * k, size, sign)) for j in range(second)]
        made[k::first] = transform(row, sign)
    return made
