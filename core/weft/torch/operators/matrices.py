"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.tensor import Tensor
from weft.torch.registry import converter


@converter("aten::mm", "aten::bmm", "aten::mv", "aten::dot", "aten::matmul")
def matmul(x: Tensor, y: Tensor) -> Tensor:
    """Return the product of matrices, or of each pair of matrices of two batches."""
    return x @ y


@converter("aten::addmm", "aten::baddbmm")
def addmm(x: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return beta x + alpha (mat1 @ mat2); x is not read if beta is zero."""
    product = mat1 @ mat2
    product = product if alpha == 1 else product * alpha
    return product + (x if beta == 1 else x * beta) if beta else product


@converter("aten::linear")
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x @ weight.T + bias."""
    return x.linear(weight.transpose(0, 1), bias)


@converter("aten::_trilinear")
def trilinear(
    x: Tensor, y: Tensor, z: Tensor, expand1: Sequence[int], expand2: Sequence[int],
    expand3: Sequence[int], sumdim: Sequence[int], unroll_dim: int = 1,
) -> Tensor:  # fmt: skip
    """Return the sum over axes of x y z, after new axes are inserted into each of them."""
    factors = []
    for factor, places in ((x, expand1), (y, expand2), (z, expand3)):
        for place in sorted(places):
            factor = factor.unsqueeze(place)
        factors.append(factor)
    product = factors[0] * factors[1] * factors[2]
    return product.sum(tuple(sumdim)) if sumdim else product
