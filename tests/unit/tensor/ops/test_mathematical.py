"""Functions of one and two numbers at the ends of their ranges; the rest is compared with PyTorch
in tests/property."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import DTypeError

EDGES = [0.0, -0.0, 1.0, -1.0, 1e30, 1e-30, math.inf, -math.inf, math.nan]
PAIRS = list(itertools.product(EDGES, EDGES))
LEFT, RIGHT = (np.array(side, dtype=np.float32) for side in zip(*PAIRS))


@pytest.mark.parametrize(
    "name, reference",
    [
        ("hypot", np.hypot),
        ("atan2", np.arctan2),
        ("logaddexp", np.logaddexp),
        ("fmax", np.fmax),
        ("fmin", np.fmin),
        ("fmod", np.fmod),
        ("heaviside", np.heaviside),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_the_edges_of_two_numbers(name: str, reference: np.ufunc) -> None:
    got = getattr(Tensor(LEFT), name)(Tensor(RIGHT)).numpy()
    want = reference(LEFT, RIGHT)
    # a quotient beyond 2**29 is not resolved
    rows = (np.abs(LEFT / RIGHT) < 2**29) | np.isinf(RIGHT) | (name != "fmod")
    np.testing.assert_allclose(got[rows], want[rows], rtol=3e-6)


def test_angles_know_the_sides_of_zero() -> None:
    got = Tensor([0.0, -0.0, 0.0, -0.0]).atan2(Tensor([-1.0, -1.0, 1.0, 1.0])).numpy()
    np.testing.assert_array_equal(np.signbit(got), [False, True, False, True])


def test_signs_of_numbers_that_are_no_floats() -> None:
    assert Tensor([-1, 0]).signbit().tolist() == [True, False]
    assert Tensor([1], dtype="uint8").signbit().tolist() == [False]
    assert Tensor([True]).signbit().dtype is dtypes.bool


@pytest.mark.parametrize("name", ["hypot", "atan2", "logaddexp", "xlogy"])
def test_the_dtype_is_that_of_both(name: str) -> None:
    half = Tensor([1.0], dtype="half")
    assert getattr(half, name)(Tensor([2], dtype="int8")).dtype is dtypes.float16
    assert getattr(Tensor([1]), name)(2).dtype is dtypes.float32


def test_nan_to_num_replaces_infinities_by_the_extrema() -> None:
    x = Tensor([math.inf, -math.inf, math.nan], dtype="half").nan_to_num(nan=2.0)
    assert x.tolist() == [65504.0, -65504.0, 2.0]
    assert Tensor([1, 2]).nan_to_num().dtype is dtypes.int32


def test_questions_are_answered_now() -> None:
    x = Tensor([1.0, math.nan])
    assert x.allclose(x, equal_nan=True) is True and x.allclose(x) is False
    assert x.equal(x) is False and Tensor([]).equal(Tensor([])) is True
    with pytest.raises(DTypeError):
        x.equal(1.0)


def test_divmod_is_pythons() -> None:
    for a, b in itertools.product([7, -7], [3, -3]):
        assert [part.item() for part in divmod(Tensor(a), b)] == list(divmod(a, b))
        assert [part.item() for part in divmod(a, Tensor(b))] == list(divmod(a, b))


def test_comparison_with_other_types() -> None:
    x = Tensor([1])
    assert (x == None) is False and (x != None) is True and (x == "a") is False  # noqa: E711


def test_contains() -> None:
    x = Tensor([[1, 2], [3, 4]])
    assert 3 in x and 5 not in x and 2.5 not in x
    with pytest.raises(DTypeError):
        assert "a" in x


def test_numbers_are_weak() -> None:
    x = Tensor([1.0, math.nan], dtype="half")
    assert x.fmax(2.0).dtype is dtypes.float16 and x.fmax(2.0).tolist() == [2.0, 2.0]
    assert x.fmin(math.nan).tolist()[0] == 1.0 and Tensor([3]).fmin(2).dtype is dtypes.int32
    assert x.hypot(1.0).dtype is dtypes.float16 and x.heaviside(0.5).dtype is dtypes.float16


def test_one_operand_may_be_scaled() -> None:
    x, y = Tensor([5, 7]), Tensor([1, 2])
    assert x.add(y, alpha=3).tolist() == [8, 13] and x.sub(y, alpha=2).tolist() == [3, 3]
    assert x.sub(1, alpha=2).tolist() == [3, 5] and x.add(1, alpha=0.5).tolist() == [5.5, 7.5]


def test_rounding_to_places() -> None:
    x = Tensor([1234.5678, -0.125])
    assert x.round(decimals=1).tolist() == pytest.approx([1234.6, -0.1])
    assert x.round(decimals=-2).tolist() == [1200.0, 0.0]
    whole = Tensor([149, 251]).round(decimals=-2)
    assert whole.dtype is dtypes.int and whole.tolist() == [100, 300]
    assert Tensor([149]).round(decimals=2).tolist() == [149]
    assert np.round(x, 1).tolist() == x.round(1).tolist()


@pytest.mark.parametrize("kind", ["int32", "uint32", "int64"])
def test_a_large_integer_takes_a_sign_in_the_dtype_of_the_result(kind):
    largest = np.array([np.iinfo(kind).max, 2**24 + 1], dtype=kind)
    sign = np.array([-1.0, 0.0])
    found = Tensor(largest).copysign(Tensor(sign))
    np.testing.assert_array_equal(found.numpy(), np.copysign(largest.astype(np.float64), sign))
    assert found.dtype is dtypes.float64
