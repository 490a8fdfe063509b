"""Vector-Jacobian products of weft functions, for operators that are gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.tensor import Tensor


def gradients(
    function: Callable[..., Tensor], inputs: Sequence[Tensor], gradient: Tensor
) -> list[Tensor]:
    """Return the gradients of a function with respect to its inputs.

    The inputs are detached: gradients do not continue from one of them to another.
    """
    leaves = [x.detach() for x in inputs]
    result = function(*leaves)
    return list(
        result.gradient(*leaves, gradient=gradient.cast(result.dtype), materialize_grads=True)
    )


def chosen(
    function: Callable[..., Tensor], inputs: Sequence[Tensor], gradient: Tensor,
    mask: Sequence[bool],
) -> list[Any]:  # fmt: skip
    """Return the gradients that a mask asks for, None in place of others."""
    wanted = [i for i, is_wanted in enumerate(mask) if is_wanted]
    if not wanted:
        return [None] * len(inputs)
    leaves = [x.detach() for x in inputs]
    result = function(*leaves)
    targets = [leaves[i] for i in wanted]
    found = iter(
        result.gradient(*targets, gradient=gradient.cast(result.dtype), materialize_grads=True)
    )
    return [next(found) if i in wanted else None for i in range(len(inputs))]
