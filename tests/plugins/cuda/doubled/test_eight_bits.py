"""Floats of 8 bits on GPUs with matrix units for them: bits, conversions, products."""

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.scalars import from_bits, to_bits
from weft.device import registry
from weft.engine import lower_schedule_item

NAMES = ("fp8e4m3", "fp8e5m2")


@pytest.fixture(autouse=True)
def _units():
    if dtypes.fp8e4m3 not in registry.capabilities("CUDA").compute.dtypes:
        pytest.skip("the double plays a chip without them (SIMT_CAPABILITY=90 has them)")


def same(found, wanted):
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    there = ~np.isnan(wanted)
    np.testing.assert_array_equal(found[there].view(np.uint32), wanted[there].view(np.uint32))


@pytest.mark.parametrize("name", NAMES)
def test_all_bit_patterns(name):
    bits = np.arange(256, dtype=np.uint8)
    found = Tensor(bits, device="CUDA").bitcast(name).cast("float32").numpy()
    same(found, np.array([from_bits(int(b), getattr(dtypes, name)) for b in bits], np.float32))


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_rounded_once(name):
    dtype, random = getattr(dtypes, name), np.random.default_rng(0)
    every = np.array([from_bits(b, dtype) for b in range(256)], np.float32)
    near = np.sort(every[np.isfinite(every)])
    values = np.concatenate([
        every, (near[1:] + near[:-1]) / 2, np.nextafter((near[1:] + near[:-1]) / 2, np.float32(0)),
        random.integers(0, 1 << 32, 2000, dtype=np.uint64).astype(np.uint32).view(np.float32),
    ])  # fmt: skip
    found = Tensor(values, device="CUDA").cast(name).bitcast("uint8").numpy()
    wanted = np.array([to_bits(float(value), dtype) for value in values], np.uint8)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", NAMES)
def test_sums_of_products(name):
    random = np.random.default_rng(1)
    a, b = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((48, 64), (64, 24)))
    left, right = (Tensor(x, device="CUDA").cast(name).realize() for x in (a, b))
    (item,) = left.matmul(right, dtype="float32").schedule()
    assert f"mma_m16n8k32_{name[3:]}(" in lower_schedule_item(item).prg.p.src
    np.testing.assert_array_equal(left.matmul(right, dtype="float32").numpy(), a @ b)
