"""Complex tensors of their parts, and their parts."""

from __future__ import annotations

from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import ShapeError
from weft.base.promotion import least_upper_dtype
from weft.fft.short_time import istft, stft
from weft.functions.wrappers import no_tensor
from weft.tensor import ComplexTensor, Tensor

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


def view_as_real(input: Tensor) -> Tensor:
    """A view of complex numbers with a last axis of 2: the real and the imaginary part.

    :raises WrongKind: for a real tensor.

    >>> weft.view_as_real(Tensor([1 + 2j])).tolist()
    [[1.0, 2.0]]
    """
    if not isinstance(input, ComplexTensor):
        raise no_tensor("view_as_real", (input,))
    return input._interleaved[...]


def view_as_complex(input: Tensor) -> Tensor:
    """A view of floats with a last axis of 2 as complex numbers.

    :raises ShapeError: for another last axis, and other dtypes than float32 and float64.

    >>> weft.view_as_complex(Tensor([[1.0, 2.0]])).tolist()
    [(1+2j)]
    """
    if not isinstance(input, Tensor) or input.is_complex():
        raise no_tensor("view_as_complex", (input,))
    parts = (dtypes.float32, dtypes.float64)
    if input.ndim == 0 or input.shape[-1] != 2 or input.dtype not in parts:
        raise ShapeError(
            "complex numbers have two parts of float32 or float64",
            asked=f"view_as_complex of {input.dtype!r} {shown(tuple(input.shape))}",
            because="the last axis has the real and the imaginary part",
        )
    made: Tensor = input._complex_class._over(input[...])
    return made


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
