"""exec_alu: what every operation means."""

import math

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.uop import Ops, exec_alu, identity_element
from weft.uop.evaluate import threefry2x32


@pytest.mark.parametrize(
    "op, dtype, operands, expected",
    [
        (Ops.ADD, dtypes.uint8, (255, 1), 0),
        (Ops.MUL, dtypes.int32, (1 << 30, 4), 0),
        (Ops.IDIV, dtypes.int32, (-7, 2), -3),
        (Ops.MOD, dtypes.int32, (-7, 2), -1),
        (Ops.IDIV, dtypes.int32, (5, 0), 0),
        (Ops.MOD, dtypes.int32, (5, 0), 0),
        (Ops.FDIV, dtypes.float, (1.0, 0.0), math.inf),
        (Ops.FDIV, dtypes.float, (-1.0, 0.0), -math.inf),
        (Ops.RECIP, dtypes.float, (-0.0,), -math.inf),
        (Ops.SQRT, dtypes.float, (4.0,), 2.0),
        (Ops.EXP2, dtypes.float, (2000.0,), math.inf),
        (Ops.LOG2, dtypes.float, (0.0,), -math.inf),
        (Ops.SHL, dtypes.uint8, (1, 9), 0),
        (Ops.SHR, dtypes.int8, (-128, 9), -1),
        (Ops.POW, dtypes.float, (0.0, -1.0), math.inf),
        (Ops.POW, dtypes.int32, (3, 4), 81),
        (Ops.TRUNC, dtypes.float, (-1.5,), -1.0),
        (Ops.NEG, dtypes.uint8, (1,), 255),
        (Ops.WHERE, dtypes.float, (True, 1.0, 2.0), 1.0),
        (Ops.CMPLT, dtypes.bool, (1, 2), True),
        (Ops.ADD, dtypes.half, (65504.0, 65504.0), math.inf),
        (Ops.ADD, dtypes.int.vec(2), ((1, 2), 3), (4, 5)),
    ],
)
def test_values(op, dtype, operands, expected):
    assert exec_alu(op, dtype, operands) == expected


@pytest.mark.parametrize(
    "op, operands",
    [
        (Ops.MAX, (math.nan, 1.0)), (Ops.MAX, (1.0, math.nan)), (Ops.SQRT, (-1.0,)),
        (Ops.LOG2, (-1.0,)), (Ops.SIN, (math.inf,)), (Ops.FDIV, (0.0, 0.0)),
        (Ops.POW, (-2.0, 0.5)), (Ops.EXP2, (math.nan,)),
    ],
)  # fmt: skip
def test_nan(op, operands):
    assert math.isnan(exec_alu(op, dtypes.float, operands))


def test_threefry_known_answers():
    """The vectors of the Random123 distribution (Salmon et al. 2011), threefry2x32-20."""

    def block(c0, c1, k0, k1):
        bits = threefry2x32(c0 | c1 << 32, k0 | k1 << 32)
        return bits & 0xFFFFFFFF, bits >> 32

    ones = 0xFFFFFFFF
    assert block(0, 0, 0, 0) == (0x6B200159, 0x99BA4EFE)
    assert block(ones, ones, ones, ones) == (0x1CB996FC, 0xBB002BE7)
    assert block(0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344) == (0xC4923A9C, 0x483DF7A0)


def test_identity_elements():
    assert identity_element(Ops.ADD, dtypes.float) == 0.0
    assert identity_element(Ops.MUL, dtypes.int) == 1
    assert identity_element(Ops.MAX, dtypes.float) == -math.inf
    assert identity_element(Ops.MAX, dtypes.int8) == -128
    with pytest.raises(SpecError):
        identity_element(Ops.SUB, dtypes.int)
