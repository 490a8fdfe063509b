"""Shape arithmetic: operators on arrays of the host, computed by NumPy.

Shapes, axes and small constants flow through these functions. No kernel is compiled for them, and
their values are known while a graph is traced. A function returns NotImplemented where the operator
on tensors is to be used: for large results, and for element types that NumPy does not compute.

Source: the ONNX specification, "Operators".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.base.sequences import prod
from weft.onnx.graph import ELEMENT_TYPES, Node
from weft.onnx.registry import host_operator

MOST_ELEMENTS = 1 << 16
"""Larger results are left to the operators on tensors, which are lazy."""

Array = np.ndarray


def is_computed(*arrays: Array | None) -> bool:
    """Whether NumPy computes with these arrays, and their broadcast result is small."""
    given = [each for each in arrays if each is not None]
    if not all(each.dtype.isbuiltin == 1 and each.dtype.kind in "biuf" for each in given):
        return False
    count = 1
    for each in given:
        count = max(count, each.size)
    shapes = np.broadcast_shapes(*(each.shape for each in given)) if given else ()
    return max(count, prod(shapes)) <= MOST_ELEMENTS


# ---- elementwise ---------------------------------------------------------------------------------


def _truncated_division(a: Array, b: Array) -> Any:
    if a.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.divide(a, b)
    if not b.all():
        return NotImplemented
    quotient, remainder = np.divmod(a, b)
    return quotient + ((remainder != 0) & ((a < 0) != (b < 0)))


def _add_elementwise(name: str, function: Callable[..., Any], kinds: str = "biuf") -> None:
    def compute(node: Node, *arrays: Array, **attributes: Any) -> Any:
        if not is_computed(*arrays) or any(each.dtype.kind not in kinds for each in arrays):
            return NotImplemented
        if attributes:  # broadcasting along an axis, of the first opsets
            return NotImplemented
        with np.errstate(all="ignore"):
            result = function(*arrays)
        return result if result is NotImplemented else np.asarray(result)

    host_operator(name)(compute)


for _name, _function, _kinds in (
    ("Add", np.add, "iuf"),
    ("Sub", np.subtract, "iuf"),
    ("Mul", np.multiply, "iuf"),
    ("Div", _truncated_division, "iuf"),
    ("Neg", np.negative, "if"),
    ("Abs", np.abs, "iuf"),
    ("Floor", np.floor, "f"),
    ("Ceil", np.ceil, "f"),
    ("Sqrt", np.sqrt, "f"),
    ("Equal", np.equal, "biuf"),
    ("Less", np.less, "iuf"),
    ("LessOrEqual", np.less_equal, "iuf"),
    ("Greater", np.greater, "iuf"),
    ("GreaterOrEqual", np.greater_equal, "iuf"),
    ("And", np.logical_and, "b"),
    ("Or", np.logical_or, "b"),
    ("Xor", np.logical_xor, "b"),
    ("Not", np.logical_not, "b"),
    ("Where", np.where, "biuf"),
):
    _add_elementwise(_name, _function, _kinds)


def _add_variadic(name: str, function: Callable[[Array, Array], Array]) -> None:
    def compute(node: Node, *arrays: Array) -> Any:
        if not arrays or not is_computed(*arrays):
            return NotImplemented
        result = arrays[0]
        for each in arrays[1:]:
            result = function(result, each)
        return np.asarray(result)

    host_operator(name)(compute)


for _name, _function in (("Min", np.minimum), ("Max", np.maximum), ("Sum", np.add)):
    _add_variadic(_name, _function)


@host_operator("Mod", since=10)
def mod(node: Node, a: Array, b: Array, *, fmod: int = 0) -> Any:
    """Remainder with the sign of the divisor, or of the dividend with `fmod`."""
    if not is_computed(a, b) or a.dtype.kind == "f" or not b.all():
        return NotImplemented
    return np.asarray(np.fmod(a, b) if fmod else np.mod(a, b))


@host_operator("Cast", since=6)
def cast(node: Node, x: Array, *, to: int, saturate: int = 1, round_mode: str = "up") -> Any:
    """Convert numbers between the element types of NumPy, where no rule of ONNX is needed."""
    name = ELEMENT_TYPES.get(to, "")
    if not is_computed(x) or name not in ("bool", "int32", "int64", "float32", "float64"):
        return NotImplemented
    if x.dtype.kind == "f" and name.startswith("int"):
        limits = np.iinfo(name)
        if not ((x > limits.min) & (x < limits.max)).all():
            return NotImplemented
    return x.astype(name)


@host_operator("CastLike", since=15)
def cast_like(
    node: Node, x: Array, target: Array, *, saturate: int = 1, round_mode: str = "up"
) -> Any:
    """Convert to the element type of another array."""
    numbers = {name: number for number, name in ELEMENT_TYPES.items()}
    return cast(node, x, to=numbers.get(target.dtype.name, 0))


# ---- creation ------------------------------------------------------------------------------------


@host_operator("Range", since=11)
def arange(node: Node, start: Array, limit: Array, delta: Array) -> Any:
    """Numbers from start, in steps of delta, before limit."""
    if start.dtype.kind not in "iu" or not delta.all():
        return NotImplemented
    numbers = range(int(start.item()), int(limit.item()), int(delta.item()))
    if len(numbers) > MOST_ELEMENTS:
        return NotImplemented
    return np.asarray(numbers, start.dtype)


@host_operator("ConstantOfShape", since=9)
def constant_of_shape(node: Node, shape: Array, *, value: Array | None = None) -> Any:
    """One value in a given shape."""
    sizes = node.ints(shape)
    if any(size < 0 for size in sizes) or prod(sizes) > MOST_ELEMENTS:
        return NotImplemented
    fill = np.zeros(1, np.float32) if value is None else value
    return np.full(sizes, fill.reshape(-1)[0], fill.dtype)


# ---- reductions ----------------------------------------------------------------------------------

_REDUCTIONS = {
    "ReduceSum": np.sum,
    "ReduceProd": np.prod,
    "ReduceMin": np.min,
    "ReduceMax": np.max,
}


def _reduced(
    function: Any, x: Array, axes: Sequence[int] | None, keepdims: int, is_identity: int
) -> Any:
    if not is_computed(x) or x.dtype.kind not in "iu" or not x.size:
        return NotImplemented
    if not axes and is_identity:
        return x
    along = tuple(axes) if axes else None
    return np.asarray(function(x, axis=along, keepdims=bool(keepdims)), x.dtype)


def _add_reduction(name: str, function: Any, by_input: int) -> None:
    def by_attribute(
        node: Node, x: Array, *, axes: list[int] | None = None, keepdims: int = 1
    ) -> Any:
        return _reduced(function, x, axes, keepdims, 0)

    def by_second_input(
        node: Node,
        x: Array,
        axes: Array | None = None,
        *,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> Any:
        along = None if axes is None else node.ints(axes)
        return _reduced(function, x, along, keepdims, noop_with_empty_axes)

    host_operator(name)(by_attribute)
    host_operator(name, since=by_input)(by_second_input)


for _name, _function in _REDUCTIONS.items():
    _add_reduction(_name, _function, 13 if _name == "ReduceSum" else 18)


@host_operator("CumSum", since=11)
def cumulative_sum(
    node: Node, x: Array, axis: Array, *, exclusive: int = 0, reverse: int = 0
) -> Any:
    """Running sums along an axis."""
    if not is_computed(x) or x.dtype.kind not in "iu" or exclusive or reverse:
        return NotImplemented
    return np.cumsum(x, axis=int(axis.item()), dtype=x.dtype)
