"""Checks of the arguments: matrices, square ones, floats."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import no_tensor
from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.tensor import Tensor


def tensor(name: str, x: Any) -> Any:
    """`x` itself. :raises WrongKind: if it is no tensor."""
    if not isinstance(x, Tensor):
        raise no_tensor(f"linalg.{name}", (x,))
    return x


def floats(name: str, x: Any) -> Any:
    """`x` as floats or complex numbers: integers become the default float dtype."""
    x = tensor(name, x)
    return x if x.is_complex() or dtypes.is_float(x.dtype) else x.cast(dtypes.default_float)


def matrices(name: str, x: Any) -> Any:
    """`x` of at least two axes. :raises ShapeError: if it has fewer."""
    x = tensor(name, x)
    if x.ndim < 2:
        raise ShapeError(f"linalg.{name} is of matrices", asked=f"{name} of shape {x.shape}")
    return x


def square(name: str, x: Any) -> Any:
    """`x` of square matrices. :raises ShapeError: if they are not."""
    x = matrices(name, x)
    if x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"linalg.{name} is of square matrices", asked=f"{name} of shape {x.shape}")
    return x
