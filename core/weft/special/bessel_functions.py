"""Modified Bessel functions of the first kind, by Chebyshev series.

Source: C. W. Clenshaw, "Chebyshev series for mathematical functions" (1962).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.autograd import Function
from weft.special.chebyshev_tables import I0E_FAR, I0E_NEAR, I1E_FAR, I1E_NEAR
from weft.special.series import chebyshev, elementwise
from weft.tensor import Tensor

_EDGE = 8.0


class _I0e(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        size = x.abs()
        near = chebyshev(size.minimum(_EDGE), 0.0, _EDGE, I0E_NEAR)
        return (size < _EDGE).where(near, _far(size.maximum(_EDGE), I0E_FAR))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * (i1e(x) - x.sign() * i0e(x))


class _I1e(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        size = x.abs()
        near = chebyshev(size.minimum(_EDGE), 0.0, _EDGE, I1E_NEAR) * x
        return (size < _EDGE).where(near, _far(size.maximum(_EDGE), I1E_FAR).copysign(x))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        is_zero = x == 0
        over = i1e(x) / is_zero.where(1.0, x)
        return gradient * (i0e(x) - x.sign() * i1e(x) - is_zero.where(0.5, over))


class _I0(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return _unscaled(x, _I0e.apply(x))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient * i1(ctx.saved_tensors[0])


class _I1(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return _unscaled(x, _I1e.apply(x))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        is_zero = x == 0
        return gradient * (i0(x) - is_zero.where(0.5, i1(x) / is_zero.where(1.0, x)))


@elementwise
def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of order 0.

    >>> weft.special.i0(Tensor([0.0, 1.0])).tolist()
    [1.0, 1.2661]
    """
    found: Tensor = _I0.apply(input)
    return found


@elementwise
def i0e(input: Tensor) -> Tensor:
    """exp(-|x|) * i0(x).

    >>> weft.special.i0e(Tensor([0.0, 100.0])).tolist()
    [1.0, 0.0399]
    """
    found: Tensor = _I0e.apply(input)
    return found


@elementwise
def i1(input: Tensor) -> Tensor:
    """The modified Bessel function of order 1.

    >>> weft.special.i1(Tensor([0.0, 1.0])).tolist()
    [0.0, 0.5652]
    """
    found: Tensor = _I1.apply(input)
    return found


@elementwise
def i1e(input: Tensor) -> Tensor:
    """exp(-|x|) * i1(x).

    >>> weft.special.i1e(Tensor([0.0, 100.0])).tolist()
    [0.0, 0.0397]
    """
    found: Tensor = _I1e.apply(input)
    return found


def _far(x: Any, coefficients: Sequence[float]) -> Any:
    """exp(-x) times the function of x from 8 on."""
    return chebyshev(_EDGE / x, 0.0, 1.0, coefficients) / x.sqrt()


def _unscaled(x: Any, scaled: Any) -> Any:
    """`scaled` times exp(|x|), which alone overflows before the product does."""
    half = (x.abs() * 0.5).exp()
    return scaled * half * half
