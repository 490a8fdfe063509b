"""Gradient: the derivatives of a value of the graph.

The parser appends the value that is differentiated to the inputs of the node.

Source: the ONNX specification, operator Gradient of the domain ai.onnx.preview.training.
"""

from __future__ import annotations

from typing import Any

from weft.onnx.graph import Node
from weft.onnx.registry import operator
from weft.tensor import Tensor


@operator("Gradient", since=1, domain="ai.onnx.preview.training")
def gradient(
    node: Node, *values: Any, xs: list[str], y: str, zs: list[str] | None = None
) -> tuple[Tensor, ...]:
    """Derivatives of the sum of `y` with respect to `xs`, at the values that the graph computes."""
    if node.inputs[:-1] != (*xs, *(zs or ())):
        raise node.refuse(
            "its inputs are other values than those it names",
            "pass the values of the attributes xs and zs as inputs, in this order",
        )
    return tuple(values[-1].sum().gradient(*values[: len(xs)], materialize_grads=True))
