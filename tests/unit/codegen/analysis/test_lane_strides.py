"""Steps of lanes within runs that begin at multiples of their number."""

from __future__ import annotations

import random

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.codegen.analysis.lane_strides import lane_stride
from weft.uop.node import UOp

X = UOp.range(UOp.const(dtypes.int, 2304), 0)
K = UOp.range(UOp.const(dtypes.int, 7), 1)


@pytest.mark.parametrize(
    ("number", "step"),
    [
        (K, 0),
        (X * 3 + K, 3),
        ((X + K * 16) // 64, 0),
        ((X + K * 16) % 64, 1),
        ((X // 64) * 8192 + X % 64 + K, 1),
        (X // 64 % 12, 0),
        (X // 8, None),
        ((X + K) // 64, None),
        ((X + 8) % 64, None),
        (X < 768, 0),
        ((X < 768).logical_not(), 0),
        (X < 760, None),
        (UOp.const(dtypes.int, 767) < X, 0),
        (UOp.const(dtypes.int, 768) < X, None),
        (X * X, None),
    ],
)
def test_strides_between_sixteen_lanes(number: UOp, step: int | None) -> None:
    assert lane_stride(number, X, 16) == step


def test_strides_agree_with_evaluation() -> None:
    random.seed(5)
    for _ in range(200):
        a, b = random.choice([4, 8, 12, 16, 24, 64]), random.choice([3, 4, 8, 16, 48])
        number = (X * random.choice([1, 1, 2]) + K * random.choice([1, 8, 16]) + a) // b
        number = number * random.choice([1, 5]) + (X + a * K) % b
        step = lane_stride(number, X, 8)
        if step is None:
            continue
        for start in (0, 8, 64, 2296):
            for k in range(7):
                values = [_at(number, start + lane, k) for lane in range(8)]
                assert values == [values[0] + step * lane for lane in range(8)]


def _at(number: UOp, x: int, k: int) -> int:
    there = number.substitute({X: UOp.const(dtypes.int, x), K: UOp.const(dtypes.int, k)})
    return int(there.simplify().arg)


def test_joined_heads_are_contiguous() -> None:
    """The gradient of three parts of a row, each of them by heads."""
    heads = [np.random.default_rng(n).random((2, 3, 5, 16), np.float32) for n in range(3)]
    rows = [Tensor(head).transpose(1, 2).reshape(2, 5, 48) for head in heads]
    whole = rows[0].pad(((0, 0), (0, 0), (0, 96)))
    whole = whole + rows[1].pad(((0, 0), (0, 0), (48, 48))) + rows[2].pad(((0, 0), (0, 0), (96, 0)))
    want = np.concatenate([h.transpose(0, 2, 1, 3).reshape(2, 5, 48) for h in heads], 2)
    np.testing.assert_array_equal(whole.numpy(), want)
