"""Random expressions: simplified and as written they have one value, and bounds contain it."""

import math

from hypothesis import given
from hypothesis import strategies as st

from weft.base.dtype import dtypes
from weft.uop import Ops, UOp, graph_rewrite
from weft.uop.bounds import bounds_of
from weft.uop.evaluate import exec_alu
from weft.uop.symbolic import (
    Variable,
    linear_of,
    node_of,
    simplify_given,
    symbolic,
    symbolic_simple,
)

FREE = [Variable("a", 0, 7), Variable("b", -5, 4), Variable("c", 1, 3), Variable("d", -9, -2)]
BIG = Variable("big", -(2**31), 2**31 - 1)
LOOPS = [UOp.range(6, 0), UOp.range(16, 1), UOp.range(3, 2)]


def evaluate(root, values):
    found = {}
    for node in root.toposort():
        if node in values:
            found[node] = values[node]
        elif node.op is Ops.CONST:
            found[node] = node.arg
        elif node.op is Ops.CAST:
            found[node] = exec_alu(Ops.ADD, node.dtype, (found[node.src[0]], 0))
        elif node.op in (Ops.RANGE, Ops.DEFINE_VAR):
            raise AssertionError("a leaf without a value")
        else:
            found[node] = exec_alu(node.op, node.dtype, [found[s] for s in node.src])
    return found[root]


@st.composite
def numbers(draw, depth=3, leaves=(*FREE, *LOOPS), wild=False):
    """An integer expression."""
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        if draw(st.booleans()):
            return draw(st.sampled_from(leaves))
        return UOp.const(dtypes.int, draw(st.integers(-12, 12)))
    kind = draw(st.sampled_from(["+", "+", "-", "*", "*k", "*k", "//", "//", "%", "%", "max", "neg",
                                 "where", "<<", "cast", "by"]))  # fmt: skip
    x = draw(numbers(depth - 1, leaves, wild))
    if kind == "neg":
        return -x
    if kind == "cast":
        return x.cast(dtypes.long).cast(dtypes.int)
    if kind in ("*k", "<<"):
        amount = draw(st.integers(0, 3) if kind == "<<" else st.integers(-8, 16))
        return x << amount if kind == "<<" else x * amount
    if kind in ("//", "%"):
        by = draw(st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16, -1, -2, -5]))
        return x // by if kind == "//" else x % by
    y = draw(numbers(depth - 1, leaves, wild))
    if kind == "where":
        return draw(conditions(depth - 1, leaves)).where(x, y)
    if kind == "by":
        return x // y if draw(st.booleans()) else x % y
    if kind == "max":
        return x.maximum(y)
    return x + y if kind == "+" else x - y if kind == "-" else x * y


@st.composite
def conditions(draw, depth=2, leaves=(*FREE, *LOOPS)):
    """A truth value."""
    kind = draw(st.sampled_from(["<", "<", "<=", "!=", "==", "and", "and", "or", "not", "where"]))
    if depth <= 0 or kind in ("<", "<=", "!=", "=="):
        x = draw(numbers(max(0, depth), leaves))
        y = draw(st.one_of(numbers(max(0, depth - 1), leaves), st.integers(-12, 12)))
        y = UOp.const(dtypes.int, y) if isinstance(y, int) else y
        return {"<": x < y, "<=": x <= y, "!=": x.ne(y), "==": x.eq(y)}.get(kind, x < y)
    p = draw(conditions(depth - 1, leaves))
    if kind == "not":
        return p.logical_not()
    q = draw(conditions(depth - 1, leaves))
    if kind == "where":
        return p.where(q, draw(conditions(depth - 1, leaves)))
    return p & q if kind == "and" else p | q


def points(draw, count=12):
    leaves = [*FREE, *LOOPS, BIG]
    for _ in range(count):
        yield {leaf: draw(st.integers(*bounds_of(leaf))) for leaf in leaves}


@given(st.data())
def test_a_simplified_number_is_the_number(data):
    root = data.draw(numbers(4))
    simple = root.simplify()
    low, high = bounds_of(root)
    narrow = bounds_of(simple)
    for point in points(data.draw):
        value = evaluate(root, point)
        assert evaluate(simple, point) == value, (root.render(False), simple.render(False), point)
        assert low <= value <= high
        assert narrow[0] <= value <= narrow[1]


@given(st.data())
def test_a_simplified_condition_is_the_condition(data):
    root = data.draw(conditions(3))
    simple = root.simplify()
    for point in points(data.draw):
        value = evaluate(root, point)
        assert evaluate(simple, point) == value, (root.render(False), simple.render(False), point)
        assert bounds_of(root)[0] <= value <= bounds_of(root)[1]
        assert bounds_of(simple)[0] <= value <= bounds_of(simple)[1]


@given(st.data())
def test_numbers_that_wrap_keep_wrapping(data):
    leaves = (*FREE[:2], BIG)
    root = data.draw(st.one_of(numbers(3, leaves), conditions(2, leaves)))
    simple = root.simplify()
    for point in points(data.draw):
        value = evaluate(root, point)
        assert evaluate(simple, point) == value, (root.render(False), simple.render(False), point)
        assert bounds_of(root)[0] <= value <= bounds_of(root)[1]


@given(st.data())
def test_simplifying_again_changes_nothing(data):
    simple = data.draw(st.one_of(numbers(4), conditions(3))).simplify()
    # rebuilt from scratch, so that no memo answers
    names = {leaf: leaf.replace(arg=leaf.arg) for leaf in FREE}
    assert simple.substitute(names).simplify() is simple
    assert graph_rewrite(simple, symbolic) is simple


@given(st.data())
def test_the_rule_set_is_the_simplifier(data):
    root = data.draw(st.one_of(numbers(3), conditions(2)))
    rewritten = graph_rewrite(root, symbolic)
    quick = graph_rewrite(root, symbolic_simple)
    for point in points(data.draw, 5):
        value = evaluate(root, point)
        assert evaluate(rewritten, point) == value
        assert evaluate(quick, point) == value


@given(st.data())
def test_under_a_condition_the_value_is_kept_where_it_holds(data):
    condition = data.draw(conditions(2)).simplify()
    root = data.draw(numbers(3))
    simple = simplify_given(condition, root)
    for point in points(data.draw, 20):
        if evaluate(condition, point):
            assert evaluate(simple, point) == evaluate(root, point), (
                condition.render(False), root.render(False), simple.render(False), point
            )  # fmt: skip


@given(st.data())
def test_any_order_of_a_sum_is_one_node(data):
    leaves = data.draw(st.lists(st.sampled_from([*FREE, *LOOPS]), min_size=2, max_size=6))
    factors = [data.draw(st.integers(-4, 4)) for _ in leaves]
    terms = [leaf * factor for leaf, factor in zip(leaves, factors)]
    shuffled = data.draw(st.permutations(terms))
    total, other = terms[0], shuffled[0]
    for term in terms[1:]:
        total = total + term
    for term in shuffled[1:]:
        other = term + other
    assert total.simplify() is other.simplify()
    assert node_of(linear_of(total.simplify())) is total.simplify()


@given(st.data())
def test_splitting_an_index_and_joining_it_is_the_index(data):
    sizes = data.draw(st.lists(st.integers(2, 7), min_size=2, max_size=4))
    whole = UOp.range(math.prod(sizes), 0)
    left, parts = whole, []
    for size in reversed(sizes[1:]):
        parts.append(left % size)
        left = left // size
    parts.append(left)
    joined = UOp.const(dtypes.int, 0)
    for size, part in zip(sizes, reversed(parts)):
        joined = joined * size + part
    assert joined.simplify() is whole
