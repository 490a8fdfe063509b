"""Places among equals, counted on the way: the form of kernels, and what they compute."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor
from weft.base.settings import settings
from weft.codegen.analysis.ranges import loops_of
from weft.codegen.indexing import keyed_prefix_count, one_hot_gather
from weft.codegen.lowering import lowerer
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.device.capabilities import Target
from weft.spec import lowered
from weft.testing.reference import KINDS
from weft.uop import GroupOp, Ops

VECTOR, GRID = (Target(KINDS[kind], GroupOp.ALU, None, "py", kind) for kind in ("vector", "grid"))
KEYS, TERMS = 8, 37


def numbers(*shape):
    return np.random.default_rng(3).integers(0, 1 << 40, shape).astype(np.int64)


def on(device, array):
    return Tensor(array.copy(), device=device).realize()


def ranked(x, whole=True, weights=None, mask=KEYS - 1):
    """For each element the sum of `weights` over its equals before it, `whole`: and itself."""
    key = (x >> 3) & mask
    index = Tensor.arange(x.shape[-1], device=x.device)
    before = index < index.unsqueeze(-1) + int(whole)
    chosen = (key.unsqueeze(-1) == key.unsqueeze(-2)) & before
    return chosen.where(1 if weights is None else weights.unsqueeze(-2), 0).sum(-1)


def wanted(x, whole=True, weights=None):
    key = (x >> 3) & (KEYS - 1)
    same = key[..., :, None] == key[..., None, :]
    chosen = same & np.tri(x.shape[-1], k=0 if whole else -1, dtype=bool)
    return (chosen * (1 if weights is None else weights[..., None, :])).sum(-1)


def lowered_form(result):
    (item,) = (one for one in result.schedule() if one.ast.op is Ops.SINK)
    return one_hot_gather.run(lowerer.run(item.ast))


def test_the_inner_loop_disappears():
    before = lowered_form(ranked(on("REF", numbers(TERMS))))
    sink = keyed_prefix_count.run(before, VECTOR)
    lowered.verify(sink)
    assert not [node for node in sink.toposort() if node.op is Ops.REDUCE]
    assert keyed_prefix_count.run(before, GRID) is before
    with settings.override(FUSE_ARANGE=0):
        assert keyed_prefix_count.run(before, VECTOR) is before


def test_iterations_keep_their_order():
    sink = keyed_prefix_count.run(lowered_form(ranked(on("REF", numbers(3, TERMS)))), VECTOR)
    kernel = Kernel(sink, VECTOR)
    (counts,) = (f for f in kernel.fills if not loops_of(f))
    assert {loop.src[0].arg for loop in kernel.ordered} == {3, TERMS}
    assert len(counts.src) == 2
    for loop in kernel.ordered:
        for kind in (OptKind.UPCAST, OptKind.VECTOR, OptKind.SPLIT):
            with pytest.raises(OptError):
                kernel.apply(Opt(kind, kernel.axis_of(loop), 1 if loop.src[0].arg == 3 else 37))


def test_unbounded_keys_and_other_orders_do_not_match():
    x = on("REF", numbers(TERMS))
    for other in (ranked(x, mask=-1), ranked(x, mask=(1 << 30) - 1)):
        sink = lowered_form(other)
        assert keyed_prefix_count.run(sink, VECTOR) is sink
    key, index = x & 7, Tensor.arange(TERMS, device="REF")
    after = (key.unsqueeze(-1) == key) & (index.unsqueeze(-1) < index)
    sink = lowered_form(after.sum(-1))
    assert keyed_prefix_count.run(sink, VECTOR) is sink
    np.testing.assert_array_equal(
        after.sum(-1).numpy(),
        wanted((x.numpy() << 3)[::-1], False)[::-1],
    )


@pytest.mark.parametrize("device", ["REF", "REF:vector", "REF:grid", "CPU"])
@pytest.mark.parametrize("shape", [(TERMS,), (3, TERMS), (2, 1, TERMS), (1,), (5, 2)])
def test_ranks_among_equal_keys(device, shape):
    x = numbers(*shape)
    for whole in (True, False):
        np.testing.assert_array_equal(ranked(on(device, x), whole).numpy(), wanted(x, whole))


@pytest.mark.parametrize("device", ["REF:vector", "CPU"])
@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8"])
def test_running_sums_per_group(device, dtype):
    x, weights = numbers(3, TERMS), (numbers(3, TERMS) % 5).astype(dtype)
    made = ranked(on(device, x), weights=on(device, weights)).numpy()
    np.testing.assert_array_equal(made, wanted(x, weights=weights.astype(np.int64)))
