"""Products of matrices, Einstein summation, determinants."""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.onnx.graph import Node
from weft.onnx.operators.integer_products import dequantized_matmul
from weft.onnx.operators.quantization import source_of
from weft.onnx.registry import operator
from weft.tensor import Tensor


@operator("MatMul")
def matmul(node: Node, a: Tensor, b: Tensor) -> Tensor:
    """Matrix product of the last two axes, as NumPy's; the axes before them broadcast."""
    product = dequantized_matmul(source_of(a), source_of(b))
    return a.matmul(b) if product is None else product


@operator("Gemm")
def gemm(
    node: Node,
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    broadcast: int = 0,
) -> Tensor:
    """Return alpha a @ b + beta c, with a and b transposed if `transA` and `transB` are set."""
    left = a.transpose(0, 1) if transA else a
    right = b.transpose(0, 1) if transB else b
    of_left, of_right = source_of(a), source_of(b)
    product = dequantized_matmul(
        of_left.transposed() if of_left and transA else of_left,
        of_right.transposed() if of_right and transB else of_right,
    )
    product = _scaled(left.matmul(right) if product is None else product, alpha)
    return product if c is None or beta == 0 else product + _scaled(c, beta)


def _scaled(x: Tensor, factor: float) -> Tensor:
    """x times a number, in the dtype of x."""
    if factor == 1:
        return x
    if dtypes.is_float(x.dtype):
        return x * factor
    return (
        x * int(factor)
        if factor == int(factor)
        else (x.cast(dtypes.float64) * factor).cast(x.dtype)
    )


@operator("Einsum", since=12)
def einsum(node: Node, *xs: Tensor, equation: str) -> Tensor:
    """Einstein summation."""
    return Tensor.einsum(equation.replace(" ", ""), *xs).cast(xs[0].dtype)


@operator("Det", since=11)
def determinant(node: Node, x: Tensor) -> Tensor:
    """The determinant of every matrix of the last two axes."""
    return x.det()
