"""Scores of classifiers: transforms after the sum, labels of the largest score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.onnx.graph import Node
from weft.tensor import Tensor

_WINITZKI = 0.147


def transformed(node: Node, scores: Tensor, transform: str | None) -> Tensor:
    """Scores after a transform of their rows.

    :raises OnnxError: if there is no such transform.
    """
    if transform in (None, "NONE"):
        return scores
    if transform == "SOFTMAX":
        return scores.softmax(-1)
    if transform == "LOGISTIC":
        return scores.sigmoid()
    if transform == "SOFTMAX_ZERO":  # zeros stay zero
        powers = (scores - scores.max(-1, keepdim=True)).exp()
        powers = (scores.abs() > 1e-7).where(powers, 0)
        total = powers.sum(-1, keepdim=True)
        return (total == 0).where(0.5, powers / total)
    if transform == "PROBIT":
        return _inverse_error_function(scores * 2 - 1) * math.sqrt(2)
    raise node.refuse(
        f"there is no transform {transform!r}", "NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT"
    )


def _inverse_error_function(x: Tensor) -> Tensor:
    """The inverse of erf, approximated. Source: S. Winitzki, "A handy approximation for the error
    function and its inverse" (2008).
    """
    logs = (1 - x * x).log()
    middle = logs * 0.5 + 2 / (math.pi * _WINITZKI)
    return x.sign() * ((middle * middle - logs / _WINITZKI).sqrt() - middle).sqrt()


def classified(
    node: Node, scores: Tensor, labels: list[Any], transform: str | None, is_share: bool = False
) -> tuple[Any, Tensor]:
    """Label of the largest score of each row, and the transformed scores.

    A single score decides between two classes. `is_share`: it is the probability of the second one,
    else it is positive for the second one.
    """
    if scores.shape[1] == 1 and len(labels) == 2:
        second = scores > 0.5 if is_share else scores > 0
        found = second.reshape(-1).cast(dtypes.int64)
        first = 1 - scores if is_share and transform in (None, "NONE") else -scores
        scores = first.cat(scores, dim=1)
    else:
        found = scores.argmax(1).cast(dtypes.int64)
    return labels_of(node, found, labels), transformed(node, scores, transform)


def labels_of(node: Node, places: Tensor, labels: list[Any]) -> Any:
    """The labels at the places; strings are an array on the host."""
    if labels and isinstance(labels[0], str):
        return np.array(labels, object)[node.host(places)]
    return node.tensor(np.asarray(labels, np.int64)).take(places) if labels else places
