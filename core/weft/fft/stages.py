"""Stockham autosort: one pass of a mixed-radix transform.

A pass reads r pieces of shape (l, m). It writes shape (l, r, m), where the r results of each
butterfly are adjacent. After all passes the order is natural. A pass is one kernel.

Source: W. T. Cochran and others, "What is the fast Fourier transform?", Proceedings of the IEEE
(1967); C. Van Loan, "Computational Frameworks for the Fast Fourier Transform" (1992), section 1.7.
"""

from __future__ import annotations

from typing import Any

from weft.fft.butterflies import transform
from weft.fft.plan import roots
from weft.tensor.complex import interleaved, lane


def one_pass(x: Any, radix: int, count: int, inner: int, sign: int) -> Any:
    """x of shape (outer, n, 2), n = radix * count * inner, transformed over its radix pieces."""
    outer = x.shape[0]
    pieces = x.reshape(outer, radix, count, inner, 2)
    real, imag = lane(pieces, 0), lane(pieces, 1)
    numbers = [(_piece(real, i), _piece(imag, i)) for i in range(radix)]
    made = transform(numbers, sign)
    if count > 1:
        table = roots(radix, count, sign, x.dtype, x.device)
        cosines, sines = lane(table, 0), lane(table, 1)
        made = [
            made[k] if k == 0 else _turned(made[k], _column(cosines, k), _column(sines, k))
            for k in range(radix)
        ]
    place = x.__class__.arange(radix, device=x.device).reshape(radix, 1)
    joined = interleaved(*[_selected(place, parts) for parts in zip(*made)])
    return joined.fuse().reshape(outer, radix * count * inner, 2).contiguous()


def _selected(place: Any, numbers: Any) -> Any:
    """The numbers, of shape (outer, count, inner), side by side: (outer, count, r, inner).

    A choice by the index along r, which is unrolled: one kernel writes all of them.
    """
    chosen, *others = [number.unsqueeze(2) for number in numbers]
    for k, number in enumerate(others, 1):
        chosen = (place == k).where(number, chosen)
    return chosen


def _piece(x: Any, number: int) -> Any:
    """One piece, of shape (outer, count, inner): a value, no view."""
    node = x._uop
    shape = node.shape
    window = ((0, shape[0]), (number, number + 1), (0, shape[2]), (0, shape[3]))
    return x._wrap(node.shrink(window).reshape((shape[0], shape[2], shape[3])))


def _column(x: Any, number: int) -> Any:
    """A column of a table, of shape (count, 1)."""
    node = x._uop
    return x._wrap(node.shrink(((0, node.shape[0]), (number, number + 1))))


def _turned(number: Any, cosine: Any, sine: Any) -> Any:
    a, b = number
    return a * cosine - b * sine, a * sine + b * cosine
