"""Products of matrices through the matrix units of simdgroups, which the double carries out lane by
lane; and what becomes of a GPU whose lanes hold other elements."""

from __future__ import annotations

import numpy
import pytest

import weft_metal
from weft import Tensor
from weft.engine import lower_schedule_item
from weft.plugin import DeviceId, Feature
from weft_metal import matrix_units

DTYPES = ["float32", "float16", "bfloat16"]


def product(metal, m, k, n, dtype, batch=(), transposed=False):
    """The source of a product's kernel, what it gives, and what NumPy gives."""
    random = numpy.random.default_rng(m * 10000 + k * 100 + n)
    a = random.integers(-4, 5, (*batch, m, k)).astype(numpy.float32)
    b = random.integers(-4, 5, (*batch, k, n)).astype(numpy.float32)
    left, right = (
        Tensor(x, device=metal).cast(dtype).realize()
        for x in (a, numpy.ascontiguousarray(b.swapaxes(-1, -2)) if transposed else b)
    )
    if transposed:
        right = right.transpose(-1, -2)

    def made():
        return left.matmul(right, dtype="float32") * 0.5 + 1

    (item,) = made().schedule()
    return lower_schedule_item(item).prg.p.src, made().numpy(), a @ b * 0.5 + 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("m, k, n", [(8, 8, 8), (64, 64, 64), (32, 128, 96), (128, 32, 24)])
def test_sums_of_products(metal, m, k, n, dtype):
    source, found, wanted = product(metal, m, k, n, dtype)
    assert "simdgroup_multiply_accumulate" in source
    numpy.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", DTYPES[:2])
@pytest.mark.parametrize("m, k, n", [(8, 40, 16), (72, 24, 8), (40, 16, 56)])
def test_sizes_that_are_multiples_of_eight(metal, m, k, n, dtype):
    source, found, wanted = product(metal, m, k, n, dtype)
    assert "simdgroup_multiply_accumulate" in source
    numpy.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("m, k, n", [(7, 9, 5), (65, 33, 17), (64, 63, 64)])
def test_other_sizes_are_right_too(metal, m, k, n):
    _, found, wanted = product(metal, m, k, n, "float32")
    numpy.testing.assert_array_equal(found, wanted)


def test_transposed_and_batched(metal):
    source, found, wanted = product(metal, 32, 48, 32, "float16", batch=(2,), transposed=True)
    assert "simdgroup_multiply_accumulate" in source
    numpy.testing.assert_array_equal(found, wanted)


def test_declared_matrix_units():
    def names(arch):
        compute = weft_metal.weft_offline(arch).capabilities.compute
        return [unit.name for unit in compute.tensor_cores]

    assert names("apple7") == ["multiply_8x8_f16", "multiply_8x8_f32"]
    assert names("apple8") == names("apple9") == list(matrix_units.CALLS)


def test_a_gpu_of_other_lanes_declares_no_units(framework, monkeypatch):
    monkeypatch.setattr("weft_metal.probe.EXPECTED", tuple(map(float, range(64))))
    compute = weft_metal.weft_open(DeviceId("METAL")).capabilities.compute
    assert compute.tensor_cores == () and not compute.has(Feature.WARP_REDUCE)


def test_a_gpu_without_matrices_opens(framework, monkeypatch):
    monkeypatch.setattr("weft_metal.probe.PROBE_SOURCE", "kernel void no() { simdgroup_none x; }")
    assert weft_metal.weft_open(DeviceId("METAL")).capabilities.compute.tensor_cores == ()
