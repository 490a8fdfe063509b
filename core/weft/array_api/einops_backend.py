"""A backend of einops: importing this module makes `einops.rearrange`, `reduce`, `repeat`,
`einsum` and `pack` take tensors and arrays.

    import einops
    import weft.array_api.einops_backend

    einops.rearrange(x, "b c h w -> b (c h w)")

einops finds backends among the subclasses of its own class, so that this module has to be imported
before its functions see the first tensor.
"""

from __future__ import annotations

from typing import Any

from einops._backends import AbstractBackend  # type: ignore[import-not-found,import-untyped]

from weft.tensor import Tensor

__all__ = ["WeftBackend"]


class WeftBackend(AbstractBackend):  # type: ignore[misc]
    """What einops asks of a library of tensors."""

    framework_name = "weft"

    def is_appropriate_type(self, tensor: Any) -> bool:
        """Whether this is a tensor or an array."""
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: Any) -> Tensor:
        """A tensor of an array of NumPy."""
        return Tensor(x)

    def to_numpy(self, x: Tensor) -> Any:
        """The values as an array of NumPy."""
        return x.numpy()

    def arange(self, start: int, stop: int) -> Tensor:
        """The integers from start to stop."""
        return Tensor.arange(start, stop)

    def transpose(self, x: Tensor, axes: Any) -> Tensor:
        """The axes in another order."""
        return x.permute(tuple(axes))

    def reduce(self, x: Tensor, operation: str, axes: Any) -> Any:
        """`min`, `max`, `sum`, `mean`, `prod`, `any` or `all` over axes."""
        return getattr(x, operation)(axis=tuple(axes))

    def stack_on_zeroth_dimension(self, tensors: list[Tensor]) -> Tensor:
        """Tensors of one shape along a new first axis."""
        return tensors[0].stack(*tensors[1:])

    def add_axis(self, x: Tensor, new_position: int) -> Tensor:
        """With a new axis of size one."""
        return x.unsqueeze(new_position)

    def tile(self, x: Tensor, repeats: Any) -> Tensor:
        """Every axis repeated."""
        return x.repeat(tuple(repeats))

    def concat(self, tensors: list[Tensor], axis: int) -> Tensor:
        """Tensors one after another."""
        return tensors[0].cat(*tensors[1:], dim=axis)

    def is_float_type(self, x: Tensor) -> bool:
        """Whether the mean of the elements is of their own dtype."""
        return x.is_floating_point() or x.is_complex()

    def einsum(self, pattern: str, *x: Tensor) -> Tensor:
        """Einstein summation."""
        return x[0].einsum(pattern, *x)
