"""Terms of a sum packed into wider vectors: which loads are joined, and when nothing is packed."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.codegen.vectorization.packed_dot import added_to_dots
from weft.codegen.vectorization.superwords import lane_terms, operations, superwords
from weft.device.packed_dot import PairDot
from weft.uop import Ops, UOp

UNIT = PairDot(dtypes.uint8, dtypes.int32, (4, 8, 16), dtypes.int8)


def loaded(dtype, slot: int, at: int, base: UOp | None = None) -> UOp:
    """A plain load, `at` elements after a base."""
    pointer = UOp(Ops.DEFINE_GLOBAL, dtype.scalar().ptr(1 << 12), (), slot)
    index = UOp.const(dtypes.int, at) if base is None else base + at if at else base
    return UOp(Ops.LOAD, dtype, (UOp(Ops.INDEX, pointer.dtype, (pointer, index)),))


def scaled(step: int, number: int) -> UOp:
    """A vector of four numbers times a scale of its own."""
    scale = loaded(dtypes.float32, 2, number)
    vector = loaded(dtypes.float32.vec(4), 1, step * number)
    return UOp(Ops.MUL, vector.dtype, (vector, scale.broadcast(4)))


def test_adjacent_loads_become_one():
    terms = [scaled(4, number) for number in range(4)]
    (wide,) = superwords(terms, [4], 16)
    vector, scale = wide.src
    assert (vector.op, vector.dtype) == (Ops.LOAD, dtypes.float32.vec(16))
    assert scale.op is Ops.GEP
    assert scale.arg == tuple(number for number in range(4) for _ in range(4))
    assert scale.src[0].dtype is dtypes.float32.vec(4)
    assert operations([wide]) < operations(terms)


def test_loads_that_are_apart_are_concatenated():
    (wide,) = superwords([scaled(9, number) for number in range(4)], [4], 16)
    vector, scale = wide.src
    assert vector.op is Ops.CAT
    assert [one.dtype for one in vector.src] == [dtypes.float32.vec(8)] * 2
    assert [one.src[0].op for one in vector.src] == [Ops.LOAD] * 2
    assert scale.src[0].op is Ops.LOAD


def distant(step: int, base: UOp | None) -> list[UOp]:
    """Four vectors of four numbers, each times a half of its own, `step` halves apart."""
    halves = [loaded(dtypes.half, 2, step * number, base) for number in range(4)]
    vectors = [loaded(dtypes.float32.vec(4), 1, 9 * number) for number in range(4)]
    return [
        UOp(Ops.MUL, vector.dtype, (vector, half.cast(dtypes.float32).broadcast(4)))
        for vector, half in zip(vectors, halves)
    ]


@pytest.mark.parametrize("base", [None, UOp.variable("n", 0, 64)])
def test_scalars_a_few_apart_are_selected_from_two_loads(base):
    (wide,) = superwords(distant(9, base), [4], 16)
    scale = wide.src[1].src[0].src[0]
    assert scale.op is Ops.GEP and scale.arg == (0, 9, 22, 31)
    low, high = scale.src[0].src
    assert low.dtype is high.dtype is dtypes.half.vec(16)
    first, last = (loaded(dtypes.half, 2, at, base).src[0] for at in (0, 12))
    assert (low.src[0], high.src[0]) == (first, last)


@pytest.mark.parametrize(("step", "lanes"), [(4, 16), (11, 16), (9, 8)])
def test_other_scalars_are_loaded_one_by_one(step, lanes):
    """They span one load or more than two, or the target does not select from two registers."""
    packs = superwords(distant(step, None), [4], lanes)
    loads = {u.dtype for u in UOp.sink(*packs).toposort() if u.op is Ops.LOAD}
    assert dtypes.half in loads and dtypes.half.vec(16) not in loads


def test_packs_are_along_the_loop_of_adjacent_loads():
    """Terms (i, j) at 4 * i + 64 * j: pairs along i are adjacent."""
    terms = [
        UOp(Ops.NEG, dtypes.float32.vec(4), (loaded(dtypes.float32.vec(4), 1, 4 * i + 64 * j),))
        for i in range(2)
        for j in range(2)
    ]
    packs = superwords(terms, [2, 2], 8)
    assert [pack.src[0].src[0].src[1].arg for pack in packs] == [0, 64]
    assert all(pack.src[0].op is Ops.LOAD for pack in packs)


def test_equal_shifts_are_preferred():
    """Terms (i, j) of the same four bytes, shifted by 4 * j: pairs along i share a shift."""
    terms = []
    for i in range(2):
        for j in range(2):
            codes = loaded(dtypes.uint8.vec(16), 1, 16 * i)
            shift = UOp.const(dtypes.uint8.vec(16), 4 * j)
            terms.append(UOp(Ops.SHR, codes.dtype, (codes, shift)))
    packs = superwords(terms, [2, 2], 32)
    assert [pack.src[1].src[0].arg for pack in packs] == [0, 4]


@pytest.mark.parametrize("extents, lanes", [([4], 4), ([3], 16), ([2], 16)])
def test_terms_that_stay(extents, lanes):
    terms = [scaled(4, number) for number in range(4)]
    assert superwords(terms, extents, lanes) is terms


def test_terms_of_other_operations_are_concatenated_only_if_that_is_cheaper():
    one, other = scaled(4, 0), loaded(dtypes.float32.vec(4), 3, 0)
    terms = [one, UOp(Ops.NEG, other.dtype, (other,))]
    assert superwords(terms, [2], 8) is terms


def test_a_unit_has_few_widths():
    def term(number: int) -> UOp:
        words = loaded(dtypes.int.vec(16), 1, 16 * number), loaded(dtypes.int.vec(16), 2, 0)
        return UOp(Ops.DOT, dtypes.int.vec(16), words, UNIT)

    terms = [term(0), term(1)]
    assert superwords(terms, [2], 32) is terms


def test_a_sum_of_dots_starts_with_the_number_that_is_added():
    words = [loaded(dtypes.int.vec(4), slot, 0) for slot in (1, 2, 3, 4)]
    start = loaded(dtypes.int.vec(4), 5, 0)
    zero = UOp.const(dtypes.int.vec(4), 0)
    first = UOp(Ops.DOT, zero.dtype, (*words[:2], zero), UNIT)
    second = UOp(Ops.DOT, zero.dtype, (*words[2:], first), UNIT)
    found = added_to_dots(UOp(Ops.ADD, zero.dtype, (second, start)))
    assert found.op is Ops.DOT
    assert found.src[2].src[2] is start
    assert added_to_dots(UOp(Ops.ADD, zero.dtype, (start, start))).op is Ops.ADD


def test_terms_that_are_the_same_in_all_lanes_are_added_apart():
    offsets = [loaded(dtypes.float32, 4, number) for number in range(4)]
    terms = [
        UOp(Ops.ADD, dtypes.float32.vec(4), (scaled(4, number), offset.broadcast(4)))
        for number, offset in enumerate(offsets)
    ]
    (wide,), (offset,) = lane_terms(terms, [4], 16, fused=False)
    assert (wide.op, wide.dtype) == (Ops.MUL, dtypes.float32.vec(16))
    assert (offset.op, offset.dtype) == (Ops.LOAD, dtypes.float32.vec(4))


def test_sums_of_two_products_are_two_terms():
    pair = UOp(Ops.ADD, dtypes.float32.vec(4), (scaled(4, 0), scaled(4, 1)))
    assert lane_terms([pair], [1], 4, fused=True) == (list(pair.src), [])
    assert lane_terms([pair], [1], 4, fused=False) == ([pair], [])
    same = UOp(Ops.ADD, dtypes.float32.vec(4), (scaled(4, 0),) * 2)
    assert lane_terms([same], [1], 4, fused=True) == (list(same.src), [])
