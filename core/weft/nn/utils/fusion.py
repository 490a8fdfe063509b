"""Batch normalisation in evaluation as part of the layer before it."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from weft.base.errors import ArgumentError
from weft.nn.linear import Linear
from weft.nn.module import Module
from weft.nn.norm import BatchNorm
from weft.nn.parameter import parameter
from weft.tensor import Tensor

__all__ = [
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
]  # fmt: skip

Layer = TypeVar("Layer", bound=Module)


def fuse_conv_bn_eval(conv: Layer, bn: BatchNorm, transpose: bool = False) -> Layer:
    """A convolution that computes what `bn` of the given one does; both are in evaluation.

    transpose: the weight is that of a transposed convolution. :raises ArgumentError: in training,
    and for a normalisation without running statistics.

    >>> conv, norm = nn.Conv1d(2, 3, 2).eval(), nn.BatchNorm1d(3).eval()
    >>> fused, x = nn.utils.fuse_conv_bn_eval(conv, norm), Tensor.ones(1, 2, 5)
    >>> (fused(x) - norm(conv(x))).abs().max().item() < 1e-5
    True
    """
    return _fused(conv, bn, transpose)


def fuse_linear_bn_eval(linear: Linear, bn: BatchNorm) -> Linear:
    """A linear layer that computes what `bn` of the given one does; both are in evaluation."""
    return _fused(linear, bn, False)


def fuse_conv_bn_weights(
    conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
    bn_w: Tensor | None, bn_b: Tensor | None, transpose: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """(weight, bias) of a layer that normalises its outputs by these statistics."""
    factor = (bn_rv + bn_eps).rsqrt()
    factor = factor if bn_w is None else factor * bn_w
    shape = (1, -1) if transpose else (-1, 1)
    weight = conv_w * factor.reshape(*shape, *(1,) * (conv_w.ndim - 2))
    bias = (-bn_rm if conv_b is None else conv_b - bn_rm) * factor
    bias = bias if bn_b is None else bias + bn_b
    return tuple(  # type: ignore[return-value]
        parameter(each.detach().cast(conv_w.dtype).contiguous().realize())
        for each in (weight, bias)
    )


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
    bn_w: Tensor | None, bn_b: Tensor | None,
) -> tuple[Any, Any]:  # fmt: skip
    """(weight, bias) of a linear layer that normalises its outputs by these statistics."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def _fused(layer: Any, bn: BatchNorm, transpose: bool) -> Any:
    mean, variance = bn.running_mean, bn.running_var
    if layer.training or bn.training or mean is None or variance is None:
        raise ArgumentError(
            "only running statistics can be fused",
            asked=f"fuse {type(layer).__name__} and {type(bn).__name__}",
            because="a layer is in training mode, or has no running statistics",
            try_="model.eval() first",
        )
    made = copy.deepcopy(layer)
    made.weight, made.bias = fuse_conv_bn_weights(
        layer.weight, layer.bias, mean, variance, bn.eps, bn.weight, bn.bias, transpose
    )
    return made
