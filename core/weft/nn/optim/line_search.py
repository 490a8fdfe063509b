"""Line search for the strong Wolfe conditions.

Source: J. Nocedal and S. J. Wright, "Numerical Optimization" (2006), algorithms 3.5 and 3.6, with
cubic interpolation, equation 3.59.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

DECREASE, CURVATURE = 1e-4, 0.9
"""The constants of the two conditions, as usual for quasi-Newton methods."""


class Point(NamedTuple):
    """A point on the line: its step, the value and the slope there, and the gradient."""

    step: float
    value: float
    slope: float
    gradient: Any


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    step: float,
    tolerance: float = 1e-9,
    most: int = 25,
) -> tuple[Point, int]:
    """A point along a line where the value has decreased enough and the slope is flat enough, and
    the number of evaluations; the best point found if `most` evaluations find none.

    start: the point of step 0, whose slope is below 0. step: the first step that is tried.
    tolerance: an interval shorter than this is not divided further.

    >>> def parabola(step):
    ...     return Point(step, (step - 1.0) ** 2, 2.0 * (step - 1.0), None)
    >>> found, evaluations = strong_wolfe(parabola, parabola(0.0), 4.0)
    >>> found.step, evaluations
    (1.0, 2)
    """
    previous, evaluations = start, 0
    best = start
    while evaluations < most:
        found = evaluate(step)
        evaluations += 1
        best = min(best, found, key=_order)
        rises = _rises(found, start) or (evaluations > 1 and found.value >= previous.value)
        if rises or not math.isfinite(found.value):
            return _zoom(evaluate, start, previous, found, tolerance, most, evaluations)
        if abs(found.slope) <= -CURVATURE * start.slope:
            return found, evaluations
        if found.slope >= 0.0:
            return _zoom(evaluate, start, found, previous, tolerance, most, evaluations)
        # further along, at most ten times as far
        least = found.step + 0.01 * (found.step - previous.step)
        step = _between(previous, found, least, found.step * 10.0)
        previous = found
    return best, evaluations


def _zoom(
    evaluate: Callable[[float], Point], start: Point, low: Point, high: Point,
    tolerance: float, most: int, evaluations: int,
) -> tuple[Point, int]:  # fmt: skip
    """Shrink an interval that contains such a point; `low` is its end with the smaller value."""
    stuck = False
    while evaluations < most:
        left, right = sorted((low.step, high.step))
        width = right - left
        if width * abs(start.slope) < tolerance:
            break
        step = _between(low, high, left, right)
        # two steps next to an end would not shrink the interval
        margin = 0.1 * width
        near = min(step - left, right - step) < margin
        if near and (stuck or step in (left, right)):
            step = left + margin if step - left < right - step else right - margin
            near = False
        stuck = near
        found = evaluate(step)
        evaluations += 1
        if not math.isfinite(found.value) or _rises(found, start) or found.value >= low.value:
            high = found
            continue
        if abs(found.slope) <= -CURVATURE * start.slope:
            return found, evaluations
        if found.slope * (high.step - low.step) >= 0.0:
            high = low
        low = found
    return low, evaluations


def _rises(point: Point, start: Point) -> bool:
    """Whether a point violates the condition of sufficient decrease."""
    return point.value > start.value + DECREASE * point.step * start.slope


def _order(point: Point) -> float:
    return point.value if math.isfinite(point.value) else math.inf


def _between(first: Point, second: Point, least: float, most: float) -> float:
    """The minimum of the cubic through values and slopes of two points, within bounds; their middle
    where there is none."""
    left, right = (first, second) if first.step <= second.step else (second, first)
    width = right.step - left.step
    if width and all(map(math.isfinite, (left.value, right.value, left.slope, right.slope))):
        turn = left.slope + right.slope - 3.0 * (left.value - right.value) / -width
        square = turn * turn - left.slope * right.slope
        if square >= 0.0:
            root = math.sqrt(square)
            divisor = right.slope - left.slope + 2.0 * root
            if divisor:
                share = (right.slope + root - turn) / divisor
                return min(max(right.step - width * share, least), most)
    return (least + most) / 2.0
