"""What a LOAD or STORE says of the loops it stands in."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.codegen.opt.axes import access_of
from weft.uop import Ops, UOp
from weft.uop.args import AxisKind

K = UOp.range(256, 0, AxisKind.REDUCE)
ROW = UOp.range(8, 1, AxisKind.LOOP)


def number(value):
    return UOp.const(dtypes.int, value)


def load(address, gate=None):
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4096), (), 1)
    index = UOp(Ops.INDEX, memory.dtype, (memory, address) if gate is None else
                (memory, address, gate))  # fmt: skip
    other = () if gate is None else (UOp.const(dtypes.float, 0),)
    return UOp(Ops.LOAD, dtypes.float, (index, *other))


def test_steps_and_what_moves_by_none():
    access = access_of(load(ROW * number(4) + K // number(64)))
    assert access.steps == {ROW: 4} and access.hidden == {K}
    assert access.depends(K) and access.depends(ROW)


@pytest.mark.parametrize("address,width", [
    (K // number(64), 16),
    (ROW * number(4) + K // number(16), 16),
    ((K + ROW * number(32)) // number(64), 16),
])  # fmt: skip
def test_whole_vectors_share_one_element(address, width):
    assert access_of(load(address)).is_steady(K, width)


@pytest.mark.parametrize("address", [
    K, K // number(8), K // number(24), K % number(64), K // number(64) + K,
    (K + number(3)) // number(64), (K * number(2)) // number(64), (K + ROW) // number(64),
])  # fmt: skip
def test_vectors_that_may_meet_a_border_do_not(address):
    assert not access_of(load(address)).is_steady(K, 16)


def test_what_is_gated_is_not_steady():
    assert not access_of(load(K // number(64), K < number(100))).is_steady(K, 16)


def test_a_word_is_known_by_its_first_number():
    first = load(ROW * number(8) + K * number(2))
    word = UOp(Ops.ADD, dtypes.float, (first, load(ROW)))
    access = access_of(first, word)
    assert access.node is word and access.steps == {ROW: 8, K: 2}
