"""Arithmetic, comparisons, logic and rounding, element by element."""

from __future__ import annotations

from typing import Any

from weft.base.dtype import DType, dtypes
from weft.tensor import Tensor
from weft.torch.registry import converter

_UNARY = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_not", "ceil", "cos", "cosh",
    "erf", "exp", "exp2", "expm1", "floor", "isinf", "isnan", "log", "log10", "log1p", "log2",
    "logical_not", "neg", "reciprocal", "relu", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
)  # fmt: skip
_BINARY = {
    "atan2": "arctan2", "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor", "eq": "eq", "fmod": "fmod", "ge": "ge", "gt": "gt", "le": "le",
    "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor",
    "lt": "lt", "maximum": "maximum", "minimum": "minimum", "mul": "mul", "ne": "ne",
    "remainder": "remainder", "copysign": "copysign", "hypot": "hypot",
    "bitwise_left_shift": "bitwise_left_shift", "bitwise_right_shift": "bitwise_right_shift",
}  # fmt: skip


def promoted(x: Any, y: Any) -> tuple[Any, Any]:
    """Cast a tensor without axes to the dtype of the other one, if that is of no lower kind.

    PyTorch promotes in this way: tensors without axes count as Python numbers of their kind.
    """
    if not (isinstance(x, Tensor) and isinstance(y, Tensor)) or bool(x.ndim) == bool(y.ndim):
        return x, y
    if not x.ndim:
        y, x = promoted(y, x)
        return x, y
    return (x, y.cast(x.dtype)) if _kind(y.dtype) <= _kind(x.dtype) else (x, y)


def _kind(dtype: DType) -> int:
    return 2 if dtypes.is_float(dtype) else int(dtype is not dtypes.bool)


def _register_unary(name: str) -> None:
    @converter(f"aten::{name}")
    def unary(x: Tensor) -> Tensor:
        return getattr(x, name)()


def _register_binary(name: str, method: str) -> None:
    @converter(f"aten::{name}")
    def binary(x: Any, y: Any) -> Tensor:
        x, y = promoted(x, y)
        if not isinstance(x, Tensor):
            x = Tensor.full_like(y, x)
        return getattr(x, method)(y)


for _name in _UNARY:
    _register_unary(_name)
for _name, _method in _BINARY.items():
    _register_binary(_name, _method)


@converter("aten::add")
def add(x: Tensor, y: Any, *, alpha: Any = 1) -> Tensor:
    """Return x + alpha y."""
    x, y = promoted(x, y)
    return x + (y if alpha == 1 else y * alpha)


@converter("aten::add.Scalar")
def add_scalar(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    """Return x + alpha y for a number y."""
    return x + y * alpha


@converter("aten::sub")
def sub(x: Tensor, y: Any, *, alpha: Any = 1) -> Tensor:
    """Return x - alpha y."""
    x, y = promoted(x, y)
    return x - (y if alpha == 1 else y * alpha)


@converter("aten::sub.Scalar")
def sub_scalar(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    """Return x - alpha y for a number y."""
    return x - y * alpha


@converter("aten::rsub")
def rsub(x: Tensor, y: Any, alpha: Any = 1) -> Tensor:
    """Return y - alpha x."""
    x, y = promoted(x, y)
    return y - (x if alpha == 1 else x * alpha)


@converter("aten::div", "aten::true_divide")
def div(x: Tensor, y: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Return the quotient: as it is, or rounded to zero ("trunc") or down ("floor")."""
    x, y = promoted(x, y)
    return x.div(y, rounding_mode=rounding_mode)


@converter("aten::pow", "aten::pow.Tensor_Tensor", "aten::pow.Tensor_Scalar")
def power(x: Tensor, exponent: Any) -> Tensor:
    """Return x to the power of the exponent."""
    x, exponent = promoted(x, exponent)
    return x.pow(exponent)


@converter("aten::pow.Scalar")
def power_of_number(base: Any, exponent: Tensor) -> Tensor:
    """Return a number to the power of a tensor."""
    return exponent.pow(base, reverse=True)


@converter("aten::clamp")
def clamp(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Return x limited to [min, max]; None is no limit."""
    for bound, method in ((min, "maximum"), (max, "minimum")):
        if bound is not None:
            x, bound = promoted(x, bound)
            x = getattr(x, method)(bound)
    return x


@converter("aten::round")
def round_(x: Tensor, *, decimals: int = 0) -> Tensor:
    """Round to the nearest; halves to the even one."""
    return x.round(decimals)


@converter("aten::where.self", "aten::where.ScalarSelf", "aten::where.ScalarOther")
def where(condition: Tensor, x: Any, y: Any) -> Tensor:
    """Return x where the condition holds, else y."""
    return condition.where(*promoted(x, y))


@converter("aten::_to_copy", "prims::convert_element_type")
def cast(x: Tensor, dtype: DType | None = None) -> Tensor:
    """Cast to a dtype."""
    return x if dtype is None else x.cast(dtype)


@converter("aten::alias", "aten::clone", "aten::detach", "aten::lift_fresh_copy",
           "aten::lift_fresh", "aten::view_of", "aten::contiguous")  # fmt: skip
def identity(x: Tensor) -> Tensor:
    """Return x: results are new memory in any case."""
    return x


@converter("aten::copy")
def copy(x: Tensor, source: Tensor) -> Tensor:
    """Return the source in the shape and dtype of x."""
    return source.cast(x.dtype).expand(tuple(x.shape))
