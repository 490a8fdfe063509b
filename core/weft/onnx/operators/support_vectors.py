"""Support vector machines (domain ai.onnx.ml).

Source: C. Chang and C. Lin, "LIBSVM: a library for support vector machines" (2011).
"""

from __future__ import annotations

import numpy as np

from weft.base.dtype import dtypes
from weft.onnx.graph import Node
from weft.onnx.operators.classifier_scores import transformed
from weft.onnx.registry import operator
from weft.tensor import Tensor

_DOMAIN = "ai.onnx.ml"


def _kernel(node: Node, x: Tensor, vectors: Tensor, kind: str, parameters: list[float]) -> Tensor:
    """The kernel of each sample and each support vector. `parameters`: gamma, coef0, degree.

    :raises OnnxError: if there is no such kernel.
    """
    gamma, offset, degree = (*parameters, 0.0, 0.0, 0.0)[:3]
    if kind == "RBF":
        distances = (x.unsqueeze(1) - vectors).square().sum(-1)
        return (distances * -gamma).exp()
    products = x.matmul(vectors.transpose(0, 1))
    if kind == "LINEAR":
        return products
    if kind == "POLY":
        return (products * gamma + offset).pow(degree)
    if kind == "SIGMOID":
        return (products * gamma + offset).tanh()
    raise node.refuse(f"there is no kernel {kind!r}", "LINEAR, POLY, RBF or SIGMOID")


def _rows(node: Node, values: list[float], columns: int) -> Tensor:
    return node.tensor(np.asarray(values, np.float32).reshape((-1, columns)))


@operator("SVMRegressor", domain=_DOMAIN)
def svm_regressor(
    node: Node,
    x: Tensor,
    *,
    coefficients: list[float],
    rho: list[float],
    support_vectors: list[float] | None = None,
    n_supports: int = 0,
    kernel_type: str = "LINEAR",
    kernel_params: list[float] | None = None,
    one_class: int = 0,
    post_transform: str = "NONE",
) -> Tensor:
    """Targets of a support vector machine, or of a linear model without support vectors.

    `one_class`: 1 for samples of the class, else -1.
    """
    x, kernel = x.cast(dtypes.float32), kernel_params or []
    if n_supports and support_vectors:
        vectors = _rows(node, support_vectors, x.shape[1])
        scores = _kernel(node, x, vectors, kernel_type, kernel).matmul(_rows(node, coefficients, 1))
    else:
        scores = _kernel(node, x, _rows(node, coefficients, x.shape[1]), kernel_type, kernel)
    scores = scores + float(rho[0])
    if one_class:
        return (scores > 0).where(scores.full_like(1), -1)
    return transformed(node, scores, post_transform)
