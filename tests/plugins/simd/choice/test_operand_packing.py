"""Which operands are packed, before which loops, and in how long stretches."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest

from helpers.simd import simd_target
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, Feature, KernelLimits
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import Ops, UOp
from weft_simd import thresholds


def target(*features, scratch=1 << 20):
    compute = ComputeCaps(
        vector_widths={dtypes.float: (4,)}, vector_bytes=16, vector_registers=16,
        limits=KernelLimits(scratch_bytes=scratch), features=frozenset(features),
    )  # fmt: skip
    return simd_target(compute)


def pointer(slot, size):
    return UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), slot)


def matmul(m, k, n, transposed=False, in_place=False, factor_in_place=False):
    a, b = pointer(1, m * k), pointer(2, k * n)
    left = a.view(ShapeTracker.from_shape((m, 1, k)).expand((m, n, k))).load()
    st = ShapeTracker.from_shape((n, k) if transposed else (k, n))
    st = st if transposed else st.permute((1, 0))
    right = b.view(st.reshape((1, n, k)).expand((m, n, k))).load()
    written = ShapeTracker.from_shape((m, n, 1))
    term = left * right
    if factor_in_place:
        term = term * pointer(0, m * n).view(written.expand((m, n, k))).load()
    total = term.reduce(Ops.ADD, (2,))
    out = pointer(0, m * n).view(written)
    return UOp.sink(out.store(total + out.load() if in_place else total))


def chosen(ast, where):
    with settings.override(SPEC=1):
        return [opt.kind for opt in lower(ast, where).applied]


def run(ast, where, *arrays):
    program = lower(ast, where)
    run_program(program, arrays)
    return arrays[0]


def test_a_strip_of_columns_is_packed_for_all_rows():
    kinds = chosen(matmul(256, 1024, 256), target())
    assert OptKind.PACK in kinds and OptKind.KEEP not in kinds


def test_a_long_sum_is_done_in_stretches():
    kinds = chosen(matmul(256, 9973, 256), target())
    assert kinds.index(OptKind.KEEP) < kinds.index(OptKind.STAGE)


@pytest.mark.parametrize("terms, whole", [(1024, True), (16384, False)])
def test_rows_that_are_read_across_are_packed_whole_where_the_sum_is_short(terms, whole):
    ast = matmul(256, terms, 256)
    across = {
        u: u.replace(arg=ShapeTracker.from_shape((terms, 256)).permute((1, 0)).reshape(
            (256, 1, terms)
        ).expand((256, 256, terms)))
        for u in ast.toposort() if u.op is Ops.VIEW and u.src[0].arg == 1
    }  # fmt: skip
    kinds = chosen(ast.substitute(across), target())
    assert (OptKind.PACK in kinds, OptKind.KEEP in kinds) == (whole, not whole)


@pytest.mark.parametrize(("m", "apart"), [(1024, False), (1000, True), (3072, False)])
def test_rows_in_each_others_way_are_read_across_in_short_stretches(m, apart):
    """Pieces of rows 4096 bytes apart are kept in one place of a cache: few of them."""
    k, n = 512, 128
    a, b = pointer(1, m * k), pointer(2, k * n)
    left = ShapeTracker.from_shape((k, m)).permute((1, 0)).reshape((m, 1, k)).expand((m, n, k))
    right = ShapeTracker.from_shape((k, n)).permute((1, 0)).reshape((1, n, k)).expand((m, n, k))
    total = (a.view(left).load() * b.view(right).load()).reduce(Ops.ADD, (2,))
    ast = UOp.sink(pointer(0, m * n).view(ShapeTracker.from_shape((m, n, 1))).store(total))
    opts = lower(ast, target()).applied
    kinds = [opt.kind for opt in opts]
    assert (OptKind.KEEP in kinds, OptKind.PACK in kinds) == (not apart, apart)
    if not apart:
        stretch = opts[kinds.index(OptKind.KEEP) - 1]
        assert stretch.kind is OptKind.SPLIT and stretch.amount <= k // 2


def test_a_sum_is_spared_its_stretches_where_one_panel_still_fits():
    kinds = chosen(matmul(256, 5000, 256), target())
    assert OptKind.PACK in kinds and OptKind.KEEP not in kinds
    narrow = chosen(matmul(256, 5000, 256), target(scratch=300_000))
    assert OptKind.KEEP in narrow


def test_operands_that_lanes_would_gather_are_always_packed():
    assert OptKind.PACK in chosen(matmul(64, 24, 64, transposed=True), target())
    assert OptKind.PACK not in chosen(matmul(64, 24, 64), target())


@pytest.mark.parametrize("k", [24, 13])
def test_an_operand_that_lanes_would_gather_is_transposed_in_squares(k):
    """Every row of a panel's square is one vector in memory, the last square overlaps."""
    ast = matmul(64, k, 16, transposed=True)
    program = lower(ast, target())
    lanes = {u.dtype.count for u in program.uops if u.op is Ops.LOAD and u.src[0].src[0].arg == 2}
    assert lanes == {4}
    a, b = (np.arange(n * k, dtype=np.float32).reshape(n, k) % 7 for n in (64, 16))
    got = run(ast, target(), np.zeros((64, 16), np.float32), a, b)
    np.testing.assert_array_equal(got, a @ b.T)


@pytest.mark.parametrize(
    ("ast", "where"),
    [
        (matmul(256, 1024, 256), target(scratch=0)),
        (matmul(256, 1024, 256, factor_in_place=True), target()),
        (matmul(8, 1024, 256), target()),  # too few rows to pay for it
    ],
    ids=["no room", "sums what it writes", "few rows"],
)
def test_no_packing(ast, where):
    assert not {OptKind.PACK, OptKind.KEEP, OptKind.STAGE} & set(chosen(ast, where))


@pytest.mark.parametrize(("m", "k"), [(256, 1024), (256, 9973), (768, 512)])
def test_in_place_accumulation_allows_packing(m, k):
    """Gradients are subtracted from weights where they are computed."""
    kinds = chosen(matmul(m, k, 256, in_place=True), target())
    assert {OptKind.PACK, OptKind.STAGE} & set(kinds)


def test_extents_are_rounded_up_where_parts_may_not_overlap():
    """The tile of a long sum is not left to what happens to divide an extent."""
    assert OptKind.PADTO in chosen(matmul(67, 64, 66, in_place=True), target())
    assert OptKind.PADTO not in chosen(matmul(67, 64, 66), target())
    assert OptKind.PADTO not in chosen(matmul(67, 4, 66, in_place=True), target())


def test_lanes_are_along_the_output_where_panels_can_be_had():
    """Although the terms of a sum lie side by side in both factors."""
    applied = lower(matmul(256, 3072, 256, transposed=True), target()).applied
    assert applied[0].kind is OptKind.VECTOR and applied[0].axis == 1
    few = lower(matmul(8, 3072, 8, transposed=True), target()).applied
    assert few[0].kind is OptKind.VECTOR and few[0].axis == 2


def test_threads_are_left_a_loop_outside():
    kinds = chosen(matmul(2048, 512, 16), target(Feature.THREADS))
    assert kinds.index(OptKind.PACK) < kinds.index(OptKind.THREAD)


def test_two_parts_are_a_little_short_where_one_would_be_all():
    # 800 rows share the one panel
    assert OptKind.THREAD in chosen(matmul(800, 2048, 8), target(Feature.THREADS))


@pytest.mark.parametrize(("m", "k", "n"), [(2048, 512, 16), (1000, 512, 48), (4096, 256, 32)])
def test_parts_come_out_even_for_two_threads_and_for_eight(m, k, n):
    with settings.override(SPEC=1):
        program = lower(matmul(m, k, n), target(Feature.THREADS))
    (turns,) = (u.src[0].arg for u in program.uops if u.op is Ops.SPECIAL)
    assert turns >= 4 and turns % 2 == 0
    assert turns < 8 or turns / (-(-turns // 8) * 8) > 0.8


@pytest.mark.parametrize("seed", range(8))
def test_any_size(seed):
    draw = random.Random(seed)
    m, n, k = draw.randint(32, 40), draw.randint(4, 20), draw.choice([5, 37, 64])
    transposed = draw.random() < 0.5
    where = target(*([Feature.THREADS] if draw.random() < 0.5 else []), scratch=1 << 12)
    numbers = np.random.default_rng(seed)
    a = numbers.integers(-9, 9, (m, k)).astype(np.float32)
    b = numbers.integers(-9, 9, (k, n)).astype(np.float32)
    given = np.ascontiguousarray(b.T) if transposed else b
    before = numbers.integers(-9, 9, (m, n)).astype(np.float32)
    for in_place in (False, True):
        ast = matmul(m, k, n, transposed, in_place)
        got = run(ast, where, before.copy(), a, given)
        np.testing.assert_array_equal(got, a @ b + before * in_place)


def test_an_operand_that_a_cache_holds_is_not_packed():
    narrow = target()
    compute = dataclasses.replace(
        narrow.compute, vector_widths={dtypes.float: (16,)}, vector_bytes=64, vector_registers=32
    )
    wide = dataclasses.replace(narrow, compute=compute)
    assert OptKind.PACK in chosen(matmul(64, 784, 320), wide)  # more than the cache holds
    assert OptKind.PACK not in chosen(matmul(64, 784, 128), wide)
    assert OptKind.PACK in chosen(matmul(4096, 784, 128), wide)  # many tiles pay for it
    assert OptKind.PACK in chosen(matmul(64, 784, 128, transposed=True), wide)
    assert OptKind.PACK not in chosen(matmul(64, 160, 500), wide)
    assert OptKind.PACK in chosen(matmul(64, 160, 512), wide)  # rows in each other's way


def strips_are_inside(m, k, n, **more):
    """Whether every tile takes several panels in turn; the places of SWAPs before PACK say so."""
    opts = lower(matmul(m, k, n), target(**more)).applied
    kinds = [opt.kind for opt in opts]
    return OptKind.PACK in kinds and kinds.count(OptKind.SWAP) > 1


def test_a_tall_matrix_is_read_once_for_several_panels():
    assert strips_are_inside(4096, 1024, 256)
    assert not strips_are_inside(128, 1024, 256)  # a cache keeps it from one panel to the next
    assert not strips_are_inside(4096, 4096, 256)  # one panel fits


@pytest.mark.parametrize("m, k, n", [(35, 20, 33), (40, 9, 50)])
def test_several_panels_at_once_on_odd_sizes(monkeypatch, m, k, n):
    monkeypatch.setattr(thresholds, "FAR", 0)
    monkeypatch.setattr(thresholds, "UNPACKED", 0)
    monkeypatch.setattr(thresholds, "REUSED", 4)
    monkeypatch.setattr(thresholds, "MANY_TILES", 0)
    monkeypatch.setattr(thresholds, "PANEL", 1 / 64)
    random = np.random.default_rng(m)
    a = random.standard_normal((m, k)).astype(np.float32)
    b = random.standard_normal((k, n)).astype(np.float32)
    out = run(matmul(m, k, n), target(Feature.THREADS), np.zeros(m * n, np.float32), a, b)
    np.testing.assert_allclose(out.reshape(m, n), a @ b, rtol=1e-4, atol=1e-4)
