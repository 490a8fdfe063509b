"""Discrete Fourier transform of the last axis by products with real matrices.

A long axis is factored: its transform is one of each factor, with a multiplication by roots of
unity (twiddle factors) in between. Source: J. Cooley and J. Tukey, "An algorithm for the machine
calculation of complex Fourier series" (1965).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from weft.onnx.graph import Node
from weft.tensor import Tensor

Complex = tuple[Tensor, Tensor | None]
"""Real and imaginary part; None: it is zero."""

_DIRECT = 128  # a longer axis is factored
_FACTOR = 64


def fourier(
    node: Node, parts: Complex, inverse: bool, count: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return the first `count` values of the transform. The inverse is divided by the length."""
    length = parts[0].shape[-1]
    count = length if count is None else count
    factor = _factor(length)
    if factor == length:
        return _by_matrix(node, parts, inverse, count)
    # Element n = rest * a + b of the input, element k = i + factor * j of the result.
    rest = length // factor
    columns = _each(parts, lambda x: x.reshape(*x.shape[:-1], factor, rest).transpose(-1, -2))
    real, imaginary = _by_matrix(node, columns, inverse, factor)
    twiddles = _twiddle_factors(rest, factor, inverse)
    cosines, sines = (node.tensor(each).cast(real.dtype) for each in twiddles)
    rows = (
        (real * cosines - imaginary * sines).transpose(-1, -2).contiguous(),
        (real * sines + imaginary * cosines).transpose(-1, -2).contiguous(),
    )
    found = fourier(node, rows, inverse)
    whole = _each(found, lambda x: x.transpose(-1, -2).reshape(*x.shape[:-2], length)[..., :count])
    assert whole[1] is not None
    return whole[0], whole[1]


def _each(parts: Complex, function) -> Complex:
    return function(parts[0]), None if parts[1] is None else function(parts[1])


def _factor(length: int) -> int:
    """A factor of the length that is transformed by one matrix; the length itself if it is short.

    A prime factor is never divided.
    """
    if length <= _DIRECT:
        return length
    small = max(each for each in range(1, _FACTOR + 1) if length % each == 0)
    if small > 1:
        return small
    return next((each for each in range(3, int(length**0.5) + 1, 2) if length % each == 0), length)


def _by_matrix(node: Node, parts: Complex, inverse: bool, count: int) -> tuple[Tensor, Tensor]:
    real, imaginary = parts
    matrices = _matrices(real.shape[-1], count, inverse)
    cosines, sines = (node.tensor(each).cast(real.dtype) for each in matrices)
    if imaginary is None:
        return real @ cosines, real @ sines
    return real @ cosines - imaginary @ sines, real @ sines + imaginary @ cosines


@lru_cache(maxsize=32)
def _matrices(length: int, count: int, inverse: bool) -> tuple[np.ndarray, np.ndarray]:
    places = np.arange(length)[:, None] * np.arange(count)
    cosines, sines = _roots(places % length, length, inverse)
    scale = length if inverse else 1
    return cosines / scale, sines / scale


@lru_cache(maxsize=32)
def _twiddle_factors(rest: int, factor: int, inverse: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the real and the imaginary parts of the roots of unity between two transforms."""
    return _roots(np.arange(rest)[:, None] * np.arange(factor), rest * factor, inverse)


def _roots(places: np.ndarray, length: int, inverse: bool) -> tuple[np.ndarray, np.ndarray]:
    angles = places * (2 * np.pi / length)
    return np.cos(angles), np.sin(angles) * (1 if inverse else -1)
