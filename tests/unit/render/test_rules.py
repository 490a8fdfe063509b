"""The last rewrites keep the value and leave nothing to rewrite."""

from __future__ import annotations

import itertools

import pytest

from weft.base.dtype import dtypes
from weft.base.scalars import truncate
from weft.render.rules import C_RULES
from weft.uop import Ops, UOp, exec_alu, graph_rewrite


def value_of(u: UOp, given: dict[UOp, object]) -> object:
    if u in given:
        return given[u]
    if u.op is Ops.CONST:
        return u.arg
    sources = [value_of(s, given) for s in u.src]
    return truncate(sources[0], u.dtype) if u.op is Ops.CAST else exec_alu(u.op, u.dtype, sources)


@pytest.mark.parametrize(
    "op",
    [Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ],
    ids=lambda o: o.name,
)
def test_booleans_become_logic(op):
    x, y = (UOp.variable(name, 0, 1, dtypes.bool) for name in "xy")
    before = x.alu(op, y)
    after = graph_rewrite(before, C_RULES)
    assert {u.op for u in after.toposort()} <= {
        Ops.DEFINE_VAR, Ops.CONST, Ops.AND, Ops.OR, Ops.XOR
    }  # fmt: skip
    for a, b in itertools.product((False, True), repeat=2):
        assert value_of(after, {x: a, y: b}) == value_of(before, {x: a, y: b})


@pytest.mark.parametrize("target", dtypes.ints, ids=lambda d: d.name)
def test_casts_of_floats_keep_their_value(target):
    x = UOp(Ops.NOOP, dtypes.double, (), "x")
    before = x.cast(target)
    after = graph_rewrite(before, C_RULES)
    for value in (0.0, -1.5, 300.7, -40000.0, 3e9, -3e9, 1e19, float("nan"), float("inf")):
        assert value_of(after, {x: value}) == value_of(before, {x: value})


def test_cast_to_boolean_is_a_comparison():
    x = UOp(Ops.NOOP, dtypes.float.vec(4), (), "x")
    after = graph_rewrite(x.cast(dtypes.bool.vec(4)), C_RULES)
    assert after.op is Ops.CMPNE and after.dtype is dtypes.bool.vec(4)


def test_lanes_at_hand():
    lanes = tuple(UOp.variable(f"v{i}", 0, 9) for i in range(4))
    vector = UOp(Ops.VECTORIZE, dtypes.int.vec(4), lanes)
    assert graph_rewrite(vector.gep(2), C_RULES) is lanes[2]
    assert graph_rewrite(vector.gep((3, 1)), C_RULES).src == (lanes[3], lanes[1])
    whole = UOp(Ops.NOOP, dtypes.int.vec(4), (), "x")
    assert graph_rewrite(whole.gep((0, 1, 2, 3)), C_RULES) is whole
    assert graph_rewrite(UOp(Ops.VECTORIZE, dtypes.int, (lanes[0],)), C_RULES) is lanes[0]
