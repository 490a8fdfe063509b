"""UPat: what matches, what is captured."""

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.uop import GroupOp, Ops, UOp, UPat

A, B = UOp.variable("a", 0, 9), UOp.variable("b", 0, 9)


def test_operators_build_patterns_that_commute():
    pattern = UPat.var("x") + 1
    assert pattern.match(A + 1) == {"x": A}
    assert pattern.match(1 + A) == {"x": A}
    assert pattern.match(A + 2) is None
    assert (UPat.var("x") - 1).match(1 - A) is None


def test_one_name_is_one_node():
    pattern = UPat.var("x") * UPat.var("x")
    assert pattern.match(A * A) == {"x": A}
    assert pattern.match(A * B) is None


def test_sets_of_ops_dtypes_and_args():
    pattern = UPat(GroupOp.Binary, dtypes.int, name="n")
    assert pattern.match(A + B)["n"] is A + B
    assert pattern.match((A + B).cast(dtypes.float)) is None
    assert UPat(Ops.CONST, arg=3).match(UOp.const(dtypes.int, 3)) == {}


def test_sources_in_order_in_any_order_and_all_equal():
    two, three = UPat.const(2), UPat.const(3)
    node = UOp.const(dtypes.int, 3) - UOp.const(dtypes.int, 2)
    assert UPat(Ops.SUB, src=(two, three)).match(node) is None
    assert UPat(Ops.SUB, src=[two, three]).match(node) == {}
    assert UPat(Ops.SUB, src=UPat(Ops.CONST)).match(node) == {}
    assert UPat(Ops.SUB, src=UPat(Ops.CONST)).match(A - 2) is None


def test_further_sources_may_follow():
    node = UOp.sink(A, B, A + B)
    assert UPat(Ops.SINK, src=(UPat.var("first"),)).match(node) is None
    found = UPat(Ops.SINK, src=(UPat.var("first"),), allow_any_len=True).match(node)
    assert found == {"first": A}


def test_alternatives():
    pattern = UPat.any(UPat.var("x") + 1, UPat.var("x") * 2)
    assert pattern.match(A * 2) == {"x": A}
    assert pattern.match(A * 3) is None


def test_captures_are_listed_and_checked():
    assert (UPat.var("x") + UPat.cvar("c")).captures() == ["x", "c"]
    with pytest.raises(ArgumentError):
        UPat(name="not an identifier")
