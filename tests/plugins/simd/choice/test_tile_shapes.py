"""Register tiles: what is tried, and what storing lanes one by one costs."""

import itertools

import pytest

from weft.device.capabilities import ComputeCaps
from weft.plugin import MachineModel
from weft_simd import thresholds
from weft_simd.choice.tile_shapes import (
    by_instances,
    fetched_cost,
    operand_registers,
    scattered_cost,
    streamed_cost,
    strip_bytes,
    tilings,
)


@pytest.mark.parametrize(
    ("choices", "most"),
    [([range(1, 9)] * 3, 32), ([(1, 2), (1, 3, 5)], 6), ([(2, 4)], 1), ([], 4)],
)
def test_tilings_are_all_products_that_fit(choices, most):
    def size(factors):
        return factors[0] * size(factors[1:]) if factors else 1

    wanted = [f for f in itertools.product(*choices) if size(f) <= most]
    assert list(tilings(choices, most)) == wanted


NEAR, USUAL = 1 << 15, MachineModel()
MANY, FEW = (ComputeCaps(vector_registers=n).machine for n in (32, 16))


def test_contiguous_lanes_cost_nothing():
    assert scattered_cost(4, 1, 16, [(1, 8)], USUAL) == 0 == scattered_cost(4, 0, 16, [], USUAL)


def test_neighbours_in_a_tile_share_lines():
    alone = scattered_cost(4, 9, 16, [(5000, 4)], USUAL)
    three = scattered_cost(4, 9, 16, [(5000, 4), (1, 3)], USUAL)
    nine = scattered_cost(4, 9, 16, [(3, 3), (1, 3)], USUAL)
    apart = scattered_cost(4, 9, 16, [(3, 3)], USUAL)
    assert nine < three < alone == apart


def test_conflicting_cache_lines_are_expensive():
    words = thresholds.conflict_bytes(USUAL) // 4
    for itemsize, lanes in ((4, 16), (8, 8)):
        apart, beside = (
            scattered_cost(itemsize, step, lanes, [], USUAL) for step in (words, words + 1)
        )
        assert apart > beside


def test_tiles_of_few_rows_and_many_vectors_wait_for_loads():
    wide, square = fetched_cost(0.5, 7 * 64, 14, MANY), fetched_cost(0.5, 4 * 64, 20, MANY)
    assert 0.5 < square < 0.55 < wide
    assert fetched_cost(0.5, 0, 14, MANY) == 0.5
    assert fetched_cost(0.5, 7 * 64, 14, MANY) < fetched_cost(0.7, 7 * 64, 14, MANY)


def test_tiles_with_many_shared_elements_wait_for_the_last_level_cache():
    element = [(4, [1])]  # of each row of a tile: (vectors, rows)
    few, many = (streamed_cost(element, factors, USUAL) for factors in ((4, 3), (2, 6)))
    assert many == 2 * few > 0  # each is multiplied with two vectors instead of four
    assert streamed_cost([], (4, 3), USUAL) == 0


def test_few_sums_wait_where_there_are_registers_for_more():
    assert fetched_cost(0.5, 0, 8, MANY) > fetched_cost(0.5, 0, 10, MANY) > 0.5
    assert fetched_cost(0.5, 0, 8, FEW) == 0.5


def test_strips_are_fetched_again_where_they_are_long():
    strips = [(64, [0]), (32, [1, 2])]
    assert strip_bytes(strips, 1, (4, 3, 2), NEAR) == 0  # in the nearest cache
    assert strip_bytes(strips, NEAR, (4, 3, 2), NEAR) == 64 * 4 + 32 * 6
    assert strip_bytes(strips, NEAR // 192, (4, 3, 2), NEAR) == 64 * 4  # the other one just fits
    assert strip_bytes([], NEAR, (4,), NEAR) == 0


def test_the_smallest_factor_varies_fastest() -> None:
    assert by_instances((6, 2)) == [1, 0]
    assert by_instances((3, 4)) == [0, 1]
    assert by_instances((4, 1, 4)) == [1, 0, 2]


@pytest.mark.parametrize(
    ("factors", "held"),
    [((3, 4), 4), ((4, 3), 4), ((6, 2), 3), ((2, 6), 3), ((1, 8), 2), ((5, 5), 6)],
)
def test_the_smaller_side_of_a_product_is_held_in_registers(
    factors: tuple[int, ...], held: int
) -> None:
    """And one register for the other side."""
    assert operand_registers([{0}, {1}], factors) == held


def test_an_operand_that_all_instances_read_is_held() -> None:
    assert operand_registers([(), {0, 1}], (2, 4)) == 2
    assert operand_registers([{0}, {1}, {2}], (2, 3, 4)) == 2 + 3 + 1
