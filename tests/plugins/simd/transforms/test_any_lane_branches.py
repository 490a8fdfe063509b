"""Costly alternatives behind a branch: where that is, and that results stay what they were."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import lower, nothing
from weft.spec import linear
from weft.testing.reference import KINDS
from weft.testing.reference.run import run_program
from weft.uop import Ops
from weft_simd import thresholds
from weft_simd.transforms import any_lane_branches

VECTOR = simd_target(KINDS["vector"])
PLAIN = replace(VECTOR, compute=replace(KINDS["vector"], features=frozenset()))
SIZE = 24
STEPS = thresholds.branch_operations(VECTOR.compute.machine) // 2


def costly(x, factor=0.5):
    """Two operations a step; values stay small."""
    for step in range(STEPS):
        x = x * factor + step * 0.25
    return x


def in_lanes(kernel):
    assert kernel.attempt(OptKind.VECTOR, 0, 4)
    return kernel.applied


def kernel_of(*values):
    """The only kernel of some values, and its buffers."""
    items = values[0].schedule(*values[1:])
    assert len(items) == 1
    for buffer in items[0].bufs:
        buffer.allocate()
    return items[0].ast, items[0].bufs


def given():
    numbers = np.random.default_rng(3).uniform(-1, 1, SIZE).astype(np.float32)
    numbers[4:8] = np.nan
    numbers[8:12] = 3  # one whole vector is large, another has one large lane
    numbers[13] = 3
    return numbers, Tensor(numbers, device="REF").realize()


def checked(wanted, *values, choose=in_lanes, target=VECTOR):
    """Whether the results are those wanted; the operations of the program."""
    ast, bufs = kernel_of(*values)
    program = lower(ast, target, choose)
    linear.verify(program.uops)
    arrays = [buffer.numpy().copy() for buffer in bufs]
    for array, want in zip(arrays, wanted, strict=False):
        array[:] = 99
    run_program(program, arrays)
    for array, want in zip(arrays, wanted, strict=False):
        np.testing.assert_allclose(array, want, rtol=1e-6)
    return [node.op for node in program.uops]


@pytest.mark.parametrize("rare", [True, False])
def test_only_nodes_of_one_alternative_are_behind_the_branch(rare):
    numbers, x = given()

    def alternatives(x):
        shared = x * 3 + 1
        return costly(shared), shared * shared

    much, little = alternatives(x)
    value = (x > 2).where(much, little) if rare else (x < 2).where(little, much)
    much, little = alternatives(numbers)
    ops = checked([np.where(numbers > 2 if rare else ~(numbers < 2), much, little)], value)
    assert ops.count(Ops.IF) == 1
    inside = ops[ops.index(Ops.IF) + 1 : ops.index(Ops.ENDIF)]
    assert inside[-2:] == [Ops.WHERE, Ops.STORE]
    assert set(inside[:-2]) <= {Ops.MUL, Ops.ADD, Ops.MULACC}


def test_values_chosen_alike_share_a_branch():
    def values(x, where):
        common = costly(x)
        return where(x > 2, common * 2, x * x), where(x > 2, common + 5, x + 1)

    numbers, x = given()
    ops = checked(values(numbers, np.where), *values(x, lambda c, a, b: c.where(a, b)))
    assert ops.count(Ops.IF) == 1


def test_a_choice_may_lie_within_another():
    def value(x, where):
        inner = where(x > 2.5, costly(x), x + 1)
        return where(x > 2, costly(inner, 0.75), x * x)

    numbers, x = given()
    ops = checked([value(numbers, np.where)], value(x, lambda c, a, b: c.where(a, b)))
    branching = [op for op in ops if op in (Ops.IF, Ops.ENDIF)]
    assert branching == [Ops.IF, Ops.IF, Ops.ENDIF, Ops.ENDIF]


def test_one_choice_after_another():
    def value(x, where):
        first = where(x > 2, costly(x), x * x)
        return where(x < 0, costly(first, 0.75), first + 1)

    numbers, x = given()
    ops = checked([value(numbers, np.where)], value(x, lambda c, a, b: c.where(a, b)))
    assert [op for op in ops if op in (Ops.IF, Ops.ENDIF)] == [Ops.IF, Ops.ENDIF] * 2


def test_values_chosen_alike_one_of_which_needs_the_other():
    def value(x, where):
        first = where(x > 2, costly(x), x * x)
        return where(x > 2, costly(first, 0.75), first + 1)

    numbers, x = given()
    ops = checked([value(numbers, np.where)], value(x, lambda c, a, b: c.where(a, b)))
    assert Ops.IF in ops


ELSEWHERE = {
    "cheap": lambda x, where: where(x > 2, x * x + 1, x + 3),
    "needed by others": lambda x, where: where(x > 2, costly(x), x * x) + costly(x),
    "needed for the question": lambda x, where: where(costly(x) > 3, costly(x), x * x),
    "beside a constant": lambda x, where: where(x > 2, costly(x), 7),
    "beside what it starts from": lambda x, where: where(x > 2, costly(x * x), x * x),
    "no lanes": lambda x, where: where(x > 2, costly(x), x * x),
    "no such branches": lambda x, where: where(x > 2, costly(x), x * x),
}


@pytest.mark.parametrize("why", ELSEWHERE)
def test_elsewhere_everything_is_computed(why):
    numbers, x = given()
    value = ELSEWHERE[why]
    choose = nothing if why == "no lanes" else in_lanes
    target = PLAIN if why == "no such branches" else VECTOR
    want, got = value(numbers, np.where), value(x, lambda c, a, b: c.where(a, b))
    assert Ops.IF not in checked([want], got, choose=choose, target=target)


def test_a_program_without_choices_is_left_as_it_is():
    _, x = given()
    ast, _ = kernel_of(x + 1)
    nodes = list(lower(ast, VECTOR, in_lanes).uops)
    assert any_lane_branches.run(nodes, VECTOR.compute.machine) == nodes
