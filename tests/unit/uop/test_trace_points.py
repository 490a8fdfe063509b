"""Every rule that fires is published as a trace point: its set, the rule, and the nodes before and
after. Listeners of other kinds get nothing."""

import pytest

from weft.base import trace
from weft.base.dtype import dtypes
from weft.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite
from weft.uop.args import Reduce
from weft.uop.text import arg_text

A = UOp.variable("a", 0, 9)


@pytest.fixture
def events():
    heard = []
    stop = trace.subscribe(lambda event: heard.append((event.name, event.facts)))
    yield heard
    stop()


def double(x):
    """x + 1 -> x * 2"""
    return x * 2


RULES = PatternMatcher(
    [
        (UPat.var("x") + 1, double),
        (UPat.var("x") + 0, lambda x: x),
        (UPat.var("x") + 5, lambda x: None),
    ],
    "test",
)


def test_rules_and_rewrites_are_traced_with_before_and_after(events):
    result = graph_rewrite(UOp.sink(A + 1, A + 0, A + 5), RULES)
    assert result.src == (A * 2, A, A + 5)
    *rules, (name, rewrite) = events
    assert [name for name, _ in rules] == ["rule", "rule"]
    first, second = (facts for _, facts in rules)
    assert first["set"] == second["set"] == "test"
    assert first["rule"] is double and (first["before"], first["after"]) == (A + 1, A * 2)
    assert second["rule"].__name__ == "<lambda>" and second["after"] is A
    assert (name, rewrite["name"], rewrite["after"]) == ("rewrite", "test", result)


def test_rewrites_without_effect_are_not_traced(events):
    graph_rewrite(A + 5, RULES)
    RULES.rewrite(A * 3)
    assert events == []


def test_the_laws_of_index_arithmetic_are_traced(events):
    index = UOp.range(4, 4711)
    assert ((index * 8 + 3) // 8).simplify() is index
    rules = [facts for name, facts in events if name == "rule"]
    assert any(f["set"] == "symbolic" and f["rule"].__name__ == "divide" for f in rules)
    assert all(f["before"] is not f["after"] for f in rules)


def test_a_listener_of_another_kind_gets_no_rules():
    heard = []
    stop = trace.subscribe(heard.append, only=("source",))
    try:
        graph_rewrite(A + 1, RULES)
    finally:
        stop()
    assert heard == []


def test_an_argument_as_the_text_of_a_graph_has_it():
    assert arg_text(Reduce(Ops.MAX, (0, 2))) == "Reduce(Ops.MAX, (0, 2, ))"
    assert arg_text(float("inf")) == "FLOAT('inf')" and arg_text(None) == "None"
    inside = arg_text((UOp.const(dtypes.int, 3), 1))
    assert inside.startswith("(UOp(Ops.CONST") and arg_text(object).startswith("<class")
