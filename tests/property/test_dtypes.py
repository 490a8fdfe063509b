"""Every dtype through creation, arithmetic and conversion."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import Tensor, dtypes
from weft.base.promotion import least_upper_dtype
from weft.base.scalars import to_bits, truncate
from weft.device import numpy_dtype

ALL = list(dtypes.all)
FLOATS = [d for d in ALL if dtypes.is_float(d)]
VALUES = [0, 1, -1, 2.5, -3.75, 100, 127.5, 300, -40000, 1e10, -1e10, 1e-3, math.nan, math.inf]


def same(got, expected):
    return (got != got and expected != expected) or got == expected


def check_casts(held, source):
    """Casts to every dtype, computed in one schedule."""
    casts = {target: Tensor(held, dtype=source).cast(target) for target in ALL}
    Tensor.realize(*casts.values())
    for target, cast in casts.items():
        got, expected = cast.tolist(), [truncate(v, target) for v in held]
        wrong = [case for case in zip(held, got, expected) if not same(*case[1:])]
        assert not wrong, f"{target.name}: value, cast, expected: {wrong}"


@pytest.mark.parametrize(
    "source", [dtypes.float32, dtypes.float64, dtypes.half], ids=lambda d: d.name
)
def test_casts_follow_the_law_of_scalars(source):
    check_casts([truncate(v, source) for v in VALUES], source)


@pytest.mark.parametrize("source", [d for d in ALL if not dtypes.is_float(d)], ids=lambda d: d.name)
def test_casts_of_integers_wrap(source):
    values = (0, 1, -1, 127, 128, 255, 65537, -(2**31), 2**40 + 1, 2**63)
    check_casts([truncate(v, source) for v in values], source)


@pytest.mark.parametrize("dtype", ALL, ids=lambda d: d.name)
def test_in_and_out(dtype):
    held = [truncate(v, dtype) for v in (0, 1, 3, 2)]
    x = Tensor(held, dtype=dtype)
    assert x.dtype is dtype and x.tolist() == held
    assert x.numpy().dtype == numpy_dtype(dtype)
    assert Tensor(x.numpy()).dtype is dtype
    assert Tensor(x.numpy()).tolist() == held
    assert Tensor(bytes(x.data().cast("B")), dtype=dtype).tolist() == held
    assert x.reshape(2, 2).tolist() == [held[:2], held[2:]]
    assert Tensor(held[1], dtype=dtype).item() == held[1]
    assert x.element_size() == dtype.itemsize and x.nbytes() == 4 * dtype.itemsize


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.name)
def test_arithmetic_of_floats_rounds_each_result(dtype):
    a = [truncate(v, dtype) for v in (1.1, 3.3, -0.7, 100.0)]
    b = [truncate(v, dtype) for v in (2.7, -1.9, 0.01, 7.0)]
    x, y = Tensor(a, dtype=dtype), Tensor(b, dtype=dtype)
    for ours, theirs in (
        (x + y, [p + q for p, q in zip(a, b)]),
        (x * y, [p * q for p, q in zip(a, b)]),
        (x - y, [p - q for p, q in zip(a, b)]),
        (x.maximum(y), [max(p, q) for p, q in zip(a, b)]),
    ):
        assert all(same(g, truncate(e, dtype)) for g, e in zip(ours.tolist(), theirs))


@given(st.sampled_from(ALL), st.sampled_from(ALL))
def test_mixes_promote(a, b):
    x = Tensor([1, 0], dtype=a) + Tensor([1, 1], dtype=b)
    assert x.dtype is least_upper_dtype(a, b)
    assert bool(x.tolist()[1]) is True


@pytest.mark.parametrize("dtype", [d for d in ALL if d is not dtypes.bool], ids=lambda d: d.name)
def test_bitcast_to_unsigned_and_back(dtype):
    bits = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}[dtype.itemsize]
    held = [truncate(v, dtype) for v in (0, 1, 3, 2.5)]
    x = Tensor(held, dtype=dtype)
    assert x.bitcast(bits).tolist() == [to_bits(v, dtype) for v in held]
    assert x.bitcast(bits).bitcast(dtype).tolist() == held


def test_bitcast_to_another_size():
    x = Tensor([1.0, 2.0])
    assert x.bitcast("uchar").tolist() == list(np.float32([1, 2]).tobytes())
    assert x.bitcast("uchar").bitcast("float").tolist() == [1.0, 2.0]
    assert (x + 1).bitcast("ushort").reshape(2, 2).bitcast("uint").shape == (2, 1)


def test_default_float_follows_the_setting():
    from weft import settings

    with settings.override(DEFAULT_FLOAT="float64"):
        assert Tensor([1.5]).dtype is dtypes.float64
        assert (Tensor([1]) / 3).dtype is dtypes.float64
        assert Tensor.zeros(2).dtype is dtypes.float64
