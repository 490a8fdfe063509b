"""graph_rewrite: fixpoints, order, depth, circles."""

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.uop import PatternMatcher, UOp, UPat, graph_rewrite, rewrite_map

A, B = UOp.variable("a", 0, 9), UOp.variable("b", 0, 9)
FOLD = PatternMatcher(
    [(UPat.cvar("x") + UPat.cvar("y"), lambda x, y: UOp.const(x.dtype, x.arg + y.arg))]
)


def test_rules_apply_until_none_matches():
    one = UOp.const(dtypes.int, 1)
    assert graph_rewrite(((one + 1) + 1) + (one + 1), FOLD).arg == 5


def test_the_result_of_a_rule_is_rewritten():
    rules = PatternMatcher(
        [(UPat.var("x") * 4, lambda x: (x * 2) * 2), (UPat.var("x") * 2, lambda x: x + x)]
    )
    doubled = A + A
    assert graph_rewrite(A * 4, rules) is doubled + doubled


def test_the_map_has_every_original_node():
    tree = (A + 0) * (B + 0)
    done = rewrite_map(tree, PatternMatcher([(UPat.var("x") + 0, lambda x: x)]))
    assert done[A + 0] is A and done[tree] is A * B


def test_a_deep_chain_is_rewritten_without_recursion():
    node = A
    for _ in range(100_000):
        node = node + 1
    result = graph_rewrite(node, PatternMatcher([(UPat.var("x") + 1, lambda x: x + 2)]))
    assert len(result.toposort()) == 100_002


def test_rules_that_undo_each_other_are_named():
    rules = PatternMatcher(
        [(UPat.var("x") + 1, lambda x: x + 2), (UPat.var("x") + 2, lambda x: x + 1)], "undoing"
    )
    with pytest.raises(SpecError, match="undoing"):
        graph_rewrite(A + 1, rules)
