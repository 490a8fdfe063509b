"""Operations by their names."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, DTypeError
from weft.uop import GroupOp, Ops

A, B, C = Tensor([5, -7]), Tensor([2, 3]), Tensor([1, 1])


@pytest.mark.parametrize("op", sorted(GroupOp.ALU, key=lambda op: op.name))
def test_every_operation_has_its_number_of_operands(op: Ops) -> None:
    count = 1 + (op in GroupOp.Binary) + 2 * (op in GroupOp.Ternary)
    parts = [A > 0 if op is Ops.WHERE else A, B, C][:count]
    if op in (Ops.SHL, Ops.SHR, Ops.POW):
        parts[0] = B
    if op is Ops.THREEFRY:
        parts = [p.cast(dtypes.uint64) for p in parts]
    found = parts[0].alu(op, *parts[1:])
    assert found.shape == (2,) and len(found.tolist()) == 2
    with pytest.raises(ArgumentError):
        parts[0].alu(op, *parts[1:], C)


def test_values() -> None:
    assert A.alu(Ops.MULACC, B, C).tolist() == [11, -20]
    assert A.alu(Ops.MAX, 0).tolist() == [5, 0] and A.alu(Ops.NEG).tolist() == [-5, 7]
    assert A.alu(Ops.CMPLT, B).tolist() == [False, True]
    with pytest.raises(ArgumentError):
        A.alu(Ops.RESHAPE)


def test_numbers_as_operands_of_a_tensor() -> None:
    assert A.ufix(B) is B and A.ufix(3).tolist() == [3, 3] and A.ufix(3).dtype is dtypes.int32
    assert A.ufix(0.5).tolist() == [0.5, 0.5] and A.const_like(2).tolist() == [2, 2]


def test_random_bits_are_those_of_the_generator() -> None:
    Tensor.manual_seed(0)
    from_key = [Tensor(np.arange(2, dtype=np.uint64)).threefry(k).tolist() for k in (1, 1, 2)]
    assert from_key[0] == from_key[1] != from_key[2]
    with pytest.raises(DTypeError):
        A.threefry(1)
