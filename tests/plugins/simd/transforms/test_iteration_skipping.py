"""Iterations that change no accumulator are skipped: which, and that results are equal."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import AddrSpace, dtypes
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import lower
from weft.spec import linear
from weft.testing.reference import KINDS
from weft.testing.reference.run import run_program
from weft.uop import Ops, UOp
from weft_simd.transforms import iteration_skipping

VECTOR = simd_target(KINDS["vector"])
PLACES, WIDTH, TERMS, INNER = 12, 32, 10, 5


def tied():
    """left.T @ right + (what rows an index adds where): its kernel, buffers and value."""
    draw = np.random.default_rng(4)
    left, right, rows = (
        draw.integers(-3, 4, shape).astype(np.float32)
        for shape in ((INNER, PLACES), (INNER, WIDTH), (TERMS, WIDTH))
    )
    index = draw.integers(0, PLACES, TERMS).astype(np.int32)
    a, b, c, i = (Tensor(x, device="REF").realize() for x in (left, right, rows, index))
    hits = i.reshape(TERMS, 1, 1) == Tensor.arange(PLACES, device="REF").reshape(1, PLACES, 1)
    total = a.T @ b + hits.where(c.reshape(TERMS, 1, WIDTH), 0).sum(0)
    (item,) = total.schedule()
    for buffer in item.bufs:
        buffer.allocate()
    want = left.T @ right
    np.add.at(want, index, rows)
    return item.ast, item.bufs, want


def choice(rows):
    """Tiles of `rows` places by sixteen columns."""

    def choose(kernel):
        wide = next(i for i, axis in enumerate(kernel.axes) if axis.extent == WIDTH)
        assert kernel.attempt(OptKind.VECTOR, wide, 4)
        wide = next(i for i, axis in enumerate(kernel.axes) if axis.extent == WIDTH // 4)
        assert kernel.attempt(OptKind.UPCAST, wide, 4)
        tall = next(i for i, axis in enumerate(kernel.axes) if axis.extent == PLACES)
        if rows > 1:
            assert kernel.attempt(OptKind.UPCAST, tall, rows)
        return kernel.applied

    return choose


def computed(program, bufs, shape):
    arrays = [buffer.numpy().copy() for buffer in bufs]
    arrays[0][:] = 99
    run_program(program, arrays)
    return arrays[0].reshape(shape)


@pytest.mark.parametrize("rows", [1, 2, 3, 6])
def test_sums_of_an_index_are_skipped_together_with_a_product(rows):
    ast, bufs, want = tied()
    program = lower(ast, VECTOR, choice(rows))
    ops = [node.op for node in program.uops]
    assert ops.count(Ops.IF) == 1
    start = ops.index(Ops.IF)
    inside = ops[start : ops.index(Ops.ENDIF)]
    assert inside.count(Ops.STORE) == 4 * rows, "all sums stand behind the condition"
    # consecutive rows are one range: two comparisons for any number of them
    asked = [node for node in program.uops[:start] if node.op is Ops.CMPLT]
    assert len(asked) == (2 if rows > 2 else 0)
    np.testing.assert_array_equal(computed(program, bufs, want.shape), want)


def loop_of(condition, value, lanes=1):
    """A loop in which one register takes `value` where `condition` holds."""
    dtype = dtypes.float.vec(lanes) if lanes > 1 else dtypes.float
    register = UOp(Ops.DEFINE_REG, dtype.ptr(1, AddrSpace.REG), (), 0)
    zero = UOp.const(dtypes.int, 0)
    loop = UOp.range(8, 0)
    place = UOp(Ops.INDEX, register.dtype, (register, zero))
    old = UOp(Ops.LOAD, dtype, (place,))
    test = condition(loop, old)
    new = value(old)
    store = UOp(Ops.STORE, dtypes.void, (place, UOp(Ops.WHERE, dtype, (test, new, old))))
    below = [*test.toposort(), *new.toposort()]
    first = [u for u in dict.fromkeys(below) if u.op is Ops.CONST and u is not zero]
    body = list(dict.fromkeys([*below, *store.toposort()]))
    known = [zero, register, place, loop, loop.src[0], *first]
    rest = [u for u in body if u not in known]
    end = UOp(Ops.ENDRANGE, dtypes.void, (loop,))
    return [*dict.fromkeys([zero, *first, loop.src[0], register, place]), loop, *rest, end]


def doubled(old):
    return old + old


def rare(loop, old):
    return loop.eq(loop.const_like(3))


@pytest.mark.parametrize(
    "condition, lanes, skipped",
    [
        (rare, 16, True),
        (rare, 4, False),  # too little to gain
        (lambda loop, old: loop < loop.const_like(3), 16, False),  # not rare
        (lambda loop, old: (loop < loop.const_like(3)) & rare(loop, old), 16, True),
    ],
    ids=["equal", "few lanes", "less", "equal and less"],
)
def test_skipped_iterations(condition, lanes, skipped):
    nodes = loop_of(condition, doubled, lanes)
    linear.verify(nodes)
    made = iteration_skipping.run(nodes)
    linear.verify(made)
    assert (Ops.IF in [node.op for node in made]) is skipped
    if not skipped:
        assert made == nodes


def test_a_condition_on_the_accumulator_is_evaluated_in_every_iteration():
    def of_sum(loop, old):
        return old.gep(0).cast(dtypes.int).eq(loop)

    nodes = loop_of(of_sum, doubled, 16)
    assert iteration_skipping.run(nodes) == nodes
