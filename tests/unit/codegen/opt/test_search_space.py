"""What a search may try: legal plans one step away, each once; and all of them compute the same."""

from __future__ import annotations

import random

import numpy as np
import pytest

from helpers.graphs import buffer, kernels
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import Plan, by_heuristic, near, parts
from weft.codegen.pipeline import loops_for, lower
from weft.codegen.thresholds import MOST_BODY, MOST_TEXT
from weft.device.capabilities import ComputeCaps, Feature, Target
from weft.testing.kernels import RandomKernel
from weft.testing.reference import KINDS
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp

PLAIN, VECTOR, GRID = (
    Target(KINDS[kind], GroupOp.ALU, None, "py", kind)
    for kind in (*list(KINDS)[:1], "vector", "grid")
)
THREADS = Target(ComputeCaps(features={Feature.THREADS}), GroupOp.ALU, None, "py", "threads")


def matmul(m: int, k: int, n: int) -> UOp:
    left = buffer(m * k).reshape((m, 1, k)).expand((m, n, k))
    right = buffer(k * n).reshape((1, k, n)).permute((0, 2, 1)).expand((m, n, k))
    (ast,) = kernels((left * right).reduce(Ops.ADD, (2,)).contiguous())
    return ast


def kinds_near(ast: UOp, target: Target, plan: Plan) -> set[OptKind]:
    found = near(loops_for(ast, target, plan.prepared), plan)
    return {opt.kind for other in found for opt in other.opts} - {o.kind for o in plan.opts}


def test_each_is_legal_and_comes_once():
    kernel = loops_for(matmul(32, 64, 48), VECTOR, True)
    for plan in (Plan(), by_heuristic(kernel)):
        found = near(kernel, plan)
        assert len(found) == len(set(found)) > 20
        assert plan not in found
        for other in found:
            done = kernel.copy()
            for opt in other.opts:
                done.apply(opt)  # OptError where it is not legal


def test_long_bodies_are_not_unrolled_often():
    value = buffer(64 * 64).reshape((64, 64))
    for step in range(100):
        value = value * value + UOp.const(dtypes.float32, float(step))
    (long,) = kernels(value.contiguous())
    many = Plan((Opt(OptKind.UPCAST, 0, 8),))
    for ast, most in ((long, MOST_TEXT // 200), (matmul(64, 64, 64), 128)):
        kernel = loops_for(ast, VECTOR, True)
        sides = set()
        for other in near(kernel, many):
            parts = [o.amount for o in other.opts if o.kind is OptKind.UPCAST]
            sides.add(int(np.prod(parts)) if parts else 1)
        assert max(sides) == most <= MOST_BODY


def test_the_order_is_always_the_same():
    kernel = loops_for(matmul(32, 64, 48), GRID, True)
    assert near(kernel, Plan()) == near(loops_for(matmul(32, 64, 48), GRID, True), Plan())


def test_first_candidates(golden):
    """The plans one step from nothing; a reviewer sees what a search has to go through."""
    target = Target(KINDS["grid"], GroupOp.ALU, None, "py", "grid")
    plans = near(loops_for(matmul(32, 64, 48), target, True), Plan())
    assert "\n".join(map(str, plans)) == golden


def test_kinds_are_those_that_the_target_has():
    ast = matmul(64, 64, 64)
    plain, vector, grid = (kinds_near(ast, t, Plan()) for t in (PLAIN, VECTOR, GRID))
    assert {OptKind.UPCAST, OptKind.UNROLL, OptKind.SWAP, OptKind.SPLIT, OptKind.STAGE} <= plain
    assert vector - plain == {OptKind.VECTOR}
    assert {OptKind.LOCAL, OptKind.GROUP, OptKind.GROUPTOP} <= grid
    assert OptKind.LOCAL not in plain and OptKind.VECTOR not in plain
    assert parts(OptKind.LOCAL, PLAIN) == () and max(parts(OptKind.LOCAL, GRID)) <= 64
    assert parts(OptKind.TC, PLAIN) == ()
    assert OptKind.THREAD in kinds_near(ast, THREADS, Plan())
    assert OptKind.THREAD not in plain | vector | grid


def test_a_length_that_nothing_divides_may_be_padded():
    assert OptKind.PADTO in kinds_near(matmul(7, 9, 5), VECTOR, Plan())
    assert OptKind.PADTO not in kinds_near(matmul(64, 64, 64), VECTOR, Plan())


def test_one_less_and_another_amount():
    kernel = loops_for(matmul(32, 64, 48), PLAIN, True)
    plan = Plan((Opt(OptKind.UPCAST, 0, 4), Opt(OptKind.UNROLL, 2, 4)))
    found = {other.opts for other in near(kernel, plan)}
    assert plan.opts[:1] in found and plan.opts[1:] in found
    assert (Opt(OptKind.UPCAST, 0, 8), plan.opts[1]) in found


def test_staging_stays_last():
    kernel = loops_for(matmul(32, 64, 48), PLAIN, True)
    cut = next(other for other in near(kernel, Plan()) if other.opts[-1].kind is OptKind.STAGE)
    longer = [other for other in near(kernel, cut) if len(other.opts) > len(cut.opts)]
    assert longer and all(other.opts[-1].kind is OptKind.STAGE for other in longer)


def test_bodies_stay_small_enough_to_compile():
    kernel = loops_for(matmul(64, 64, 64), PLAIN, True)
    large = Plan((Opt(OptKind.UPCAST, 0, 16), Opt(OptKind.UPCAST, 1, 16)))
    for plan in near(kernel, large):
        done = kernel.copy()
        side = 1
        for opt in plan.opts:
            done.apply(opt)
            side *= opt.amount or 64 if opt.kind in (OptKind.UPCAST, OptKind.UNROLL) else 1
        assert side <= MOST_BODY


def test_lower_applies_a_plan():
    ast = matmul(32, 64, 48)
    plan = Plan((Opt(OptKind.UPCAST, 0, 4),))
    assert lower(ast, PLAIN, plan.choose, prepared=True).applied == plan.opts
    heuristic = by_heuristic(loops_for(ast, VECTOR, True))
    again = lower(ast, VECTOR, heuristic.choose, prepared=True)
    assert again.uops == lower(ast, VECTOR).uops


def run(ast: UOp, target: Target, plan: Plan, kernel: RandomKernel) -> None:
    program = lower(ast, target, plan.choose, prepared=plan.prepared)
    arrays = {slot: array.copy() for slot, array in kernel.inputs.items()}
    for slot, array in kernel.outputs.items():
        arrays[slot] = np.full(array.shape, 77, array.dtype)
    run_program(program, arrays)
    for slot, array in kernel.outputs.items():
        np.testing.assert_array_equal(arrays[slot], array, err_msg=str(plan))


@pytest.mark.parametrize("target", [VECTOR, GRID], ids=["vector", "grid"])
@pytest.mark.parametrize("seed", range(6))
def test_a_random_sequence_of_plans_changes_no_result(seed, target):
    pick = random.Random(seed)
    kernel = RandomKernel(seed, dtypes.float32 if seed % 2 else dtypes.int32)
    prepared = bool(pick.getrandbits(1))
    loops = loops_for(kernel.ast, target, prepared)
    plan = Plan((), prepared)
    with settings.override(SPEC=1):
        for _ in range(4):
            found = near(loops, plan)
            if not found:
                return
            plan = pick.choice(found)
            run(kernel.ast, target, plan, kernel)
