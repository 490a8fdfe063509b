"""Reductions over indexed stores are recognised, and have kernels of their own."""

import pytest

from helpers.graphs import buffer, kernels, lookup, ops_of
from weft.base.dtype import dtypes
from weft.device.capabilities import Capabilities, ComputeCaps, KernelLimits
from weft.schedule.indexed_store_reductions import has_index_per_element, is_scatter
from weft.uop import Ops, UOp

ROWS, TERMS, PLACES = 3, 100, 8
GRID = Capabilities(compute=ComputeCaps(limits=KernelLimits(global_size=(64, 64, 64))))
SHAPE = (ROWS, PLACES, TERMS)


def counter(count):
    return UOp(Ops.IOTA, dtypes.int, (UOp(Ops.DEVICE, arg="X"),), count)


def numbers(terms=TERMS):
    return buffer(ROWS * terms, dtypes.int).reshape((ROWS, terms))


def often(index):
    """How often each place is named in a row."""
    shape = (ROWS, PLACES, index.shape[1])
    places = counter(PLACES).reshape((1, PLACES, 1)).expand(shape)
    named = index.reshape((ROWS, 1, index.shape[1])).expand(shape)
    return named.eq(places).cast(dtypes.int).reduce(Ops.ADD, (2,))


def among_equals(key, ordered=True):
    shape = (ROWS, TERMS, TERMS)
    mine, other = key.reshape((ROWS, TERMS, 1)), key.reshape((ROWS, 1, TERMS))
    chosen = mine.expand(shape).eq(other.expand(shape))
    if ordered:
        here = counter(TERMS).reshape((1, TERMS, 1)).expand(shape)
        chosen = chosen & (counter(TERMS).reshape((1, 1, TERMS)).expand(shape) < here)
    return chosen.cast(dtypes.int).reduce(Ops.ADD, (2,))


def picked(index):
    """The other direction: an index picks what is counted through."""
    shape = (ROWS, PLACES, TERMS)
    table = buffer(TERMS, dtypes.int).reshape((1, 1, TERMS)).expand(shape)
    index = index.shrink(((0, ROWS), (0, PLACES))).reshape((ROWS, PLACES, 1)).expand(shape)
    places = counter(TERMS).reshape((1, 1, TERMS)).expand(shape)
    return index.eq(places).where(table, 0).reduce(Ops.ADD, (2,))


@pytest.mark.parametrize(
    ("make", "placed"),
    [
        (lambda: often(numbers()), True),
        (lambda: often(numbers(8)), False),  # few terms are compared
        (lambda: among_equals(numbers()), True),
        (lambda: among_equals(numbers(), False), False),
        (lambda: picked(numbers()), False),
        (lambda: numbers().reduce(Ops.ADD, (1,)), False),
    ],
)
def test_recognition_of_scatter_reductions(make, placed):
    (reduce,) = (node for node in make().toposort() if node.op is Ops.REDUCE_AXIS)
    assert is_scatter(reduce) is placed


def for_columns(index, of_rows=False):
    """How often each place is named in a column, or, the same for all columns, in all rows."""
    shape = (PLACES, ROWS, TERMS)
    index = index.shrink(((0, 1), (0, TERMS))).expand((ROWS, TERMS)) if of_rows else index
    places = counter(PLACES).reshape((PLACES, 1, 1)).expand(shape)
    named = index.reshape((1, ROWS, TERMS)).expand(shape)
    return named.eq(places).cast(dtypes.int).reduce(Ops.ADD, (2,))


def test_elements_of_a_row_may_have_places_of_their_own():
    assert has_index_per_element(for_columns(numbers()))
    assert not has_index_per_element(for_columns(numbers(), of_rows=True))
    assert not has_index_per_element(often(numbers()))


def test_an_indexed_store_is_a_kernel_of_its_own():
    made = for_columns(numbers())
    assert len(kernels(made.contiguous() + 1)) == 2
    assert len(kernels(made.contiguous() + 1, ctx=lookup(X=GRID))) == 1


def test_it_is_not_fused_row_by_row_with_its_readers():
    def share(index):
        made = often(index)
        total = made.reduce(Ops.ADD, (1,)).expand((ROWS, PLACES))
        return made.reshape((ROWS, PLACES)) * total

    apart = kernels(share(numbers()))
    assert [ops_of(ast).count(Ops.CMPEQ) for ast in apart] == [1, 0]
    assert len(kernels(share(numbers()), ctx=lookup(X=GRID))) == 1
    assert len(kernels(share(numbers(8)))) == 1


def test_readers_of_an_indexed_store_are_in_other_kernels():
    x, index = buffer(TERMS), buffer(TERMS, dtypes.int)
    turns = counter(TERMS).reshape((1, TERMS)).expand((TERMS, TERMS))
    hits = index.reshape((1, TERMS)).expand((TERMS, TERMS)).eq(turns.permute((1, 0)))
    last = hits.where(turns + 1, 0).reduce(Ops.MAX, (1,))
    looked = last.expand((TERMS, TERMS)).eq(turns + 1).where(
        x.reshape((1, TERMS)).expand((TERMS, TERMS)), 0.0
    )  # fmt: skip
    put = looked.reduce(Ops.ADD, (1,)).contiguous()
    assert len(kernels(put)) == 1
    apart = kernels(put, put + 1)
    assert [len(ast.src) for ast in apart] == [1, 1]
    assert len(kernels(put, put + 1, ctx=lookup(X=GRID))) == 1


def test_elements_may_be_changed_in_passing():
    assert len(kernels(often(numbers()) + 1)) == 1
