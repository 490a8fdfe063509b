"""Vector accesses are cut where their alignment is not known."""

import pytest

from weft.plugin import LinearProgram, Ops, UOp, dtypes
from weft_cuda.alignment import aligned, divisor, piece
from weft_cuda.renderer import CudaRenderer


def const(value):
    return UOp.const(dtypes.int, value)


def counter():
    return UOp.range(8, 0)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda i: const(0), 0),
        (lambda i: const(12), 12),
        (lambda i: i, 1),
        (lambda i: i * const(4), 4),
        (lambda i: i * const(4) + const(6), 2),
        (lambda i: (i * const(3)) * const(8), 24),
        (lambda i: (i * const(4)).cast(dtypes.long), 4),
    ],
)
def test_divisors_of_an_index(build, expected):
    assert divisor(build(counter())) == expected


@pytest.mark.parametrize(
    ("factor", "lanes", "itemsize", "expected"),
    [(4, 4, 4, 4), (2, 4, 4, 2), (1, 4, 4, 1), (4, 8, 4, 8), (4, 8, 2, 4), (8, 8, 2, 8)],
)
def test_pieces_are_as_wide_as_is_safe(factor, lanes, itemsize, expected):
    assert piece(counter() * const(factor), lanes, itemsize) == expected


def copy_of_rows(stride, lanes=4):
    i = counter()
    source = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), (), 1)
    target = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), (), 0)
    at = i * const(stride)
    value = source.index(at).load(dtype=dtypes.float.vec(lanes))
    store = target.index(at).store(value)
    uops = [*store.toposort(), UOp(Ops.ENDRANGE, dtypes.void, (i,))]
    return LinearProgram.of("rows", uops)


def test_aligned_accesses_stay_whole():
    uops = copy_of_rows(4).uops
    assert aligned(uops) == uops


def test_the_others_are_cut():
    uops = aligned(copy_of_rows(6).uops)
    loads = [u for u in uops if u.op is Ops.LOAD]
    stores = [u for u in uops if u.op is Ops.STORE]
    assert [u.dtype.count for u in loads] == [2, 2]
    assert [u.src[1].dtype.count for u in stores] == [2, 2]
    place = {u: n for n, u in enumerate(uops)}
    assert all(place[s] < place[u] for u in uops for s in u.src)


def test_single_lanes_where_nothing_is_known():
    source = CudaRenderer().render(copy_of_rows(5))
    assert "*(" not in source
    assert source.count("data1[") == 4
