"""Fast Fourier transform: along one axis of interleaved numbers, of shape (outer, n, inner, 2).
Also: Cooley-Tukey, mixed radix, Bluestein.

`sign` is -1 for the transform and 1 for its inverse, which is not divided by n.

Source: J. W. Cooley, J. W. Tukey, "An algorithm for the machine calculation of complex Fourier
series" (1965); L. I. Bluestein, "A linear filtering approach to the computation of discrete Fourier
transform", IEEE Transactions on Audio and Electroacoustics (1970).
"""

from __future__ import annotations

from typing import Any

from weft.fft.plan import convolution_size, radices, roots_of_unity, table
from weft.fft.stages import one_pass
from weft.tensor.complex import interleaved, lane


def of_complex(x: Any, sign: int) -> Any:
    """The transform of complex numbers."""
    outer, size, inner, _ = x.shape
    if size == 1 or 0 in x.shape:
        return x
    steps = radices(size)
    if steps is None:
        return _by_convolution(x, sign)
    flat, count, done = x.reshape(outer, size * inner, 2), size, inner
    for radix in steps:
        count //= radix
        flat = one_pass(flat, radix, count, done, sign)
        done *= radix
    return flat.reshape(outer, size, inner, 2)


def _by_convolution(x: Any, sign: int) -> Any:
    """Bluestein's algorithm: j * k is (j**2 + k**2 - (j - k)**2) / 2."""
    size, wide = x.shape[1], convolution_size(x.shape[1])
    chirp = table(("chirp", size, sign), lambda: _chirp(size, sign), x.dtype, x.device)
    kernel = table(("kernel", size, sign), lambda: _kernel(size, wide, sign), x.dtype, x.device)
    chirp, kernel = chirp.reshape(1, size, 1, 2), kernel.reshape(1, wide, 1, 2)
    padded = _product(x, chirp).pad(((0, 0), (0, wide - size), (0, 0), (0, 0)))
    filtered = of_complex(_product(of_complex(padded, -1), kernel), 1)
    return _product(filtered.shrink((None, (0, size), None, None)), chirp)


def _chirp(size: int, sign: int) -> Any:
    """exp(sign * pi i k**2 / n); k**2 is exact modulo 2 n."""
    import numpy

    k = numpy.arange(size, dtype=numpy.int64)
    return roots_of_unity(k * k, 2 * size, sign)


def _kernel(size: int, wide: int, sign: int) -> Any:
    """The transform of the conjugate chirp around zero, divided by the size of the convolution."""
    import numpy

    chirp = _chirp(size, -sign)
    around = numpy.zeros(wide, numpy.complex128)
    around[:size] = chirp
    around[wide - size + 1 :] = chirp[:0:-1]
    return numpy.fft.fft(around) / wide


def _product(x: Any, y: Any) -> Any:
    a, b, c, d = lane(x, 0), lane(x, 1), lane(y, 0), lane(y, 1)
    return interleaved(a * c - b * d, a * d + b * c)


def of_real(x: Any) -> Any:
    """The transform of real numbers (outer, n, inner): the first n // 2 + 1 complex numbers."""
    outer, size, inner = x.shape
    half = size // 2
    if size % 2 or size == 0:
        whole = of_complex(interleaved(x, x.zeros_like()), -1)
        return whole.shrink((None, (0, half + 1), None, None))
    # neighbours are the parts of numbers of half the length
    pairs = x.reshape(outer, half, 2, inner).permute(0, 1, 3, 2)
    z = of_complex(pairs, -1)
    ends = z.cat(z.shrink((None, (0, 1), None, None)), dim=1)
    a, b = lane(ends, 0), lane(ends, 1)
    c, d = a.flip(1), -b.flip(1)  # the conjugate numbers, backwards
    cosine, sine = _half_turns(x, size, -1)
    real, imag = (a - c) * 0.5, (b - d) * 0.5
    # (z - conj z) / 2i, turned
    even_real, even_imag = (a + c) * 0.5, (b + d) * 0.5
    return interleaved(
        even_real + imag * cosine + real * sine, even_imag + imag * sine - real * cosine
    )


def to_real(x: Any, size: int) -> Any:
    """The inverse of `of_real`, not divided by n: real numbers (outer, size, inner)."""
    outer, have, inner, _ = x.shape
    half = size // 2
    if size % 2 or size == 0:
        return lane(of_complex(_hermitian(x, size), 1), 0)
    x = x.shrink((None, (0, half + 1), None, None)) if have > half + 1 else x
    a, b = lane(x, 0), lane(x, 1)
    b = _without_ends(b, half)
    c, d = a.flip(1), -b.flip(1)
    cosine, sine = _half_turns(a, size, 1)
    p, q = a - c, b - d
    # (x + conj x) + i (x - conj x), turned
    real = (a + c) - (p * sine + q * cosine)
    imag = (b + d) + (p * cosine - q * sine)
    z = interleaved(real, imag).shrink((None, (0, half), None, None))
    pairs = of_complex(z, 1)
    return pairs.permute(0, 1, 3, 2).reshape(outer, size, inner)


def _without_ends(imag: Any, half: int) -> Any:
    """Imaginary parts that are zero at the first and the last place: the result is real."""
    place = imag.arange(half + 1, device=imag.device).reshape(half + 1, 1)
    return ((place == 0) | (place == half)).where(0.0, imag)


def _half_turns(like: Any, size: int, sign: int) -> tuple[Any, Any]:
    """The cosines and sines of sign * 2 pi k / size for k from 0 to size / 2."""

    def values() -> Any:
        import numpy

        return roots_of_unity(numpy.arange(size // 2 + 1), size, sign)

    found = table(("half", size, sign), values, like.dtype, like.device)
    found = found.reshape(size // 2 + 1, 1, 2)
    return lane(found, 0), lane(found, 1)


def _hermitian(x: Any, size: int) -> Any:
    """All numbers of a transform of which the first half is given."""
    first = x.shrink((None, (0, size // 2 + 1), None, None))
    real, imag = lane(first, 0), lane(first, 1)
    place = imag.arange(size // 2 + 1, device=imag.device).reshape(size // 2 + 1, 1)
    imag = (place == 0).where(0.0, imag)
    first = interleaved(real, imag)
    rest = first.shrink((None, (1, (size + 1) // 2), None, None)).flip(1)
    return first.cat(interleaved(lane(rest, 0), -lane(rest, 1)), dim=1)
