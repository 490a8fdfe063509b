"""Products of matrices: a broadcast product and a sum, which the compiler makes one kernel."""

from __future__ import annotations

from typing import Any

from weft.base import arguments
from weft.base.dtype import to_dtype
from weft.base.errors import ShapeError
from weft.base.promotion import least_upper_dtype, sum_acc_dtype
from weft.shape.movement import say_shape
from weft.tensor.autocast import low_bias, low_operands
from weft.tensor.ops.neural_network.image_operands import drawn
from weft.tensor.protocol import TensorT
from weft.tensor.types import ArrayLike, DTypeLike


def dot(self: TensorT, w: ArrayLike, dtype: DTypeLike | None = None) -> TensorT:
    """Matrix product over the last axis of self and the last but one of w.

    A vector is a row on the left and a column on the right. Axes before the last two broadcast.
    Products and sums are computed in `sum_acc_dtype`, and converted once to the common dtype of
    both operands, so that small integers wrap. With `dtype`, that is the dtype of the computation
    and of the result.

    :raises ShapeError: if the inner sizes differ, or one operand is 0-d.

    >>> Tensor([[1, 2], [3, 4]]).dot(Tensor([5, 6])).tolist()
    [17, 39]
    >>> Tensor.ones(8, 2, 3).dot(Tensor.ones(3, 4)).shape
    (8, 2, 4)
    """
    w = self.__class__._as_tensor(w, self)
    if w._interleaved is not None:
        made = w._products.bilinear_of_real(self, w, lambda a, b: a.dot(b))
        return made if dtype is None else made.cast(dtype)
    a, b = self.shape, w.shape
    inner = b[-min(len(b), 2)] if b else None
    if not a or not b or a[-1] != inner:
        raise ShapeError(
            f"shapes {say_shape(a)} and {say_shape(b)} do not multiply",
            asked=f"{say_shape(a)} @ {say_shape(b)}",
            because="a 0-d tensor has no axis to sum over"
            if not a or not b
            else f"the last axis of the left has {say_shape(a[-1])}, that of the right "
            f"{say_shape(inner)}",
            try_=_other_product(a, b),
        )
    left, right = low_operands(self, w)
    kind = least_upper_dtype(left._uop.dtype, right._uop.dtype)
    wide = sum_acc_dtype(kind) if dtype is None else to_dtype(dtype)
    left, right = drawn(left, right, -1, -min(len(b), 2))
    left, right = left.cast(wide), right.cast(wide)
    if len(b) > 1:
        right = right.transpose(-1, -2)
        left = left.unsqueeze(-2) if len(a) > 1 else left
        right = right.unsqueeze(-3) if len(a) > 1 else right
    total = (left * right).sum(-1, dtype=wide)
    return total.cast(kind) if dtype is None else total


def matmul(
    self: TensorT, x: ArrayLike, reverse: bool = False, dtype: DTypeLike | None = None
) -> TensorT:
    """Matrix product; with `reverse` the operands change places. Raises as `dot`.

    >>> (Tensor([[1, 2], [3, 4]]) @ Tensor([[0, 1], [1, 0]])).tolist()
    [[2, 1], [4, 3]]
    """
    if arguments.flag(reverse, "reverse"):
        return self.__class__._as_tensor(x, self).dot(self, dtype)
    return self.dot(x, dtype)


def image_dot(self: TensorT, w: ArrayLike, dtype: DTypeLike | None = None) -> TensorT:
    """`dot`. What is drawn as images is a matter of the setting IMAGE and the device.

    >>> Tensor([[1, 2]]).image_dot(Tensor([[3], [4]])).tolist()
    [[11]]
    """
    return self.dot(w, dtype)


def linear(
    self: TensorT, weight: ArrayLike, bias: ArrayLike | None = None, dtype: DTypeLike | None = None
) -> TensorT:
    """self @ weight + bias; a 1-d weight multiplies element by element.

    >>> Tensor([[1.0, 2.0]]).linear(Tensor([[1.0], [3.0]]), bias=Tensor([0.5])).tolist()
    [[7.5]]
    """
    x = self if dtype is None else self.cast(dtype)
    weight = self._as_tensor(weight, self)
    bias = bias if bias is None else self._as_tensor(bias, self)
    weight = weight if dtype is None else weight.cast(dtype)
    y = x * weight if len(weight.shape) == 1 else x.dot(weight)
    if bias is None:
        return y
    return y + (low_bias(bias, y) if dtype is None else bias.cast(dtype))


def _other_product(a: tuple[Any, ...], b: tuple[Any, ...]) -> str:
    """What would multiply, of two shapes that do not as they are."""
    if not a or not b:
        return "x * y"
    if len(b) > 1 and a[-1] == b[-1]:
        return "x @ y.transpose(-1, -2)"
    if len(a) > 1 and a[-2] == b[-min(len(b), 2)]:
        return "x.transpose(-1, -2) @ y"
    return "shapes (..., n, k) and (..., k, m); x * y multiplies element by element"
