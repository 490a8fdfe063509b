"""Window functions: weights that fall to the ends of a frame, for spectra and filters.

Source: F. J. Harris, "On the Use of Windows for Harmonic Analysis with the Discrete Fourier
Transform", Proc. IEEE 66 (1978).
"""

from __future__ import annotations

import math
from typing import Any

from weft.base.arguments import real, whole
from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.errors import ArgumentError, DTypeError
from weft.special import i0
from weft.tensor import Tensor

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


def _positions(
    name: str, length: int, periodic: bool, dtype: Any, device: Any
) -> tuple[Any, DType, int]:
    """Places of the samples from 0 to 1, the dtype of the window, the number of samples.

    A periodic window is a symmetric one of one sample more, without its last.
    """
    count = whole(length, "window_length")
    kind = dtypes.default_float if dtype is None else to_dtype(dtype)
    if count < 0:
        raise ArgumentError("a window has no negative number of samples", asked=f"{name}({count})")
    if not dtypes.is_float(kind):
        raise DTypeError("the weights of a window are floats", asked=f"{name} of {kind}")
    last = count if periodic else count - 1
    wide = kind if kind.itemsize > 2 else dtypes.float32
    return Tensor.arange(count, dtype=wide, device=device) / max(last, 1), kind, count


def _cosines(
    name: str, length: int, periodic: bool, weights: tuple[float, ...], dtype: Any, device: Any
) -> Tensor:
    """Sums of cosines: weights[0] - weights[1] cos(2 pi x) + weights[2] cos(4 pi x)."""
    places, kind, count = _positions(name, length, periodic, dtype, device)
    if count <= 1:
        return Tensor.ones(count, dtype=kind, device=device)
    total = places * 0 + weights[0]
    for order, weight in enumerate(weights[1:], 1):
        total = total + (places * (2 * math.pi * order)).cos() * (weight * (-1) ** order)
    found: Tensor = total.cast(kind)
    return found


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """sin(pi n / N)**2 of `window_length` samples.

    :param periodic: N is the length, for spectra; else the length - 1, for filters.
    :raises ArgumentError: for a negative length. :raises DTypeError: for other dtypes than floats.

    >>> weft.hann_window(4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _cosines("hann_window", window_length, periodic, (0.5, 0.5), dtype, device)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    device: Any = None,
) -> Tensor:
    """alpha - beta cos(2 pi n / N) of `window_length` samples; otherwise as `hann_window`.

    >>> weft.hamming_window(3, periodic=False).tolist()
    [0.08, 1.0, 0.08]
    """
    weights = (real(alpha, "alpha"), real(beta, "beta"))
    return _cosines("hamming_window", window_length, periodic, weights, dtype, device)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N); otherwise as `hann_window`.

    >>> weft.blackman_window(3, periodic=False).round(decimals=4).tolist()
    [0.0, 1.0, 0.0]
    """
    return _cosines("blackman_window", window_length, periodic, (0.42, 0.5, 0.08), dtype, device)


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """The triangle 1 - |2 n / N - 1|; otherwise as `hann_window`.

    >>> weft.bartlett_window(4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    places, kind, count = _positions("bartlett_window", window_length, periodic, dtype, device)
    if count <= 1:
        return Tensor.ones(count, dtype=kind, device=device)
    found: Tensor = (1 - (places * 2 - 1).abs()).cast(kind)
    return found


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    device: Any = None,
) -> Tensor:
    """i0(beta sqrt(1 - (2 n / N - 1)**2)) / i0(beta); otherwise as `hann_window`.

    >>> weft.kaiser_window(3, periodic=False, beta=0.0).tolist()
    [1.0, 1.0, 1.0]
    """
    places, kind, count = _positions("kaiser_window", window_length, periodic, dtype, device)
    if count <= 1:
        return Tensor.ones(count, dtype=kind, device=device)
    shape: Any = real(beta, "beta")
    inside = (1 - (places * 2 - 1).square()).maximum(0).sqrt()
    found: Tensor = (i0(inside * shape) / i0(places[:1] * 0 + shape)).cast(kind)
    return found
