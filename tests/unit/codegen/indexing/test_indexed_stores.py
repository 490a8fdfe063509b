"""Indexed stores: the form of kernels, and their results."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor, jit
from weft.codegen.analysis.ranges import ranges_of
from weft.codegen.indexing import indexed_stores, one_hot_gather
from weft.codegen.lowering import lowerer
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import Target
from weft.spec import lowered
from weft.testing.reference import KINDS
from weft.uop import GroupOp, Ops

VECTOR, GRID = (Target(KINDS[kind], GroupOp.ALU, None, "py", kind) for kind in ("vector", "grid"))
PLACES, WIDTH, TERMS = 40, 6, 90
DEVICES = ("REF", "REF:vector", "CPU")


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(np.float32)


def places(*shape, most=PLACES, seed=1):
    return np.random.default_rng(seed).integers(-most - 3, most + 3, shape).astype(np.int64)


def on(device, array):
    return Tensor(array.copy(), device=device).realize()


def kernel_of(result):
    (item,) = (one for one in result.schedule() if one.ast.op is Ops.SINK)
    for buffer in item.bufs:
        buffer.allocate()
    return item


def written(x, index, value):
    """x[index] = value for places that are there, the last one of several."""
    want, size = x.copy(), x.shape[0]
    for at, new in zip(index, np.broadcast_to(value, (len(index), *x.shape[1:]))):
        if -size <= at < size:
            want[at] = new
    return want


def kernel_that_writes():
    x, index = on("REF", numbers(PLACES, WIDTH)), on("REF", places(TERMS))
    x[index] = on("REF", numbers(TERMS, WIDTH, seed=2))
    return kernel_of(x)


def test_a_write_in_place_is_one_store_over_terms():
    ast = kernel_that_writes().ast
    before = one_hot_gather.run(lowerer.run(ast))
    sink = indexed_stores.run(before, VECTOR)
    lowered.verify(sink)
    (store,) = sink.src
    assert sorted(loop.src[0].arg for loop in ranges_of(store)) == [WIDTH, TERMS]
    assert not [node for node in sink.toposort() if node.op is Ops.REDUCE]
    assert indexed_stores.run(before, GRID) is before


def test_terms_keep_their_order():
    ast = kernel_that_writes().ast
    kernel = Kernel(indexed_stores.run(one_hot_gather.run(lowerer.run(ast)), VECTOR), VECTOR)
    (terms,) = kernel.ordered
    assert terms.src[0].arg == TERMS
    place = kernel.axis_of(terms)
    for kind, amount in ((OptKind.UPCAST, 2), (OptKind.VECTOR, 2), (OptKind.SPLIT, 3)):
        with pytest.raises(OptError):
            kernel.apply(Opt(kind, place, amount))


def test_old_values_are_stored_first():
    x, index = on("REF", numbers(PLACES, WIDTH)), on("REF", places(TERMS, WIDTH))
    made = x.scatter(0, index, on("REF", numbers(TERMS, WIDTH, seed=2)))
    sink = indexed_stores.run(one_hot_gather.run(lowerer.run(kernel_of(made).ast)), VECTOR)
    first, then = sink.src
    assert sorted(loop.src[0].arg for loop in ranges_of(first)) == [WIDTH, PLACES]
    assert sorted(loop.src[0].arg for loop in ranges_of(then)) == [WIDTH, TERMS]


def test_a_program_lists_buffers_that_it_updates():
    writes = lower(kernel_that_writes().ast, VECTOR)
    assert set(writes.outs) <= set(writes.ins)
    x, index = on("REF", numbers(PLACES)), on("REF", places(TERMS))
    item = kernel_of(x.scatter(0, index, on("REF", numbers(TERMS))))
    assert set(lower(item.ast, VECTOR).outs).isdisjoint(lower(item.ast, VECTOR).ins)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(PLACES,), (PLACES, WIDTH), (PLACES, 33)])
def test_rows_are_written(device, shape):
    x, index, new = numbers(*shape), places(TERMS, most=shape[0]), numbers(TERMS, *shape[1:])
    there = on(device, x)
    there[on(device, index)] = on(device, new)
    np.testing.assert_array_equal(there.numpy(), written(x, index, new))
    there[on(device, index)] = 5
    np.testing.assert_array_equal(there.numpy(), written(written(x, index, new), index, 5))


@pytest.mark.parametrize("device", DEVICES)
def test_columns_and_pairs_are_written(device):
    x = numbers(7, PLACES, 5)
    rows, columns = places(TERMS, most=7) % 7, places(TERMS) % PLACES
    a, b = on(device, x), on(device, x)
    a[:, on(device, columns)] = on(device, numbers(7, TERMS, 5))
    b[on(device, rows), on(device, columns)] = on(device, numbers(TERMS, 5))
    want = x.copy()
    want[:, columns] = numbers(7, TERMS, 5)
    np.testing.assert_array_equal(a.numpy(), want)
    want = x.copy()
    want[rows, columns] = numbers(TERMS, 5)
    np.testing.assert_array_equal(b.numpy(), want)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dim", [0, 1])
def test_scatter_along_either_axis(device, dim):
    x, new = numbers(9, 11), numbers(8, 10, seed=3)
    index = places(8, 10, most=x.shape[dim], seed=4) % x.shape[dim]
    want = x.copy()
    for i, j in np.ndindex(*index.shape):
        at = (index[i, j], j) if dim == 0 else (i, index[i, j])
        want[at] = new[i, j]
    got = on(device, x).scatter(dim, on(device, index), on(device, new))
    np.testing.assert_array_equal(got.numpy(), want)


def added(device, x, index, new):
    return on(device, x).scatter_add(0, on(device, index), on(device, new))


def test_scatter_add_into_more_outputs_than_a_local_array_holds():
    size, terms = 1 << 19, 3000
    x, index, new = numbers(size), places(terms, most=size) % size, numbers(terms)
    index[::3] = index[0]
    want = x.copy()
    np.add.at(want, index, new)
    ast = kernel_of(added("CPU", x, index, new)).ast
    sink = indexed_stores.run(one_hot_gather.run(lowerer.run(ast)), VECTOR)
    assert len(sink.src) == 2
    np.testing.assert_array_equal(added("CPU", x, index, new).numpy(), want)


@pytest.mark.parametrize("device", DEVICES)
def test_an_epilogue_of_a_sum_is_not_lost(device, monkeypatch):
    """Only what is added to a sum can be stored before it; anything else is done afterwards."""
    monkeypatch.setattr(indexed_stores, "_is_profitable", lambda one, scratch: True)
    index, values, other = places(TERMS), numbers(TERMS), numbers(PLACES, seed=4)
    want = np.zeros(PLACES, np.float32)
    inside = (index >= 0) & (index < PLACES)
    np.add.at(want, index[inside], values[inside])
    hits = on(device, index)[None] == Tensor.arange(PLACES, device=device)[:, None]
    total = hits.where(on(device, values)[None], 0).sum(1)
    held = on(device, other)
    np.testing.assert_array_equal((total * 2).numpy(), want * 2)
    np.testing.assert_array_equal((total > 0).where(held, total).numpy(),
                                  np.where(want > 0, other, want))  # fmt: skip
    np.testing.assert_array_equal((held + total).numpy(), other + want)
    np.testing.assert_array_equal((held - total).numpy(), other - want)


@pytest.mark.parametrize("device", DEVICES)
def test_sums_with_an_index_per_element_are_indexed_stores(device):
    """Their indices are computed once, not once for every block of rows."""
    x, new = numbers(PLACES, WIDTH), numbers(TERMS, WIDTH, seed=3)
    index = places(TERMS, WIDTH) % PLACES
    want = x.copy()
    np.add.at(want, (index, np.arange(WIDTH)[None]), new)
    sink = indexed_stores.run(
        one_hot_gather.run(lowerer.run(kernel_of(added("CPU", x, index, new)).ast)), VECTOR
    )
    assert len(sink.src) == 2
    np.testing.assert_array_equal(added(device, x, index, new).numpy(), want)


REDUCED = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("reduce", REDUCED)
def test_products_and_maxima_are_indexed_stores(device, reduce):
    x, new = numbers(PLACES, WIDTH) / 4, numbers(TERMS, WIDTH, seed=2) / 8
    x[0, 0], new[3, 1] = np.nan, np.inf
    index = places(TERMS, WIDTH) % PLACES
    want = x.copy()
    for term in np.ndindex(*index.shape):
        at = index[term], term[1]
        with np.errstate(invalid="ignore"):
            want[at] = REDUCED[reduce](want[at], new[term])
    parts = on(device, index), on(device, new)
    got = on(device, x).scatter_reduce(0, *parts, reduce)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5)
    items = on(device, x).scatter_reduce(0, *parts, reduce).schedule()
    sinks = [
        indexed_stores.run(one_hot_gather.run(lowerer.run(item.ast)), VECTOR) for item in items
    ]
    assert [len(sink.src) for sink in sinks].count(2) == 1
    assert not [u for sink in sinks for u in sink.toposort() if u.op is Ops.REDUCE]


@pytest.mark.parametrize("include", [True, False])
def test_means_of_indexed_terms(include):
    x, new = numbers(PLACES, WIDTH), numbers(TERMS, WIDTH, seed=2)
    index = places(TERMS, WIDTH) % PLACES
    total, count = x * include, np.full(x.shape, int(include))
    for term in np.ndindex(*index.shape):
        total[index[term], term[1]] += new[term]
        count[index[term], term[1]] += 1
    want = np.where(count > 0, total / np.maximum(count, 1), x)
    got = on("CPU", x).scatter_reduce(
        0, on("CPU", index), on("CPU", new), "mean", include_self=include
    )
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)


def test_terms_that_read_the_output_do_not_change():
    x, index = numbers(PLACES), places(TERMS) % PLACES
    there = on("CPU", x)
    there[on("CPU", index)] = there[on("CPU", index)] * 2 + there.sum()
    want = x.copy()
    want[index] = x[index] * 2 + x.sum()
    np.testing.assert_array_equal(there.numpy(), want)


def test_old_values_stay_and_views_follow():
    x, index, new = numbers(PLACES), places(TERMS), numbers(TERMS)
    there = on("CPU", x)
    double, window = there * 2, there[3:9]
    there[on("CPU", index)] = on("CPU", new)
    np.testing.assert_array_equal(there.numpy(), written(x, index, new))
    np.testing.assert_array_equal(double.numpy(), x * 2)
    np.testing.assert_array_equal(window.numpy(), written(x, index, new)[3:9])


def test_a_captured_call_writes_into_its_state():
    state = on("CPU", numbers(PLACES))

    @jit
    def put(index, new):
        state[index] = new
        fresh = (state * 2).realize()
        return fresh, state.scatter(0, index, new + 1).realize()

    want = numbers(PLACES)
    for turn in range(5):
        index, new = places(TERMS, seed=turn), numbers(TERMS, seed=turn + 9)
        double, other = put(on("CPU", index), on("CPU", new))
        want = written(want, index, new)
        np.testing.assert_array_equal(double.numpy(), want * 2)
        np.testing.assert_array_equal(other.numpy(), written(want, index, new + 1))
        np.testing.assert_array_equal(state.numpy(), want)


def test_gradients_of_indexed_stores():
    x, new = (Tensor(numbers(*s), requires_grad=True) for s in ((PLACES,), (TERMS,)))
    index = places(TERMS) % PLACES
    scale = Tensor(numbers(PLACES, seed=7))
    (x.scatter(0, Tensor(index), new) * scale).sum().backward()
    last = {at: turn for turn, at in enumerate(index)}
    left = np.array([0.0 if at in last else 1.0 for at in range(PLACES)])
    np.testing.assert_array_equal(x.grad.numpy(), numbers(PLACES, seed=7) * left)
    want = np.array([scale.numpy()[at] if last[at] == t else 0 for t, at in enumerate(index)])
    np.testing.assert_array_equal(new.grad.numpy(), want)
