"""Bounds of symbolic integers with quotients, such as `n - n // 2 * 2`.
Also: interval analysis, delinearization.

Interval analysis takes a variable and its quotient as independent, so that `n - n // 2 * 2` seems
to be negative for some values. Here the variable is written by its quotient and its remainder,
`n = 2 * q + r`, and what remains is a bound of `r`.

in:  a symbolic integer      out: a lower bound

Source: H. Warren, "Hacker's Delight", division by constants; Halide, bounds inference of
expressions with division.
"""

from __future__ import annotations

from math import lcm

from weft.uop.node import UOp, sint
from weft.uop.ops import Ops
from weft.uop.symbolic.sint import Variable, fold, low_of

_MOST_DIVISOR = 1 << 16


def least_value(value: sint) -> int:
    """A lower bound of a value, at least that of interval analysis.

    >>> n = Variable("n", 1, 9)
    >>> value = n - n // 2 * 2
    >>> value.vmin, least_value(value)
    (-7, 0)
    """
    low = low_of(value)
    if low >= 0 or not isinstance(value, UOp):
        return low
    quotients: dict[UOp, list[tuple[int, int]]] = {}
    for node in value.toposort():
        if node.op is Ops.IDIV and (found := _shifted_variable(node.src[0])) is not None:
            divisor = node.src[1]
            if divisor.op is Ops.CONST and divisor.arg > 1:
                quotients.setdefault(found[0], []).append((divisor.arg, found[1]))
    parts = {}
    for number, (variable, divided) in enumerate(quotients.items()):
        common = lcm(*(divisor for divisor, _ in divided))
        shift = max(divided)[1]
        if common > _MOST_DIVISOR or variable.vmin + shift < 0:
            continue
        last = (variable.vmax + shift) // common
        quotient = Variable(f"quotient{number}", (variable.vmin + shift) // common, last)
        remainder = Variable(f"remainder{number}", 0, common - 1)
        parts[variable] = quotient * common + remainder - shift
    return max(low, low_of(fold(value.substitute(parts)))) if parts else low


def _shifted_variable(node: UOp) -> tuple[UOp, int] | None:
    """The variable and the constant of a sum of both; None for other nodes."""
    shift = 0
    if node.op is Ops.ADD and node.src[1].op is Ops.CONST:
        node, shift = node.src[0], node.src[1].arg
    return (node, shift) if node.op in (Ops.BIND, Ops.DEFINE_VAR) else None
