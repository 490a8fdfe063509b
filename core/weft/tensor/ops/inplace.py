"""Methods whose name ends in "_": `assign` of the result, in the dtype and shape of self."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import real
from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike


def fill_(self: TensorT, value: ArrayLike) -> TensorT:
    """`value` everywhere.

    >>> Tensor([1, 2]).fill_(7).tolist()
    [7, 7]
    """
    return self.assign(value)


def zero_(self: TensorT) -> TensorT:
    """0 everywhere.

    >>> Tensor([1, 2]).zero_().tolist()
    [0, 0]
    """
    return self.assign(0)


def copy_(self: TensorT, src: ArrayLike) -> TensorT:
    """The values of another tensor, converted to the dtype and place of self.

    >>> Tensor([1, 2]).copy_(Tensor([3.5, 4.5])).tolist()
    [3, 4]
    """
    if not isinstance(src, TensorBase):
        return self.assign(src)
    return self.assign(src.cast(self._uop.dtype).to(self.device))


def add_(self: TensorT, other: ArrayLike, *, alpha: float = 1) -> TensorT:
    """self + alpha * other.

    >>> Tensor([1, 2]).add_(Tensor([1, 1]), alpha=3).tolist()
    [4, 5]
    """
    return self.assign(self + _scaled_by(self, other, alpha))


def _scaled_by(self: TensorBase, other: Any, alpha: float) -> Any:
    alpha = real(alpha, "alpha")
    return other if alpha == 1 else self._as_tensor(other, self) * alpha


def sub_(self: TensorT, other: ArrayLike, *, alpha: float = 1) -> TensorT:
    """self - alpha * other.

    >>> Tensor([1, 2]).sub_(1).tolist()
    [0, 1]
    """
    return self.assign(self - _scaled_by(self, other, alpha))


def mul_(self: TensorT, other: ArrayLike) -> TensorT:
    """self * other.

    >>> Tensor([1, 2]).mul_(3).tolist()
    [3, 6]
    """
    return self.assign(self * other)


def div_(self: TensorT, other: ArrayLike, *, rounding_mode: str | None = None) -> TensorT:
    """self / other.

    >>> Tensor([1.0, 2.0]).div_(2).tolist()
    [0.5, 1.0]
    """
    return self.assign(self.div(other, rounding_mode=rounding_mode))


def clamp_(self: TensorT, min_: ArrayLike | None = None, max_: ArrayLike | None = None) -> TensorT:
    """Bounded below and above.

    >>> Tensor([1, 5]).clamp_(2, 4).tolist()
    [2, 4]
    """
    return self.assign(self.clamp(min_, max_))


def uniform_(self: TensorT, low: float = 0.0, high: float = 1.0) -> TensorT:
    """Random numbers, uniform on [low, high).

    >>> Tensor.zeros(2).uniform_(3.0, 3.0).tolist()
    [3.0, 3.0]
    """
    kind, device = self._uop.dtype, self.device
    return self.assign(
        self.__class__.uniform(self.shape, low=low, high=high, dtype=kind, device=device)
    )


def normal_(self: TensorT, mean: float = 0.0, std: float = 1.0) -> TensorT:
    """Random numbers, normal with the given mean and standard deviation.

    >>> Tensor.zeros(2).normal_(5.0, 0.0).tolist()
    [5.0, 5.0]
    """
    kind, device = self._uop.dtype, self.device
    return self.assign(
        self.__class__.normal(self.shape, mean=mean, std=std, dtype=kind, device=device)
    )


def fill_diagonal_(self: TensorT, fill_value: float, wrap: bool = False) -> TensorT:
    """`fill_value` on the main diagonal of a matrix, or of a cube of any rank.

    :param wrap: of a matrix with more rows than columns also on the diagonals below the main
        one, with an empty row between two of them.
    :raises ShapeError: for less than two axes, or more than two of different sizes.

    >>> Tensor([[1, 2], [3, 4]]).fill_diagonal_(0).tolist()
    [[0, 2], [3, 0]]
    """
    shape = self.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ShapeError(
            "only matrices and cubes have a main diagonal",
            asked=f"fill_diagonal_ of shape {shape}",
            because="it takes one index for all axes",
        )
    width = shape[1]
    place = self.__class__.arange(self.numel(), device=self.device).reshape(shape)
    hit = place % sum(width**axis for axis in range(len(shape))) == 0
    if not wrap and len(shape) == 2:
        hit = hit & (place < width * width)
    return self.assign(self.masked_fill(hit, real(fill_value, "fill_value")))


def random_(self: TensorT, low: int = 0, high: int | None = None) -> TensorT:
    """Random integers from `low` to below `high`; one argument alone is `high`.

    Without arguments all integers from 0 that the dtype represents exactly, below 2**30.

    :raises OutOfRange: for bounds that an integer dtype cannot represent.

    >>> Tensor.zeros(3).random_(5, 6).tolist()
    [5.0, 5.0, 5.0]
    """
    kind = self._uop.dtype
    if high is None and low:
        low, high = 0, low
    elif high is None:
        digits = dtypes.finfo(kind).mantissa_bits + 1 if dtypes.is_float(kind) else kind.bitsize
        high = 1 << min(digits - dtypes.is_int(kind) + dtypes.is_unsigned(kind), 30)
    drawn_in = kind if dtypes.is_int(kind) else dtypes.int64
    shape, device = self.shape, self.device
    drawn = self.__class__.randint(*shape, low=low, high=high, dtype=drawn_in, device=device)
    return self.assign(drawn.cast(kind))


def bernoulli_(self: TensorT, p: ArrayLike = 0.5) -> TensorT:
    """1 with probability p, else 0; p is a number or a tensor that broadcasts.

    >>> Tensor.zeros(2).bernoulli_(Tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    chance = self._as_tensor(p, self, dtypes.default_float)._expanded(self.shape)
    return self.assign(chance.bernoulli().cast(self._uop.dtype))
