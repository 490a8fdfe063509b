"""Plans: the radices of a length, and tables of roots of unity on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.engine.capture import recording
from weft.tensor import Tensor

RADICES = (16, 8, 4, 2, 3, 5, 7, 11, 13)
"""The sizes of butterflies, in the order in which they are tried."""

_LIMIT = 256
_tables: dict[tuple[Any, ...], Tensor] = {}


def radices(size: int) -> list[int] | None:
    """The radices whose product is `size`, the smaller ones first; None if there are none."""
    found = []
    for radix in RADICES:
        while size % radix == 0:
            found.append(radix)
            size //= radix
    return sorted(found) if size == 1 else None


def convolution_size(size: int) -> int:
    """The power of two for a circular convolution of 2 * size - 1 numbers."""
    return 1 << (2 * size - 2).bit_length()


def roots(radix: int, count: int, sign: int, dtype: DType, device: Any) -> Tensor:
    """exp(sign * 2 pi i j k / (radix * count)), of shape (count, radix, 2): rows j, columns k."""

    def values() -> Any:
        import numpy

        places = numpy.outer(numpy.arange(count), numpy.arange(radix))
        return roots_of_unity(places, radix * count, sign)

    return table(("roots", radix, count, sign), values, dtype, device)


def roots_of_unity(places: Any, count: int, sign: int) -> Any:
    """exp(sign * 2 pi i k / count) for the integers k: exact at whole quarters of a turn, and by
    sines and cosines of at most an eighth elsewhere. An array of complex128."""
    import numpy

    quarter, rest = numpy.divmod(4 * (places % count), count)
    is_late = 2 * rest > count
    angle = numpy.where(is_late, count - rest, rest) * (numpy.pi / 2 / count)
    cosine, sine = numpy.cos(angle), numpy.sin(angle)
    x, y = numpy.where(is_late, sine, cosine), numpy.where(is_late, cosine, sine)
    real = numpy.choose(quarter, (x, -y, -x, y))
    imag = numpy.choose(quarter, (y, x, -y, -x))
    return real + 0.0 + 1j * (sign * imag + 0.0)


def table(key: tuple[Any, ...], values: Callable[[], Any], dtype: DType, device: Any) -> Tensor:
    """Complex numbers as interleaved numbers in memory of the device; the last tables are kept.

    Inside of a function that `jit` traces no table is kept: all steps of a trace are its own.
    """
    place = *key, dtype, device
    known = _tables.get(place)
    if known is None:
        import numpy

        numbers = numpy.ascontiguousarray(values(), numpy.complex128)
        parts = numbers.view(numpy.float64).reshape(*numbers.shape, 2)
        kind = "float64" if dtype is dtypes.float64 else "float32"
        known = Tensor(parts.astype(kind), device=device)
        if recording() is None:
            if len(_tables) >= _LIMIT:
                _tables.clear()
            _tables[place] = known = known.realize()
    return known
