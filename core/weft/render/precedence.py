"""Operator precedence: expressions as text that knows how tightly it binds.

Source: ISO/IEC 9899:1999, annex A.2.1 (expressions).
"""

from __future__ import annotations

from typing import NamedTuple

from weft.uop import Ops

# How tightly an expression binds; an operand that binds less tightly gets parentheses.
ATOM, UNARY, TIMES, PLUS, SHIFT, COMPARE, AND, XOR, OR, CHOICE, LOOSE = range(100, -10, -10)

OPERATORS: dict[Ops, tuple[str, int]] = {
    Ops.MUL: ("*", TIMES),
    Ops.FDIV: ("/", TIMES),
    Ops.IDIV: ("/", TIMES),
    Ops.MOD: ("%", TIMES),
    Ops.ADD: ("+", PLUS),
    Ops.SUB: ("-", PLUS),
    Ops.SHL: ("<<", SHIFT),
    Ops.SHR: (">>", SHIFT),
    Ops.CMPLT: ("<", COMPARE),
    Ops.CMPNE: ("!=", COMPARE),
    Ops.CMPEQ: ("==", COMPARE),
    Ops.AND: ("&", AND),
    Ops.XOR: ("^", XOR),
    Ops.OR: ("|", OR),
}


class Expression(NamedTuple):
    """Text, its precedence, and for a vector of booleans the bytes per lane of its mask."""

    text: str
    level: int = ATOM
    mask: int = 0


def _left(level: int) -> int:
    """The precedence that a left operand needs without parentheses."""
    return (
        PLUS if level == COMPARE else level if level >= PLUS or level in (AND, XOR, OR) else UNARY
    )


def _right(level: int) -> int:
    return PLUS if level == COMPARE else TIMES if level == PLUS else UNARY


LEFT = {level: _left(level) for _, level in OPERATORS.values()}
RIGHT = {level: _right(level) for _, level in OPERATORS.values()}
