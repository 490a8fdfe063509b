"""Weights of the neighbours that each element of a resized axis is computed from, on the host.

Source: the operator Resize of the ONNX specification; for the cubic kernel R. Keys, "Cubic
convolution interpolation for digital image processing" (1981).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np


@dataclass(frozen=True)
class AxisResize:
    """How one axis is resized.

    :ivar size: elements of the input. :ivar out: elements of the output.
    :ivar scale: output elements for one of the input; `size * scale` may differ from `out`.
    :ivar start: start of the region, as a share of the axis; and :ivar end: its end.
    """

    size: int
    out: int
    scale: float
    start: float = 0.0
    end: float = 1.0

    @property
    def is_identity(self) -> bool:
        """Whether the result is the input."""
        whole = self.start == 0 and self.end == 1
        return self.size == self.out and math.isclose(self.scale, 1.0) and whole


@dataclass(frozen=True)
class Method:
    """The attributes of Resize that decide about coordinates and weights."""

    mode: str = "nearest"
    coordinates: str = "half_pixel"
    nearest: str = "round_prefer_floor"
    cubic_a: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False


COORDINATES = (
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
    "tf_crop_and_resize",
)  # fmt: skip
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple")


def positions(axis: AxisResize, coordinates: str) -> np.ndarray:
    """Return the position in the input of each element of the output, counted in elements."""
    places = np.arange(axis.out, dtype=np.float64)
    exact = axis.size * axis.scale
    last = axis.size - 1
    if coordinates == "asymmetric":
        return places / axis.scale
    if coordinates == "align_corners":
        return places * 0 if exact == 1 else places * last / (exact - 1)
    if coordinates == "tf_crop_and_resize":
        if exact == 1:
            return places * 0 + (axis.start + axis.end) * last / 2
        step = (axis.end - axis.start) * last / (exact - 1)
        return axis.start * last + places * step
    if coordinates == "pytorch_half_pixel" and exact == 1:
        return places * 0
    found = (places + 0.5) / axis.scale - 0.5
    if coordinates == "half_pixel_symmetric":
        found += axis.size / 2 * (1 - axis.out / exact)
    return found


def nearest_indices(axis: AxisResize, method: Method) -> np.ndarray:
    """Return the index of the element that is nearest to each position."""
    place = positions(axis, method.coordinates)
    kind = method.nearest
    if kind == "simple":  # of opset 10
        kind = "ceil" if axis.scale < 1 else "floor"
    rounded = {
        "floor": np.floor,
        "ceil": np.ceil,
        "round_prefer_floor": lambda x: np.ceil(x - 0.5),
        "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    }[kind](place)
    return np.clip(rounded, 0, axis.size - 1).astype(np.int64)


@lru_cache(maxsize=256)
def neighbours(axis: AxisResize, method: Method) -> tuple[np.ndarray, np.ndarray]:
    """Return indices and weights of the neighbours of each position: (output, neighbours).

    For downscaling with `antialias` the kernel is widened by the scale.
    """
    place = positions(axis, method.coordinates)
    before = np.ceil(place) - 1  # so that the share is in (0, 1]
    narrow = min(axis.scale, 1.0) if method.antialias else 1.0
    reach = 2 if method.mode == "cubic" else 1
    first = math.floor(-reach / narrow) + 1
    steps = np.arange(first, 2 - first)
    distance = np.abs((steps - (place - before)[:, None]) * narrow)
    if method.mode == "cubic":
        weights = _cubic(distance, method.cubic_a)
    else:
        weights = np.maximum(1 - distance, 0)
    indices = (before[:, None] + steps).astype(np.int64)
    if method.exclude_outside:
        weights = np.where((indices < 0) | (indices >= axis.size), 0, weights)
    total = weights.sum(-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return np.clip(indices, 0, axis.size - 1), weights


def outside(axis: AxisResize) -> np.ndarray:
    """Return which positions of a region are outside of the input."""
    place = positions(axis, "tf_crop_and_resize")
    return (place < 0) | (place > axis.size - 1)


def _cubic(x: np.ndarray, a: float) -> np.ndarray:
    inner = ((a + 2) * x - (a + 3)) * x * x + 1
    outer = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, inner, np.where(x < 2, outer, 0))
