"""Bounds of symbolic integers with quotients, such as `n - n // 2 * 2`.
Also: interval analysis, quasi-affine expressions.

Interval analysis takes a variable and its quotient as independent, so that `n - n // 2 * 2` seems
to be negative for some values. An expression of sums, multiples and quotients of one variable is
quasi-affine: after a period of the variable it has grown by a constant, as soon as all numerators
are positive. So its least value is one of the first or of the last period.

in:  a symbolic integer      out: a lower bound

Source: W. Pugh, "The Omega test" (1991), quasi-affine constraints; Halide, bounds inference.
"""

from __future__ import annotations

from math import gcd, lcm
from typing import NamedTuple

from weft.uop.node import UOp, sint
from weft.uop.ops import Ops
from weft.uop.symbolic.sint import evaluate_sint, low_of, variables_of

_MOST_VALUES = 512
"""Values of a variable that are tried."""


class _Growth(NamedTuple):
    """How much an expression grows when its variable grows by a period."""

    period: int
    increase: int

    def over(self, period: int) -> int:
        """The growth over a multiple of the period."""
        return self.increase * (period // self.period)


def least_value(value: sint) -> int:
    """A lower bound of a value, at least that of interval analysis.

    >>> n = UOp.variable("n", 1, 9)
    >>> value = n - n // 2 * 2
    >>> value.vmin, least_value(value)
    (-7, 0)
    """
    low = low_of(value)
    if low >= 0 or not isinstance(value, UOp):
        return low
    variables = variables_of(value)
    if len(variables) != 1:
        return low
    (variable,) = variables
    growths: dict[UOp, _Growth] = {}
    for node in value.toposort():
        found = _growth(node, growths)
        if found is None:
            return low
        growths[node] = found
    tried = _values_to_try(variable, growths[value], growths)
    return low if tried is None else min(evaluate_sint(value, {variable: n}) for n in tried)


def _growth(node: UOp, growths: dict[UOp, _Growth]) -> _Growth | None:
    """The growth of a node by that of its sources; None if it is not quasi-affine."""
    op, src = node.op, node.src
    if op is Ops.CONST:
        return _Growth(1, 0)
    if op in (Ops.DEFINE_VAR, Ops.BIND):
        return _Growth(1, 1)
    if op is Ops.ADD:
        one, other = growths[src[0]], growths[src[1]]
        period = lcm(one.period, other.period)
        return _Growth(period, one.over(period) + other.over(period))
    if op in (Ops.MUL, Ops.IDIV) and src[1].op is Ops.CONST:
        period, increase = growths[src[0]]
        factor = src[1].arg
        if op is Ops.MUL:
            return _Growth(period, increase * factor)
        if factor > 0 and increase >= 0:
            times = factor // gcd(increase, factor)
            return _Growth(period * times, increase * times // factor)
    return None


def _values_to_try(
    variable: UOp, growth: _Growth, growths: dict[UOp, _Growth]
) -> list[int] | None:  # fmt: skip
    """Values of the variable among which is one of the least value; None if they are many."""
    period = growth.period
    first, last = variable.vmin, variable.vmax
    start = first  # from here on no numerator that grows is negative
    for node, of_node in growths.items():
        if node.op is Ops.IDIV and growths[node.src[0]].increase:
            positive = 0
            while positive < of_node.period and start + positive <= last:
                if start + positive - first > _MOST_VALUES:
                    return None
                is_negative = evaluate_sint(node.src[0], {variable: start + positive}) < 0
                start, positive = (
                    (start + positive + 1, 0) if is_negative else (start, positive + 1)
                )
    behind = min(start + period - 1, last)
    ahead = max(last - period + 1, behind + 1) if growth.increase < 0 else last + 1
    tried = [*range(first, behind + 1), *range(ahead, last + 1)]
    return tried if len(tried) <= _MOST_VALUES else None
