"""Integers, representations of floats, matrices of blocks: beside Python and NumPy."""

import itertools
import math

import numpy as np
import pytest

import weft
from weft import Tensor

rng = np.random.default_rng(0)
FLOATS = [6.0, -0.75, 1.0, 0.0, -0.0, 1e-310, 5e-324, 1e308, math.inf, -math.inf, math.nan, -3e-5]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_divisors_and_multiples(dtype):
    info = np.iinfo(dtype)
    a, b = (rng.integers(info.min // 2, info.max // 2, 60).astype(dtype) for _ in range(2))
    a[:4], b[:4] = [0, 0, 12, 1], [0, 5, 18, 0]
    found = weft.gcd(Tensor(a), Tensor(b)).numpy()
    np.testing.assert_array_equal(found, [math.gcd(int(x), int(y)) for x, y in zip(a, b)])
    small_a, small_b = (x.astype(dtype) for x in (a % 11, b % 7))
    np.testing.assert_array_equal(
        weft.lcm(Tensor(small_a), Tensor(small_b)).numpy(), np.lcm(small_a, small_b)
    )


def test_the_most_steps_of_a_common_divisor():
    numbers = [1, 1]
    while numbers[-1] + numbers[-2] < 2**63:
        numbers.append(numbers[-1] + numbers[-2])
    pair = [np.array([n], np.int64) for n in numbers[-2:]]
    assert weft.gcd(*map(Tensor, pair)).item() == 1


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_mantissas_and_exponents(dtype):
    with np.errstate(over="ignore"):
        x = np.array([*FLOATS, *rng.standard_normal(20) * 1e-40], dtype)
    mantissa, exponent = weft.frexp(Tensor(x))
    expected = np.frexp(x)
    plain = np.isfinite(x)  # the exponents of others are unspecified in C
    np.testing.assert_array_equal(mantissa.numpy(), expected[0])
    np.testing.assert_array_equal(exponent.numpy()[plain], expected[1][plain])
    back = weft.ldexp(mantissa, exponent).numpy()
    np.testing.assert_array_equal(back[plain], x[plain])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_neighbours(dtype):
    with np.errstate(over="ignore"):
        a = np.array([x for x in FLOATS for _ in FLOATS], dtype)
        b = np.array(FLOATS * len(FLOATS), dtype)
    found = weft.nextafter(Tensor(a), Tensor(b)).numpy()
    np.testing.assert_array_equal(found, np.nextafter(a, b))


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_combinations(again, count):
    choose = itertools.combinations_with_replacement if again else itertools.combinations
    expected = [list(row) for row in choose([5, 6, 7, 8], count)]
    assert weft.combinations(Tensor([5, 6, 7, 8]), count, again).tolist() == expected


def test_places_in_a_shape():
    flat = np.array([[0, 5], [23, 11]])
    for ours, theirs in zip(weft.unravel_index(Tensor(flat), (2, 3, 4)),
                            np.unravel_index(flat, (2, 3, 4))):  # fmt: skip
        np.testing.assert_array_equal(ours.numpy(), theirs)


@pytest.mark.parametrize("offset", [-2, 0, 1])
def test_matrices_of_diagonals(offset):
    x = rng.standard_normal((2, 3))
    expected = np.stack([np.diag(row, offset) for row in x])
    np.testing.assert_array_equal(weft.diag_embed(Tensor(x), offset).numpy(), expected)
    assert weft.diag_embed(Tensor([True, False])).tolist() == [[True, False], [False, False]]
    moved = weft.diag_embed(Tensor(x), offset, 0, 2).numpy()
    np.testing.assert_array_equal(moved, expected.transpose(1, 0, 2))


def test_matrices_of_blocks():
    blocks = [np.ones((2, 3)), np.array([4.0, 5.0]), np.array(6.0)]
    expected = np.zeros((4, 6))
    expected[:2, :3], expected[2, 3:5], expected[3, 5] = blocks
    found = weft.block_diag(*map(Tensor, blocks))
    np.testing.assert_array_equal(found.numpy(), expected)


def test_refused_arguments():
    with pytest.raises(weft.WeftError, match="gcd is of integers"):
        weft.gcd(Tensor([1.5]), Tensor([2]))
    with pytest.raises(weft.WeftError, match="combinations are of a vector"):
        weft.combinations(Tensor([[1]]))
    with pytest.raises(weft.WeftError, match="blocks are matrices"):
        weft.block_diag(Tensor.ones(1, 1, 1))
