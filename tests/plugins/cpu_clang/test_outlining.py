"""Chains of arithmetic that follow on a loop many times over."""

import pytest

from weft.base.dtype import dtypes
from weft.device.program import LinearProgram
from weft.render import CStyleRenderer
from weft.uop import Ops, UOp
from weft.uop.args import AxisKind, RangeArg
from weft_cpu_clang.outlining import (
    LEAST_COPIES,
    LEAST_ITERATIONS,
    LEAST_STEPS,
    SHORT_LOOP,
    outline,
)
from weft_cpu_clang.renderer import ClangRenderer, clang_dialect

VEC = dtypes.float.vec(8)
CLANG = ClangRenderer(clang_dialect())


def loaded(slot, number):
    buffer = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(1 << 12), (), slot)
    return buffer.index(UOp.const(dtypes.int, 8 * number)).load(dtype=VEC)


def chain(a, b, steps, factor=3.0):
    """So many operations on two vectors."""
    value = a + b
    for step in range(steps - 1):
        value = value * UOp.const(VEC, factor) if step % 2 else value.alu(Ops.MAX, b)
    return value


def kernel(values, turns=LEAST_ITERATIONS, behind=0):
    """A loop of so many iterations with a store, and after it a store of each value; `behind`:
    in another loop of so many iterations."""
    end = UOp.const(dtypes.int, turns)
    loop = UOp(Ops.RANGE, dtypes.int, (end,), RangeArg(0, AxisKind.LOOP))
    buffer = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(1 << 12), (), 0)
    within = buffer.index(loop).store(UOp.const(dtypes.float, 1.0))
    closed = UOp(Ops.ENDRANGE, dtypes.void, (loop,))
    stores = [
        buffer.index(UOp.const(dtypes.int, 1024 + 8 * number)).store(value)
        for number, value in enumerate(values)
    ]
    first = [u for u in UOp.sink(within).toposort() if u.op is not Ops.SINK]
    rest = [u for u in UOp.sink(*stores).toposort() if u.op is not Ops.SINK and u not in first]
    if not behind:
        return [*first, closed, *rest]
    many = UOp.const(dtypes.int, behind)
    around = UOp(Ops.RANGE, dtypes.int, (many,), RangeArg(1, AxisKind.LOOP))
    nodes = [*first, closed, many, around, *rest, UOp(Ops.ENDRANGE, dtypes.void, (around,))]
    return list(dict.fromkeys(nodes))


def chains(copies=LEAST_COPIES, steps=LEAST_STEPS, factor=3.0):
    return [chain(loaded(1, n), loaded(2, n), steps, factor) for n in range(copies)]


def calls(uops):
    return [u for u in uops if u.op is Ops.CUSTOMI]


def test_chains_with_different_arguments_are_calls_of_one_function():
    uops = kernel(values := chains())
    found, functions = outline(uops)
    (function,) = functions
    assert [u.src for u in calls(found)] == [(loaded(1, n), loaded(2, n)) for n in range(6)]
    assert {u.arg for u in calls(found)} == {f"{function.name}({{0}}, {{1}})"}
    assert function.parameters == (loaded(1, 0), loaded(2, 0)) and function.steps[-1] is values[0]
    assert not any(u.op in (Ops.ADD, Ops.MUL, Ops.MAX) for u in found), "none is done twice"
    assert [u.op for u in found if u.op is Ops.STORE] == [Ops.STORE] * 7


@pytest.mark.parametrize(
    "uops",
    [
        kernel(chains(), turns=LEAST_ITERATIONS - 1),
        kernel(chains(copies=LEAST_COPIES - 1)),
        kernel(chains(steps=LEAST_STEPS - 1)),
        kernel(chains(LEAST_COPIES - 1) + chains(1, factor=5.0)),
        kernel([value.cast(dtypes.half.vec(8)) for value in chains()]),
    ],
    ids=["short loop", "few", "short", "another constant", "narrow"],
)
def test_others_stay_where_they_are(uops):
    assert outline(uops) == (uops, [])


def test_nodes_before_or_in_the_loop_are_not_outlined():
    """Only after a long loop is the cost of calls negligible."""
    uops = kernel(chains())
    behind = next(place for place, u in enumerate(uops) if u.op is Ops.ENDRANGE)
    before = [u for u in uops[behind + 1 :] if u not in uops[:behind]]
    moved = [*before, *(u for u in uops[: behind + 1] if u not in before)]
    assert outline(moved) == (moved, [])


def test_a_value_that_others_use_is_given_and_not_computed_again():
    values = chains()
    middle = values[0].src[0]
    uops = kernel([*values, middle])
    assert not calls(outline(uops)[0]), "five are left that are alike"
    uops = kernel([*chains(LEAST_COPIES + 1), middle])
    assert len(calls(outline(uops)[0])) == LEAST_COPIES


def test_equal_operations_on_one_value_and_on_two_are_different_chains():
    same = [chain(loaded(1, n), loaded(1, n), LEAST_STEPS) for n in range(LEAST_COPIES)]
    found, functions = outline(kernel([*same, *chains()]))
    assert sorted(len(function.parameters) for function in functions) == [1, 2]
    assert sorted(len(u.src) for u in calls(found)) == [1] * 6 + [2] * 6


def test_constants_are_part_of_the_function():
    """A constant that is made before all loops is no value that is given."""
    bits = UOp.const(dtypes.int, 7).bitcast(dtypes.float)
    splat = UOp(Ops.VECTORIZE, VEC, (bits,) * 8)
    uops = kernel([value * splat for value in chains()])
    early = [*bits.toposort(), splat]
    uops = [*early, *(u for u in uops if u not in early)]
    _, (function,) = outline(uops)
    assert function.parameters == (loaded(1, 0), loaded(2, 0))
    assert splat in function.steps


def test_the_function_is_declared_and_written_once():
    program = LinearProgram.of("k", kernel(chains()))
    text = CLANG.render(program)
    head = "static f32x8 steps0(f32x8 given0, f32x8 given1)"
    assert f"{head} __attribute__((noinline));\n{head} {{\n" in text
    assert text.count("= steps0((*(const f32x8_m*)") == LEAST_COPIES
    assert "steps0" not in CStyleRenderer(clang_dialect()).render(program)


@pytest.mark.parametrize(
    ("turns", "behind", "wanted"),
    [
        (LEAST_ITERATIONS, 4, True),
        (LEAST_ITERATIONS, SHORT_LOOP, True),
        (LEAST_ITERATIONS, SHORT_LOOP + 1, False),  # as often as the long one, or more
        (LEAST_ITERATIONS // 4, 8, False),  # twice as many iterations in all, but none after them
    ],
)
def test_a_short_loop_behind_a_long_one_belongs_to_it(turns, behind, wanted):
    assert bool(outline(kernel(chains(), turns, behind))[1]) is wanted
