"""The strong Wolfe conditions at the points that the line search finds."""

import math

import pytest

from weft.nn.optim import line_search
from weft.nn.optim.line_search import CURVATURE, DECREASE, Point, strong_wolfe

FUNCTIONS = [
    (lambda t: (t - 1.0) ** 2, lambda t: 2.0 * (t - 1.0)),
    (lambda t: math.exp(t) - 3.0 * t, lambda t: math.exp(t) - 3.0),
    (lambda t: -t / (t * t + 2.0), lambda t: (t * t - 2.0) / (t * t + 2.0) ** 2),
    (lambda t: t**4 - 2.0 * t**3 - t, lambda t: 4.0 * t**3 - 6.0 * t**2 - 1.0),
    (lambda t: math.cos(5.0 * t) - t, lambda t: -5.0 * math.sin(5.0 * t) - 1.0),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("step", [1e-3, 0.5, 1.0, 30.0])
def test_the_conditions_hold(function, step: float) -> None:
    def point(t: float) -> Point:
        calls.append(t)
        return Point(t, function[0](t), function[1](t), None)

    calls: list[float] = []
    start = point(0.0)
    found, evaluations = strong_wolfe(point, start, step)
    assert evaluations == len(calls) - 1 <= 25
    assert found.value <= start.value + DECREASE * found.step * start.slope
    assert abs(found.slope) <= -CURVATURE * start.slope


def test_a_value_that_is_no_number_is_stepped_back_from() -> None:
    def point(t: float) -> Point:
        if t > 2.0:
            return Point(t, math.nan, math.nan, None)
        return Point(t, (t - 1.0) ** 2, 2.0 * (t - 1.0), None)

    found, _ = line_search.strong_wolfe(point, point(0.0), 8.0)
    assert 0.0 < found.step < 2.0


def test_the_best_point_where_none_is_found() -> None:
    def point(t: float) -> Point:
        return Point(t, -t, -1.0, None)

    found, evaluations = strong_wolfe(point, point(0.0), 1.0, most=3)
    assert evaluations == 3 and found.value < -30.0
