"""Functions of sequences: convolution, correlation, interpolation, unwrapping; as in NumPy.

Source: A. V. Oppenheim, R. W. Schafer, "Discrete-Time Signal Processing", 3rd edition, chapter 2.
"""

from __future__ import annotations

import math
from typing import Any

from weft.base.arguments import shown
from weft.base.errors import ArgumentError, ShapeError
from weft.base.promotion import least_upper_dtype, least_upper_float
from weft.tensor import Tensor

__all__ = ["convolve", "correlate", "interp", "unwrap"]


def convolve(a: Tensor, v: Tensor, mode: str = "full") -> Tensor:
    """The convolution of two sequences: the sums of a[k] v[n - k].

    :param mode: "full": all n for which a term is there; "same": the middle, as long as the longer
        sequence; "valid": the n for which all terms are.
    :raises ShapeError: for empty sequences, and for more than one axis.

    >>> weft.convolve(Tensor([1, 2, 3]), Tensor([0, 1])).tolist()
    [0, 1, 2, 3]
    """
    longer, shorter = _sequences("convolve", a, v)
    if longer.shape[0] < shorter.shape[0]:
        longer, shorter = shorter, longer
    return _sliding_products("convolve", longer, shorter.flip(0), mode)


def correlate(a: Tensor, v: Tensor, mode: str = "valid") -> Tensor:
    """The cross-correlation of two sequences: the sums of a[n + k] conj(v[k]).

    :param mode: as for `convolve`. :raises ShapeError: as `convolve` does.

    >>> weft.correlate(Tensor([1, 2, 3]), Tensor([0, 1, 2])).tolist()
    [8]
    """
    longer, shorter = _sequences("correlate", a, v)
    shorter = shorter.conj()
    if longer.shape[0] < shorter.shape[0]:
        return _sliding_products("correlate", shorter, longer, mode).flip(0)
    return _sliding_products("correlate", longer, shorter, mode)


def _sequences(name: str, a: Tensor, v: Tensor) -> list[Any]:
    kind = least_upper_dtype(a.dtype, v.dtype)
    for each in (a, v):
        if each.ndim != 1 or 0 in each.shape:
            raise ShapeError(
                "sequences have one axis, and an element",
                asked=f"{name} of shapes {a.shape} and {v.shape}",
                try_="weft.nn.functional.conv1d for several sequences at once",
            )
    return [a.cast(kind), v.cast(kind)]


def _sliding_products(name: str, longer: Any, shorter: Any, mode: str) -> Any:
    """The products of the shorter sequence with the windows of the longer one."""
    size = shorter.shape[0]
    padding = {"full": (size - 1, size - 1), "same": (size // 2, (size - 1) // 2), "valid": (0, 0)}
    if mode not in padding:
        raise ArgumentError(
            "the mode is 'full', 'same' or 'valid'", asked=f"{name}(mode={shown(mode)})"
        )
    windows = longer.pad((padding[mode],)).unfold(0, size, 1)
    return (windows * shorter).sum(-1).cast(longer.dtype)


def interp(
    x: Tensor,
    xp: Tensor,
    fp: Tensor,
    left: float | None = None,
    right: float | None = None,
) -> Tensor:
    """Linear interpolation: the values at x of the function through the points (xp, fp).

    :param xp: rising, of one axis. :param fp: the values there.
    :param left, right: the values below and above all xp; the first and last of fp by default.
    :raises ShapeError: if xp and fp are not vectors of one length, or have no elements.

    >>> weft.interp(Tensor([0.5, 9.0]), Tensor([0.0, 1.0, 2.0]), Tensor([0.0, 10.0, 30.0])).tolist()
    [5.0, 30.0]
    """
    if xp.ndim != 1 or xp.shape != fp.shape or 0 in xp.shape:
        raise ShapeError(
            "the points of an interpolation are two vectors of one length",
            asked=f"interp with xp of shape {xp.shape} and fp of shape {fp.shape}",
        )
    kind = least_upper_float(least_upper_dtype(x.dtype, least_upper_dtype(xp.dtype, fp.dtype)))
    at, places, values = (each.cast(kind) for each in (x, xp, fp))
    above: Any = places.searchsorted(at.flatten(), right=True).reshape(at.shape)
    lower = (above - 1).clamp(0, max(places.shape[0] - 2, 0))
    upper = (lower + 1).clamp(0, places.shape[0] - 1)
    start, stop = places[lower], places[upper]
    width = stop - start
    share = (width == 0).where(0.0, (at - start) / (width == 0).where(1.0, width))
    found: Any = values[lower] + share.clamp(0, 1) * (values[upper] - values[lower])
    if left is not None:
        found = (at < places[0]).where(left, found)
    if right is not None:
        found = (at > places[-1]).where(right, found)
    return at.isnan().where(at, found)


def unwrap(
    p: Tensor, discont: float | None = None, axis: int = -1, *, period: float = 2 * math.pi
) -> Tensor:
    """Angles without jumps: multiples of the period are added where neighbours differ by more than
    half of it.

    :param discont: the least jump that is removed; half of the period by default.

    >>> weft.unwrap(Tensor([0.0, 3.0, 6.0, 9.0]), period=4.0).tolist()
    [0.0, -1.0, -2.0, -3.0]
    """
    angles: Any = p.cast(least_upper_float(p.dtype))
    place, count = angles._resolve_dim(axis), angles.shape[axis]
    if count < 2:
        return angles  # type: ignore[no-any-return]
    step = angles.diff(dim=place)
    half = period / 2
    folded = (step + half) % period - half
    folded = ((folded == -half) & (step > 0)).where(half, folded)
    limit = half if discont is None else max(discont, half)
    change = (step.abs() < limit).where(0.0, folded - step)
    rest = angles.narrow(place, 1, count - 1) + change.cumsum(place)
    found: Tensor = angles.narrow(place, 0, 1).cat(rest, dim=place)
    return found
