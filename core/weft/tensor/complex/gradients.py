"""Gradients of and with respect to complex tensors.

The gradient of a real value L with respect to x + iy is dL/dx + i dL/dy, the gradient of the
interleaved parts (the conjugate of Wirtinger's derivative times 2, as in PyTorch).
"""

from __future__ import annotations

from typing import Any

from weft.base.errors import GradientError
from weft.tensor.protocol import TensorBase


def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
    """Decide whether gradients are accumulated; returns self."""
    self._interleaved.requires_grad_(requires_grad)
    return self


def gradient(
    self: Any, *targets: Any, gradient: Any = None, materialize_grads: bool = False
) -> list[Any]:
    """The gradients of self, given that of something with respect to self, for each target."""
    upstream = _upstream(self, gradient)
    return self._interleaved.gradient(
        *targets, gradient=upstream, materialize_grads=materialize_grads
    )  # type: ignore[no-any-return]


def backward(self: Any, gradient: Any = None, *args: Any, **named: Any) -> Any:
    """Accumulate the gradients of self, given that of something with respect to self."""
    self._interleaved.backward(_upstream(self, gradient), *args, **named)
    return self


def _upstream(self: Any, gradient: Any) -> Any:
    if gradient is None:
        raise GradientError(
            "the gradient of a complex number needs a direction",
            asked=f"the gradient of {self.dtype!r} {self.shape}",
            because="gradients are of real values",
            try_="gradient=..., or the gradient of x.real or x.abs()",
        )
    return self._constant_operand(self._other(gradient), self.dtype)._interleaved


def gradients_of_targets(self: Any, targets: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """`gradient` of a real tensor where some targets are complex."""
    plain = [t if t._interleaved is None else t._interleaved for t in targets]
    found = self.gradient(*plain, **options)
    return [
        g if t._interleaved is None or g is None else t._over(g) for t, g in zip(targets, found)
    ]


def _grad(self: Any) -> Any:
    """The accumulated gradient, or None."""
    found = self._interleaved.grad
    return None if found is None else self._over(found)


def _set_grad(self: Any, value: Any) -> None:
    whole = value._interleaved if isinstance(value, TensorBase) else value
    self._interleaved.grad = whole


def _set_requires_grad(self: Any, value: bool | None) -> None:
    self._interleaved.requires_grad = value


METHODS = "requires_grad_ gradient backward".split()
"""The functions here that are methods of complex tensors."""

PROPERTIES = {
    "grad": property(_grad, _set_grad),
    "requires_grad": property(lambda self: self._interleaved.requires_grad, _set_requires_grad),
}
"""Properties of complex tensors."""
