"""Elementwise operators: arithmetic, comparison, logic, bits, rounding, functions of one variable.

Both operands have one dtype, as ONNX prescribes, so no dtype is promoted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

from weft.base.dtype import dtypes
from weft.onnx.graph import Node
from weft.onnx.operators.constants import constant_number
from weft.onnx.registry import operator
from weft.shape.movement import broadcast_shapes
from weft.tensor import Tensor

_UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "Abs": Tensor.abs, "Neg": Tensor.neg, "Reciprocal": Tensor.reciprocal, "Sign": Tensor.sign,
    "Ceil": Tensor.ceil, "Floor": Tensor.floor, "Round": Tensor.round,
    "Sqrt": Tensor.sqrt, "Exp": Tensor.exp, "Log": Tensor.log, "Erf": Tensor.erf,
    "Sin": Tensor.sin, "Cos": Tensor.cos, "Tan": Tensor.tan,
    "Asin": Tensor.asin, "Acos": Tensor.acos, "Atan": Tensor.atan,
    "Sinh": Tensor.sinh, "Cosh": Tensor.cosh, "Tanh": Tensor.tanh,
    "Asinh": Tensor.asinh, "Acosh": Tensor.acosh, "Atanh": Tensor.atanh,
    "Not": Tensor.logical_not, "BitwiseNot": Tensor.bitwise_not,
    "IsNaN": Tensor.isnan,
}  # fmt: skip
"""Operators of one tensor, without attributes."""


def _divide(a: Tensor, b: Tensor) -> Tensor:
    """Quotient; of integers it is truncated toward zero."""
    return a.div(b) if dtypes.is_float(a.dtype) else a.idiv(b)


_BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Add": Tensor.add, "Sub": Tensor.sub, "Mul": Tensor.mul, "Div": _divide,
    "Equal": Tensor.eq, "Less": Tensor.lt, "LessOrEqual": Tensor.le,
    "Greater": Tensor.gt, "GreaterOrEqual": Tensor.ge,
    "And": Tensor.bitwise_and, "Or": Tensor.bitwise_or, "Xor": Tensor.bitwise_xor,
    "BitwiseAnd": Tensor.bitwise_and, "BitwiseOr": Tensor.bitwise_or,
    "BitwiseXor": Tensor.bitwise_xor,
}  # fmt: skip
"""Operators of two tensors that broadcast, without attributes."""

_VARIADIC: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Max": Tensor.maximum, "Min": Tensor.minimum, "Sum": Tensor.add,
}  # fmt: skip
"""Operators that combine any number of tensors pair by pair."""


def _register_unary(name: str, function: Callable[[Tensor], Tensor]) -> None:
    @operator(name)
    def unary(node: Node, x: Tensor, *, consumed_inputs: Any = None) -> Tensor:
        return function(x)


def _register_binary(name: str, function: Callable[[Tensor, Tensor], Tensor]) -> None:
    @operator(name, since=7)
    def binary(node: Node, a: Tensor, b: Tensor) -> Tensor:
        return function(a, b)

    @operator(name)
    def binary_by_axis(
        node: Node,
        a: Tensor,
        b: Tensor,
        *,
        axis: int | None = None,
        broadcast: int = 0,
        consumed_inputs: Any = None,
    ) -> Tensor:
        return function(a, _aligned(a, b, axis))


def _aligned(a: Tensor, b: Tensor, axis: int | None) -> Tensor:
    """`b` with axes of size one behind, so that its first axis meets `axis` of `a` (opset < 7)."""
    if axis is None:
        return b
    behind = a.ndim - axis % max(a.ndim, 1) - b.ndim
    return b.reshape((*b.shape, *(1,) * behind)) if behind > 0 else b


def _register_variadic(name: str, function: Callable[[Tensor, Tensor], Tensor]) -> None:
    @operator(name)
    def variadic(node: Node, *xs: Tensor, consumed_inputs: Any = None) -> Tensor:
        return reduce(function, xs)


for _name, _function in _UNARY.items():
    _register_unary(_name, _function)
for _name, _combine in _BINARY.items():
    _register_binary(_name, _combine)
for _name, _combine in _VARIADIC.items():
    _register_variadic(_name, _combine)


@operator("Mean")
def mean(node: Node, *xs: Tensor, consumed_inputs: Any = None) -> Tensor:
    """Average of the inputs, element by element."""
    return reduce(Tensor.add, xs) / len(xs)


@operator("Mod", since=10)
def mod(node: Node, a: Tensor, b: Tensor, *, fmod: int = 0) -> Tensor:
    """Remainder: with the sign of the divisor, or with `fmod` of the dividend."""
    if not fmod:
        return _float_mod(a, b) if dtypes.is_float(a.dtype) else a.mod(b)
    return a.fmod(b)


def _float_mod(a: Tensor, b: Tensor) -> Tensor:
    """Remainder of floats; a remainder of zero has the sign of the divisor."""
    remainder = a.mod(b)
    return (remainder == 0).where(remainder.copysign(b), remainder)


@operator("Pow", since=7)
def power(node: Node, x: Tensor, y: Tensor) -> Tensor:
    """x ** y in the dtype of x; the exponent may have another dtype."""
    if not dtypes.is_float(x.dtype):
        if not dtypes.is_float(y.dtype):
            return x.pow(y).cast(x.dtype)
        # as in NumPy, in float64
        return x.cast(dtypes.float64).pow(y.cast(dtypes.float64)).cast(x.dtype)
    wide = x.cast(dtypes.float32) if x.dtype.itemsize < 4 else x
    exponent = constant_number(y)
    if exponent is not None:  # a whole number is multiplied out
        result = wide.pow(exponent)
        return result.cast(x.dtype).expand(broadcast_shapes(x.shape, y.shape))
    return wide.pow(y.cast(wide.dtype)).cast(x.dtype)


@operator("Pow")
def power_by_axis(
    node: Node, x: Tensor, y: Tensor, *, axis: int | None = None, broadcast: int = 0
) -> Tensor:
    """x ** y, `y` aligned to an axis of x."""
    return power(node, x, _aligned(x, y, axis))


@operator("Clip", since=11)
def clip(node: Node, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    """x between two bounds; the upper one counts where they contradict each other."""
    if low is None and high is None:
        return x
    return x.clamp(*(None if each is None else each.reshape(()) for each in (low, high)))


@operator("Clip")
def clip_by_attributes(
    node: Node,
    x: Tensor,
    *,
    min: float = -math.inf,
    max: float = math.inf,
    consumed_inputs: Any = None,
) -> Tensor:
    """x between two numbers (opset < 11)."""
    return x.clamp(min, max)


@operator("Where", since=9)
def where(node: Node, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """x where the condition holds, else y."""
    return condition.where(x, y)


@operator("IsInf", since=10)
def is_infinite(
    node: Node, x: Tensor, *, detect_positive: int = 1, detect_negative: int = 1
) -> Tensor:
    """Return whether elements are infinite, of the signs that the attributes select."""
    return x.isinf(bool(detect_positive), bool(detect_negative))


@operator("BitShift", since=11)
def bit_shift(node: Node, x: Tensor, y: Tensor, *, direction: str) -> Tensor:
    """Shift by `y` bits. A negative `y`, or one beyond the width, leaves the sign bits alone.

    :raises OnnxError: if the direction is neither LEFT nor RIGHT.
    """
    if direction not in ("LEFT", "RIGHT"):
        raise node.refuse(f"there is no direction {direction!r}", "LEFT or RIGHT")
    is_valid = (y >= 0) & (y < x.dtype.bitsize)
    count = is_valid.where(y, 0)
    if direction == "LEFT":
        return is_valid.where(x << count, 0)
    filled = 0 if dtypes.is_unsigned(x.dtype) else (x < 0).where(x.full_like(-1), 0)
    return is_valid.where(x >> count, filled)
