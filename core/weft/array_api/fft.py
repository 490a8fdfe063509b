"""The extension `fft`: discrete Fourier transforms; see `weft.fft`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from weft import fft as transforms
from weft.array_api.array import Array, as_array, must_be
from weft.base.dtype import dtypes, to_dtype
from weft.base.errors import DTypeError

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip

Norm = Literal["backward", "ortho", "forward"]


def _along(name: str, doc: str, *kinds: str) -> Callable[..., Array]:
    """The transform of that name along one axis."""
    transform: Any = getattr(transforms, name)

    def function(
        x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward"
    ) -> Array:
        x = as_array(x)
        must_be(name, x, *kinds)
        return as_array(transform(x, n, axis, norm))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _along_several(name: str, doc: str, *kinds: str) -> Callable[..., Array]:
    """The transform of that name along several axes."""
    transform: Any = getattr(transforms, name)

    def function(
        x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None,
        norm: Norm = "backward",
    ) -> Array:  # fmt: skip
        x = as_array(x)
        must_be(name, x, *kinds)
        return as_array(transform(x, s, axes, norm))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


fft = _along("fft", "The transform along an axis.", "float", "complex")
ifft = _along("ifft", "The inverse of fft.", "float", "complex")
rfft = _along("rfft", "The transform of real numbers.", "float")
irfft = _along("irfft", "The inverse of rfft: real numbers.", "float", "complex")
hfft = _along("hfft", "The transform of Hermitian numbers: real numbers.", "float", "complex")
ihfft = _along("ihfft", "The inverse of hfft.", "float")
fftn = _along_several("fftn", "The transform along several axes.", "float", "complex")
ifftn = _along_several("ifftn", "The inverse of fftn.", "float", "complex")
rfftn = _along_several("rfftn", "The transform of real numbers along several axes.", "float")
irfftn = _along_several("irfftn", "The inverse of rfftn: real numbers.", "float", "complex")


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of the elements of a transform of n samples at distance d."""
    kind = _real_kind("fftfreq", dtype)
    return as_array(transforms.fftfreq(n, d, dtype=kind, device=device))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of the elements of a real transform of n samples at distance d."""
    kind = _real_kind("rfftfreq", dtype)
    return as_array(transforms.rfftfreq(n, d, dtype=kind, device=device))


def _real_kind(name: str, dtype: Any) -> Any:
    kind = dtypes.default_float if dtype is None else to_dtype(dtype)
    if not dtypes.is_float(kind):
        raise DTypeError("frequencies are floats", asked=f"{name}(dtype={kind!r})")
    return kind


def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """The zero frequency in the middle of the given axes, of all axes for None."""
    return as_array(transforms.fftshift(as_array(x), axes))


def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """The inverse of fftshift."""
    return as_array(transforms.ifftshift(as_array(x), axes))
