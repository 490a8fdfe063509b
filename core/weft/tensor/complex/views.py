"""Views between complex tensors and real tensors of their interleaved parts."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import kind_of, shown
from weft.base.dtype import dtypes
from weft.base.errors import ShapeError, WrongKind
from weft.tensor.complex.tensor import ComplexTensor
from weft.tensor.tensor import Tensor


def view_as_real(input: Tensor) -> Tensor:
    """A view of complex numbers with a last axis of 2: the real and the imaginary part.

    :raises WrongKind: for a real tensor.

    >>> weft.view_as_real(Tensor([1 + 2j])).tolist()
    [[1.0, 2.0]]
    """
    if not isinstance(input, ComplexTensor):
        raise _no("view_as_real", input)
    return input._interleaved[...]


def view_as_complex(input: Tensor) -> Tensor:
    """A view of floats with a last axis of 2 as complex numbers.

    :raises ShapeError: for another last axis, and other dtypes than float32 and float64.

    >>> weft.view_as_complex(Tensor([[1.0, 2.0]])).tolist()
    [(1+2j)]
    """
    if not isinstance(input, Tensor) or input.is_complex():
        raise _no("view_as_complex", input)
    parts = (dtypes.float32, dtypes.float64)
    if input.ndim == 0 or input.shape[-1] != 2 or input.dtype not in parts:
        raise ShapeError(
            "complex numbers have two parts of float32 or float64",
            asked=f"view_as_complex of {input.dtype!r} {shown(tuple(input.shape))}",
            because="the last axis has the real and the imaginary part",
        )
    made: Tensor = input._complex_class._over(input[...])
    return made


def _no(name: str, x: Any) -> WrongKind:
    kind = "a complex" if name == "view_as_real" else "a real"
    given = repr(x.dtype) if isinstance(x, Tensor) else kind_of(x)
    return WrongKind(
        f"{name} is of {kind} tensor", asked=f"{name}({shown(x)})", because=f"that is {given}"
    )
