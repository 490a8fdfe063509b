"""What functions of matrices share: checks of shapes and dtypes, diagonals, symmetric gradients."""

from __future__ import annotations

from typing import Any

from weft.autograd import RECOMPUTE
from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.base.promotion import least_upper_float
from weft.tensor.ops.transcendental import value_with_derivative
from weft.tensor.protocol import TensorBase, TensorT

_COMPUTED = frozenset({dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128})


def as_matrices(self: TensorBase, method: str, square: bool = False) -> Any:
    """As floats or complex numbers of at least two axes: self where it is computed as it is.

    Halves are computed in float32.
    """
    shape = self.shape
    if len(shape) < 2 or (square and shape[-1] != shape[-2]):
        raise ShapeError(
            f"{method} takes {'square ' if square else ''}matrices",
            asked=f"{method} of shape {self.shape}",
            because="the last two axes are the rows and columns of a matrix",
            try_="reshape it to (..., rows, columns)",
        )
    if self.dtype in _COMPUTED:
        return self
    dtype = least_upper_float(self.dtype)
    return self.cast(dtypes.float32 if dtype.itemsize < 4 else dtype)


def symmetric(value: Any, a: Any) -> Any:
    """`value`, made of one triangle of `a`: that `a` is symmetric when it moves as well gives both
    triangles their share of the gradient."""
    return value_with_derivative(value, (a + a.transpose(-1, -2)) * 0.5, RECOMPUTE)


def adjoint(x: Any) -> Any:
    """The conjugate transpose of every matrix."""
    return x.mT.conj() if x.is_complex() else x.mT


def _diagonals(self: TensorT) -> TensorT:
    """The main diagonal of every matrix: (..., m, n) to (..., min(m, n))."""
    size = min(self.shape[-2:])
    batch, square = self.shape[:-2], self[..., :size, :size]
    flat = square.reshape(*batch, size * size).pad(((0, 0),) * len(batch) + ((0, size),))
    return flat.reshape(*batch, size, size + 1)[..., 0]


def broadcast_batches(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    short = (1,) * (len(long) - len(short)) + short
    if any(x != y and 1 not in (x, y) for x, y in zip(long, short)):
        raise ShapeError(
            "the batches do not fit together",
            asked=f"solve a batch of {a} with a batch of {b}",
            because="each axis must be equal, or 1",
        )
    return tuple(max(x, y) if 0 not in (x, y) else 0 for x, y in zip(long, short))
