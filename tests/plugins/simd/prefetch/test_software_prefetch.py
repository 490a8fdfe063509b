"""One mechanism prefetches for all patterns: later addresses of access streams, from a table."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.codegen.analysis.ranges import Accumulate
from weft.device.capabilities import ComputeCaps
from weft.device.machine import MachineModel
from weft.uop import Ops, UOp
from weft.uop.args import PREFETCH_L1, PREFETCH_L2, PREFETCH_STREAM, AxisKind
from weft_simd.prefetch import access_streams, software_prefetch
from weft_simd.prefetch.access_streams import AccessStream, Induction, loop_induction

BUFFER = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(200), (), 0)
OUTER, INNER = UOp.range(10, 0, AxisKind.LOOP), UOp.range(4, 1, AxisKind.LOOP)


def later(at, *advance, distance=1, skips_end=False, **facts):
    stream = AccessStream(BUFFER.index(at), advance, **facts)
    return access_streams.later_address(stream, distance, skips_end)


def value(node, outer=0, inner=0):
    places = {OUTER: OUTER.const_like(outer), INNER: INNER.const_like(inner)}
    return node.substitute(places).simplify().arg


@pytest.mark.parametrize(
    ("distance", "expected"),
    [(1, [1, 2, 3, 4, 5, 6, 7, 8, 9, 9]), (3, [3, 4, 5, 6, 7, 8, 9, 7, 8, 9])],
)
def test_the_last_iterations_stay_in_the_range_of_a_loop(distance, expected):
    index = later(OUTER * 20 + 7, loop_induction(OUTER), distance=distance)
    assert len(index.src) == 2
    assert [value(index.src[1], outer) for outer in range(10)] == [20 * n + 7 for n in expected]


def test_the_last_iterations_may_prefetch_nothing():
    index = later(OUTER * 20, loop_induction(OUTER), distance=3, skips_end=True)
    _, at, gate = index.src
    assert [value(gate, outer) for outer in range(10)] == [True] * 7 + [False] * 3
    assert [value(at, outer) for outer in range(7)] == list(range(60, 200, 20))


def test_a_loop_that_ends_carries_into_the_next_one():
    index = later(OUTER * 4 + INNER, loop_induction(INNER), loop_induction(OUTER))
    found = [value(index.src[1], outer, inner) for outer in range(10) for inner in range(4)]
    assert found[:-1] == list(range(1, 40)) and found[-1] < 40


def test_a_position_of_its_own_replaces_a_loop():
    index = later(OUTER * 4 + INNER, loop_induction(OUTER), position={INNER: OUTER.const_like(2)})
    assert [value(index.src[1], outer, 3) for outer in (0, 5)] == [6, 26]


def test_blocks_advance_by_their_size_inside_of_a_buffer():
    start = OUTER * 20
    index = later(start + 3, Induction(start, 200, 20), distance=4)
    found = [value(index.src[1], outer) for outer in range(10)]
    assert found == [83, 103, 123, 143, 163, 183, 123, 143, 163, 183]


def test_windows_stay_in_their_buffer():
    index = later(OUTER * 20 - 9, loop_induction(OUTER), distance=8, is_window=True)
    found = [value(index.src[1], outer) for outer in range(10)]
    assert found == [151, 171, 31, 51, 71, 91, 111, 131, 151, 171]
    early = later(OUTER * 20 - 30, loop_induction(OUTER), is_window=True)
    assert value(early.src[1], 0) == 0


@pytest.mark.parametrize("itemsize_of", [dtypes.float, dtypes.double])
def test_one_address_for_each_cache_line(itemsize_of):
    buffer = UOp(Ops.DEFINE_GLOBAL, itemsize_of.ptr(200), (), 0)
    loads = [UOp(Ops.LOAD, itemsize_of, (buffer.index(OUTER * 20 + n),)) for n in range(20)]
    lines = access_streams.cache_lines(loads, 64)
    each = 64 // itemsize_of.itemsize
    assert [value(line.src[1]) for line in lines] == list(range(0, 20, each))


def sum_of_vectors() -> UOp:
    """A sum of contiguous vectors of 16 bytes."""
    loop, out = (
        UOp.range(10, 0, AxisKind.REDUCE),
        UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4), (), 1),
    )
    load = UOp(Ops.LOAD, dtypes.float.vec(4), (BUFFER.index(loop * 4),))
    total = UOp(Ops.REDUCE, load.dtype, (load, loop), Accumulate(Ops.ADD))
    return UOp.sink(UOp(Ops.STORE, dtypes.void, (out.index(loop.const_like(0)), total)))


def test_a_stream_is_marked_and_nothing_else_is_added():
    compute = ComputeCaps(
        vector_widths={dtypes.float: (4,)}, vector_bytes=16, cache_bytes=128,
        machine=MachineModel(line_bytes=16),
    )  # fmt: skip
    sink = software_prefetch.run(sum_of_vectors(), compute)
    assert [u.arg for u in sink.toposort() if u.op is Ops.LOAD] == [PREFETCH_STREAM]
    assert len(sink.src) == 1


def test_without_a_cache_size_nothing_changes():
    sink = sum_of_vectors()
    assert software_prefetch.run(sink, ComputeCaps()) is sink


def test_every_pattern_documents_its_streams_and_its_cache():
    tables = {**software_prefetch.PRODUCT_PATTERNS, **software_prefetch.KERNEL_PATTERNS}
    assert len(tables) == 8
    for pattern in tables.values():
        assert pattern.streams.__doc__ and pattern.distance(MachineModel()) >= 1
        assert pattern.hint in (PREFETCH_L1, PREFETCH_L2, PREFETCH_STREAM)
