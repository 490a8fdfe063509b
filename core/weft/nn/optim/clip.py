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
    params: Iterable[Tensor] | Tensor,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
    *,
    eps: float = 1e-6,
) -> Tensor:
    """Scale all gradients so that their common norm is at most `max_norm`; gives the norm before.

    norm_type: 1, 2, any positive power, or infinity. The scale is max_norm / (norm + eps), at most
    1. error_if_nonfinite: read the norm, and raise GradientError for NaN and infinity. Nothing is
    computed until a gradient or the norm is read otherwise. `foreach` has no effect. Raises
    GradientError where no parameter has a gradient, ArgumentError for bounds that are none.

    >>> w = Tensor([3.0, 4.0], requires_grad=True)
    >>> _ = (w * w * 0.5).sum().backward()
    >>> nn.optim.clip_grad_norm_([w], max_norm=1.0).item()
    5.0
    >>> w.grad.tolist()
    [0.6, 0.8]
    """
    _check(max_norm, "max_norm")
    ready = _with_gradients(params, "clip_grad_norm_")
    gradients = [each.grad.detach() for each in ready]  # type: ignore[union-attr]
    total = get_total_norm(gradients, norm_type, error_if_nonfinite)
    _scale(ready, max_norm, total, eps)
    return total


def get_total_norm(
    tensors: Iterable[Tensor] | Tensor,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all elements of all tensors. See `clip_grad_norm_`.

    >>> nn.utils.get_total_norm([Tensor([3.0]), Tensor([[0.0, 4.0]])]).item()
    5.0
    """
    if not real(norm_type, "norm_type") > 0:
        raise ArgumentError(
            "a norm has a positive power",
            asked=f"clip_grad_norm_(norm_type={norm_type})",
            try_="2 for the length, 1 for the sum, math.inf for the largest",
        )
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not given:
        return Tensor(0.0)
    dtype = least_upper_dtype(dtypes.float32, *(each.dtype for each in given))
    sizes = [each.cast(dtype).abs() for each in given]
    if math.isinf(norm_type):
        total = _joined([size.max() for size in sizes]).max()
    elif norm_type == 2.0:
        total = _joined([(size * size).sum() for size in sizes]).sum().sqrt()
    else:
        powers = [(size**norm_type).sum() for size in sizes]
        total = _joined(powers).sum() ** (1.0 / norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise GradientError(
            "the norm is not finite",
            asked=f"the norm of {len(given)} tensors",
            because=f"it is {total.item()}",
            try_="error_if_nonfinite=False to scale by it",
        )
    return total


def clip_grads_with_norm_(
    parameters: Iterable[Tensor] | Tensor,
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale all gradients by max_norm / (total_norm + 1e-6), at most 1: for a norm that is known.

    >>> w = Tensor([3.0, 4.0], requires_grad=True)
    >>> _ = (w * w * 0.5).sum().backward()
    >>> nn.utils.clip_grads_with_norm_([w], 1.0, Tensor(5.0))
    >>> w.grad.tolist()
    [0.6, 0.8]
    """
    _check(max_norm, "max_norm")
    _scale(_with_gradients(parameters, "clip_grads_with_norm_"), max_norm, total_norm, 1e-6)


def _scale(ready: list[Tensor], max_norm: float, total: Tensor, eps: float) -> None:
    scale = (max_norm / (total + eps)).clamp(max_=1.0)
    for each in ready:
        gradient: Tensor = each.grad  # type: ignore[assignment]
        each.grad = (gradient * scale.to(gradient.device)).cast(gradient.dtype)


def clip_grad_value_(
    params: Iterable[Tensor] | Tensor, clip_value: float, foreach: bool | None = None
) -> None:
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
