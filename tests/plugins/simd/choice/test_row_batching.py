"""Rows that wait for sums over them are gone through several at a time, or one by one."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.codegen.opt.opts import OptKind
from weft.codegen.opt.search_space import by_heuristic
from weft.codegen.pipeline import loops_for
from weft.device.capabilities import ComputeCaps


def side_by_side(value: Tensor, registers: int = 32, read_streams: int = 1) -> list[int]:
    """How many outputs of one loop the last kernel has side by side, by the heuristic."""
    compute = ComputeCaps(
        vector_widths={dtypes.float: (16,), dtypes.int: (16,)}, vector_bytes=64,
        vector_registers=registers, read_streams=read_streams,
    )  # fmt: skip
    ast = value.schedule()[-1].ast
    kernel = loops_for(ast, simd_target(compute), True)
    return [opt.amount for opt in by_heuristic(kernel).opts if opt.kind is OptKind.UPCAST]


@pytest.mark.parametrize("method", ["layernorm", "softmax", "log_softmax"])
def test_rows_wait_together(method):
    assert side_by_side(getattr(Tensor.empty(128, 512), method)()) == [4]
    assert side_by_side(getattr(Tensor.empty(128, 512), method)(), registers=16) == [2]


@pytest.mark.parametrize(
    ("rows", "columns", "amounts"),
    [
        (128, 768, [4]),
        (33, 512, [3]),  # of four the last would be a row and three that were done before
        (19, 512, []),
        (8, 512, []),  # too few to be shared out
        (1024, 768, []),  # they come from further away
        (32, 2048, []),  # four do not fit in the L1 cache
    ],
)
def test_rows_that_are_near_and_short_and_many(rows, columns, amounts):
    assert side_by_side(Tensor.empty(rows, columns).layernorm()) == amounts


@pytest.mark.parametrize(
    ("rows", "columns", "method", "read_streams", "amounts"),
    [
        (4096, 1024, "layernorm", 8, [8]),
        (4096, 1024, "layernorm", 3, [3]),  # two of them twice
        (4096, 1024, "layernorm", 1, []),
        (4096, 4096, "layernorm", 8, [4]),  # rows of 16 KB, read and written
        (4096, 1 << 15, "layernorm", 8, []),
        (1024, 768, "layernorm", 8, []),  # a cache holds them, if a far one
        (4096, 1024, "softmax", 8, [8]),
        (4096, 4096, "softmax", 8, []),  # the exponentials take as long as memory
    ],
)
def test_rows_from_memory_if_several_streams_are_prefetched(
    rows, columns, method, read_streams, amounts
):
    value = getattr(Tensor.empty(rows, columns), method)()
    assert side_by_side(value, read_streams=read_streams) == amounts


@pytest.mark.parametrize(
    ("value", "amounts"),
    [
        (lambda x: x.cumsum(1), [8]),
        (lambda x: x[:4092].cumsum(1), [6]),  # as many rows as come out even
        (lambda x: x[:4093].cumsum(1), []),
        (lambda x: x[:8].cumsum(1), []),
        (lambda x: x.cummax(1)[0], []),
        (lambda x: x.logcumsumexp(1), []),
    ],
)
def test_levels_of_running_sums_wait_together(value, amounts):
    assert side_by_side(value(Tensor.empty(4096, 4096)), read_streams=8) == amounts
    assert side_by_side(value(Tensor.empty(4096, 4096))) == []


def test_reductions_without_latency_are_not_batched():
    assert side_by_side(Tensor.empty(128, 512).sum(1)) == []
    assert side_by_side(Tensor.empty(128, 500).exp().sum(1)) == []
    assert side_by_side(Tensor.empty(128, 512).var(1)) == [4]


def test_other_reductions_are_not_batched():
    assert side_by_side(Tensor.empty(128, 512) + 1.0) == []
    rows = Tensor.empty(128, 512)
    assert side_by_side(rows.gather(0, Tensor.empty(128, 512, dtype="int32")).sum(1)) == []
    assert side_by_side((rows / rows.sum()).max()) == []


@pytest.mark.parametrize("method", ["layernorm", "softmax", "argmax", "logsumexp"])
@pytest.mark.parametrize("shape", [(33, 40), (50, 37), (64, 64)])
def test_batched_rows_equal_single_rows(method, shape):
    values = np.random.default_rng(7).normal(size=shape).astype(np.float32)
    arguments = {"argmax": (1,), "logsumexp": (1,)}.get(method, ())
    together = getattr(Tensor(values), method)(*arguments).numpy()
    alone = [
        getattr(Tensor(values[i : i + 1]), method)(*arguments).numpy() for i in range(len(values))
    ]
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=1e-5, atol=1e-6)
