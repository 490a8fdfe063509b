"""Register tiles: what is tried, and what storing lanes one by one costs."""

import itertools

import pytest

from weft_simd.choice.tile_shapes import (
    fetched_cost,
    scattered_cost,
    strip_bytes,
    tilings,
)
from weft_simd.thresholds import SAME_SET


@pytest.mark.parametrize(
    ("choices", "most"),
    [([range(1, 9)] * 3, 32), ([(1, 2), (1, 3, 5)], 6), ([(2, 4)], 1), ([], 4)],
)
def test_tilings_are_all_products_that_fit(choices, most):
    def size(factors):
        return factors[0] * size(factors[1:]) if factors else 1

    wanted = [f for f in itertools.product(*choices) if size(f) <= most]
    assert list(tilings(choices, most)) == wanted


NEAR, LATENCY = 1 << 15, 8.0


def test_contiguous_lanes_cost_nothing():
    assert scattered_cost(4, 1, 16, [(1, 8)], LATENCY) == 0 == scattered_cost(4, 0, 16, [], LATENCY)


def test_neighbours_in_a_tile_share_lines():
    alone = scattered_cost(4, 9, 16, [(5000, 4)], LATENCY)
    three = scattered_cost(4, 9, 16, [(5000, 4), (1, 3)], LATENCY)
    nine = scattered_cost(4, 9, 16, [(3, 3), (1, 3)], LATENCY)
    apart = scattered_cost(4, 9, 16, [(3, 3)], LATENCY)
    assert nine < three < alone == apart


def test_conflicting_cache_lines_are_expensive():
    for itemsize, lanes in ((4, 16), (8, 8)):
        apart, beside = (
            scattered_cost(itemsize, step, lanes, [], LATENCY)
            for step in (SAME_SET // 4, SAME_SET // 4 + 1)
        )
        assert apart > beside


def test_few_rows_of_many_vectors_wait_for_what_is_fetched():
    wide, square = fetched_cost(0.5, 7 * 64, 14, 32), fetched_cost(0.5, 4 * 64, 20, 32)
    assert square == 0.5 < wide
    assert fetched_cost(0.5, 0, 14, 32) == 0.5
    assert fetched_cost(0.5, 7 * 64, 14, 32) < fetched_cost(0.7, 7 * 64, 14, 32)


def test_few_sums_wait_where_there_are_registers_for_more():
    assert fetched_cost(0.5, 0, 8, 32) > fetched_cost(0.5, 0, 10, 32) > 0.5
    assert fetched_cost(0.5, 0, 8, 16) == 0.5


def test_strips_are_fetched_again_where_they_are_long():
    strips = [(64, [0]), (32, [1, 2])]
    assert strip_bytes(strips, 1, (4, 3, 2), NEAR) == 0  # in the nearest cache
    assert strip_bytes(strips, NEAR, (4, 3, 2), NEAR) == 64 * 4 + 32 * 6
    assert strip_bytes(strips, NEAR // 192, (4, 3, 2), NEAR) == 64 * 4  # the other one just fits
    assert strip_bytes([], NEAR, (4,), NEAR) == 0
