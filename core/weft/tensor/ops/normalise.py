"""Normalisation, masks of matrices, and dropout."""

from __future__ import annotations

from typing import Any, Self

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.tensor.protocol import TensorBase


class NormaliseMixin(TensorBase):
    """Methods that bring values into a range, or leave some out."""

    __slots__ = ()

    def layernorm(self, axis: Any = -1, eps: float = 1e-5) -> Self:
        """(x - mean) / sqrt(variance + eps) over the given axes, without scale and shift."""
        centred = self - self.mean(axis, True)
        return centred * (centred.square().mean(axis, True) + eps).rsqrt()

    def batchnorm(self, weight: Any, bias: Any, mean: Any, invstd: Any, axis: Any = 1) -> Self:
        """(x - mean) * invstd * weight + bias, each given along `axis` (an int or several)."""
        axes = self._resolve_dims(axis)
        shape = tuple(s if i in axes else 1 for i, s in enumerate(self.shape))
        y = self - mean.reshape(shape)
        if weight is not None:
            y = y * weight.reshape(shape)
        y = y * (invstd.reshape(shape) if len(invstd.shape) == len(axes) else invstd)
        return y if bias is None else y + bias.reshape(shape)

    def dropout(self, p: float = 0.5) -> Self:
        """While `Tensor.training`, each element is 0 with probability p, else scaled by 1/(1-p).

        :raises ArgumentError: for p outside [0, 1].
        """
        if not 0 <= p <= 1:
            raise ArgumentError("p is a probability", asked=f"dropout({p})", try_="0 <= p <= 1")
        if not self.__class__.training or p == 0:
            return self._wrap(self._uop)
        if p == 1:
            return self * 0
        kept = self.rand_like(requires_grad=False, dtype=dtypes.float32, contiguous=False) >= p
        return kept.contiguous().where(self, 0) / (1.0 - p)

    def triu(self, diagonal: int = 0) -> Self:
        """The upper triangle of the last two axes, zeros below the given diagonal."""
        return self._upper(diagonal).where(self, False)

    def tril(self, diagonal: int = 0) -> Self:
        """The lower triangle of the last two axes, zeros above the given diagonal."""
        return self._upper(diagonal + 1).where(False, self)

    def _upper(self, diagonal: int) -> Any:
        if len(self.shape) < 2:
            raise ShapeError("triangles are of matrices", asked=f"shape {self.shape}")
        rows, columns = self.shape[-2:]
        down = self.__class__.arange(rows, device=self.device).unsqueeze(-1)
        return down + diagonal <= self.__class__.arange(columns, device=self.device)

    def sequential(self, ll: Any) -> Self:
        """The functions of a list applied one after another."""
        x = self
        for function in ll:
            x = function(x)
        return x
