"""Conversions of the element type: Cast, CastLike, BitCast.

Strings are NumPy arrays on the host. A conversion from or to strings is computed there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.onnx import small_types
from weft.onnx.graph import ELEMENT_TYPES, Node
from weft.onnx.registry import operator
from weft.onnx.small_types import Coded
from weft.tensor import Tensor

Value = Tensor | Coded | np.ndarray


@operator("Cast", since=6)
def cast(node: Node, x: Value, *, to: int, saturate: int = 1, round_mode: str = "up") -> Value:
    """Convert to the element type of the number `to`."""
    return _cast(node, x, element_type(node, to), saturate, round_mode)


@operator("CastLike", since=15)
def cast_like(
    node: Node, x: Value, target: Value, *, saturate: int = 1, round_mode: str = "up"
) -> Value:
    """Convert to the element type of another value, which is not computed."""
    name = "string" if _is_text(target) else small_types.dtype_name(node.tensor(target))
    return _cast(node, x, name, saturate, round_mode)


@operator("BitCast", since=26)
def bit_cast(node: Node, x: Value, *, to: int) -> Value:
    """Read the bits as another element type of as many bits."""
    name = element_type(node, to)
    if _is_text(x) or name == "string":
        raise node.refuse("strings have no bits of fixed size", "the operator Cast")
    value = node.tensor(x)
    old, bits = small_types.dtype_name(value), small_types.bits_of
    if bits(old) != bits(name):
        raise node.refuse(
            f"{old} has {bits(old)} bits, and {name} has {bits(name)}",
            "a type of as many bits, or the operator Cast, which converts values",
        )
    return small_types.bitcast(value, name)


def element_type(node: Node, number: int) -> str:
    """Return the name of an element type.

    :raises OnnxError: for an unknown number and for complex numbers.
    """
    name = ELEMENT_TYPES.get(number, "")
    if not name or name.startswith("complex"):
        raise node.refuse(
            f"weft has no element type {name or number}",
            "a type that weft stores, or float32 tensors of real and imaginary parts",
        )
    return name


def _cast(node: Node, x: Value, name: str, saturate: int, round_mode: str) -> Value:
    if round_mode not in ("up", "down", "nearest"):
        raise node.refuse(f"round_mode is {round_mode!r}", "up, down or nearest")
    if _is_text(x):
        return x if name == "string" else _numbers_of(node, x, name, bool(saturate), round_mode)
    if name == "string":
        return _text_of(node, x)
    return small_types.cast(node.tensor(x), name, bool(saturate), round_mode)


def _text_of(node: Node, x: Value) -> np.ndarray:
    """Print numbers. Types that NumPy lacks are converted first, without a change of value."""
    if not isinstance(x, np.ndarray) or x.dtype.isbuiltin != 1:
        value = small_types.decoded(node.tensor(x))
        is_narrow = value.dtype in (dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2)
        x = node.host(value.cast(dtypes.float32) if is_narrow else value)
    return x.astype(np.str_).astype(object)


def _numbers_of(
    node: Node, text: Any, name: str, saturate: bool, round_mode: str
) -> Tensor | Coded:
    """Parse strings. Integers are parsed as such, so that all digits of int64 are kept."""
    words = [word.decode() if isinstance(word, bytes) else str(word) for word in text.reshape(-1)]
    try:
        if name in ("int64", "uint64"):
            numbers = np.array([_whole(word) for word in words], dtype=name)
        else:
            numbers = np.array([float(word) for word in words], dtype=np.float64)
    except (ValueError, OverflowError) as error:
        raise node.refuse(f"a string is no number: {error}", "strings such as '3.14'") from None
    tensor = node.tensor(numbers.reshape(text.shape))
    if name in ("int64", "uint64"):
        return tensor
    return small_types.cast(tensor, name, saturate, round_mode)


def _whole(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        return int(float(word))


def _is_text(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "OUS"
