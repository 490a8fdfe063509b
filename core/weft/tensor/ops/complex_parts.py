"""Parts of complex numbers, as methods that real tensors have too: of them, all is real."""

from __future__ import annotations

import math
from typing import Any

from weft.base.promotion import least_upper_float
from weft.tensor.ops.transcendental import value_with_derivative
from weft.tensor.protocol import TensorBase, TensorT


def is_complex(self: TensorBase) -> bool:
    """Whether the elements are complex numbers.

    >>> Tensor([1j]).is_complex(), Tensor([1.0]).is_complex()
    (True, False)
    """
    return self._interleaved is not None


def conj(self: TensorT) -> TensorT:
    """The complex conjugate; of real numbers a view of self.

    >>> Tensor([1 + 2j]).conj().tolist()
    [(1-2j)]
    """
    return self._viewed(self._uop)


def angle(self: TensorT) -> TensorT:
    """The argument of complex numbers; of real numbers pi where they are negative, else 0.

    >>> Tensor([-1.0, 2.0]).angle().tolist()
    [3.1415927410125732, 0.0]
    """
    x: Any = self.cast(least_upper_float(self._uop.dtype))
    flat: Any = x.detach()
    value = flat.isnan().where(flat, (flat < 0).where(math.pi, 0.0).cast(flat.dtype))
    found: TensorT = value_with_derivative(value, x, "flat")
    return found


def real(self: TensorT) -> TensorT:
    """The real parts, a view.

    >>> Tensor([1 + 2j]).real.tolist()
    [1.0]
    """
    return self._viewed(self._uop)


def imag(self: TensorT) -> TensorT:
    """The imaginary parts, a view; of real numbers zeros.

    >>> Tensor([1 + 2j]).imag.tolist()
    [2.0]
    """
    return self.zeros_like()
