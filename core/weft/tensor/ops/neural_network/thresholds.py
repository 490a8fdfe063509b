"""More activations, by the names that PyTorch gives them, and pooling to a size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from weft.base.arguments import real, whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.base.promotion import least_upper_float, sum_acc_dtype
from weft.tensor.ops.neural_network.activations import ActivationsMixin
from weft.tensor.ops.transcendental import in_floats
from weft.tensor.types import ArrayLike, DTypeLike


class GatesMixin(ActivationsMixin):
    """Methods that bend, gate and pool."""

    __slots__ = ()

    @in_floats
    def softmin(self, axis: int = -1, dtype: DTypeLike | None = None) -> Self:
        """softmax of -x.

        >>> Tensor([0.0, 0.0]).softmin().tolist()
        [0.5, 0.5]
        """
        return (-self).softmax(axis, dtype)

    def glu(self, dim: int = -1) -> Self:
        """The first half of an axis times the logistic of the second.

        >>> Tensor([2.0, 0.0]).glu().tolist()
        [1.0]
        """
        size = self.shape[self._resolve_dim(dim)] if self.shape else 1
        if size % 2:
            raise ShapeError(
                "an axis of odd length has no halves", asked=f"glu({dim}) of shape {self.shape}"
            )
        return self.narrow(dim, 0, size // 2) * self.narrow(dim, size // 2, size // 2).sigmoid()

    def prelu(self, weight: ArrayLike) -> Self:
        """x, or weight x where it is below 0: one weight, or one for each channel (axis 1).

        >>> Tensor([-2.0, 2.0]).prelu(Tensor([0.5])).tolist()
        [-1.0, 2.0]
        """
        weight = self.__class__._as_tensor(weight, self)
        if weight.numel() != 1:
            if len(self.shape) < 2 or weight.shape != (self.shape[1],):
                raise ShapeError(
                    "there is one weight, or one for each channel",
                    asked=f"prelu of {self.shape} with weights {weight.shape}",
                )
            weight = weight.reshape((1, -1, *(1,) * (len(self.shape) - 2)))
        else:
            weight = weight.reshape(())
        return (self > 0).where(self, self * weight)

    def hardshrink(self, lambd: float = 0.5) -> Self:
        """0 between -lambd and lambd, x elsewhere.

        >>> Tensor([-1.0, 0.25, 0.75]).hardshrink().tolist()
        [-1.0, 0.0, 0.75]
        """
        lambd = real(lambd, "lambd")
        return ((self >= -lambd) & (self <= lambd)).where(0, self)

    @in_floats
    def softshrink(self, lambd: float = 0.5) -> Self:
        """x drawn toward 0 by lambd, and 0 between -lambd and lambd.

        >>> Tensor([-1.0, 0.25, 0.75]).softshrink().tolist()
        [-0.5, 0.0, 0.25]
        """
        lambd = real(lambd, "lambd")
        if lambd < 0:
            raise ArgumentError("lambd is not below 0", asked=f"softshrink({lambd})")
        low = (self < -lambd).where(self + lambd, self * 0)
        return (self > lambd).where(self - lambd, low)

    @in_floats
    def tanhshrink(self) -> Self:
        """x - tanh(x).

        >>> Tensor([0.0, 1.0]).tanhshrink().tolist()
        [0.0, 0.2384]
        """
        return self - self.tanh()

    def threshold(self, threshold: float, value: float) -> Self:
        """x above the threshold, `value` elsewhere.

        >>> Tensor([1.0, 3.0]).threshold(2.0, 0.5).tolist()
        [0.5, 3.0]
        """
        return (self <= threshold).where(value, self)

    # ---- pooling to a size --------------------------------------------------------------------

    def adaptive_avg_pool2d(self, output_size: int | Sequence[int | None]) -> Self:
        """Averages over windows that cut the last axes into so many parts: a number for two axes,
        or one for each; None keeps an axis.

        >>> Tensor([[[1.0, 2.0, 3.0, 4.0]]]).adaptive_avg_pool2d((1, 2)).tolist()
        [[[1.5, 3.5]]]
        """
        own = least_upper_float(self._uop.dtype)
        x = self.cast(sum_acc_dtype(own))
        for axis, parts in self._targets(output_size):
            spread, counts = x._parts(axis, parts, 0)
            x = (spread.sum(-1) / counts.cast(x._uop.dtype)).movedim(-1, axis)
        return x.cast(own)

    def adaptive_max_pool2d(self, output_size: int | Sequence[int | None]) -> Self:
        """Maxima over windows that cut the last axes into so many parts.

        >>> Tensor([[[1, 2, 3, 4]]]).adaptive_max_pool2d((1, 2)).tolist()
        [[[2, 4]]]
        """
        x = self
        for axis, parts in self._targets(output_size):
            spread, _ = x._parts(axis, parts, x._uop.dtype.min)
            x = spread.max(-1).movedim(-1, axis)
        return x

    def _targets(self, output_size: Any) -> list[tuple[int, int]]:
        given = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * 2
        sizes = [None if s is None else whole(s, "output_size") for s in given]
        if len(sizes) > len(self.shape) or any(s is not None and s < 0 for s in sizes):
            raise ShapeError(
                "pooling to a size needs an axis for each number",
                asked=f"a size of {output_size!r} for shape {self.shape}",
            )
        axes = range(len(self.shape) - len(sizes), len(self.shape))
        return [(axis, s) for axis, s in zip(axes, sizes) if s is not None]

    def _parts(self, axis: int, parts: int, rest: Any) -> tuple[Any, Any]:
        """Each window of an axis along a new last axis but one, `rest` beside it; their lengths."""
        size = self.shape[axis]
        place = self.__class__.arange(size, device=self.device)
        part = self.__class__.arange(parts, device=self.device).unsqueeze(-1)
        # window i is from i n // parts to (i + 1) n / parts, rounded up
        inside = (place >= part * size // parts) & (place < -(-(part + 1) * size // parts))
        spread = inside.where(self.movedim(axis, -1).unsqueeze(-2), rest)
        return spread, inside.sum(-1, dtype=dtypes.int32)
