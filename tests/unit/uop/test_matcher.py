"""PatternMatcher: order, context, joining, counting."""

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.uop import Ops, PatternMatcher, UOp, UPat

A = UOp.variable("a", 0, 9)
ONE = UOp.const(dtypes.int, 1)


def test_the_first_rule_that_answers_wins():
    matcher = PatternMatcher(
        [
            (UPat.var("x") + 1, lambda x: None),
            (UPat.var("x") + 1, lambda x: x * 2),
            (UPat.var("x") + 1, lambda x: x * 3),
        ]
    )
    assert matcher.rewrite(A + 1) is A * 2
    assert matcher.rewrite(A + 2) is None


def test_rules_ask_for_the_context_by_name():
    matcher = PatternMatcher("with context")

    @matcher.rule(UPat(Ops.CONST, name="c"))
    def add_context(c, ctx):
        """c -> c + ctx"""
        return UOp.const(c.dtype, c.arg + ctx)

    assert matcher.rewrite(UOp.const(dtypes.int, 1), ctx=4).arg == 5
    assert matcher.hits == {"add_context": 1}


def test_an_answer_equal_to_the_question_is_no_answer():
    assert PatternMatcher([(UPat(Ops.CONST, name="c"), lambda c: c)]).rewrite(ONE) is None


def test_a_parameter_of_a_rule_must_be_captured():
    matcher = PatternMatcher([(UPat.var("x") + 1, lambda y: y)])
    with pytest.raises(SpecError, match="does not capture"):
        matcher.rewrite(A + 1)


def test_sets_join_in_order():
    first = PatternMatcher([(UPat.var("x") + 1, lambda x: x * 2)], "first")
    second = PatternMatcher([(UPat.var("x") + UPat.cvar(), lambda x: x)], "second")
    both = first + second
    assert both.name == "first + second"
    assert both.rewrite(A + 1) is A * 2 and both.rewrite(A + 7) is A
