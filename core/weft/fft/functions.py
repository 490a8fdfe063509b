"""The functions: transforms of one and of several axes, of complex, real and Hermitian numbers.

`norm` says which direction is divided by n: "backward" (the inverse), "forward", or "ortho" (both
by the root of n).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft.base.arguments import no_tensor, shown, whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.base.sequences import prod
from weft.fft.replay import replayed
from weft.fft.transforms import of_complex, of_real, to_real
from weft.tensor import Tensor

__all__ = [
    "fft", "fft2", "fftn", "hfft", "ifft", "ifft2", "ifftn", "ihfft", "irfft", "irfft2", "irfftn",
    "rfft", "rfft2", "rfftn",
]  # fmt: skip

_NORMS = ("backward", "ortho", "forward")


def _scale(norm: str | None, sizes: Sequence[int], inverse: bool) -> float:
    """What the result of a transform of these sizes is multiplied by."""
    norm = "backward" if norm is None else norm
    if norm not in _NORMS:
        raise ArgumentError(
            f"there is no normalisation {shown(norm)}",
            asked=f"norm={shown(norm)}",
            try_='"backward", "ortho" or "forward"',
        )
    count = prod(sizes)
    if norm == "ortho":
        return 1.0 / math.sqrt(count)
    return 1.0 / count if inverse == (norm == "backward") else 1.0


def _sized(x: Any, n: int | None, axis: int) -> Any:
    """x with n elements along an axis: cut, or padded with zeros."""
    have = x.shape[axis]
    size = have if n is None else whole(n, "n")
    if size < 1:
        raise ShapeError(
            "a transform has at least one element",
            asked=f"n={size} of shape {tuple(x.shape)}",
            try_="an axis that is not empty, or n",
        )
    if size < have:
        return x.shrink(tuple((0, size) if a == axis else None for a in range(x.ndim)))
    pads = tuple((0, size - have) if a == axis else (0, 0) for a in range(x.ndim))
    return x if size == have else x.pad(pads)


def _checked(name: str, x: Any) -> Any:
    """x in a dtype that is transformed: integers and short floats as the default or float32."""
    if not isinstance(x, Tensor):
        raise no_tensor(f"fft.{name}", (x,))
    if x.ndim == 0:
        raise ShapeError("a transform is along an axis", asked=f"{name} of shape ()")
    if x.dtype.is_complex or x.dtype in (dtypes.float32, dtypes.float64):
        return x
    return x.cast(dtypes.real_dtype(dtypes.complex_dtype(x.dtype)))


def _blocks(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    return prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])


def _complex_along(x: Any, axis: int, sign: int, scale: float) -> Any:
    """The transform of a complex tensor along an axis."""
    shape = tuple(x.shape)
    whole_numbers = x._interleaved.reshape(*_blocks(shape, axis), 2)
    made = of_complex(whole_numbers, sign)
    made = made if scale == 1.0 else made * scale
    return x._complex_class._over(made.reshape(*shape, 2))


def _as_complex(x: Any) -> Any:
    return x if x.dtype.is_complex else x.cast(dtypes.complex_dtype(x.dtype))


@replayed
def _transformed(
    name: str, input: Any, sizes: Any, axes: Any, norm: str | None, inverse: bool
) -> Any:
    x = _checked(name, input)
    places, lengths = _places(x, sizes, axes)
    for axis, n in zip(places, lengths):
        x = _sized(x, n, axis)
    scale = _scale(norm, [x.shape[a] for a in places], inverse)
    x = _as_complex(x)
    for axis in places:
        x = _complex_along(x, axis, 1 if inverse else -1, 1.0)
    return x if scale == 1.0 else x * scale


def _places(x: Any, sizes: Any, axes: Any) -> tuple[list[int], list[int | None]]:
    """The axes, and the length of each or None. :raises ArgumentError: if their numbers differ."""
    if axes is None:
        axes = range(x.ndim) if sizes is None else range(-len(sizes), 0)
    places = [x._resolve_dim(a) for a in ((axes,) if isinstance(axes, int) else axes)]
    lengths = [None] * len(places) if sizes is None else list(sizes)
    if len(lengths) != len(places) or len(set(places)) != len(places):
        raise ArgumentError(
            "each axis is given once, with one length",
            asked=f"lengths {shown(sizes)} of axes {shown(axes)}",
        )
    lengths = [None if n is None or n == -1 else n for n in lengths]
    return places, lengths


def _one(n: int | None) -> list[int | None]:
    return [n]


def fft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
    axis: int | None = None,
) -> Tensor:  # fmt: skip
    """The discrete Fourier transform along an axis, cut or padded to n elements.

    >>> weft.fft.fft(Tensor([1.0, 2.0, 3.0, 4.0])).tolist()
    [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
    """
    return _transformed("fft", input, _one(n), dim if axis is None else axis, norm, False)


def ifft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
    axis: int | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `fft`.

    >>> weft.fft.ifft(Tensor([6.0, 0.0])).tolist()
    [(3+0j), (3+0j)]
    """
    return _transformed("ifft", input, _one(n), dim if axis is None else axis, norm, True)


def fftn(
    input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, axes: Any = None
) -> Tensor:
    """The transform along several axes, all of them for None; s: their lengths.

    >>> weft.fft.fftn(Tensor.ones(2, 2)).real.tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    return _transformed("fftn", input, s, dim if axes is None else axes, norm, False)


def ifftn(
    input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, axes: Any = None
) -> Tensor:
    """The inverse of `fftn`.

    >>> weft.fft.ifftn(Tensor([[4.0, 0.0], [0.0, 0.0]])).real.tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return _transformed("ifftn", input, s, dim if axes is None else axes, norm, True)


@replayed
def rfftn(
    input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, axes: Any = None
) -> Tensor:
    """The transform of real numbers along several axes; half of the last one is left out.

    :raises ArgumentError: for complex numbers.

    >>> weft.fft.rfftn(Tensor.ones(4, 6)).shape
    (4, 4)
    """
    x = _real_input("rfftn", input)
    places, lengths = _places(x, s, dim if axes is None else axes)
    for axis, n in zip(places, lengths):
        x = _sized(x, n, axis)
    scale = _scale(norm, [x.shape[a] for a in places], False)
    shape, last = tuple(x.shape), places[-1]
    made = of_real(x.reshape(*_blocks(shape, last)))
    made = made.reshape(*shape[:last], shape[last] // 2 + 1, *shape[last + 1 :], 2)
    z = x._complex_class._over(made)
    for axis in places[:-1]:
        z = _complex_along(z, axis, -1, 1.0)
    return z if scale == 1.0 else z * scale


@replayed
def irfftn(
    input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, axes: Any = None
) -> Tensor:
    """The inverse of `rfftn`; without s the last axis gets an even length.

    >>> weft.fft.irfftn(weft.fft.rfftn(Tensor.ones(4, 6))).shape
    (4, 6)
    """
    z = _as_complex(_checked("irfftn", input))
    places, lengths = _places(z, s, dim if axes is None else axes)
    last = places[-1]
    size = 2 * (z.shape[last] - 1) if lengths[-1] is None else whole(lengths[-1], "n")
    if size < 1:
        raise ShapeError(
            "a transform has at least one element",
            asked=f"{size} real numbers of shape {tuple(z.shape)}",
            try_="the length of the result: n=1",
        )
    for axis, n in zip(places[:-1], lengths[:-1]):
        z = _sized(z, n, axis)
    z = _sized(z, size // 2 + 1, last)
    scale = _scale(norm, [*(z.shape[a] for a in places[:-1]), size], True)
    for axis in places[:-1]:
        z = _complex_along(z, axis, 1, 1.0)
    shape = tuple(z.shape)
    found = to_real(z._interleaved.reshape(*_blocks(shape, last), 2), size)
    found = found.reshape(*shape[:last], size, *shape[last + 1 :])
    return found if scale == 1.0 else found * scale


def rfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
    axis: int | None = None,
) -> Tensor:  # fmt: skip
    """The transform of real numbers: the first n // 2 + 1 elements; the others are conjugates.

    >>> weft.fft.rfft(Tensor([1.0, 2.0, 3.0, 4.0])).tolist()
    [(10+0j), (-2+2j), (-2+0j)]
    """
    return rfftn(input, _one(n), dim if axis is None else axis, norm)


def irfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
    axis: int | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `rfft`: n real numbers, 2 * (m - 1) of m elements unless n is given.

    >>> weft.fft.irfft(weft.fft.rfft(Tensor([1.0, 2.0, 3.0, 4.0]))).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    return irfftn(input, _one(n), dim if axis is None else axis, norm)


@replayed
def hfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
    axis: int | None = None,
) -> Tensor:  # fmt: skip
    """The transform of Hermitian numbers, of which half is given: n real numbers.

    >>> weft.fft.hfft(Tensor([1.0, 2.0, 1.0])).tolist()
    [6.0, 0.0, -2.0, 0.0]
    """
    z = _as_complex(_checked("hfft", input))
    return irfftn(z.conj(), _one(n), dim if axis is None else axis, _other_way(norm))


@replayed
def ihfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
    axis: int | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `hfft`.

    >>> weft.fft.ihfft(Tensor([6.0, 0.0, -2.0, 0.0])).real.tolist()
    [1.0, 2.0, 1.0]
    """
    return rfftn(input, _one(n), dim if axis is None else axis, _other_way(norm)).conj()


def _other_way(norm: str | None) -> str | None:
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


def _real_input(name: str, input: Any) -> Any:
    x = _checked(name, input)
    if x.dtype.is_complex:
        raise ArgumentError(
            f"{name} is of real numbers",
            asked=f"{name} of {x.dtype!r} {tuple(x.shape)}",
            try_="fft, or x.real",
        )
    return x


def fft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`fftn` along the last two axes.

    >>> weft.fft.fft2(Tensor.ones(3, 2, 2)).real[0].tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    return fftn(input, s, dim, norm)


def ifft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`ifftn` along the last two axes.

    >>> weft.fft.ifft2(Tensor([[4.0, 0.0], [0.0, 0.0]])).real.tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return ifftn(input, s, dim, norm)


def rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`rfftn` along the last two axes.

    >>> weft.fft.rfft2(Tensor.ones(3, 4, 6)).shape
    (3, 4, 4)
    """
    return rfftn(input, s, dim, norm)


def irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    """`irfftn` along the last two axes.

    >>> weft.fft.irfft2(weft.fft.rfft2(Tensor.ones(3, 4, 6))).shape
    (3, 4, 6)
    """
    return irfftn(input, s, dim, norm)
