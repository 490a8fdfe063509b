"""Reductions over rows, columns and everything, of lengths that no loop is unrolled by."""

from __future__ import annotations

import math

import numpy
import pytest

from weft.base.dtype import dtypes
from weft.tensor import Tensor

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")

SHAPE = (3, 67)
HOW = {"sum": numpy.sum, "prod": numpy.prod, "max": numpy.max, "min": numpy.min}
DTYPES = [dtypes.int32, dtypes.uint8, dtypes.float32, dtypes.float64, dtypes.float16]


def whole_numbers(dtype, how):
    """Numbers whose sums and products are exact in the dtype."""
    values = numpy.random.default_rng(3).integers(1, 5, SHAPE)
    if how == "prod":
        values = numpy.where(numpy.arange(SHAPE[1]) % 29 == 0, values % 2 + 1, 1)
    elif not dtypes.is_unsigned(dtype):
        values = values - 3
    return values


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_along_each_axis(weft_device, weft_compute, dtype, how):
    if dtype not in weft_compute.dtypes:
        pytest.skip(f"{dtype} is not declared")
    values = whole_numbers(dtype, how)
    x = Tensor(values.tolist(), dtype=dtype, device=weft_device.name)
    # The loops are the same for all of them, so the others are summed along one axis only.
    for axis in (0, 1, None) if dtype in (dtypes.int32, dtypes.float32) else (1,):
        found = getattr(x, how)(axis=axis).cast(dtypes.float32).numpy()
        numpy.testing.assert_array_equal(found, HOW[how](values, axis=axis), f"axis {axis}")


def test_infinities_and_what_is_no_number(weft_device):
    rows = [[1.0, math.inf, -2.0], [-math.inf, math.inf, 0.0], [math.nan, 5.0, math.inf]]
    rows.append([-math.inf] * 3)
    x = Tensor(rows, dtype=dtypes.float32, device=weft_device.name)
    given = numpy.array(rows, dtype=numpy.float32)
    with numpy.errstate(invalid="ignore"):
        numpy.testing.assert_array_equal(x.sum(1).numpy(), given.sum(1))
    numpy.testing.assert_array_equal(x.max(1).numpy(), given.max(1))
    numpy.testing.assert_array_equal(x.min(1).numpy(), given.min(1))


@pytest.mark.parametrize("length", [1, 31, 33, 1000, 4097])
def test_long_rows(weft_device, length):
    values = numpy.random.default_rng(length).integers(-50, 50, (2, length)).astype(numpy.int32)
    x = Tensor(values, device=weft_device.name)
    assert x.sum(1).tolist() == values.sum(1).tolist()
    assert x.argmax(1).tolist() == values.argmax(1).tolist()


def test_a_sum_of_nothing(weft_device):
    x = Tensor(numpy.zeros((3, 0), dtype=numpy.float32), device=weft_device.name)
    assert x.sum(1).tolist() == [0.0] * 3 and x.prod().item() == 1.0


def test_sums_of_booleans_count(weft_device):
    x = Tensor([[True, False, True], [False] * 3], device=weft_device.name)
    assert x.sum(1).tolist() == [2, 0]
    assert x.any(1).tolist() == [True, False] and x.all(0).tolist() == [False] * 3
