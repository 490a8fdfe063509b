"""Functions about dtypes."""

import pytest

import weft.array_api as xp
from weft.array_api.data_types import KINDS, NAMED
from weft.base.errors import ArgumentError, DTypeError

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
MIXED = {
    ("int8", "uint8"): "int16", ("int8", "uint16"): "int32", ("int8", "uint32"): "int64",
    ("int16", "uint8"): "int16", ("int16", "uint16"): "int32", ("int16", "uint32"): "int64",
    ("int32", "uint8"): "int32", ("int32", "uint16"): "int32", ("int32", "uint32"): "int64",
    ("int64", "uint8"): "int64", ("int64", "uint16"): "int64", ("int64", "uint32"): "int64",
}  # fmt: skip


def promotions():
    for family in (SIGNED, UNSIGNED, ["float32", "float64"], ["bool"]):
        for i, a in enumerate(family):
            for b in family[i:]:
                yield a, b, b
    for (a, b), result in MIXED.items():
        yield a, b, result


@pytest.mark.parametrize("a, b, result", list(promotions()))
def test_promotion(a, b, result):
    a, b, result = getattr(xp, a), getattr(xp, b), getattr(xp, result)
    assert xp.result_type(a, b) is xp.result_type(b, a) is result
    assert xp.result_type(xp.ones(1, dtype=a), b) is result
    if a is not xp.bool:
        assert (xp.ones(2, dtype=a) + xp.ones(2, dtype=b)).dtype is result


def test_numbers_are_weak():
    assert xp.result_type(xp.int8, 1000) is xp.int8
    assert xp.result_type(1, xp.float64) is xp.float64
    with pytest.raises(ArgumentError):
        xp.result_type(1, 2.0)
    with pytest.raises(ArgumentError):
        xp.result_type()


def test_can_cast():
    assert xp.can_cast(xp.int8, xp.int16)
    assert xp.can_cast(xp.uint8, xp.int16)
    assert xp.can_cast(xp.ones(1), xp.float64)
    assert not xp.can_cast(xp.int16, xp.int8)
    assert not xp.can_cast(xp.int32, xp.float64)
    assert not xp.can_cast(xp.bool, xp.int8)


def test_limits():
    limits = xp.finfo(xp.float32)
    assert (limits.bits, limits.eps, limits.dtype) == (32, 2.0**-23, xp.float32)
    assert limits.smallest_normal == 2.0**-126
    assert (xp.iinfo(xp.ones(1, dtype=xp.int8)).min, xp.iinfo("uint8").max) == (-128, 255)
    with pytest.raises(DTypeError):
        xp.finfo(xp.int8)


def test_kinds():
    assert xp.isdtype(xp.int8, "signed integer")
    assert xp.isdtype(xp.uint8, ("bool", "integral"))
    assert xp.isdtype(xp.float32, (xp.float32, "bool"))
    assert not xp.isdtype(xp.bool, "numeric")
    assert not any(xp.isdtype(d, "complex floating") for d in NAMED.values() if not d.is_complex)
    assert set(KINDS["numeric"]) >= {NAMED[n] for n in (*SIGNED, *UNSIGNED, "float64")}
    with pytest.raises(ArgumentError, match="no kind"):
        xp.isdtype(xp.int8, "small")


def test_astype():
    x = xp.asarray([1.7, -1.7])
    assert xp.astype(x, xp.int8).tolist() == [1, -1]
    assert xp.astype(x, xp.float32, copy=False) is x
    assert xp.astype(x, xp.float32) is not x
    assert xp.astype(x, xp.float32, device="REF").device == "REF"
