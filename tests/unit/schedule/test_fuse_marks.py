"""Fusion marks: values that the user keeps in one kernel."""

import numpy as np
import pytest

from helpers.graphs import buffer, kernels, lookup
from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.device.capabilities import Capabilities, ComputeCaps, KernelLimits
from weft.engine import stats
from weft.schedule.fuse_marks import mark_removals, marked
from weft.schedule.use_def import uses_in
from weft.uop import Ops, UOp, to_text


def fuse(x):
    return UOp(Ops.FUSE, x.dtype, (x,))


def square():
    return buffer(64).reshape((8, 8))


def product(a, b):
    wide = a.reshape((8, 8, 1)).expand((8, 8, 8)) * b.reshape((1, 8, 8)).expand((8, 8, 8))
    return wide.reduce(Ops.ADD, (1,)).reshape((8, 8))


def sums_of_columns_of_sums_of_rows(x):
    """Two reduces over different axes, which do not share their rows."""
    rows = x.reduce(Ops.ADD, (1,)).expand((8, 8))
    return (x - rows).reduce(Ops.MAX, (0,))


def test_a_marked_value_is_one_kernel_an_unmarked_one_is_two():
    x = square()
    plain = sums_of_columns_of_sums_of_rows(x * 2)
    with settings.override(GROUP_KERNELS=0):
        assert len(kernels(plain)) == 2
        assert len(kernels(fuse(plain))) == 1


def test_marked_values_are_computed_where_they_are_read(golden):
    graph = fuse(sums_of_columns_of_sums_of_rows(square()))
    with settings.override(GROUP_KERNELS=0):
        (ast,) = kernels(graph)
    assert to_text(ast) == golden


@pytest.mark.parametrize("wall", [Ops.CONTIGUOUS, Ops.COPY])
def test_a_mark_ends_at_memory(wall):
    x = square()
    inner = x.reduce(Ops.ADD, (1,))
    inner = inner.contiguous() if wall is Ops.CONTIGUOUS else inner.copy_to_device("Y")
    outer = buffer(64, device="Y").reshape((8, 8)) if wall is Ops.COPY else x
    graph = fuse((outer - inner.expand((8, 8))).reduce(Ops.MAX, (0,)))
    (mark,) = marked(uses_in(UOp.sink(graph))).marks
    assert inner.base not in mark.inside and x.base not in mark.inside


def test_values_with_other_readers_are_no_part_of_a_mark():
    a = square()
    both = product(a, square())
    graph = UOp.sink(fuse(both - both.reduce(Ops.MAX, (1,)).expand((8, 8))), both + 1)
    (mark,) = marked(uses_in(graph)).marks
    assert both.base not in mark.inside
    assert len(kernels(*graph.src)) <= 3


def test_marks_vanish():
    x = square()
    uses = uses_in(UOp.sink(fuse(fuse(x + 1) * 2)))
    edits = mark_removals(uses)
    assert len(edits) == 2
    for ast in kernels(fuse(fuse(x + 1) * 2)):
        assert Ops.FUSE not in {node.op for node in ast.toposort()}


def test_a_mark_on_memory_or_a_constant_needs_no_kernel():
    assert not kernels(fuse(square()))
    assert not kernels(fuse(UOp.const(dtypes.float, 1.0, "X").reshape((1,)).expand((4,))))


def test_a_reader_outside_does_not_compute_all_of_it_again():
    fused = fuse(sums_of_columns_of_sums_of_rows(square()))
    outside = (square() * fused.expand((8, 8))).reduce(Ops.ADD, (1,))
    with settings.override(GROUP_KERNELS=0):
        assert len(kernels(outside)) == 2


def test_the_limit_of_buffers_holds():
    few = Capabilities(compute=ComputeCaps(limits=KernelLimits(max_buffers=3)))
    total = square()
    for _ in range(4):
        total = total + square()
    for graph in (total, fuse(total)):
        asts = kernels(graph, ctx=lookup(X=few))
        assert len(asts) > 1
        for ast in asts:
            assert len({n for n in ast.toposort() if n.op is Ops.DEFINE_GLOBAL}) <= 3


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.fixture
def operands():
    rng = np.random.default_rng(1)
    return [rng.standard_normal(s).astype(np.float32) for s in ((24, 16), (16, 20), (20, 6))]


@pytest.mark.parametrize("device", ["CPU", "REF"])
def test_softmax_of_a_product_is_one_kernel(operands, device):
    a, b, c = (Tensor(x, device=device).realize() for x in operands)
    before = stats.kernels
    fused = (a @ b).softmax().fuse().realize()
    assert stats.kernels == before + 1
    want = softmax(operands[0] @ operands[1])
    np.testing.assert_allclose(fused.numpy(), want, rtol=1e-5, atol=1e-6)
    before = stats.kernels
    whole = ((a @ b).softmax() @ c).fuse().realize()
    assert stats.kernels == before + 1
    np.testing.assert_allclose(whole.numpy(), want @ operands[2], rtol=1e-4, atol=1e-5)


def test_a_write_that_reads_its_whole_target(operands):
    x = operands[0]
    t = Tensor(x.copy())
    t.assign((t - t.sum(0, keepdim=True)).fuse())
    np.testing.assert_allclose(t.numpy(), x - x.sum(0), rtol=1e-5, atol=1e-5)


def test_the_gradient_is_that_of_the_value(operands):
    grads = []
    for marked_ in (False, True):
        a = Tensor(operands[0]).requires_grad_()
        y = (a @ Tensor(operands[1])).softmax()
        y = y.fuse() if marked_ else y
        (y * y).sum().backward()
        grads.append(a.grad.numpy())
    np.testing.assert_allclose(*grads, rtol=1e-5, atol=1e-6)
