"""Operations and dtypes that the device lacks itself, through the code generator."""

from __future__ import annotations

import math

import numpy
import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.base.scalars import truncate
from weft.tensor import Tensor
from weft.uop import GroupOp, Ops

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")

UNARY = {
    "exp2": (Ops.EXP2, numpy.exp2, numpy.linspace(-8, 8, 83)),
    "log2": (Ops.LOG2, numpy.log2, numpy.geomspace(1e-6, 1e6, 83)),
    "sin": (Ops.SIN, numpy.sin, numpy.linspace(-100, 100, 83)),
    "sqrt": (Ops.SQRT, numpy.sqrt, numpy.linspace(0, 100, 83)),
    "reciprocal": (Ops.RECIP, numpy.reciprocal, numpy.geomspace(1e-3, 1e3, 83)),
}
FLOATS = [dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64]
ALL = [dtype for dtype in dtypes.all if dtype is not dtypes.void]


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions(weft_device, weft_compute, name, dtype):
    if dtype is dtypes.float64 and dtype not in weft_compute.dtypes:
        pytest.skip(f"{dtype} is not declared, and nothing emulates it")
    # Every number of these is a float32 as well, but for those of float64 itself.
    exact = dtypes.float64 if dtypes.float64 in weft_compute.dtypes else dtypes.float32
    _, function, values = UNARY[name]
    given = numpy.array([truncate(value, dtype) for value in values.tolist()])
    x = Tensor(given.tolist(), dtype=dtype, device=weft_device.name)
    found = getattr(x, name)().cast(exact).numpy().astype(numpy.float64)
    wanted = function(given)
    # an ulp of the dtype at 1, and float64 functions are only asked to be as good as float32's
    ulp = 2.0 ** -min(dtypes.finfo(dtype).mantissa_bits, 23)
    assert numpy.allclose(found, wanted, rtol=3 * ulp, atol=3 * ulp)


@pytest.mark.parametrize("name", ["exp2", "log2", "sin", "sqrt"])
def test_functions_at_the_edges(weft_device, name):
    values = [0.0, -0.0, math.inf, -math.inf, math.nan, -1.0, 200.0, -200.0]
    x = Tensor(values, dtype=dtypes.float32, device=weft_device.name)
    with numpy.errstate(all="ignore"):
        wanted = getattr(numpy, name)(numpy.array(values, dtype=numpy.float32))
    assert numpy.allclose(getattr(x, name)().numpy(), wanted, rtol=1e-6, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_every_dtype_adds_and_comes_back(weft_device, weft_compute, dtype):
    """Dtypes that are not declared are emulated, or refused before anything runs."""
    emulated = not dtypes.is_float(dtype) or dtype.itemsize < 4
    refused = dtype not in weft_compute.dtypes and not emulated
    values = [0, 1, 0, 1] if dtype is dtypes.bool else [0, 1, 2, 3]
    x = Tensor(values, dtype=dtype, device=weft_device.name)
    if refused:
        with pytest.raises(CapabilityError, match="does not compute"):
            (x + x).realize()
        return
    found = (x + x).cast(dtypes.float32).tolist()
    wanted = [float(bool(v)) if dtype is dtypes.bool else 2.0 * v for v in values]
    assert found == wanted


def test_the_list_of_functions_is_of_alu_operations():
    assert {op for op, _, _ in UNARY.values()} <= GroupOp.Unary
