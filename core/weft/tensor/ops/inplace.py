"""Methods whose name ends in "_": `assign` of the result, in the dtype and shape of self."""

from __future__ import annotations

from typing import Any, Self

from weft.base.arguments import real
from weft.tensor.ops.assign import AssignMixin
from weft.tensor.protocol import TensorBase
from weft.tensor.types import ArrayLike


class InplaceMixin(AssignMixin):
    """Methods that change the tensor they are called on, and return it. They raise as `assign`."""

    __slots__ = ()

    def fill_(self, value: ArrayLike) -> Self:
        """`value` everywhere.

        >>> Tensor([1, 2]).fill_(7).tolist()
        [7, 7]
        """
        return self.assign(value)

    def zero_(self) -> Self:
        """0 everywhere.

        >>> Tensor([1, 2]).zero_().tolist()
        [0, 0]
        """
        return self.assign(0)

    def copy_(self, src: ArrayLike) -> Self:
        """The values of another tensor, converted to the dtype and place of self.

        >>> Tensor([1, 2]).copy_(Tensor([3.5, 4.5])).tolist()
        [3, 4]
        """
        if not isinstance(src, TensorBase):
            return self.assign(src)
        return self.assign(src.cast(self._uop.dtype).to(self.device))

    def add_(self, other: ArrayLike, *, alpha: float = 1) -> Self:
        """self + alpha * other.

        >>> Tensor([1, 2]).add_(Tensor([1, 1]), alpha=3).tolist()
        [4, 5]
        """
        return self.assign(self + self._scaled_by(other, alpha))

    def _scaled_by(self, other: Any, alpha: float) -> Any:
        alpha = real(alpha, "alpha")
        return other if alpha == 1 else self._as_tensor(other, self) * alpha

    def sub_(self, other: ArrayLike, *, alpha: float = 1) -> Self:
        """self - alpha * other.

        >>> Tensor([1, 2]).sub_(1).tolist()
        [0, 1]
        """
        return self.assign(self - self._scaled_by(other, alpha))

    def mul_(self, other: ArrayLike) -> Self:
        """self * other.

        >>> Tensor([1, 2]).mul_(3).tolist()
        [3, 6]
        """
        return self.assign(self * other)

    def div_(self, other: ArrayLike, *, rounding_mode: str | None = None) -> Self:
        """self / other.

        >>> Tensor([1.0, 2.0]).div_(2).tolist()
        [0.5, 1.0]
        """
        return self.assign(self.div(other, rounding_mode=rounding_mode))

    def clamp_(self, min_: ArrayLike | None = None, max_: ArrayLike | None = None) -> Self:
        """Bounded below and above.

        >>> Tensor([1, 5]).clamp_(2, 4).tolist()
        [2, 4]
        """
        return self.assign(self.clamp(min_, max_))

    def uniform_(self, low: float = 0.0, high: float = 1.0) -> Self:
        """Random numbers, uniform on [low, high).

        >>> Tensor.zeros(2).uniform_(3.0, 3.0).tolist()
        [3.0, 3.0]
        """
        kind, device = self._uop.dtype, self.device
        return self.assign(
            self.__class__.uniform(self.shape, low=low, high=high, dtype=kind, device=device)
        )

    def normal_(self, mean: float = 0.0, std: float = 1.0) -> Self:
        """Random numbers, normal with the given mean and standard deviation.

        >>> Tensor.zeros(2).normal_(5.0, 0.0).tolist()
        [5.0, 5.0]
        """
        kind, device = self._uop.dtype, self.device
        return self.assign(
            self.__class__.normal(self.shape, mean=mean, std=std, dtype=kind, device=device)
        )
