"""Local row buffers: filled once, read at any index."""

from __future__ import annotations

import math

import numpy as np
import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.base.errors import SpecError
from weft.base.settings import settings
from weft.codegen.analysis.ranges import extent_of, fill_of, loops_of, ranges_of
from weft.codegen.decomposition import dtypes as narrow
from weft.codegen.lowering import lowerer
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower, nothing
from weft.device.capabilities import ComputeCaps, KernelLimits, Target
from weft.render.cstyle import CStyleRenderer
from weft.render.dialect import CDialect, VectorStyle
from weft.shape.infer import shape_of
from weft.shape.tracker import ShapeTracker
from weft.spec import kernel_ast, lowered
from weft.testing.reference.run import run_program
from weft.uop import AxisKind, GroupOp, Ops, UOp
from weft.uop.args import Row
from weft.uop.text import from_text, to_text

PLAIN = Target(ComputeCaps(), GroupOp.ALU, None, "c", "plain")
WIDE = Target(
    ComputeCaps(vector_widths={dtypes.float: (8, 4)}, vector_bytes=32, vector_registers=16),
    GroupOp.ALU, None, "c", "wide",
)  # fmt: skip
GRID = Target(
    ComputeCaps(
        limits=KernelLimits(
            global_size=(65535, 65535, 64), local_size=(1024, 1024, 64), local_threads=1024
        )
    ),
    GroupOp.ALU, None, "c", "grid",
)  # fmt: skip


def shape(*extents):
    return ShapeTracker.from_shape(extents)


def pointer(slot, size, dtype=dtypes.float):
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)


def load(slot, *extents, dtype=dtypes.float):
    return pointer(slot, math.prod(extents), dtype).view(shape(*extents)).load()


def store(slot, value, *extents):
    target = pointer(slot, math.prod(extents), value.dtype)
    return target.view(shape(*extents)).store(value)


def row(value, outer=1):
    return UOp(Ops.CONTIGUOUS, value.dtype, (value,), Row(outer))


def spread(value, *extents):
    return value.view(shape(*shape_of(value)).expand(extents))


def softmax(rows, length, keep=row):
    """2 ** (x - max) over its sum: the power is needed twice."""
    x = load(1, rows, length)
    less = x - spread(x.reduce(Ops.MAX, (1,)), rows, length)
    power = keep(UOp(Ops.EXP2, dtypes.float, (less,)))
    total = UOp(Ops.RECIP, dtypes.float, (power.reduce(Ops.ADD, (1,)),))
    return UOp.sink(store(0, power * spread(total, rows, length), rows, length))


def want(x):
    power = np.exp2(x - x.max(1, keepdims=True))
    return power / power.sum(1, keepdims=True)


def nodes(sink, op):
    return [node for node in sink.toposort() if node.op is op]


def run(program, arrays):
    run_program(program, arrays)


def outcome(ast, target, choose=None, rows=6, length=16):
    x = np.random.default_rng(0).standard_normal((rows, length)).astype(np.float32)
    out = np.zeros_like(x)
    with settings.override(SPEC=1):
        run(lower(ast, target, choose), {0: out, 1: x})
    return x, out


def chosen(*opts):
    def choose(kernel):
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    return choose


# ---- the lowered form --------------------------------------------------------------------------


def test_a_row_is_filled_in_loops_of_its_own_inside_the_outer_axes():
    sink = lowerer.run(softmax(6, 16))
    lowered.verify(sink)
    (fill,) = nodes(sink, Ops.FILL)
    assert [extent_of(loop) for loop in loops_of(fill)] == [16]
    assert [extent_of(loop) for loop in ranges_of(fill)] == [6]
    array = fill.src[0].src[0].src[0]
    assert array.op is Ops.DEFINE_REG and array.dtype == dtypes.float.ptr(16, AddrSpace.REG)
    reads = [node for node in nodes(sink, Ops.LOAD) if fill_of(node) is fill]
    assert len(reads) == 2 and len(nodes(sink, Ops.EXP2)) == 1


def centred(rows, length):
    """x less its greatest, and the sum of that: stores of different rank that share a row."""
    x = load(2, rows, length)
    less = row(x - spread(x.reduce(Ops.MAX, (1,)), rows, length))
    total = less.reduce(Ops.ADD, (1,)).view(shape(rows, 1).reshape((rows,)))
    return UOp.sink(store(0, less, rows, length), store(1, total, rows))


@pytest.mark.parametrize("name,target", [("plain", PLAIN), ("wide", WIDE)])
def test_the_source_of_a_kernel_with_a_row(name, target, golden):
    renderer = CStyleRenderer(CDialect(vectors=VectorStyle()))
    native = Target(target.compute, renderer.native_ops, renderer.rules, "c", "clang")
    source = renderer.render(lower(centred(6, 16), native))
    assert "float row0[16] __attribute__((aligned(64)));" in source
    assert source == golden.file(f"render/row_{name}.c")


def test_the_lowered_form_of_a_kernel_with_a_row(golden):
    ast = centred(6, 16)
    both = to_text(ast) + "\n" + to_text(lowerer.run(ast))
    assert both == golden.file("lowered/row.uop")


def test_buffered_rows_are_computed_once_per_element():
    kept, again = (lower(softmax(6, 16, keep), PLAIN, nothing) for keep in (row, lambda x: x))
    assert again.estimates.ops - kept.estimates.ops == 2 * 6 * 16  # a difference and a power
    assert kept.estimates.bytes == again.estimates.bytes == 4 * 2 * 6 * 16
    assert again.estimates.lds - kept.estimates.lds == 4 * 6 * 16


def test_a_row_of_one_element_is_just_a_value():
    total = row(load(1, 6, 16).reduce(Ops.ADD, (1,)))
    sink = lowerer.run(UOp.sink(store(0, total, 6, 1)))
    assert not nodes(sink, Ops.FILL) and not nodes(sink, Ops.DEFINE_REG)


def test_rows_of_rows_are_filled_one_after_the_other():
    ast = softmax(6, 16, lambda power: row(row(power) + 0.0))
    sink = lowerer.run(ast)
    first, second = nodes(sink, Ops.FILL)
    assert first in second.toposort()
    x, out = outcome(ast, PLAIN, nothing)
    np.testing.assert_allclose(out, want(x), rtol=1e-6)


def test_rows_that_read_the_same_are_filled_in_one_loop():
    x = load(1, 6, 16)
    a, b = row(x + 1.0), row(x * 2.0)
    flipped = [value.view(shape(6, 16).flip((False, True))) for value in (a, b)]
    sink = lowerer.run(UOp.sink(store(0, flipped[0] + flipped[1], 6, 16)))
    first, second = nodes(sink, Ops.FILL)
    assert loops_of(first) == loops_of(second)


@pytest.mark.parametrize("target", [PLAIN, WIDE, GRID], ids=["plain", "wide", "grid"])
@pytest.mark.parametrize("choose", [nothing, None], ids=["plain", "heuristic"])
def test_softmax_everywhere(target, choose):
    x, out = outcome(softmax(6, 16), target, choose)
    np.testing.assert_allclose(out, want(x), rtol=1e-6)


def test_a_padded_read_stays_within_the_array():
    kept = row(load(1, 2, 3) + 1.0)
    st = shape(2, 3).pad(((0, 0), (2, 3)))
    ast = UOp.sink(store(0, kept.view(st), 2, 8))
    x, out = np.arange(6, dtype=np.float32).reshape(2, 3), np.full((2, 8), 7, np.float32)
    run(lower(ast, PLAIN), {0: out, 1: x})
    np.testing.assert_array_equal(out, np.pad(x + 1, ((0, 0), (2, 3))))


def test_a_row_may_be_stored_and_read_at_once():
    kept = row(load(2, 4, 8) * 2.0)
    total = kept.reduce(Ops.ADD, (1,)).view(shape(4, 1).reshape((4,)))
    ast = UOp.sink(store(1, total, 4), store(0, kept, 4, 8))
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    out, sums = np.zeros_like(x), np.zeros(4, np.float32)
    with settings.override(SPEC=1):
        program = lower(ast, WIDE)
        run(program, {0: out, 1: sums, 2: x})
    np.testing.assert_array_equal(out, x * 2)
    np.testing.assert_array_equal(sums, x.sum(1) * 2)


def test_a_product_of_matrices_can_be_a_row():
    rows, columns, depth = 4, 8, 3
    a = pointer(1, rows * depth).view(
        shape(rows, 1, depth).expand((rows, columns, depth))
    ).load()  # fmt: skip
    b = pointer(2, columns * depth).view(
        shape(1, columns, depth).expand((rows, columns, depth))
    ).load()  # fmt: skip
    scores = row((a * b).reduce(Ops.ADD, (2,)))
    most = spread(scores.reduce(Ops.MAX, (1,)), rows, columns, 1)
    ast = UOp.sink(store(0, scores - most, rows, columns, 1))
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-4, 5, (n, depth)).astype(np.float32) for n in (rows, columns))
    out = np.zeros((rows, columns), np.float32)
    for target in (PLAIN, WIDE, GRID):
        run(lower(ast, target), {0: out, 1: x, 2: y})
        np.testing.assert_array_equal(out, x @ y.T - (x @ y.T).max(1, keepdims=True))


def test_buffers_of_variable_rows_fit_the_longest():
    n = UOp.variable("n", 1, 10)
    x = pointer(1, 40).view(ShapeTracker.from_shape((4, n))).load()
    ast = UOp.sink(store(0, row(x + 1.0).reduce(Ops.MAX, (1,)), 4, 1))
    program = lower(ast, PLAIN)
    assert {u.dtype.size for u in program.uops if u.op is Ops.DEFINE_REG} == {1, 10}


def test_the_arg_is_text():
    kept = row(load(1, 4, 8))
    assert from_text(to_text(kept)) is kept and kept.arg == Row(1)


# ---- what cannot be --------------------------------------------------------------------------


def test_other_outer_indices_are_refused():
    kept = row(load(1, 4, 4))
    both = kept + kept.view(shape(4, 4).permute((1, 0)))
    with pytest.raises(SpecError, match="other outer indices"):
        lowerer.run(UOp.sink(store(0, both, 4, 4)))


def test_a_row_is_not_computed_again_in_a_reduce():
    kept = row(load(1, 4, 8))
    with pytest.raises(SpecError, match="inside a loop over its inner axes"):
        lowerer.run(UOp.sink(store(0, kept.reduce(Ops.ADD, (0,)), 1, 8)))


def test_reads_beyond_the_outer_axes_are_refused():
    kept = row(load(1, 4, 8))
    padded = kept.view(shape(4, 8).pad(((1, 0), (0, 0))))
    with pytest.raises(SpecError, match="beyond its outer axes"):
        lowerer.run(UOp.sink(store(0, padded, 5, 8)))


def test_a_transposed_store_has_the_outer_axes_outermost():
    ast = UOp.sink(store(0, row(load(1, 4, 8)).view(shape(4, 8).permute((1, 0))), 8, 4))
    sink = lowerer.run(ast)
    (fill,) = nodes(sink, Ops.FILL)
    (outer,) = ranges_of(fill)
    assert extent_of(outer) == 4
    assert outer.arg.id == min(loop.arg.id for loop in ranges_of(sink.src[0]))


def test_a_row_says_how_many_axes_are_outside():
    with pytest.raises(SpecError, match="some of its axes outside"):
        kernel_ast.verify(UOp.sink(store(0, row(load(1, 4, 8), 3), 4, 8)))


# ---- optimising ------------------------------------------------------------------------------


def opened(ast, target=WIDE):
    return Kernel(lowerer.run(ast), target)


def place(kernel, extent, number=0):
    return [i for i, axis in enumerate(kernel.axes) if axis.extent == extent][number]


def test_lanes_outside_a_row_are_illegal():
    kernel = opened(softmax(8, 16))
    with pytest.raises(OptError, match="an array of their own"):
        kernel.apply(Opt(OptKind.VECTOR, place(kernel, 8), 8))


def test_side_by_side_rows_have_an_array_each():
    ast = softmax(6, 16)
    kernel = opened(ast)
    tiled = chosen(Opt(OptKind.UPCAST, place(kernel, 6), 3))
    program = lower(ast, WIDE, tiled)
    arrays = [n for n in program.uops if n.op is Ops.DEFINE_REG and n.dtype.size == 16]
    assert len(arrays) == 3
    x, out = outcome(ast, WIDE, tiled)
    np.testing.assert_allclose(out, want(x), rtol=1e-6)


def test_copies_of_a_long_row_are_bounded():
    kernel = opened(softmax(8, 1 << 14))
    with pytest.raises(OptError, match="arrays would be larger"):
        kernel.apply(Opt(OptKind.UPCAST, place(kernel, 8), 4))


def test_a_row_is_not_moved_into_the_loop_that_reads_it():
    kernel = opened(softmax(6, 16))
    with pytest.raises(OptError):
        kernel.apply(Opt(OptKind.SWAP, place(kernel, 6), place(kernel, 16)))


def test_rows_are_filled_and_read_as_vectors():
    program = lower(softmax(6, 16), WIDE)
    widths = {
        (u.op, u.src[1].dtype.count if u.op is Ops.STORE else u.dtype.count)
        for u in program.uops
        if u.op in (Ops.LOAD, Ops.STORE) and u.src[0].src[0].dtype.size == 16
    }
    assert widths == {(Ops.LOAD, 8), (Ops.STORE, 8)}


def test_on_a_grid_only_the_outer_axes_are_work_items():
    kernel = opened(softmax(6, 16), GRID)
    kinds = {axis.extent: axis.kind for axis in kernel.axes if axis.kind is AxisKind.GLOBAL}
    assert kinds == {6: AxisKind.GLOBAL}


def test_row_buffers_of_narrow_floats_are_wide():
    x = load(1, 4, 8, dtype=dtypes.bfloat16)
    kept = row(x + x).view(shape(4, 8).flip((False, True)))
    sink = narrow.run(lowerer.run(UOp.sink(store(0, kept, 4, 8))), frozenset({dtypes.float}) | {
        dtypes.int, dtypes.long, dtypes.bool, dtypes.uint, dtypes.ushort, dtypes.double,
    })  # fmt: skip
    lowered.verify(sink)
    (array,) = nodes(sink, Ops.DEFINE_REG)
    assert array.dtype.base is dtypes.float


# ---- what the heuristic does with rows -----------------------------------------------------------


def products_with_rows(rows, length, width):
    """softmax(x) @ v, the powers kept in a row buffer."""
    x = load(1, rows, length)
    less = x - spread(x.reduce(Ops.MAX, (1,)), rows, length)
    power = row(UOp(Ops.EXP2, dtypes.float, (less,)))
    a = power.view(shape(rows, length).reshape((rows, 1, length)).expand((rows, width, length)))
    across = shape(length, width).permute((1, 0)).reshape((1, width, length))
    b = pointer(2, length * width).view(across.expand((rows, width, length))).load()
    total = UOp(Ops.RECIP, dtypes.float, (power.reduce(Ops.ADD, (1,)),))
    scale = total.view(shape(rows, 1).reshape((rows, 1, 1)).expand((rows, width, 1)))
    return UOp.sink(store(0, (a * b).reduce(Ops.ADD, (2,)) * scale, rows, width, 1))


def test_rows_that_share_a_factor_are_computed_side_by_side():
    applied = lower(products_with_rows(16, 64, 16), WIDE).applied
    assert any(opt.kind is OptKind.UPCAST and opt.axis == 0 and opt.amount > 1 for opt in applied)


@pytest.mark.parametrize("choose", [nothing, None], ids=["plain", "heuristic"])
@pytest.mark.parametrize("rows", [8, 7])
def test_products_with_rows_are_right(choose, rows):
    rng = np.random.default_rng(1)
    x, v = (rng.standard_normal(s).astype(np.float32) for s in ((rows, 12), (12, 16)))
    for target in (PLAIN, WIDE, GRID):
        out = np.zeros((rows, 16), np.float32)
        run(lower(products_with_rows(rows, 12, 16), target, choose), {0: out, 1: x, 2: v})
        np.testing.assert_allclose(out, want(x) @ v, rtol=1e-4, atol=1e-6)
