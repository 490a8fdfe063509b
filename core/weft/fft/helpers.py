"""Sample frequencies of transforms, and rotations of an axis to their order and back."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import whole
from weft.tensor import Tensor

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of the elements of a transform of n samples at distance d.

    >>> weft.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    n = whole(n, "n", least=1)
    place = Tensor.arange(n, device=device)
    place = (place < (n + 1) // 2).where(place, place - n)
    return _frequencies(place, n, d, dtype)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of the elements of a real transform of n samples at distance d.

    >>> weft.fft.rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    n = whole(n, "n", least=1)
    return _frequencies(Tensor.arange(n // 2 + 1, device=device), n, d, dtype)


def _frequencies(place: Tensor, n: int, d: float, dtype: Any) -> Tensor:
    found = place.float() if dtype is None else place.cast(dtype)
    return found / (n * d)


def fftshift(input: Tensor, dim: Any = None, *, axes: Any = None) -> Tensor:
    """The zero frequency in the middle of the given axes, of all axes for None.

    >>> weft.fft.fftshift(Tensor([0, 1, 2, -2, -1])).tolist()
    [-2, -1, 0, 1, 2]
    """
    return _rolled(input, dim if axes is None else axes, 1)


def ifftshift(input: Tensor, dim: Any = None, *, axes: Any = None) -> Tensor:
    """The inverse of `fftshift`.

    >>> weft.fft.ifftshift(Tensor([-2, -1, 0, 1, 2])).tolist()
    [0, 1, 2, -2, -1]
    """
    return _rolled(input, dim if axes is None else axes, -1)


def _rolled(input: Tensor, dim: Any, way: int) -> Tensor:
    given = range(input.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    places = tuple(input._resolve_dim(a) for a in given)
    shifts = tuple(input.shape[a] // 2 if way > 0 else (input.shape[a] + 1) // 2 for a in places)
    return input.roll(shifts, places) if places else input
