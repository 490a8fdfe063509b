"""Making arrays."""

import array
import math

import numpy as np
import pytest

import weft.array_api as xp
from weft import Tensor
from weft.base.errors import ArgumentError, DTypeError


def test_default_dtypes():
    assert xp.asarray(True).dtype is xp.bool
    assert xp.asarray(1).dtype is xp.int32
    assert xp.asarray([1.0]).dtype is xp.float32
    assert xp.zeros(3).dtype is xp.ones(3).dtype is xp.empty(3).dtype is xp.float32
    assert xp.full(3, 2).dtype is xp.int32
    assert xp.arange(3).dtype is xp.int32
    assert xp.arange(3.0).dtype is xp.linspace(0, 1, 2).dtype is xp.eye(2).dtype is xp.float32


def test_integers_too_large_for_the_default():
    assert xp.asarray([2**40]).dtype is xp.int64
    assert xp.asarray(2**63).dtype is xp.uint64
    assert xp.full(2, -(2**40)).dtype is xp.int64
    with pytest.raises(OverflowError):
        xp.asarray(2**64)


def test_asarray_of_arrays():
    x = xp.asarray([1, 2])
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=False) is x
    assert xp.asarray(x, copy=True) is not x
    assert xp.asarray(x, dtype=xp.float64).dtype is xp.float64
    assert xp.asarray(x, device="REF").device == "REF"
    assert isinstance(xp.asarray(Tensor([1])), xp.Array)
    assert xp.asarray(np.arange(3, dtype=np.int8)).dtype is xp.int8
    assert xp.asarray([xp.asarray(1), xp.asarray(2)]).tolist() == [1, 2]
    with pytest.raises(ArgumentError, match="copy"):
        xp.asarray(x, dtype=xp.float32, copy=False)
    with pytest.raises(ArgumentError, match="copied"):
        xp.asarray([1, 2], copy=False)


def test_an_array_of_another_library_without_a_copy():
    outside = np.arange(4, dtype=np.float32)
    x = xp.asarray(outside, copy=False)
    outside[0] = 7
    assert x.tolist() == [7.0, 1.0, 2.0, 3.0]
    assert xp.from_dlpack(outside).tolist() == [7.0, 1.0, 2.0, 3.0]


def test_typed_memory():
    numbers = array.array("d", [1.5, 2.5])
    for obj in (numbers, memoryview(numbers), memoryview(numbers)[::-1]):
        assert xp.asarray(obj).dtype is xp.float64
        assert xp.asarray(obj).tolist() == np.asarray(obj).tolist()
    assert xp.asarray(b"ab").tolist() == xp.asarray(bytearray(b"ab")).tolist() == [97, 98]


def test_complex_numbers():
    assert xp.asarray(2 + 0j).tolist() == 2 + 0j
    assert xp.asarray([1, 2j]).dtype is xp.complex64
    with pytest.raises(DTypeError, match="complex"):
        xp.asarray(1j, dtype=xp.float32)


def test_likes():
    x = xp.ones((2, 3), dtype=xp.int8)
    for made in (xp.zeros_like(x), xp.ones_like(x), xp.empty_like(x), xp.full_like(x, 3)):
        assert (made.shape, made.dtype) == ((2, 3), xp.int8)
    assert xp.full_like(x, 3, dtype=xp.float64).tolist() == [[3.0] * 3] * 2


@pytest.mark.parametrize("k", [-4, -1, 0, 2, 5])
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (0, 2), (3, None)])
def test_eye(shape, k):
    np.testing.assert_array_equal(xp.eye(*shape, k=k).numpy(), np.eye(*shape, k=k))


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 7])
def test_linspace(num, endpoint):
    got = xp.linspace(-1.0, 3.0, num, endpoint=endpoint, dtype=xp.float64)
    np.testing.assert_allclose(
        got.numpy(), np.linspace(-1, 3, num, endpoint=endpoint), rtol=1e-14, atol=1e-14
    )


def test_meshgrid_and_triangles():
    a, b = xp.asarray([1, 2, 3]), xp.asarray([4, 5])
    assert [g.shape for g in xp.meshgrid(a, b)] == [(2, 3), (2, 3)]
    assert [g.shape for g in xp.meshgrid(a, b, indexing="ij")] == [(3, 2), (3, 2)]
    assert xp.meshgrid() == ()
    with pytest.raises(DTypeError, match="one dtype"):
        xp.meshgrid(a, xp.asarray([1.0]))
    x = xp.ones((3, 3))
    assert xp.sum(xp.tril(x, k=-1)).item() == xp.sum(xp.triu(x, k=1)).item() == 3.0


def test_only_arrays_are_taken_as_patterns():
    for function in (xp.empty_like, xp.zeros_like, xp.ones_like, xp.meshgrid, xp.imag):
        with pytest.raises(DTypeError, match="a list is no array"):
            function([1, 2])


def test_the_sign_of_nan():
    for made in (xp.asarray(-math.nan), xp.full((2,), -math.nan), xp.asarray([-math.nan])):
        assert xp.all(xp.signbit(made)) and xp.all(xp.isnan(made))
    assert not xp.signbit(xp.asarray(math.nan))
