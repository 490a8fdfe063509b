"""General launch plans: other numbers without another schedule, and never those of another call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import Tensor, settings
from weft.schedule.cache import schedules
from weft.tensor import general_plans

rng = np.random.default_rng(5)
ROWS = rng.random((40, 6), dtype=np.float32)
WHOLE = rng.integers(-50, 50, (5, 7)).astype(np.int32)


@pytest.fixture(autouse=True)
def without_plans() -> None:
    general_plans.clear_plans()


def rows() -> Tensor:
    return Tensor(ROWS).realize()


def scaled(x: Any, i: int) -> Any:
    return x * ((i - 20) / 7) + 2.5


def window(x: Any, i: int) -> Any:
    return x[i : i + 4] * 2.0


def element(x: Any, i: int) -> Any:
    return x[i, i % 6] * x[(3 * i) % 40, 2]


def row_sum(x: Any, i: int) -> Any:
    return (x[i] + i / 3).sum()


def column(x: Any, i: int) -> Any:
    return x[:, i % 6] - (i + 0.5)


def step(x: Any, i: int) -> Any:
    return x - (0.1 / (i + 1)) * (x * x)


PROGRAMS = [scaled, window, element, row_sum, column, step]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_later_numbers_need_no_schedule(program: Any) -> None:
    x = rows()
    before = schedules.misses
    for i in range(36):
        got = program(x, i).realize()
        np.testing.assert_allclose(got.numpy(), program(ROWS, i), rtol=1e-5, atol=1e-6)
    assert schedules.misses - before <= 8


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_the_results_are_those_of_constants(program: Any) -> None:
    x = rows()
    found = [program(x, i).numpy().tobytes() for i in range(12)]
    with settings.override(KERNEL_ARGUMENTS=0, SCHEDULE_CACHE=0):
        expected = [program(x, i).numpy().tobytes() for i in range(12)]
    if program is not row_sum:  # sums may be associated differently
        assert found == expected


def test_integers_and_double_precision() -> None:
    x, y = Tensor(WHOLE).realize(), Tensor(WHOLE / 3).realize()
    before = schedules.misses
    for i in range(-20, 20):
        got = (x * i + 3).maximum(i).realize()
        np.testing.assert_array_equal(got.numpy(), np.maximum(WHOLE * i + 3, i))
        np.testing.assert_array_equal((y * (i / 7)).realize().numpy(), WHOLE / 3 * (i / 7))
    assert schedules.misses - before <= 8


def test_zeros_infinities_and_nan() -> None:
    x = Tensor([1.0, -1.0, 0.0]).realize()
    for number in (2.0, 0.0, -0.0, 3.0, -0.0, float("inf"), 1.0, float("nan"), -1.0, 0.0):
        with np.errstate(invalid="ignore"):
            want = np.float32([1.0, -1.0, 0.0]) * np.float32(number)
        np.testing.assert_array_equal((x * number).realize().numpy(), want)
        assert np.signbit((x * number).numpy()).tolist()[:2] == np.signbit(want).tolist()[:2]


def test_a_write_between_two_calls_is_seen() -> None:
    x, expected = rows().clone().realize(), ROWS.copy()
    for i in range(12):
        got = (x[i] * (i + 1.5)).realize()
        np.testing.assert_allclose(got.numpy(), expected[i] * (i + 1.5), rtol=1e-6)
        x[i + 1] = float(i)
        expected[i + 1] = i


def test_a_write_after_the_record_is_not_seen() -> None:
    x = rows().clone().realize()
    for i in range(6):
        pending = x[i] * (i + 1.5)
        before = x.numpy().copy()
        x[i] = 7.0
        np.testing.assert_allclose(pending.numpy(), before[i] * (i + 1.5), rtol=1e-6)


def test_pending_tensors_that_share_a_value_keep_it() -> None:
    x = rows()
    for i in range(6):
        shared = x * (i + 0.5)
        one, two = shared + 1, shared + 2
        np.testing.assert_allclose(one.realize().numpy(), ROWS * (i + 0.5) + 1, rtol=1e-6)
        np.testing.assert_allclose(two.numpy(), ROWS * (i + 0.5) + 2, rtol=1e-6)


def test_gradients_flow_through_realized_values() -> None:
    for i in range(6):
        x = Tensor(ROWS, requires_grad=True)
        loss = (x * (i + 0.5)).sum()
        loss.realize()
        loss.backward()
        np.testing.assert_allclose(x.grad.numpy(), np.full_like(ROWS, i + 0.5))


def test_indices_that_are_computed_stay_exact() -> None:
    x, at = rows(), Tensor([1, -2, 3]).realize()
    for i in range(6):
        np.testing.assert_array_equal(x[at + i].numpy(), ROWS[np.array([1, -2, 3]) + i])


def test_views_of_results_have_static_places() -> None:
    x = rows()
    for i in range(6):
        got = (x[i : i + 3] + i / 7)[1:].realize()
        assert got.shape == (2, 6)
        again = (got * 2)[0]
        np.testing.assert_allclose(again.numpy(), (ROWS[i + 1] + i / 7) * 2, rtol=1e-6)


def test_constants_that_share_nodes_are_looked_at_once():
    """Each sum doubles the paths to its constant."""
    for factor in (2.0, 3.0, 4.0):
        value = Tensor.ones(2)
        for _ in range(60):
            value = value + value
        assert (factor / value).tolist() == [factor / 2.0**60] * 2
