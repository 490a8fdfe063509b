"""Sums that pick one term become addresses: on the text of kernels, and on what they compute."""

from __future__ import annotations

import math

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.analysis.ranges import ranges_of
from weft.codegen.indexing import one_hot_gather
from weft.codegen.loops import loop_coalescing
from weft.codegen.lowering import lowerer
from weft.shape.tracker import ShapeTracker
from weft.spec import lowered
from weft.uop import Ops, UOp, to_text
from weft.uop.args import Reduce
from weft.uop.text import from_text

N, WIDTH = 9, 6


def pointer(slot, size, dtype=dtypes.float):
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)


def load(slot, size, shape, strides, dtype=dtypes.float):
    view = ShapeTracker.from_shape(shape, strides)
    return UOp(Ops.LOAD, dtype, (pointer(slot, size, dtype).view(view),))


def counter(shape, strides, dtype=dtypes.int):
    return UOp(Ops.IOTA, dtype, (), N).view(ShapeTracker.from_shape(shape, strides))


def kernel(value):
    """value, of shape (count, WIDTH, N), summed over its last axis."""
    count = value.shape[0]
    total = UOp(Ops.REDUCE_AXIS, value.dtype, (value,), Reduce(Ops.ADD, (2,)))
    out = pointer(0, count * WIDTH, value.dtype).view(ShapeTracker.from_shape((count, WIDTH, 1)))
    return UOp.sink(out.store(total))


def lookup(index_dtype=dtypes.int, spelling="where"):
    """Rows of a (N, WIDTH) table by 4 numbers."""
    shape = (4, WIDTH, N)
    index = load(1, 4, shape, (1, 0, 0), index_dtype)
    places = counter(shape, (0, 0, 1), index_dtype)
    table = load(2, N * WIDTH, shape, (0, 1, WIDTH))
    true = UOp.const(dtypes.bool, True)
    if spelling == "where":
        return kernel(index.eq(places).where(table, UOp.const(dtypes.float, 0.0)))
    if spelling == "not unequal":
        return kernel(index.ne(places).ne(true).where(table, UOp.const(dtypes.float, 0.0)))
    if spelling == "unequal the other way":
        return kernel(places.ne(index).where(UOp.const(dtypes.float, 0.0), table))
    if spelling == "and-ed":
        sound = load(3, 4, shape, (1, 0, 0), dtypes.bool)
        return kernel((sound & index.eq(places)).where(table, UOp.const(dtypes.float, 0.0)))
    if spelling == "nested":
        sound = load(3, 4, shape, (1, 0, 0), dtypes.bool)
        zero = UOp.const(dtypes.float, 0.0)
        return kernel(sound.where(index.eq(places).where(table, zero), zero))
    if spelling == "converted":
        picked = index.eq(places).where(table, UOp.const(dtypes.float, 0.0))
        return kernel(picked.cast(dtypes.double))
    raise AssertionError(spelling)


def after(ast):
    sink = one_hot_gather.run(lowerer.run(ast))
    lowered.verify(sink)
    return sink


def loops(sink):
    return [node for node in sink.toposort() if node.op is Ops.REDUCE]


@pytest.mark.parametrize(
    "spelling",
    ["where", "not unequal", "unequal the other way", "and-ed", "nested", "converted"],
)
def test_every_form_of_lookup_is_an_indexed_load(spelling):
    sink = after(lookup(spelling=spelling))
    assert not loops(sink)
    assert len({r for node in sink.toposort() for r in ranges_of(node)}) == 2


@pytest.mark.parametrize("dtype", [*dtypes.ints])
def test_no_address_outside_the_table_is_read(dtype):
    sink = after(lookup(dtype))
    (load_of_table,) = [
        node for node in sink.toposort() if node.op is Ops.LOAD and node.src[0].src[0].arg == 2
    ]
    assert len(load_of_table.src[0].src) == 3, "the load has no gate"
    gate = load_of_table.src[0].src[2]
    conditions = [node for node in gate.toposort() if node.op is Ops.CMPLT]
    assert len(conditions) == (1 if dtypes.is_unsigned(dtype) else 2)


def test_the_lowered_text_before_and_after(golden):
    before = lowerer.run(lookup())
    text = f"# before\n{to_text(before)}\n# after\n{to_text(one_hot_gather.run(before))}"
    assert text == golden
    assert to_text(from_text(to_text(before))) == to_text(before)


def test_addresses_in_large_tables_have_64_bits():
    rows, width = 1 << 20, 1 << 12
    shape = (4, width, rows)
    index = load(1, 4, shape, (1, 0, 0), dtypes.int)
    places = UOp(Ops.IOTA, dtypes.int, (), rows).view(ShapeTracker.from_shape(shape, (0, 0, 1)))
    table = load(2, rows * width, shape, (0, 1, width))
    total = UOp(
        Ops.REDUCE_AXIS, dtypes.float,
        (index.eq(places).where(table, UOp.const(dtypes.float, 0.0)),), Reduce(Ops.ADD, (2,)),
    )  # fmt: skip
    out = pointer(0, 4 * width).view(ShapeTracker.from_shape((4, width, 1)))
    sink = after(UOp.sink(out.store(total)))
    (address,) = [n for n in sink.toposort() if n.op is Ops.INDEX and n.src[0].arg == 2]
    products = [n for n in address.src[1].toposort() if n.op is Ops.MUL]
    assert address.src[1].dtype is dtypes.long
    assert all(product.dtype is dtypes.long for product in products)


def test_the_setting_disables_the_pass():
    with settings.override(FUSE_ARANGE=0):
        assert len(loops(after(lookup()))) == 1


def test_a_masked_product_of_floats_matches_only_for_a_finite_table():
    shape = (4, WIDTH, N)
    mask = load(1, 4, shape, (1, 0, 0), dtypes.int).eq(counter(shape, (0, 0, 1)))
    ast = kernel(mask.cast(dtypes.float) * load(2, N * WIDTH, shape, (0, 1, WIDTH)))
    assert len(loops(after(ast))) == 1
    with settings.override(FUSE_ARANGE=2):
        assert not loops(after(ast))


def test_a_masked_product_of_integers_matches():
    shape = (4, WIDTH, N)
    mask = load(1, 4, shape, (1, 0, 0), dtypes.int).eq(counter(shape, (0, 0, 1)))
    table = load(2, N * WIDTH, shape, (0, 1, WIDTH), dtypes.int)
    assert not loops(after(kernel(mask.cast(dtypes.int) * table)))


def test_an_inequality_does_not_match():
    shape = (4, WIDTH, N)
    less = load(1, 4, shape, (1, 0, 0), dtypes.int) < counter(shape, (0, 0, 1))
    zero = UOp.const(dtypes.float, 0.0)
    assert loops(after(kernel(less.where(load(2, N * WIDTH, shape, (0, 1, WIDTH)), zero))))


def test_the_index_must_be_invariant_in_the_loop():
    shape = (4, WIDTH, N)
    index = load(1, N, shape, (0, 0, 1), dtypes.int)
    zero = UOp.const(dtypes.float, 0.0)
    same = index.eq(counter(shape, (0, 0, 1)))
    assert loops(after(kernel(same.where(load(2, N * WIDTH, shape, (0, 1, WIDTH)), zero))))


def test_loops_inside_an_indexed_address_are_not_coalesced():
    shape = (4, WIDTH, N)
    inner = load(1, 4 * N, shape, (N, 0, 1), dtypes.int)
    counted = UOp(Ops.REDUCE_AXIS, dtypes.int, (inner,), Reduce(Ops.ADD, (2,)))
    index = counted.view(ShapeTracker.from_shape(shape, (WIDTH, 1, 0)))
    zero = UOp.const(dtypes.float, 0.0)
    mask = index.eq(counter(shape, (0, 0, 1)))
    sink = after(kernel(mask.where(load(2, N * WIDTH, shape, (0, 1, WIDTH)), zero)))
    (left,) = loops(sink)
    assert ranges_of(left) and len(left.src) == 2
    lowered.verify(loop_coalescing.run(sink))
    assert len(loops(loop_coalescing.run(sink))) == 1


# ---- what they compute ---------------------------------------------------------------------------


def table():
    x = np.random.default_rng(3).standard_normal((N, WIDTH)).astype(np.float32)
    x[3, 2], x[4, 1], x[8, 5] = np.nan, np.inf, -np.inf
    return x


X = table()
AT = np.array([[-9, 8, 0], [3, -1, 4]])


@pytest.mark.parametrize("on", [0, 1])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_signed_indices_count_from_both_ends(dtype, on):
    with settings.override(FUSE_ARANGE=on):
        np.testing.assert_array_equal(Tensor(X)[Tensor(AT.astype(dtype))].numpy(), X[AT])


@pytest.mark.parametrize("on", [0, 1])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_unsigned_indices(dtype, on):
    at = abs(AT) % N
    with settings.override(FUSE_ARANGE=on):
        np.testing.assert_array_equal(Tensor(X)[Tensor(at.astype(dtype))].numpy(), X[at])


@pytest.mark.parametrize("on", [0, 1])
@pytest.mark.parametrize(
    "beyond",
    [
        np.array([9, -10, 100, -100, 2**31 - 1, -(2**31)], np.int32),
        np.array([2**32, 2**32 + 1, 1 - 2**32, 2**63 - 1, -(2**63)], np.int64),
        np.array([2**64 - 1, 2**63, 2**32 + 2], np.uint64),
        np.array([255, 9], np.uint8),
    ],
)
def test_an_index_beyond_the_axis_gives_zero(beyond, on):
    with settings.override(FUSE_ARANGE=on):
        index = Tensor(beyond) + Tensor(np.zeros_like(beyond))  # computed, so not checked
        got = Tensor(X)[index].numpy()
    np.testing.assert_array_equal(got, np.zeros((len(beyond), WIDTH), np.float32))


def scaled(first, step):
    return (Tensor.arange(N) * step + first), [first + step * k for k in range(N)]


@pytest.mark.parametrize("first, step", [(0, 1), (-9, 3), (5, -2), (0, -1), (100, 7)])
def test_counters_may_be_scaled_and_shifted(first, step):
    places, values = scaled(first, step)
    asked = np.array(sorted({*values, -1, 0, 1, 99, first + 1, 2**31 - 1}), np.int64)
    column = Tensor(X[:, 0].copy())
    got = (Tensor(asked)[:, None] == places).where(column, 0).sum(1).numpy()
    want = [X[values.index(k), 0] if k in values else 0 for k in asked]
    np.testing.assert_array_equal(got, np.array(want, np.float32))


@pytest.mark.parametrize("transposed", [False, True])
def test_one_counter_over_two_axes(transposed):
    places = Tensor.arange(N * WIDTH)
    places = places.reshape(WIDTH, N).T if transposed else places.reshape(N, WIDTH)
    flat = (X.T if transposed else X).ravel()
    asked = np.array([0, N * WIDTH - 1, N * WIDTH, -1, 17])
    got = (Tensor(asked)[:, None, None] == places).where(Tensor(X), 0).sum((1, 2)).numpy()
    want = [flat[k] if 0 <= k < flat.size else 0 for k in asked]
    np.testing.assert_array_equal(got, np.array(want, np.float32))


def test_maxima_and_booleans_match():
    asked = Tensor(np.array([3, 9, -1, 0]))
    hits = asked[:, None] == Tensor.arange(N)
    np.testing.assert_array_equal(hits.any(1).numpy(), [True, False, False, True])
    np.testing.assert_array_equal(hits.sum(1).numpy(), [1, 0, 0, 1])
    got = hits.where(Tensor(X[:, 0].copy()), -0.25).max(1).numpy()
    want = [max(X[3, 0], -0.25), -0.25, -0.25, max(X[0, 0], -0.25)]
    np.testing.assert_array_equal(got, np.array(want, np.float32))


@pytest.mark.parametrize("device", ["CPU", "REF", "REF:vector", "REF:grid"])
def test_the_index_may_be_computed_in_the_same_kernel(device):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((12, N)).astype(np.float32)
    finite = np.nan_to_num(X, posinf=1.0, neginf=-1.0)
    best = Tensor(scores, device=device).argmax(1)
    got = Tensor(finite, device=device)[best].numpy()
    np.testing.assert_array_equal(got, finite[scores.argmax(1)])
    counted = (Tensor(scores, device=device) > 0).sum(1) - 1
    got = (Tensor(finite, device=device)[counted] * 2).numpy()
    np.testing.assert_allclose(got, finite[(scores > 0).sum(1) - 1] * 2)


def test_a_one_hot_product_keeps_nonfinite_values():
    with np.errstate(invalid="ignore"):
        want = np.eye(N, dtype=np.float32)[[2, 7]] @ X
    got = (Tensor([2, 7]).one_hot(N).cast(dtypes.float) @ Tensor(X)).numpy()
    np.testing.assert_allclose(got, want, atol=1e-6)
    assert math.isnan(got[0, 2])
