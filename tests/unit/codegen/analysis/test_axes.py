"""Strides of a LOAD or STORE along the loops around it."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.codegen.analysis.axes import access_of
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


def test_strides_and_irregular_terms():
    access = access_of(load(ROW * number(4) + K // number(64)))
    assert access.steps == {ROW: 4} and access.irregular == {K}
    assert access.depends(K) and access.depends(ROW)


@pytest.mark.parametrize("address,width", [
    (K // number(64), 16),
    (ROW * number(4) + K // number(16), 16),
    ((K + ROW * number(32)) // number(64), 16),
])  # fmt: skip
def test_a_quotient_is_uniform_in_a_vector(address, width):
    assert access_of(load(address)).lane_stride(K, width) == 0


@pytest.mark.parametrize("address", [
    K // number(8), K // number(24), (K + number(3)) // number(64),
    (K * number(2)) // number(64), (K + ROW) // number(64), (K - number(64)) // number(64),
])  # fmt: skip
def test_vectors_across_a_boundary_have_no_stride(address):
    assert access_of(load(address)).lane_stride(K, 16) is None


@pytest.mark.parametrize("address", [
    K, K % number(64), K // number(64) * number(512) + K % number(64), K // number(64) + K,
])  # fmt: skip
def test_a_remainder_is_contiguous_in_a_vector(address):
    assert access_of(load(address)).lane_stride(K, 16) == 1


def test_an_extent_that_is_no_multiple_has_no_stride():
    ragged = UOp.range(100, 0, AxisKind.LOOP)
    assert access_of(load(ragged % number(64))).lane_stride(ragged, 16) is None


def test_a_gate_is_uniform_in_a_vector():
    assert access_of(load(K // number(64), K < number(96))).lane_stride(K, 16) == 0
    assert access_of(load(K // number(64), K < number(100))).lane_stride(K, 16) is None


def test_the_access_of_a_word_is_that_of_its_first_load():
    first = load(ROW * number(8) + K * number(2))
    word = UOp(Ops.ADD, dtypes.float, (first, load(ROW)))
    access = access_of(first, word)
    assert access.node is word and access.steps == {ROW: 8, K: 2}
