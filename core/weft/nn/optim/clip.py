"""Keeping gradients within bounds, between backward and step."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from weft.base.arguments import kind_of, real, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, GradientError
from weft.base.promotion import least_upper_dtype
from weft.tensor import Tensor


def clip_grad_norm_(
    params: Iterable[Tensor], max_norm: float, norm_type: float = 2.0, eps: float = 1e-6
) -> Tensor:
    """Scale all gradients so that their common norm is at most `max_norm`; gives the norm before.

    norm_type: 1, 2, any positive power, or infinity. The scale is max_norm / (norm + eps), at most
    1. Nothing is computed until a gradient or the norm is read. Raises GradientError where no
    parameter has a gradient, ArgumentError for bounds that are none.

    >>> w = Tensor([3.0, 4.0], requires_grad=True)
    >>> _ = (w * w * 0.5).sum().backward()
    >>> nn.optim.clip_grad_norm_([w], max_norm=1.0).item()
    5.0
    >>> w.grad.tolist()
    [0.6, 0.8]
    """
    _check(max_norm, "max_norm")
    if not real(norm_type, "norm_type") > 0:
        raise ArgumentError(
            "a norm has a positive power",
            asked=f"clip_grad_norm_(norm_type={norm_type})",
            try_="2 for the length, 1 for the sum, math.inf for the largest",
        )
    ready = _with_gradients(params, "clip_grad_norm_")
    dtype = least_upper_dtype(dtypes.float32, *(each.dtype for each in ready))
    sizes = [each.grad.detach().cast(dtype).abs() for each in ready]  # type: ignore[union-attr]
    if math.isinf(norm_type):
        total = _joined([size.max() for size in sizes]).max()
    elif norm_type == 2.0:
        total = _joined([(size * size).sum() for size in sizes]).sum().sqrt()
    else:
        powers = [(size**norm_type).sum() for size in sizes]
        total = _joined(powers).sum() ** (1.0 / norm_type)
    scale = (max_norm / (total + eps)).clamp(max_=1.0)
    for each in ready:
        there = scale.to(each.grad.device)  # type: ignore[union-attr]
        each.grad = (each.grad * there).cast(each.grad.dtype)  # type: ignore[union-attr]
    return total


def clip_grad_value_(params: Iterable[Tensor], clip_value: float) -> None:
    """Bound every element of every gradient to [-clip_value, clip_value]. See clip_grad_norm_.

    >>> w = Tensor([3.0, -0.5], requires_grad=True)
    >>> _ = (w * w * 0.5).sum().backward()
    >>> nn.optim.clip_grad_value_([w], 1.0)
    >>> w.grad.tolist()
    [1.0, -0.5]
    """
    _check(clip_value, "clip_value")
    for each in _with_gradients(params, "clip_grad_value_"):
        each.grad = each.grad.clamp(-clip_value, clip_value)  # type: ignore[union-attr]


def _joined(parts: list[Tensor]) -> Tensor:
    """Numbers of one tensor each in one tensor, where the first of them is."""
    where = parts[0].device
    return parts[0].reshape(1).cat(*(part.to(where).reshape(1) for part in parts[1:]))


def _with_gradients(params: Iterable[Tensor], who: str) -> list[Tensor]:
    alone = isinstance(params, Tensor) or not isinstance(params, Iterable)
    given: list[Any] = [params] if alone else list(params)
    for each in given:
        if not isinstance(each, Tensor):
            raise ArgumentError(
                "gradients are of tensors",
                asked=f"{who} of {shown(each)}",
                because=f"that is {kind_of(each)}",
                try_="weft.nn.state.get_parameters(model)",
            )
    ready = [each for each in given if each.grad is not None]
    if not ready:
        raise GradientError(
            "no parameter has a gradient",
            asked=f"{who} of {len(given)} parameters",
            because="loss.backward() was not called since zero_grad, or the loss does not depend "
            "on them",
            try_="call loss.backward() first",
        )
    return ready


def _check(bound: float, name: str) -> None:
    if not real(bound, name) >= 0:
        raise ArgumentError(
            "a bound is a number from 0", asked=f"{name}={bound}", try_="give 1.0 for instance"
        )
