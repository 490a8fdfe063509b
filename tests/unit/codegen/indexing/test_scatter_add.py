"""Scatter-add: the form of kernels, and their results."""

from __future__ import annotations

import random

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.indexing import one_hot_gather, scatter_add
from weft.codegen.lowering import lowerer
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower, nothing
from weft.device.capabilities import Target
from weft.spec import lowered
from weft.testing.reference import KINDS
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, to_text

VECTOR, GRID = (Target(KINDS[kind], GroupOp.ALU, None, "py", kind) for kind in ("vector", "grid"))
PLACES, WIDTH, TERMS = 40, 6, 30


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def indices(*shape, most=PLACES, seed=1):
    return np.random.default_rng(seed).integers(0, most, shape).astype(np.int32)


def on_reference(array):
    return Tensor(array, device="REF").realize()


def hits(index, places, rank=3):
    """Whether term t goes to place v: (t, v, 1) or (t, v)."""
    rest = (1,) * (rank - 2)
    counter = Tensor.arange(places, device="REF").reshape(1, places, *rest)
    return on_reference(index).reshape(-1, 1, *rest) == counter


def sums_of_rows(places=PLACES, width=WIDTH, terms=TERMS):
    """out[v, d] = the sum of rows[t, d] where index[t] == v, and what it is."""
    index, rows = indices(terms, most=places), numbers(terms, width)
    return added(index, rows, places), dense(index, rows, places)


def added(index, rows, places):
    return hits(index, places).where(on_reference(rows).reshape(len(rows), 1, -1), 0).sum(0)


def dense(index, rows, places):
    want = np.zeros((places, rows.shape[1]), np.float32)
    np.add.at(want, index, rows)
    return want


def kernel_of(total):
    """The kernel that computes it, and arrays for its slots."""
    item = [one for one in total.schedule() if one.ast.op is Ops.SINK][-1]
    for buffer in item.bufs:
        buffer.allocate()
    return item.ast, item.bufs


def after(ast, target=VECTOR):
    sink = scatter_add.run(one_hot_gather.run(lowerer.run(ast)), target)
    lowered.verify(sink)
    return sink


def of(sink, op):
    return [node for node in sink.toposort() if node.op is op]


def computed(ast, bufs, shape, choose=None, target=VECTOR):
    program = lower(ast, target, choose or nothing)
    arrays = [buffer.numpy().copy() for buffer in bufs]
    arrays[0][:] = 99
    run_program(program, arrays)
    return arrays[0].reshape(shape), program


def test_each_term_is_added_once():
    ast, _ = kernel_of(sums_of_rows()[0])
    sink = after(ast)
    assert not of(sink, Ops.REDUCE)
    empty, full = sorted(of(sink, Ops.FILL), key=scatter_add.accumulates)
    assert not scatter_add.accumulates(empty) and scatter_add.accumulates(full)
    assert not scatter_add.ordered_loops(empty)
    assert {loop.src[0].arg for loop in scatter_add.ordered_loops(full)} == {TERMS}


def test_the_lowered_text_before_and_after(golden):
    ast, _ = kernel_of(sums_of_rows()[0])
    before = one_hot_gather.run(lowerer.run(ast))
    text = f"# before\n{to_text(before)}\n# after\n{to_text(scatter_add.run(before, VECTOR))}"
    assert text == golden


def test_other_targets_and_settings_keep_their_loops():
    ast, _ = kernel_of(sums_of_rows()[0])
    assert of(after(ast, GRID), Ops.REDUCE)
    with settings.override(FUSE_ARANGE=0):
        assert of(after(ast), Ops.REDUCE)


@pytest.mark.parametrize("places, terms", [(40, 3), (3, 40)])
def test_few_outputs_or_terms_do_not_change(places, terms):
    ast, _ = kernel_of(sums_of_rows(places, 1, terms)[0])
    assert of(after(ast), Ops.REDUCE)


def test_outputs_beyond_one_array_are_blocked():
    places = 700
    total, want = sums_of_rows(places, 200, 8)
    ast, bufs = kernel_of(total)
    blocks = [loop for loop in of(after(ast), Ops.RANGE) if 1 < loop.src[0].arg < 30]
    assert 700 * 200 * 4 > VECTOR.compute.limits.scratch_bytes
    assert blocks, "one array would hold all places"
    stores = of(after(ast), Ops.STORE)
    assert all(not scatter_add.ranges_of(store).isdisjoint(blocks) for store in stores)
    np.testing.assert_array_equal(computed(ast, bufs, want.shape)[0], want)


@pytest.mark.parametrize("seed", range(12))
def test_every_legal_transformation_keeps_the_values(seed):
    total, want = sums_of_rows(24, 8, 16)
    ast, bufs = kernel_of(total)
    pick = random.Random(seed)
    kinds = (OptKind.UPCAST, OptKind.VECTOR, OptKind.SPLIT, OptKind.SWAP, OptKind.PADTO,
             OptKind.UNROLL, OptKind.STAGE)  # fmt: skip

    def choose(kernel: Kernel) -> list[Opt]:
        for _ in range(8):
            axis, amount = pick.randrange(len(kernel.axes)), pick.choice((0, 1, 2, 3, 4, 5))
            kernel.attempt(pick.choice(kinds), axis, amount)
        return kernel.applied

    got, _ = computed(ast, bufs, want.shape, choose)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("terms", [(30, 30), (30, 45), (45, 30, 12)])
def test_sums_over_other_terms_have_loops_of_their_own(terms):
    """The gradient of a table that several rows of indices look things up in."""
    total, want = 0, np.zeros((PLACES, WIDTH), np.float32)
    for seed, count in enumerate(terms):
        index, rows = indices(count, seed=seed), numbers(count, WIDTH, seed=seed)
        total, want = total + added(index, rows, PLACES), want + dense(index, rows, PLACES)
    ast, bufs = kernel_of(total)
    assert of(after(ast), Ops.REDUCE) == []
    for choose in (None, nothing):
        np.testing.assert_array_equal(computed(ast, bufs, want.shape, choose)[0], want)


def test_terms_in_a_row_that_share_one_index_are_all_added():
    index, rows = indices(9), numbers(9, 12)
    chosen = hits(index, PLACES, 4)  # (t, v, 1, 1)
    terms = on_reference(rows).reshape(9, 1, 1, 12)
    ast, bufs = kernel_of(chosen.where(terms, 0).sum((0, 3)))
    want = dense(index, rows.sum(1, keepdims=True), PLACES)
    for choose in (None, nothing):
        np.testing.assert_array_equal(computed(ast, bufs, want.shape, choose)[0], want)


def test_the_order_of_terms_is_kept():
    kernel = Kernel(after(kernel_of(sums_of_rows()[0])[0]), VECTOR)
    (terms,) = [i for i, axis in enumerate(kernel.axes) if axis.loop in kernel.ordered]
    for kind in (OptKind.UPCAST, OptKind.VECTOR, OptKind.SPLIT, OptKind.PADTO):
        with pytest.raises(OptError):
            kernel.apply(Opt(kind, terms, 4))
    (row,) = [
        i for i, axis in enumerate(kernel.axes)
        if axis.loop in kernel.once and axis.loop not in kernel.ordered
    ]  # fmt: skip
    with pytest.raises(OptError, match="illegal|legal"):
        kernel.apply(Opt(OptKind.VECTOR, row, 4))  # 6: parts would overlap, and be added twice
    kernel.apply(Opt(OptKind.VECTOR, row, 2))


def test_nonfinite_values_stay_in_their_outputs():
    index, rows = indices(TERMS), numbers(TERMS, WIDTH)
    rows[3], rows[4] = np.inf, np.nan
    got = added(index, rows, PLACES).numpy()
    np.testing.assert_array_equal(got, dense(index, rows, PLACES))


@pytest.mark.parametrize("scale", [1, 1 << 32, -1])
def test_indices_out_of_bounds_are_ignored(scale):
    index = np.arange(-20, 60, dtype=np.int64) * scale
    counts = hits(index, PLACES, 2).where(on_reference(np.ones((80, 1), np.float32)), 0).sum(0)
    assert counts.tolist() == [(index == place).sum() for place in range(PLACES)]


@pytest.mark.parametrize("how", ["sum", "prod", "amax", "amin", "mean"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8])
def test_every_reduction_combines_all_terms(how, dtype):
    own, new = (numbers(PLACES, 2, seed=s).astype(dtype) for s in (2, 3))
    index = indices(PLACES, 2)

    def made():
        x, source, at = (Tensor(a, device="REF") for a in (own, new, index))
        return x.scatter_reduce(0, at, source, how).numpy()

    got = made()
    with settings.override(FUSE_ARANGE=0):
        np.testing.assert_array_equal(got, made())


def test_in_place_every_element_is_changed_once():
    own, rows = numbers(37, 3, seed=5), numbers(TERMS, 3)
    index = indices(TERMS, most=37)
    x = on_reference(own)
    x.assign(x - added(index, rows, 37))
    np.testing.assert_array_equal(x.numpy(), own - dense(index, rows, 37))


def test_the_last_of_several_writes_counts():
    index, rows = indices(50, 3, most=20), numbers(50, 3)
    x = (
        Tensor.zeros(20, 3, device="REF")
        .contiguous()
        .scatter(0, Tensor(index, device="REF"), Tensor(rows, device="REF"))
    )
    want = np.zeros((20, 3), np.float32)
    for row in range(50):
        want[index[row], np.arange(3)] = rows[row]
    np.testing.assert_array_equal(x.numpy(), want)


def test_any_over_terms_is_a_boolean():
    index = indices(TERMS)
    seen = hits(index, PLACES, 2).any(0)
    assert seen.dtype is dtypes.bool
    assert seen.tolist() == [place in index for place in range(PLACES)]
