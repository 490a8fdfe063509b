"""Symbolic sizes: shape arithmetic on the host with sizes that are variables.
Also: dynamic shapes.

While a program for all sizes is recorded, the sizes of a shape are integers and expressions of
variables, in an array of objects. Operators that move sizes, add, subtract and multiply them keep
the expressions. Any other operator takes the present value: it forces one program for each size,
and is named.

Source: PyTorch, dynamic shapes (symbolic integers and guards).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.onnx.graph import ELEMENT_TYPES, Node
from weft.uop import UOp
from weft.uop.symbolic.sint import fold, high_of, low_of

Array = np.ndarray
_MOVES = frozenset(
    "Identity Concat Reshape Flatten Transpose Unsqueeze Squeeze Gather Slice Split".split()
)
_INTEGERS = ("int32", "int64")
TAKES_SIZES = frozenset(("Reshape", "Expand", "ConstantOfShape"))
"""Operators of tensors whose inputs on the host may be symbolic."""


def is_symbolic(value: Any) -> bool:
    """Whether a value is an array with sizes that are expressions."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype == object
        and any(isinstance(each, UOp) for each in value.flat)
    )


def shape_array(sizes: Sequence[Any]) -> Array:
    """Return the sizes of a shape: int64, or objects where one is an expression."""
    if all(isinstance(each, int) for each in sizes):
        return np.asarray(sizes, np.int64)
    array = np.empty(len(sizes), object)
    array[:] = list(sizes)
    return array


def compute(
    node: Node, host: Callable[..., Any] | None, arrays: Sequence[Any], attributes: Mapping
) -> Any:
    """Return the result of an operator on arrays with symbolic sizes; NotImplemented if it needs
    their values.

    :param host: the operator for arrays of numbers.
    """
    if node.domain:
        return NotImplemented
    if node.op in _MOVES and host is not None:
        moved = arrays if node.op == "Concat" else arrays[:1]
        if any(map(is_symbolic, arrays[len(moved) :])):
            return NotImplemented
        return host(node, *arrays, **attributes)
    if node.op == "Cast" and ELEMENT_TYPES.get(attributes.get("to", 0)) in _INTEGERS:
        return arrays[0]
    function = _ELEMENTWISE.get(node.op)
    if function is None or len(arrays) != 2 or attributes:
        return NotImplemented
    return _elementwise(function, *arrays)


def _elementwise(function: Callable[[Any, Any], Any], a: Array, b: Array) -> Any:
    shape = np.broadcast_shapes(a.shape, b.shape)
    pairs = zip(np.broadcast_to(a, shape).flat, np.broadcast_to(b, shape).flat)
    results = [function(_plain(x), _plain(y)) for x, y in pairs]
    if any(each is NotImplemented for each in results):
        return NotImplemented
    if all(isinstance(each, bool) for each in results):
        return np.asarray(results, np.bool_).reshape(shape)
    return shape_array(results).reshape(shape)


def _plain(value: Any) -> Any:
    return value if isinstance(value, UOp) else int(value)


def _quotient(a: Any, b: Any) -> Any:
    """Truncated division, which is the floor for sizes from 0 on."""
    if low_of(a) < 0 or low_of(b) < 1:
        return NotImplemented
    return fold(a // b)


def _is_equal(a: Any, b: Any) -> Any:
    """Whether two sizes are equal for all values of the variables, or for none."""
    if a is b:
        return True
    if high_of(a) < low_of(b) or high_of(b) < low_of(a):
        return False
    return a == b if isinstance(a, int) and isinstance(b, int) else NotImplemented


_ELEMENTWISE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: fold(a + b),
    "Sub": lambda a, b: fold(a - b),
    "Mul": lambda a, b: fold(a * b),
    "Div": _quotient,
    "Equal": _is_equal,
}
