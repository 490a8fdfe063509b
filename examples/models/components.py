"""Connected components of a mask, and the boxes around them.

Source: A. Rosenfeld, J. L. Pfaltz, "Sequential Operations in Digital Picture Processing" (1966),
with runs of pixels in the place of pixels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Box(NamedTuple):
    """A rectangle; right and bottom are behind the last pixel."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.bottom - self.top

    def grown(self, ratio: float) -> Box:
        """Return a box whose sides are moved outwards by ratio * area / perimeter."""
        by = round(ratio * self.width * self.height / (2 * (self.width + self.height)))
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def scaled(self, x: float, y: float) -> Box:
        """Return the box in an image of another size."""
        return Box(
            round(self.left * x), round(self.top * y), round(self.right * x), round(self.bottom * y)
        )

    def clipped(self, width: int, height: int) -> Box:
        """Return the part of the box that is inside of an image."""
        return Box(
            max(self.left, 0), max(self.top, 0), min(self.right, width), min(self.bottom, height)
        )


def boxes_of(mask: np.ndarray, weights: np.ndarray) -> list[tuple[Box, float]]:
    """Return the box of each component, and the mean weight of its pixels.

    Pixels are connected to their eight neighbours.
    """
    runs = _runs(mask)
    components: dict[int, list[int]] = {}
    for number, root in enumerate(_roots(runs)):
        components.setdefault(root, []).append(number)
    found = []
    for members in components.values():
        rows, starts, ends = runs[members].T
        box = Box(int(starts.min()), int(rows[0]), int(ends.max()), int(rows[-1]) + 1)
        pixels = [weights[row, start:end] for row, start, end in runs[members]]
        found.append((box, float(np.concatenate(pixels).mean())))
    return found


def _runs(mask: np.ndarray) -> np.ndarray:
    """Return (row, start, end) of each run of pixels, from top to bottom."""
    edges = np.diff(np.pad(mask.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    rows, starts = np.nonzero(edges == 1)
    return np.stack([rows, starts, np.nonzero(edges == -1)[1]], axis=1)


def _roots(runs: np.ndarray) -> list[int]:
    """Return for each run the number that its component shares (union-find)."""
    parents = list(range(len(runs)))

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = number = parents[parents[number]]
        return number

    above = 0  # the first run of the row before that may touch this one or a later one
    for number, (row, start, end) in enumerate(runs):
        while runs[above][0] < row - 1 or (runs[above][0] == row - 1 and runs[above][2] < start):
            above += 1
        other = above
        while runs[other][0] == row - 1 and runs[other][1] <= end:
            parents[root(number)] = root(other)
            other += 1
    return [root(number) for number in range(len(runs))]
