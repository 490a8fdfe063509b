"""Complex tensors of their parts, and their parts."""

from __future__ import annotations

from weft.base.arguments import no_tensor
from weft.base.dtype import dtypes
from weft.base.promotion import least_upper_dtype
from weft.fft.short_time import istft, stft
from weft.tensor import Tensor
from weft.tensor.complex import view_as_complex, view_as_real

__all__ = [
    "complex", "imag", "istft", "polar", "real", "stft", "view_as_complex", "view_as_real",
]  # fmt: skip


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """The complex numbers of a real and an imaginary part, which broadcast.

    >>> weft.complex(Tensor([1.0]), Tensor([2.0])).tolist()
    [(1+2j)]
    """
    for name, each in (("real", real), ("imag", imag)):
        if not isinstance(each, Tensor) or each.is_complex():
            raise no_tensor(f"complex, {name},", (each,))
    kind = dtypes.complex_dtype(least_upper_dtype(real.dtype, imag.dtype))
    part = dtypes.real_dtype(kind)
    made: Tensor = real._complex_class._of_parts(real.cast(part), imag.cast(part))
    return made


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """The complex numbers of an absolute value and an angle.

    >>> weft.polar(Tensor([2.0]), Tensor([0.0])).tolist()
    [(2+0j)]
    """
    return complex(abs * angle.cos(), abs * angle.sin())


def real(input: Tensor) -> Tensor:
    """The real parts, a view.

    >>> weft.real(Tensor([1 + 2j])).tolist()
    [1.0]
    """
    if not isinstance(input, Tensor):
        raise no_tensor("real", (input,))
    return input.real


def imag(input: Tensor) -> Tensor:
    """The imaginary parts, a view; zeros of real tensors.

    >>> weft.imag(Tensor([1 + 2j])).tolist()
    [2.0]
    """
    if not isinstance(input, Tensor):
        raise no_tensor("imag", (input,))
    return input.imag
