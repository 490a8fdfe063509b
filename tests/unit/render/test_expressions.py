"""Precedence: the text means the tree, with no more parentheses than that takes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.render.dialect import PLAIN_C, CDialect, VectorStyle
from weft.render.expressions import Expressions
from weft.render.helpers import Helpers
from weft.render.precedence import Expression
from weft.uop import Ops, UOp

NAMES = {UOp.variable(name, 1, 50): value for name, value in zip("abcd", (7, 3, 11, 5))}
SAFE = [Ops.ADD, Ops.SUB, Ops.MUL, Ops.AND, Ops.OR, Ops.XOR]


def trees() -> st.SearchStrategy[UOp]:
    leaves = st.sampled_from([*NAMES, UOp.const(dtypes.int, 2), UOp.const(dtypes.int, -3)])

    def grow(inner: st.SearchStrategy[UOp]) -> st.SearchStrategy[UOp]:
        pair = st.tuples(inner, inner)
        binary = st.builds(lambda op, ab: ab[0].alu(op, ab[1]), st.sampled_from(SAFE), pair)
        compare = st.builds(lambda ab: ab[0].alu(Ops.CMPLT, ab[1]), pair)
        shift = st.builds(lambda a: a.alu(Ops.SHR, UOp.const(dtypes.int, 1)), inner)
        divide = st.builds(lambda a: a.alu(Ops.MOD, UOp.const(dtypes.int, 4)), inner)
        negate = st.builds(lambda a: a.alu(Ops.NEG), inner)
        chosen = st.builds(lambda c, ab: c.alu(Ops.WHERE, *ab), compare, pair)
        return st.one_of(binary, shift, divide, negate, chosen)

    return st.recursive(leaves, grow, max_leaves=12)


def write(
    u: UOp,
    dialect: CDialect = PLAIN_C,
    given: dict[UOp, Expression] | None = None,
    signed_wraps: bool = True,
) -> str:
    writer = Expressions(dialect, Helpers(dialect), signed_wraps)
    writer.known.update(given or {})
    for node in u.toposort():
        if node.op is Ops.DEFINE_VAR:
            writer.known[node] = Expression(node.arg.name)
        elif node not in writer.known:
            writer.known[node] = writer.of(node)
    return writer.known[u].text


def meaning(u: UOp) -> int:
    """Integers without bounds: Python's, but for the remainder, which is C's."""
    if u in NAMES:
        return NAMES[u]
    if u.op is Ops.CONST:
        return u.arg
    a, *rest = (meaning(s) for s in u.src)
    if u.op is Ops.NEG:
        return -a
    if u.op is Ops.WHERE:
        return rest[0] if a else rest[1]
    b = rest[0]
    return {
        Ops.ADD: lambda: a + b, Ops.SUB: lambda: a - b, Ops.MUL: lambda: a * b,
        Ops.AND: lambda: a & b, Ops.OR: lambda: a | b, Ops.XOR: lambda: a ^ b,
        Ops.SHR: lambda: a >> b, Ops.CMPLT: lambda: int(a < b), Ops.MOD: lambda: a % b,
    }[u.op]()  # fmt: skip


@given(trees())
def test_text_means_the_tree(tree):
    """Python has C's precedence for these operators (comparisons are only in conditions)."""
    text = write(tree)
    assert eval(as_python(text), {n.arg.name: v for n, v in NAMES.items()}) == meaning(tree)


def as_python(text: str) -> str:
    """`c ? x : y` as Python; conditions are always one comparison."""
    while "?" in text:
        mark = text.index("?")
        start, end, colon, depth = mark, mark, -1, 0
        while start > 0 and (depth or text[start - 1] not in "("):
            start -= 1
            depth += (text[start] == ")") - (text[start] == "(")
        depth = pending = 0
        while end < len(text) and (depth or text[end] != ")"):
            depth += (text[end] == "(") - (text[end] == ")")
            if not depth and text[end] == "?":
                pending += 1
            if not depth and text[end] == ":":
                pending -= 1
                colon = end if pending == 0 and colon < 0 else colon
            end += 1
        test, yes, no = text[start:mark], text[mark + 1 : colon], text[colon + 1 : end]
        text = f"{text[:start]}(({yes}) if ({test}) else ({no})){text[end:]}"
    return text


def test_sums_and_products_have_no_parentheses():
    a, b, c, d = NAMES
    assert write(a * b + c * d) == "a * b + c * d"
    assert write(a + b + c) == "a + b + c"
    assert write(a - (b + c)) == "a - (b + c)"
    assert write((a + b) * c) == "(a + b) * c"
    assert write((a + b).alu(Ops.CMPLT, c)) == "a + b < c"


def test_guarded_only_where_the_divisor_could_be_zero():
    a, b, *_ = NAMES
    assert write(a // b) == "a / b"
    free = UOp.variable("z", -4, 4)
    assert write(a // free) == "div_i32(a, z)"
    assert write(a % UOp.const(dtypes.int, -1)) == "mod_i32(a, (-1))"


def test_masks_convert_where_widths_differ():
    clang = CDialect(vectors=VectorStyle())
    vec = dtypes.float.vec(4)
    x, y = (UOp(Ops.NOOP, vec, (), name) for name in "xy")
    wide = UOp(Ops.NOOP, dtypes.double.vec(4), (), "w")
    given = {u: Expression(u.arg) for u in (x, y, wide)}
    test = x.alu(Ops.CMPLT, y)
    assert write(test.alu(Ops.WHERE, x, y), clang, given) == "(i32x4)(x < y) ? x : y"
    text = write(test.alu(Ops.WHERE, wide, wide), clang, given)
    assert "__builtin_convertvector((i32x4)(x < y), i64x4)" in text


def test_operations_that_are_not_native_are_refused():
    a = UOp(Ops.NOOP, dtypes.float, (), "x")
    for u in (a.alu(Ops.SIN), a.alu(Ops.POW, a), a.alu(Ops.MOD, a)):
        with pytest.raises(SpecError):
            write(u, given={a: Expression("x")})


def test_use_before_definition_is_refused():
    writer = Expressions(PLAIN_C, Helpers(PLAIN_C))
    a, b, *_ = NAMES
    with pytest.raises(SpecError) as caught:
        writer.of(a + b)
    assert re.search("before", caught.value.because)
