"""Loops that are rounded up: what their idle iterations read, store and add."""

from __future__ import annotations

import numpy as np
import pytest

from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.loops import loop_padding
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import Target
from weft.shape.tracker import ShapeTracker
from weft.testing.reference import KINDS
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp
from weft.uop.args import AxisKind

GRID = Target(KINDS["grid"], GroupOp.ALU, None, "py", "grid")
PLAIN = Target(KINDS["vector"], GroupOp.ALU, None, "py", "vector")


def pointer(slot, *extents, dtype=dtypes.float):
    size = int(np.prod(extents))
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot).view(ShapeTracker.from_shape(extents))


def row_reduce(op, rows, columns, prologue=lambda value: value, dtype=dtypes.float):
    value = prologue(pointer(1, rows, columns, dtype=dtype).load())
    return UOp.sink(pointer(0, rows, 1, dtype=dtype).store(value.reduce(op, (1,))))


def program_of(ast, target, *opts):
    def choose(kernel: Kernel) -> list[Opt]:
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    with settings.override(SPEC=1):
        return lower(ast, target, choose)


def run(program, *arrays):
    run_program(program, arrays)


def whole(*extents, kind=np.float32):
    return np.random.default_rng(3).integers(1, 9, extents).astype(kind)


PAD_SUM = Opt(OptKind.PADTO, 1, 8)


@pytest.mark.parametrize(
    "op, reference",
    [(Ops.ADD, np.sum), (Ops.MAX, np.max), (Ops.MUL, np.prod)],
    ids=["sum", "max", "product"],
)
@pytest.mark.parametrize("target", [GRID, PLAIN], ids=["grid", "vector"])
def test_padded_iterations_contribute_the_identity(op, reference, target):
    rest = Opt(OptKind.GROUP, 1, 8) if target is GRID else Opt(OptKind.VECTOR, 1, 4)
    program = program_of(row_reduce(op, 3, 5), target, PAD_SUM, rest)
    data = whole(3, 5) - 10  # a zero would be the largest
    out = np.zeros((3, 1), np.float32)
    run(program, out, data)
    np.testing.assert_array_equal(out, reference(data, axis=1, keepdims=True))


@pytest.mark.parametrize(
    "prologue, reference",
    [
        (lambda value: value + 1.0, lambda data: data + 1),
        (lambda value: value.alu(Ops.RECIP), lambda data: 1 / data),
        (lambda value: value.alu(Ops.LOG2), np.log2),
        (lambda value: value * float("inf"), lambda data: data * np.inf),
    ],
    ids=["one more", "reciprocal", "logarithm", "infinite"],
)
def test_values_that_are_undefined_at_zero_are_masked(prologue, reference):
    ast = row_reduce(Ops.ADD, 2, 5, prologue)
    out, data = np.zeros((2, 1), np.float32), whole(2, 5)
    run(program_of(ast, GRID, PAD_SUM, Opt(OptKind.UNROLL, 1, 4)), out, data)
    np.testing.assert_allclose(out, reference(data).sum(1, keepdims=True), rtol=1e-6)


def test_an_integer_division_by_a_masked_load():
    ast = row_reduce(Ops.ADD, 2, 5, lambda v: v.const_like(24).alu(Ops.IDIV, v), dtypes.int)
    out, data = np.zeros((2, 1), np.int32), whole(2, 5, kind=np.int32)
    run(program_of(ast, GRID, PAD_SUM), out, data)
    np.testing.assert_array_equal(out, (24 // data).sum(1, keepdims=True))


def test_a_sum_of_products_stays_a_multiply_add():
    """No select is between a product and its sum: both factors are read as zero."""

    def product(value):
        return value * value

    program = program_of(row_reduce(Ops.ADD, 2, 5, product), GRID, PAD_SUM)
    assert not [u for u in program.uops if u.op is Ops.WHERE]
    loads = [u for u in program.uops if u.op is Ops.LOAD and len(u.src[0].src) > 2]
    assert loads and all(load.src[1].arg == 0 for load in loads)


def test_only_valid_iterations_store():
    ast = UOp.sink(pointer(0, 5).store(pointer(1, 5).load() + 1.0))
    opts = (Opt(OptKind.PADTO, 0, 4), Opt(OptKind.LOCAL, 0, 4))
    program = program_of(ast, GRID, *opts)
    assert (program.global_size, program.local_size) == ((2, 1, 1), (4, 1, 1))
    data, out = whole(5), np.zeros(5, np.float32)
    run(program, out, data)
    np.testing.assert_array_equal(out, data + 1)


def test_a_kernel_in_place():
    """Parts that overlap would add twice; idle iterations add nothing."""
    place = pointer(0, 5)
    ast = UOp.sink(place.store(place.load() + 1.0))
    with pytest.raises(OptError, match="overlap"):
        program_of(ast, GRID, Opt(OptKind.LOCAL, 0, 4))
    program = program_of(ast, GRID, Opt(OptKind.PADTO, 0, 4), Opt(OptKind.LOCAL, 0, 4))
    out = whole(5)
    want = out + 1
    run(program, out)
    np.testing.assert_array_equal(out, want)


def test_a_part_of_an_axis_is_rounded_up_too():
    ast = row_reduce(Ops.ADD, 2, 12)
    opts = (Opt(OptKind.SPLIT, 1, 3), Opt(OptKind.PADTO, 2, 4), Opt(OptKind.PADTO, 1, 3))
    program = program_of(ast, GRID, *opts)
    out, data = np.zeros((2, 1), np.float32), whole(2, 12)
    run(program, out, data)
    np.testing.assert_array_equal(out, data.sum(1, keepdims=True))
    ends = {u.src[0].arg for u in program.uops if u.op is Ops.RANGE}
    assert ends == {6, 4}


def test_padding_to_the_extent_of_another_loop():
    """Of the places one is stored by itself, so that the loop over the others is number 2."""
    one = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(1), (), 1)
    view = ShapeTracker.from_shape((1,)).pad(((0, 3),))
    ast = UOp.sink(pointer(0, 4).store(one.view(view).load()))
    program = program_of(ast, PLAIN, Opt(OptKind.UPCAST, 0, 2), Opt(OptKind.PADTO, 0, 3))
    out = np.full(4, 77, np.float32)
    run(program, out, np.array([5], np.float32))
    np.testing.assert_array_equal(out, [5, 0, 0, 0])


def test_invalid_arguments():
    def because(ast, *opts):
        with pytest.raises(OptError) as caught:
            program_of(ast, GRID, *opts)
        return caught.value.because

    ast = row_reduce(Ops.ADD, 3, 8)
    assert "nothing is left" in because(ast, Opt(OptKind.PADTO, 1, 4))
    assert "nothing is left" in because(ast, Opt(OptKind.PADTO, 1, 0))
    assert "LOCAL" in because(ast, Opt(OptKind.LOCAL, 0, 0), Opt(OptKind.PADTO, 0, 4))
    n = UOp.variable("n", 1, 10)
    value = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(10), (), 1)
    value = value.view(ShapeTracker.from_shape((n,))).load()
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(10), (), 0)
    ast = UOp.sink(out.view(ShapeTracker.from_shape((n,))).store(value))
    assert "variable" in because(ast, Opt(OptKind.PADTO, 0, 4))


def test_the_graph_before_and_after():
    """Text in, text out: a gate for the load, an alternative, nothing for a sum of what is zero."""
    loop = UOp.range(5, 0, AxisKind.REDUCE)
    turn = UOp.range(8, 1, AxisKind.REDUCE)
    source = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(5), (), 1)
    load = UOp(Ops.LOAD, dtypes.float, (source.index(loop),))
    real = turn < 5
    after = loop_padding.run(list(load.toposort()), {loop: real})
    assert after.src[0].src == (source, loop, real)
    assert after.src[1] is UOp.const(dtypes.float, 0)
