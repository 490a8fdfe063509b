"""Indices in 64 bits, and values that are computed of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, Target
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp
from weft.uop.symbolic.sint import Variable, fold

COMPUTE = ComputeCaps(vector_widths={dtypes.float: (4,)}, vector_bytes=16, wide_indices=True)
WIDE = Target(COMPUTE, GroupOp.ALU, None, "py", "wide")
NARROW = replace(WIDE, compute=replace(COMPUTE, wide_indices=False))


def pointer(slot, size, dtype=dtypes.float):
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)


def program_of(ast, target, *opts):
    def choose(kernel):
        for opt in opts:
            kernel.apply(opt)
        return kernel.applied

    with settings.override(SPEC=1):
        return lower(ast, target, choose)


def run(program, *arrays):
    run_program(program, arrays)
    return arrays[0]


def transposed(rows, columns):
    st = ShapeTracker.from_shape((rows, columns)).permute((1, 0))
    value = pointer(1, rows * columns).view(st).load() * UOp.const(dtypes.float, 2.0)
    target = pointer(0, rows * columns).view(ShapeTracker.from_shape((columns, rows)))
    return UOp.sink(target.store(value))


def test_loops_and_addresses_are_wide():
    program = program_of(transposed(6, 5), WIDE)
    kinds = {u.dtype for u in program.uops if u.op is Ops.RANGE}
    assert kinds == {dtypes.long}
    assert {u.src[1].dtype for u in program.uops if u.op is Ops.INDEX} == {dtypes.long}
    assert not any(u.op is Ops.CAST for u in program.uops)  # nothing is widened on the way
    narrow = program_of(transposed(6, 5), NARROW)
    assert {u.dtype for u in narrow.uops if u.op is Ops.RANGE} == {dtypes.int}


@pytest.mark.parametrize(
    "opts",
    [(), (Opt(OptKind.VECTOR, 1, 4),), (Opt(OptKind.UPCAST, 0, 2),),
     (Opt(OptKind.UPCAST, 1, 4), Opt(OptKind.VECTOR, 0, 4))],
)  # fmt: skip
def test_loop_transformations_apply_as_before(opts):
    x = np.arange(30, dtype=np.float32).reshape(6, 5)
    got = run(program_of(transposed(6, 5), WIDE, *opts), np.zeros((5, 6), np.float32), x)
    np.testing.assert_array_equal(got, x.T * 2)


def counter(extent, make):
    """A kernel that stores what `make` computes of its own loop."""
    count = UOp(Ops.IOTA, dtypes.int, (), extent)
    shape = ShapeTracker.from_shape((extent,))
    return UOp.sink(pointer(0, extent, dtypes.int).view(shape).store(make(count)))


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda n: n * 3 + 1, lambda n: n * 3 + 1),
        (lambda n: n * (1 << 30), lambda n: n * np.int32(1 << 30)),  # wraps
        (lambda n: n * (1 << 30) // 7, lambda n: np.trunc(n * np.int32(1 << 30) / 7)),
        (lambda n: n * (1 << 30) % 5, lambda n: np.fmod(n * np.int32(1 << 30), 5)),
        (lambda n: n // 3 * 2 + n % 3, lambda n: n // 3 * 2 + n % 3),
        (lambda n: (n * (1 << 30) < n).where(n, n + 9),
         lambda n: np.where(n * np.int32(1 << 30) < n, n, n + 9)),
    ],
)  # fmt: skip
def test_values_wrap_in_32_bits(make, wanted):
    n = np.arange(11, dtype=np.int32)
    got = run(program_of(counter(11, make), WIDE), np.zeros(11, np.int32))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, wanted(n).astype(np.int32))


def test_gates_compare_wide_indices():
    st = ShapeTracker.from_shape((5,)).pad(((2, 3),))
    ast = UOp.sink(
        pointer(0, 10).view(ShapeTracker.from_shape((10,))).store(pointer(1, 5).view(st).load())
    )
    x = np.arange(1, 6, dtype=np.float32)
    got = run(program_of(ast, WIDE), np.zeros(10, np.float32), x)
    np.testing.assert_array_equal(got, np.pad(x, (2, 3)))


def test_extents_of_loops_are_canonical():
    """An address that is simplified later has the same loops as the reduction."""
    h, w = (fold(Variable(name, 2, 32) // 2) for name in "hw")
    value = pointer(1, 256).view(ShapeTracker.from_shape((fold(h * w),))).load()
    total = pointer(0, 1).view(ShapeTracker.from_shape((1,))).store(value.reduce(Ops.ADD, (0,)))
    loops = [u for u in program_of(UOp.sink(total), WIDE).uops if u.op is Ops.RANGE]
    assert loops and all(loop.src[0].simplify() is loop.src[0] for loop in loops)


def test_lanes_outside_of_addresses_stay_narrow():
    """A triangle: the columns of a vector are compared in as many lanes as the values have."""
    x = Tensor(np.arange(20 * 16, dtype=np.float32).reshape(20, 16), device="REF").realize()
    (item,) = (one for one in x.tril(1).schedule() if one.ast.op is Ops.SINK)
    program = program_of(item.ast, WIDE, Opt(OptKind.VECTOR, 1, 4))
    compared = {u.src[0].dtype for u in program.uops if u.op is Ops.CMPLT and u.dtype.count == 4}
    assert compared == {dtypes.int.vec(4)}
