"""Losses of classifiers."""

from __future__ import annotations

from weft.onnx.graph import Node
from weft.onnx.registry import operator
from weft.tensor import Tensor


@operator("NegativeLogLikelihoodLoss", since=12)
def negative_log_likelihood(
    node: Node,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int | None = None,
) -> Tensor:
    """Minus the log probability of the target classes; a mean is over the weights."""
    return x.nll_loss(target, weight, ignore_index, reduction)


@operator("SoftmaxCrossEntropyLoss", since=12)
def softmax_cross_entropy(
    node: Node,
    scores: Tensor,
    labels: Tensor,
    weights: Tensor | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Minus the log probability of the labels by softmax; and the log probability of each class."""
    logs = scores.log_softmax(1)
    return logs.nll_loss(labels, weights, ignore_index, reduction), logs
