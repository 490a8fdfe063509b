"""Expressions for people."""

import pytest

from weft.base.dtype import dtypes
from weft.uop import UOp, Variable
from weft.uop.pretty import render

a, b, r = Variable("a", 0, 9), Variable("b", 1, 9), UOp.range(4, 0)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (a + b * 2, "(a+(b*2))"),
        ((a + b) * 2, "((a+b)*2)"),
        (a - (b - 1), "(a-(b-1))"),
        (a + -3, "(a-3)"),
        (a * 2 // (b * 3), "((a*2)//(b*3))"),
        (a // 2 % 3, "((a//2)%3)"),
        (a % (b // 2), "(a%(b//2))"),
        (a < 4, "(a<4)"),
        (a >= 4, "(a>=4)"),
        ((a < 4) & (b >= 2), "((a<4)&(b>=2))"),
        (a.ne(4).logical_not(), "(not (a!=4))"),
        ((a < 4).where(a, b), "(a if (a<4) else b)"),
        ((a < 4).where(a, b) + 1, "((a if (a<4) else b)+1)"),
        (-(a + b), "(-(a+b))"),
        (a.maximum(b), "max(a, b)"),
        (a.cast(dtypes.float) * 0.5, "(float(a)*0.5)"),
        (a.cast(dtypes.float).bitcast(dtypes.uint), "bits_uint(float(a))"),
        (r * 2 + a.bind(3), "((r0*2)+a)"),
    ],
)
def test_render(node, text):
    assert render(node) == text
    assert node.render(simplify=False) == text


def test_render_simplifies_first():
    assert (a + a + 1 - 1).render() == "(a*2)"


def test_other_nodes_are_named():
    assert render(UOp.new_buffer("A", 4, dtypes.int) + a) == "(buffer(4)+a)"


def test_shared_parts_do_not_blow_up():
    node = a
    for _ in range(200):
        node = node.maximum(node + b)
    assert len(render(node)) < 20000
