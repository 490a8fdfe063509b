"""Signed overflow: what may overflow is computed in unsigned integers, index arithmetic is not."""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.render.dialect import PLAIN_C
from weft.render.expressions import Expressions
from weft.render.helpers import Helpers
from weft.render.precedence import Expression
from weft.uop import Ops, UOp

X, N = UOp(Ops.NOOP, dtypes.int32, (), "x"), UOp.variable("n", 0, 50)


def write(u: UOp, signed_wraps: bool = False) -> str:
    writer = Expressions(PLAIN_C, Helpers(PLAIN_C), signed_wraps)
    writer.known.update({X: Expression("x"), N: Expression("n")})
    for node in u.toposort():
        if node not in writer.known:
            writer.known[node] = writer.of(node)
    return writer.known[u].text


def test_index_arithmetic_keeps_its_dtype():
    assert write(N * 4 + 3) == "n * 4 + 3"


def test_what_may_overflow_is_computed_in_unsigned_integers():
    assert write(X.alu(Ops.ADD, N)) == "(int)((unsigned int)x + (unsigned int)n)"
    assert write(X.alu(Ops.SHL, X.const_like(5))) == "(int)((unsigned int)x << 5u)"


def test_a_chain_is_converted_once():
    chain = X.alu(Ops.MUL, X).alu(Ops.SUB, X.const_like(3)).alu(Ops.NEG)
    assert write(chain) == "(int)(-((unsigned int)x * (unsigned int)x - 3u))"
    assert write(chain, signed_wraps=True) == "-(x * x - 3)"


def test_products_of_short_integers_are_promoted_to_unsigned():
    short = UOp(Ops.NOOP, dtypes.uint16, (), "s")
    writer = Expressions(PLAIN_C, Helpers(PLAIN_C))
    writer.known[short] = Expression("s")
    text = writer.of(short.alu(Ops.MUL, short)).text
    assert text == "(unsigned short)((unsigned int)s * (unsigned int)s)"
    assert writer.of(short.alu(Ops.ADD, short)).text == "(unsigned short)(s + s)"
