"""Normalisation, masks of matrices, and dropout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weft.base.arguments import real, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.tensor.protocol import TensorT
from weft.tensor.types import ArrayLike, Axes


def layernorm(self: TensorT, axis: Axes = -1, eps: float = 1e-5) -> TensorT:
    """(x - mean) / sqrt(variance + eps) over the given axes, without scale and shift.

    >>> Tensor([[1.0, 3.0], [0.0, 8.0]]).layernorm().tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """
    centred = self - self.mean(axis, True)
    return centred * (centred.square().mean(axis, True) + eps).rsqrt()


def batchnorm(
    self: TensorT,
    weight: ArrayLike,
    bias: ArrayLike,
    mean: ArrayLike,
    invstd: ArrayLike,
    axis: Axes = 1,
) -> TensorT:
    """(x - mean) * invstd * weight + bias, each given along `axis` (an int or several).

    >>> x = Tensor([[[1.0, 3.0]]])
    >>> weight, bias, mean, invstd = (Tensor([n]) for n in (2.0, 1.0, 2.0, 1.0))
    >>> x.batchnorm(weight, bias, mean, invstd).tolist()
    [[[-1.0, 3.0]]]
    """
    axes = self._resolve_dims(axis)
    shape = tuple(s if i in axes else 1 for i, s in enumerate(self.shape))
    mean, invstd = self._as_tensor(mean, self), self._as_tensor(invstd, self)
    y = self - mean.reshape(shape)
    if weight is not None:
        y = y * self._as_tensor(weight, self).reshape(shape)
    y = y * (invstd.reshape(shape) if len(invstd.shape) == len(axes) else invstd)
    return y if bias is None else y + self._as_tensor(bias, self).reshape(shape)


def dropout(self: TensorT, p: float = 0.5) -> TensorT:
    """While `Tensor.training`, each element is 0 with probability p, else scaled by 1/(1-p).

    :raises ArgumentError: for p outside [0, 1].

    >>> with Tensor.train():
    ...     share = (Tensor.ones(1000).dropout(0.25) == 0).mean().item()
    >>> 0.2 < share < 0.3
    True
    >>> Tensor.ones(3).dropout(0.25).tolist()
    [1.0, 1.0, 1.0]
    """
    if not 0 <= real(p, "p") <= 1:
        raise ArgumentError("p is a probability", asked=f"dropout({p})", try_="0 <= p <= 1")
    if not self.__class__.training or p == 0:
        return self._wrap(self._uop)
    if p == 1:
        return self * 0
    kept = self.rand_like(requires_grad=False, dtype=dtypes.float32, contiguous=False) >= p
    return kept.contiguous().where(self, 0) / (1.0 - p)


def sequential(self: TensorT, ll: Sequence[Callable[[Any], Any]]) -> TensorT:
    """The functions of a list applied one after another.

    >>> Tensor([-4.0, 9.0]).sequential([Tensor.relu, Tensor.sqrt]).tolist()
    [0.0, 3.0]
    """
    if not isinstance(ll, Iterable) or not all(map(callable, ll := list(ll))):
        raise ArgumentError(
            "a sequence of functions is needed",
            asked=f"sequential({shown(ll)})",
            try_="x.sequential([layer, Tensor.relu])",
        )
    x = self
    for function in ll:
        x = function(x)
    return x
