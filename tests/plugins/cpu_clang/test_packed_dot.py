"""Products of narrow numbers by the processor's own instructions, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Device, Tensor, dtypes
from weft.engine import lower_schedule_item
from weft.plugin import Ops, UOp
from weft.schedule import create_schedule_with_vars, kernelize_map

UNITS = {dot.dtype_in for dot in Device["CPU"].compute.pair_dots if dot.bits is None}
"""Factors of every value: units of fewer bits multiply quantised weights alone."""


def needs(dtype):
    return pytest.mark.skipif(dtype not in UNITS, reason=f"this processor has none for {dtype}")


def uses_dots(tensor):
    sink = UOp.sink(tensor.uop)
    items, _ = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))
    programs = [lower_schedule_item(item).prg.p.program for item in items]
    return any(u.op is Ops.DOT for program in programs for u in program.uops)


def on_cpu(array, dtype=None):
    tensor = Tensor(array, device="CPU")
    return (tensor if dtype is None else tensor.cast(dtype)).realize()


@needs(dtypes.bfloat16)
@pytest.mark.parametrize("m,k,n", [(64, 64, 64), (33, 130, 49), (5, 7, 16), (1, 256, 64)])
def test_bfloat16(m, k, n):
    draw = np.random.default_rng(m)
    # few digits, so that every sum is exact
    a, b = (draw.integers(-8, 9, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    x, y = on_cpu(a, "bfloat16"), on_cpu(b, "bfloat16")
    product = x.matmul(y, dtype="float32")
    np.testing.assert_array_equal(product.numpy(), a @ b)


@needs(dtypes.bfloat16)
def test_bfloat16_of_many_digits_and_at_the_borders():
    draw = np.random.default_rng(2)
    a, b = (draw.standard_normal(shape).astype(np.float32) for shape in ((48, 96), (96, 32)))
    a[0, :4], b[:4, 0] = [np.inf, 3e38, 1e-30, -0.0], [1, 1, 1e-9, 5]
    a[1, 5] = np.nan
    x, y = on_cpu(a, "bfloat16"), on_cpu(b, "bfloat16")
    wide = x.float().numpy().astype(np.float64), y.float().numpy().astype(np.float64)
    with np.errstate(invalid="ignore"):
        expected = wide[0] @ wide[1]
    product = x.matmul(y, dtype="float32")
    assert uses_dots(x.matmul(y, dtype="float32"))
    np.testing.assert_allclose(product.numpy(), expected, rtol=1e-4, atol=1e-4)


@needs(dtypes.int16)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("m,k,n", [(64, 64, 64), (17, 131, 35)])
def test_integers_wrap_as_they_should(dtype, m, k, n):
    info, draw = np.iinfo(dtype), np.random.default_rng(n)
    a, b = (
        draw.integers(info.min, info.max, shape, endpoint=True).astype(dtype)
        for shape in ((m, k), (k, n))
    )
    a[:, :2], b[:2] = info.min, info.min
    found = on_cpu(a).matmul(on_cpu(b), dtype="int32")
    wide = a.astype(np.int64) @ b.astype(np.int64)
    np.testing.assert_array_equal(found.numpy(), wide.astype(np.int32))


@needs(dtypes.uint8)
@pytest.mark.parametrize("left,right", [
    ("int8", "int8"), ("uint8", "int8"), ("int8", "uint8"), ("uint8", "uint8"),
])  # fmt: skip
@pytest.mark.parametrize("m,k,n", [(64, 64, 64), (37, 132, 51)])
def test_four_products_at_once_with_any_signedness(left, right, m, k, n):
    draw = np.random.default_rng(k)
    a, b = (
        draw.integers(np.iinfo(t).min, np.iinfo(t).max, shape, endpoint=True).astype(t)
        for t, shape in ((left, (m, k)), (right, (k, n)))
    )
    a[:, :4], b[:4] = np.iinfo(left).min, np.iinfo(right).min
    a[0], b[:, 0] = np.iinfo(left).max, np.iinfo(right).max
    wide = (a.astype(np.int64) @ b).astype(np.int32)
    x, y = on_cpu(a), on_cpu(b)
    found = x.cast("int32") @ y.cast("int32")
    assert uses_dots(x.cast("int32") @ y.cast("int32"))
    np.testing.assert_array_equal(found.numpy(), wide)
    turned = x.cast("int32") @ on_cpu(b.T.copy()).cast("int32").T
    np.testing.assert_array_equal(turned.numpy(), wide)


@needs(dtypes.int16)
def test_a_dot_along_the_sum_and_a_convolution():
    draw = np.random.default_rng(8)
    a, v = (draw.integers(-9, 9, shape).astype(np.int8) for shape in ((40, 512), (512,)))
    assert on_cpu(a).matmul(on_cpu(v), dtype="int32").tolist() == (a.astype(int) @ v).tolist()
    images, filters = (draw.integers(-4, 5, s) for s in ((2, 4, 10, 10), (16, 4, 3, 3)))
    narrow = [on_cpu(one.astype(np.float32), "bfloat16") for one in (images, filters)]
    wide = [on_cpu(one.astype(np.float32)) for one in (images, filters)]
    found, expected = narrow[0].conv2d(narrow[1]), wide[0].conv2d(wide[1])
    np.testing.assert_allclose(found.float().numpy(), expected.numpy(), rtol=2**-8)


@pytest.mark.parametrize("terms", [4, 8, 16, 24])
def test_a_few_products_of_bytes_below_another_operation(terms):
    """Where clang may use the instruction by itself it loses all but the first four of eight."""
    a, b = (
        np.random.default_rng(terms).integers(0, 9, shape) for shape in ((2, terms), (terms, 1))
    )
    for left, right in ((a - 4, b), (a, b - 4), (a - 4, b - 4), (a, b)):
        kinds = [np.uint8 if each.min() >= 0 else np.int8 for each in (left, right)]
        x, y = (Tensor(v.astype(k), device="CPU") for v, k in zip((left, right), kinds))
        product = x.cast("int32") @ y.expand(terms, 2).cast("int32")
        wanted = left @ np.broadcast_to(right, (terms, 2))
        assert product.maximum(-50).tolist() == np.maximum(wanted, -50).tolist()
