"""Small types: every code is decoded and every rounding agrees with `ml_dtypes`."""

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError
from weft.onnx import small_types
from weft.onnx.small_types import SMALL_TYPES, Coded, ExponentType, FloatType, IntegerType

ml_dtypes = pytest.importorskip("ml_dtypes")
FLOATS = [name for name, kind in SMALL_TYPES.items() if isinstance(kind, FloatType)]
INTEGERS = [name for name, kind in SMALL_TYPES.items() if isinstance(kind, IntegerType)]


def numpy_dtype(name):
    return np.dtype(getattr(ml_dtypes, SMALL_TYPES[name].numpy_name))


def all_codes(name):
    codes = np.arange(1 << SMALL_TYPES[name].bits, dtype=np.uint8)
    if name in INTEGERS:
        return codes.astype(np.int32).astype(numpy_dtype(name))
    return codes.view(numpy_dtype(name))


def borders(name):
    """Values of a type, the numbers halfway between them, and the float32 beside those."""
    with np.errstate(all="ignore"):
        values = all_codes(name).astype(np.float32)
    values = np.sort(values[np.isfinite(values)])
    middles = ((values[1:].astype(np.float64) + values[:-1]) / 2).astype(np.float32)
    beside = [np.nextafter(middles, np.float32(end)) for end in (-np.inf, np.inf)]
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 3e5, -3e5], np.float32)
    return np.concatenate([values, middles, *beside, special])


def assert_same(found, expected):
    assert found.dtype == expected.dtype
    with np.errstate(all="ignore"):
        one, other = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(one, other)
    known = ~np.isnan(other)
    assert (np.signbit(one) == np.signbit(other))[known].all()


@pytest.mark.parametrize("name", SMALL_TYPES)
def test_all_codes_are_decoded_exactly(name):
    array = all_codes(name)
    coded = small_types.from_numpy(array)
    assert isinstance(coded, Coded)
    assert (coded.shape, coded.dtype) == (array.shape, name)
    assert_same(small_types.to_numpy(coded), array)
    with np.errstate(all="ignore"):
        expected = array.astype(np.float32)
    np.testing.assert_array_equal(coded.decode().numpy().astype(np.float32), expected)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "bfloat16"])
@pytest.mark.parametrize("name", FLOATS)
def test_floats_round_to_nearest_with_ties_to_even(name, dtype):
    with np.errstate(all="ignore"):
        array = borders(name).astype(dtype if dtype != "bfloat16" else ml_dtypes.bfloat16)
        expected = array.astype(numpy_dtype(name))
        limit = float(ml_dtypes.finfo(numpy_dtype(name)).max)
        saturated = np.clip(array.astype(np.float64), -limit, limit).astype(numpy_dtype(name))
    x = Tensor(array)
    assert_same(small_types.to_numpy(small_types.cast(x, name, saturate=False)), expected)
    if SMALL_TYPES[name].nan is not None:
        assert_same(small_types.to_numpy(small_types.cast(x, name)), saturated)


def test_a_float64_is_rounded_once():
    x = Tensor([1.0625 + 2.0**-40], dtype=dtypes.float64)
    assert small_types.cast(x, "float8e4m3fnuz").decode().tolist() == [1.125]


@pytest.mark.parametrize("name", ["float8e4m3fn", "float8e5m2"])
def test_stored_float8_types_saturate(name):
    x = Tensor([1e6, -1e6, float("inf"), float("nan"), 1.0])
    limit = dtypes.finfo(small_types.cast(x, name).dtype).max
    found = small_types.cast(x, name).cast(dtypes.float32).numpy()
    np.testing.assert_array_equal(found, [limit, -limit, limit, np.nan, 1.0])
    beyond = small_types.cast(x, name, saturate=False).cast(dtypes.float32).numpy()
    assert not np.isfinite(beyond[:4]).any()


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_lose_their_fraction_and_their_higher_bits(name):
    floats = np.array([1.9, -1.9, 7.9, 20.0, -20.0], np.float32)
    whole = np.array([1, -1, 9, 20, -20], np.int64)
    for array in (floats, whole):
        found = small_types.to_numpy(small_types.cast(Tensor(array), name))
        assert_same(found, array.astype(np.int32).astype(numpy_dtype(name)))


MODES = {
    # 2**-127, just above it, 1.0, 1.25, 1.5, 1.75, the largest float32
    "up": [0, 1, 127, 128, 128, 128, 254],
    "nearest": [0, 0, 127, 127, 128, 128, 254],
    "down": [0, 0, 127, 127, 127, 127, 254],
}


@pytest.mark.parametrize("mode", MODES)
def test_e8m0_rounds_to_a_power_of_two(mode):
    largest = np.finfo(np.float32).max
    array = np.array([2.0**-127, 1.2 * 2.0**-127, 1, 1.25, 1.5, 1.75, largest], np.float32)
    found = small_types.cast(Tensor(array), "float8e8m0", round_mode=mode)
    assert found.codes.tolist() == MODES[mode]


def test_e8m0_of_numbers_out_of_range():
    x = Tensor([0.0, float("inf"), float("nan")])
    assert small_types.cast(x, "float8e8m0").codes.tolist() == [0, 254, 255]
    found = small_types.cast(x, "float8e8m0", saturate=False, round_mode="nearest")
    assert found.codes.tolist() == [255, 255, 255]
    assert isinstance(found.kind, ExponentType)
    with pytest.raises(ArgumentError, match="rounding mode"):
        small_types.cast(x, "float8e8m0", round_mode="even")


def test_bit_casts_keep_the_bits():
    x = Tensor([0x7F, 0x80, 0x01], dtype=dtypes.uint8)
    coded = small_types.bitcast(x, "float8e4m3fnuz")
    assert coded.decode().tolist()[::2] == [240.0, 2.0**-10]
    assert small_types.bitcast(coded, "uint8").tolist() == [0x7F, 0x80, 0x01]
    four = Coded(Tensor([-8, 7, -1], dtype=dtypes.int8), SMALL_TYPES["int4"])
    assert small_types.bitcast(four, "uint4").codes.tolist() == [8, 7, 15]
    back = small_types.bitcast(small_types.bitcast(four, "float4e2m1"), "int4")
    assert back.codes.tolist() == [-8, 7, -1]
    with pytest.raises(ArgumentError, match="number of bits"):
        small_types.bitcast(four, "uint8")


def test_movements_apply_to_the_codes():
    coded = small_types.cast(Tensor([[1.0, 2.0], [3.0, 4.0]]), "float4e2m1")
    moved = coded.map(lambda codes: codes.transpose(0, 1))
    assert moved.decode().tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert small_types.decoded(moved.codes) is moved.codes
