"""Python numbers as operands: numbers out of range are refused, comparisons are exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, OutOfRange

BIG = 1 << 33
ONE = [True]


def _x(dtype: str = "int32") -> Tensor:
    return Tensor([7], dtype=dtype)


@pytest.mark.parametrize(
    "compute",
    [
        lambda: _x() + BIG, lambda: BIG - _x(), lambda: _x() * -BIG, lambda: _x() // BIG,
        lambda: _x() % BIG, lambda: BIG // _x(), lambda: _x().idiv(BIG), lambda: _x() ** BIG,
        lambda: _x() & BIG, lambda: _x() | BIG, lambda: _x() ^ BIG, lambda: _x() << BIG,
        lambda: _x() >> BIG, lambda: _x().maximum(BIG), lambda: _x().minimum(BIG),
        lambda: _x().masked_fill(Tensor(ONE), BIG), lambda: Tensor(ONE).where(_x(), BIG),
        lambda: Tensor(ONE).where(BIG, _x()), lambda: _x().clamp(BIG), lambda: _x().clip(0, -BIG),
        lambda: _x().pad((1, 1), value=BIG), lambda: _x().pad((1, 1), value=1e12),
        lambda: _x().scatter(0, Tensor([0]), BIG), lambda: _x().fill_(BIG),
        lambda: _x().assign([BIG]), lambda: _x().full_like(BIG), lambda: _x().full_like(1e12),
        lambda: _x().fill_(math.nan), lambda: _x().add(1, alpha=BIG), lambda: _x().add_(BIG),
        lambda: _x("uint8") + -1, lambda: _x("uint8") & -1, lambda: _x("uint8") * 256,
        lambda: _x("int8") + np.int64(128), lambda: _x("uint64") - 2**64,
        lambda: Tensor([300], dtype="int8"), lambda: Tensor(300, dtype="int8"),
        lambda: Tensor([[1, -1]], dtype="uint16"), lambda: Tensor([1, math.inf], dtype="int32"),
        lambda: Tensor([math.nan], dtype="int32"), lambda: Tensor([1e20], dtype="int64"),
        lambda: Tensor(-math.inf, dtype="uint8"), lambda: Tensor([2**64]),
        lambda: Tensor([-1, 2**63]), lambda: Tensor.full((2,), 256, dtype="uint8"),
        lambda: Tensor.full((2,), math.inf, dtype="int32"), lambda: Tensor.full((2,), 2**64),
        lambda: Tensor.arange(0, 300, 100, dtype="int8"),
        lambda: Tensor.arange(-1, 1, dtype="uint8"),
        lambda: Tensor.arange(0.0, 300.0, 100.0, dtype="int8"),
        lambda: Tensor.linspace(0, 300, 3, dtype="int8"),
        lambda: Tensor.randint(2, low=0, high=300, dtype="int8"),
        lambda: Tensor([1.0]) + 10**400, lambda: Tensor([10**400], dtype="float32"),
        lambda: Tensor([1.0]) ** 10**400,
    ],
)  # fmt: skip
def test_numbers_out_of_range_are_refused(compute: Callable[[], Any]) -> None:
    with pytest.raises(OutOfRange):
        compute()


def test_writing_a_part_refuses_numbers_out_of_range() -> None:
    x = Tensor([1, 2, 3])
    for number in (BIG, math.nan, 1e20):
        with pytest.raises(OutOfRange):
            x[1:] = number
    assert x.tolist() == [1, 2, 3]


def test_the_error_is_pythons_and_names_the_range() -> None:
    for kind in (OverflowError, ArgumentError, ValueError, RuntimeError):
        with pytest.raises(kind, match="-128 to 127"):
            Tensor([1], dtype="int8") + 128


def test_numbers_at_the_ends_of_the_range_are_held() -> None:
    for dtype in dtypes.ints:
        for end in (int(dtype.min), int(dtype.max)):
            assert Tensor([end], dtype=dtype).tolist() == [end]
            assert Tensor.full((), end, dtype=dtype).item() == end
            assert (Tensor([0], dtype=dtype) | end).tolist() == [end]
    assert Tensor([127.9, -128.9], dtype="int8").tolist() == [127, -128]


def test_constructors_choose_a_dtype_that_holds_the_numbers() -> None:
    for number, dtype in ((2**31 - 1, dtypes.int32), (2**31, dtypes.int64), (2**63, dtypes.uint64)):
        made = [Tensor(number), Tensor([number, 0]), Tensor.full((2,), number)]
        made += [Tensor.arange(number, number + 1), Tensor(ONE).where(number, 0)]
        assert all(x.dtype is dtype for x in made)
        assert all(x.tolist() in (number, [number], [number, 0], [number] * 2) for x in made)
    assert Tensor([-(2**31) - 1]).dtype is dtypes.int64
    assert Tensor([2**40, 1.5]).dtype is dtypes.float32
    assert (Tensor(ONE) + 2**40).tolist() == [2**40 + 1]


def test_ranges_of_uint64_count_both_ways() -> None:
    assert Tensor.arange(2**63 - 1, 2**63 + 2).tolist() == [2**63 - 1, 2**63, 2**63 + 1]
    assert Tensor.arange(2**63 + 1, 2**63 - 1, -1).tolist() == [2**63 + 1, 2**63]


def test_random_integers_cover_whole_dtypes() -> None:
    drawn = Tensor.randint(400, low=0, high=2**64, dtype="uint64")
    assert drawn.max().item() > 2**63 > drawn.min().item()
    drawn = Tensor.randint(400, low=-(2**63), high=2**63, dtype="int64")
    assert drawn.max().item() > 2**62 and drawn.min().item() < -(2**62)
    assert set(Tensor.randint(9, low=2**64 - 2, high=2**64, dtype="uint64").tolist()) <= {
        2**64 - 2, 2**64 - 1,
    }  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "uint64", "float32"])
@pytest.mark.parametrize("number", [-1, 256, 2**33, -(2**63) - 1, 2**64, 10**400, -(10**400)])
def test_comparisons_are_exact(dtype: str, number: int) -> None:
    values = [0, 1] if dtype != "float32" else [0.0, 1.0, math.inf, -math.inf, math.nan]
    x = Tensor(values, dtype=dtype)
    got = {
        "<": (x < number, [v < number for v in values]),
        "<=": (x <= number, [v <= number for v in values]),
        ">": (x > number, [v > number for v in values]),
        ">=": (x >= number, [v >= number for v in values]),
        "==": (x == number, [v == number for v in values]),
        "!=": (x != number, [v != number for v in values]),
        "reflected": (number < x, [number < v for v in values]),
    }
    Tensor.realize(*(result for result, _ in got.values()))
    for sign, (result, expected) in got.items():
        assert result.tolist() == expected, sign


def test_bounds_out_of_range_that_bind_nothing_are_none() -> None:
    x = Tensor([-5, 5])
    assert x.clamp(-BIG, BIG).tolist() == x.clamp(max_=BIG).tolist() == [-5, 5]
    assert x.clamp(0, BIG).tolist() == [0, 5]


def test_floats_out_of_range_become_infinite() -> None:
    assert (Tensor([1.0]) * 1e300).tolist() == Tensor([1e300]).tolist() == [math.inf]
    assert (Tensor([1.0], dtype="float16") - 1e6).tolist() == [-math.inf]
    assert (Tensor([1.0]) * 2**200).tolist() == [math.inf]
    assert Tensor.full((), -1e300).item() == -math.inf
    assert Tensor([0.0]).fill_(1e300).tolist() == [math.inf]


def test_converting_a_tensor_wraps_as_ever() -> None:
    assert Tensor([300, -1]).cast("uint8").tolist() == [44, 255]
    assert Tensor(np.array([300])).cast("int8").tolist() == [44]
    assert (Tensor([255], dtype="uint8") + Tensor([1], dtype="uint8")).tolist() == [0]
