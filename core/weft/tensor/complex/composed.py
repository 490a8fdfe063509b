"""Functions of complex tensors that are composed of others, and writes at indices part by part."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from weft.base.dtype import dtypes


def positive(self: Any) -> Any:
    """The same numbers."""
    return self._over(self._interleaved)


def rsqrt(self: Any) -> Any:
    """One over the square root."""
    return self.sqrt().reciprocal()


def float_power(self: Any, exponent: Any) -> Any:
    """Power, computed in complex128."""
    return self.cast(dtypes.complex128).pow(exponent)


def sinc(self: Any) -> Any:
    """sin(pi x) / (pi x), and 1 at zero."""
    is_zero = self == 0
    turn = is_zero.where(1.0, self) * math.pi
    return is_zero.where(1.0, turn.sin() / turn)


def lerp(self: Any, end: Any, weight: Any) -> Any:
    """Linear interpolation: self where the weight is 0, `end` where it is 1."""
    return self + (self._other(end) - self) * weight


def logaddexp(self: Any, x: Any) -> Any:
    """log(exp(self) + exp(x)), without overflow of the exponentials."""
    x = self._constant_operand(x, self.dtype)
    is_larger = self.real >= x.real
    large, small = is_larger.where(self, x), is_larger.where(x, self)
    return large + (small - large).exp().log1p()


def dist(self: Any, x: Any, p: Any = 2) -> Any:
    """The p-norm of the difference: a real number."""
    return (self - x).norm(p)


def pairwise_distance(
    self: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The norm of self - x2 + eps along the last axis: a real number."""
    return (self - x2 + eps).norm(p, -1, keepdim)


def normalize(self: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """Each vector along `dim` divided by its p-norm, of at least `eps`."""
    return self / self.norm(p, dim, keepdim=True).maximum(eps)


def sigmoid(self: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return ((-self).exp() + 1.0).reciprocal()


def silu(self: Any) -> Any:
    """x * sigmoid(x)."""
    return self * sigmoid(self)


def softsign(self: Any) -> Any:
    """x / (1 + |x|)."""
    return self / (self.abs() + 1.0)


def tanhshrink(self: Any) -> Any:
    """x - tanh(x)."""
    return self - self.tanh()


def corrcoef(self: Any) -> Any:
    """Correlations of the rows: covariances over the deviations of both. Each part is clipped."""
    found = self.cov()
    if not found.shape:
        return found / found
    deviations = found.diagonal().real.sqrt()
    ratio = found / deviations.unsqueeze(1) / deviations.unsqueeze(0)
    return self._of_parts(*(part.clamp(-1, 1) for part in ratio._parts()))


# ---- writes at indices -------------------------------------------------------------------------

_VALUES = {
    "masked_fill": 1, "masked_scatter": 1, "index_fill": 2, "index_copy": 2, "index_add": 2,
    "index_put": 1, "put": 1, "scatter": 2, "scatter_add": 2, "select_scatter": 0,
}  # fmt: skip
"""Methods that write values at indices or add them, and which argument the values are."""
_NAMES = ("source", "src", "value", "values")


def _written(name: str, place: int) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = list(args)
        key: Any = next((key for key in _NAMES if key in kwargs), None)
        held: Any = given if len(given) > place else kwargs
        at = place if len(given) > place else key
        if at is None or kwargs.get("reduce") not in (None, "add", "sum"):
            raise self._refused(name)
        whole = self._constant_operand(held[at], self.dtype)
        made = []
        for own, value in zip(self._parts(), whole._parts()):
            held[at] = value
            made.append(getattr(own, name)(*given, **kwargs))
        return self._of_parts(*made)

    method.__name__, method.__doc__ = name, f"`Tensor.{name}` of the real and the imaginary part."
    return method


METHODS: dict[str, Callable[..., Any]] = {
    **{
        function.__name__: function
        for function in (
            positive, rsqrt, float_power, sinc, lerp, logaddexp, dist, pairwise_distance,
            normalize, sigmoid, silu, softsign, tanhshrink, corrcoef,
        )
    },
    **{name: _written(name, place) for name, place in _VALUES.items()},
}  # fmt: skip
"""The functions here as methods, by name."""
