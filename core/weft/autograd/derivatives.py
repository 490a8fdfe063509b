"""Derivatives of functions that are composed of several operations, in closed form.

A composition differentiated step by step is right in the middle of its range, and often not at its
ends: 0 times infinity in a branch that is not taken, |x| at 0, sums that cancel. A SLOPE node says
what its value is a function of, and the name in its arg finds the derivative here. It also makes
the backward graph smaller: most derivatives need no more than the value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from weft.uop import Ops, UOp

Derivative: TypeAlias = Callable[..., UOp]

_LOG2_E = math.log2(math.e)


def _number(like: UOp, value: float) -> UOp:
    return UOp.const(like.dtype, value)


def _over(x: UOp) -> UOp:
    return x.alu(Ops.RECIP)


def _root(x: UOp) -> UOp:
    return x.alu(Ops.SQRT)


def _exp(x: UOp) -> UOp:
    return (x * _LOG2_E).alu(Ops.EXP2)


def _choose(condition: UOp, yes: UOp | float, no: UOp | float, like: UOp) -> UOp:
    a, b = (v if isinstance(v, UOp) else _number(like, v) for v in (yes, no))
    return condition.alu(Ops.WHERE, a, b)


def _logistic(x: UOp) -> UOp:
    negative = x < 0.0
    power = _exp(_choose(negative, x, -x, x))
    return _choose(negative, power, 1.0, x) * _over(power + 1.0)


def _to_the(x: UOp, exponent: int) -> UOp:
    """x multiplied out, to a whole number above 0."""
    if exponent == 1:
        return x
    half = _to_the(x * x, exponent // 2)
    return half * x if exponent & 1 else half


def _power(x: UOp, y: UOp, n: float) -> UOp:
    """n x ** (n - 1), whose own derivative is known in turn."""
    if n in (0, 1):
        return _number(x, float(n))
    if n == 2:
        return x * 2.0
    if n == -0.5:
        return _choose(x.eq(-math.inf), 0.0, _over(x) * y * -0.5, x)
    value = _to_the(x, int(n) - 1) if n > 0 else _over(_to_the(x, 1 - int(n)))
    return UOp(Ops.SLOPE, x.dtype, (value, x), ("power", n - 1)) * float(n)


DERIVATIVES: dict[str, Derivative] = {
    "rsqrt": lambda x, y: y * y * y * -0.5,
    "exp": lambda x, y: y,
    "expm1": lambda x, y: y + 1.0,
    "log": lambda x, y: _over(x),
    "log1p": lambda x, y: _over(x + 1.0),
    "log10": lambda x, y: _over(x * math.log(10.0)),
    "cos": lambda x, y: -x.alu(Ops.SIN),
    "tan": lambda x, y: y * y + 1.0,
    "asin": lambda x, y: _over(_root((1.0 - x) * (x + 1.0))),
    "acos": lambda x, y: -_over(_root((1.0 - x) * (x + 1.0))),
    "atan": lambda x, y: _over(x * x + 1.0),
    "tanh": lambda x, y: 1.0 - y * y,
    "asinh": lambda x, y: _over(_root(x * x + 1.0)),
    "acosh": lambda x, y: _over(_root((x - 1.0) * (x + 1.0))),
    "atanh": lambda x, y: _over((1.0 - x) * (x + 1.0)),
    "erf": lambda x, y: _exp(-(x * x)) * (2.0 / math.sqrt(math.pi)),
    "sigmoid": lambda x, y: y * (1.0 - y),
    "softplus": lambda x, y, beta=1.0: _logistic(x * beta),
    "elu": lambda x, y, alpha=1.0: _choose(x <= 0.0, y + alpha, 1.0, x),
    "celu": lambda x, y, alpha=1.0: _choose(x <= 0.0, y * (1.0 / alpha) + 1.0, 1.0, x),
    # at zero spread the derivative is infinite on both sides: 0 is between them
    "deviation": lambda x, y: _choose(y.eq(0.0), 0.0, _over(_choose(y.eq(0.0), 1.0, y + y, x)), x),
    "power": _power,
    # of steps: PyTorch has 0 there as well, at the edges too
    "flat": lambda x, y: _number(x, 0.0),
}
"""The derivative of every named function, of its argument x, its value y, and its parameters."""


GATES: dict[str, Derivative] = {
    "relu": lambda x, y: y > 0.0,
}
"""Functions whose derivative is 1 or 0: where it is 1. Elsewhere no gradient flows, not even 0 x
infinity; and their argument, which is often a product of matrices, is not needed again."""


AGAIN = "again"
"""The name in the arg of a SLOPE whose gradient flows through another graph of the same value."""


CUSTOM = "custom"
"""The name in the arg of a SLOPE whose derivative is that of a `weft.autograd.Function`."""


def is_checkpoint(node: UOp) -> bool:
    """Whether gradients flow through the value of `node` computed again: its second source."""
    return node.op is Ops.SLOPE and node.arg[0] == AGAIN


def times_derivative(node: UOp, upstream: UOp) -> UOp:
    """upstream times the derivative of the function that a SLOPE node is the value of, at its
    argument."""
    parameters: list[Any]
    name, *parameters = node.arg
    if name in GATES:
        return GATES[name](node.src[1], node).alu(Ops.WHERE, upstream, _number(node, 0.0))
    return upstream * DERIVATIVES[name](node.src[1], node, *parameters)
