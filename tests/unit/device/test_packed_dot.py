import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.device.capabilities import ComputeCaps
from weft.device.packed_dot import PairDot


def test_lanes_are_frozen_so_that_a_target_can_be_hashed():
    dot = PairDot(dtypes.bfloat16, dtypes.float32, [16, 8])
    assert dot.lanes == (16, 8)
    assert hash(ComputeCaps(pair_dots=[dot])) == hash(ComputeCaps(pair_dots=(dot,)))


def test_numbers_of_other_sizes_are_refused():
    with pytest.raises(ArgumentError, match="16 bits"):
        PairDot(dtypes.int8, dtypes.int32, (16,), dtype_other=dtypes.int16)
    with pytest.raises(ArgumentError, match="16 bits"):
        PairDot(dtypes.float32, dtypes.float32, (16,))
    with pytest.raises(ArgumentError, match="16 bits"):
        PairDot(dtypes.float16, dtypes.float64, (8,))


def test_number_and_dtypes_of_products():
    pairs = PairDot(dtypes.int16, dtypes.int32, (16,))
    assert pairs.terms == 2 and pairs.given == (dtypes.int16, dtypes.int16)
    fours = PairDot(dtypes.uint8, dtypes.int32, (16,), dtype_other=dtypes.int8)
    assert fours.terms == 4 and fours.given == (dtypes.uint8, dtypes.int8)


def test_a_limit_of_bits_is_part_of_a_unit():
    seven = PairDot(dtypes.uint8, dtypes.int32, (8,), dtype_other=dtypes.int8, bits=7)
    assert seven.bits == 7 and seven != PairDot(dtypes.uint8, dtypes.int32, (8,), dtypes.int8)
