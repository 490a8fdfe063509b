"""Movement: padding modes and their values."""

from __future__ import annotations

import math

import numpy
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, UnknownChoice


def test_circular_padding_of_a_shrunk_tensor() -> None:
    x = Tensor([0, 1, 2])
    assert x.pad((1, -1), mode="circular").tolist() == [1, 0, 1]
    assert x.pad((-1, 2), mode="circular").tolist() == [1, 2, 1, 2]
    assert x.pad((-1, 2), mode="reflect").tolist() == [1, 2, 1, 0]
    with pytest.raises(UnknownChoice):
        x.pad((1, 1), mode="mirror")


def test_the_sign_of_zero_goes_along() -> None:
    x = Tensor([[-0.0, 1.0, -math.inf], [0.0, -0.0, math.nan]])
    y = x.cast("half")
    parts = {
        "joined": (x.cat(x * 1, y, dim=1), [0, 1, 2, 0, 1, 2, 0, 1, 2]),
        "stacked": (x.stack(y).transpose(0, 1).reshape(2, 6), [0, 1, 2, 0, 1, 2]),
        "rolled": (x.roll(1, 1), [2, 0, 1]),
        "mirrored": (x.pad((1, 2), mode="reflect"), [1, 0, 1, 2, 1, 0]),
        "repeated": (x.pad((2, 0), mode="replicate"), [0, 0, 0, 1, 2]),
        "round": (x.pad((1, 1), mode="circular"), [2, 0, 1, 2, 0]),
    }
    wanted = x.tolist()
    for name, (found, places) in parts.items():
        assert repr(found.tolist()) == repr([[row[i] for i in places] for row in wanted]), name


def test_padding_with_minus_zero() -> None:
    assert repr(Tensor([1.0, -0.0]).pad((1, 1), value=-0.0).tolist()) == "[-0.0, 1.0, -0.0, -0.0]"
    assert repr(Tensor([1.0, -0.0]).pad((1, 1)).tolist()) == "[0.0, 1.0, -0.0, 0.0]"
    padded = Tensor([1, 2]).pad((0, 1), value=-0.0)
    assert (padded.dtype, padded.tolist()) == (Tensor([1]).dtype, [1, 2, 0])


def test_padding_keeps_the_dtype() -> None:
    for dtype, value, wanted in (
        ("bool", 1, [True, False, True]),
        ("bool", 2.5, [True, False, True]),
        ("int32", 1.5, [1, 0, 1]),
        ("int8", -1.5, [-1, 0, -1]),
        ("uint8", True, [1, 0, 1]),
        ("int16", numpy.float32(2.75), [2, 0, 2]),
        ("int64", Tensor(3.5), [3, 0, 3]),
        ("float16", 1, [1.0, 0.0, 1.0]),
        ("bfloat16", True, [1.0, 0.0, 1.0]),
    ):
        x = Tensor([0], dtype=dtype)
        padded = x.pad((1, 1), value=value)
        assert (padded.dtype, padded.tolist()) == (x.dtype, wanted), (dtype, value)
        around = (x == 1).pad((1, 1), value=value)  # of what is computed, too
        assert (around.dtype, around.tolist()) == (dtypes.bool, [True, False, True])
    row = Tensor([[True, False, True]]).pad((-1, 2), value=1)
    assert row.tolist() == [[False, True, True, True]]


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan")])
def test_integers_are_not_padded_with_non_finite_values(value: float) -> None:
    with pytest.raises(ArgumentError, match="holds no such number"):
        Tensor([1, 2]).pad((1, 0), value=value)
    assert repr(Tensor([1.0]).pad((1, 0), value=value).tolist()) == repr([value, 1.0])
