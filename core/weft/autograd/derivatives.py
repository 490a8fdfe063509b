"""Closed-form derivatives: gradient rules of functions that consist of several operations.

Differentiating such a function operation by operation is inaccurate at the ends of its range: 0
times infinity in a branch that is not taken, |x| at 0, sums that cancel. A CUSTOM_VJP node holds
the value and the argument of the function. The name in its arg selects the derivative in this
module. The backward graph also becomes smaller: most derivatives need the value alone.

Source: A. Griewank, A. Walther, "Evaluating Derivatives", SIAM 2008, chapter 2 (elementals).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from weft.uop import Ops, UOp

Derivative: TypeAlias = Callable[..., UOp]

_LOG2_E = math.log2(math.e)


def _const(like: UOp, value: float) -> UOp:
    return UOp.const(like.dtype, value)


def _reciprocal(x: UOp) -> UOp:
    return x.alu(Ops.RECIP)


def _sqrt(x: UOp) -> UOp:
    return x.alu(Ops.SQRT)


def _exp(x: UOp) -> UOp:
    return (x * _LOG2_E).alu(Ops.EXP2)


def _choose(condition: UOp, yes: UOp | float, no: UOp | float, like: UOp) -> UOp:
    a, b = (v if isinstance(v, UOp) else _const(like, v) for v in (yes, no))
    return condition.alu(Ops.WHERE, a, b)


def _logistic(x: UOp) -> UOp:
    negative = x < 0.0
    power = _exp(_choose(negative, x, -x, x))
    return _choose(negative, power, 1.0, x) * _reciprocal(power + 1.0)


def _integer_power(x: UOp, exponent: int) -> UOp:
    """x to a positive integer exponent, by repeated squaring."""
    if exponent == 1:
        return x
    half = _integer_power(x * x, exponent // 2)
    return half * x if exponent & 1 else half


def _power(x: UOp, y: UOp, n: float) -> UOp:
    """n x ** (n - 1), with a closed-form derivative of its own."""
    if n in (0, 1):
        return _const(x, float(n))
    if n == 2:
        return x * 2.0
    if n == -0.5:
        return _choose(x.eq(-math.inf), 0.0, _reciprocal(x) * y * -0.5, x)
    value = _integer_power(x, int(n) - 1) if n > 0 else _reciprocal(_integer_power(x, 1 - int(n)))
    return UOp(Ops.CUSTOM_VJP, x.dtype, (value, x), ("power", n - 1)) * float(n)


DERIVATIVES: dict[str, Derivative] = {
    "rsqrt": lambda x, y: y * y * y * -0.5,
    "exp": lambda x, y: y,
    "expm1": lambda x, y: y + 1.0,
    "log": lambda x, y: _reciprocal(x),
    "log1p": lambda x, y: _reciprocal(x + 1.0),
    "log10": lambda x, y: _reciprocal(x * math.log(10.0)),
    "cos": lambda x, y: -x.alu(Ops.SIN),
    "tan": lambda x, y: y * y + 1.0,
    "asin": lambda x, y: _reciprocal(_sqrt((1.0 - x) * (x + 1.0))),
    "acos": lambda x, y: -_reciprocal(_sqrt((1.0 - x) * (x + 1.0))),
    "atan": lambda x, y: _reciprocal(x * x + 1.0),
    "tanh": lambda x, y: 1.0 - y * y,
    "asinh": lambda x, y: _reciprocal(_sqrt(x * x + 1.0)),
    "acosh": lambda x, y: _reciprocal(_sqrt((x - 1.0) * (x + 1.0))),
    "atanh": lambda x, y: _reciprocal((1.0 - x) * (x + 1.0)),
    "erf": lambda x, y: _exp(-(x * x)) * (2.0 / math.sqrt(math.pi)),
    "sigmoid": lambda x, y: y * (1.0 - y),
    "softplus": lambda x, y, beta=1.0: _logistic(x * beta),
    "elu": lambda x, y, alpha=1.0: _choose(x <= 0.0, y + alpha, 1.0, x),
    "celu": lambda x, y, alpha=1.0: _choose(x <= 0.0, y * (1.0 / alpha) + 1.0, 1.0, x),
    # at deviation 0 the one-sided derivatives are -inf and inf: the subgradient 0 is between them
    "deviation": lambda x, y: _choose(
        y.eq(0.0), 0.0, _reciprocal(_choose(y.eq(0.0), 1.0, y + y, x)), x
    ),
    "power": _power,
    # of step functions: 0 everywhere, also at the jumps, as in PyTorch
    "flat": lambda x, y: _const(x, 0.0),
}
"""The derivative of every named function, from its argument x, its value y, and its parameters."""


MASK_DERIVATIVES: dict[str, Derivative] = {
    "relu": lambda x, y: y > 0.0,
}
"""The condition that the derivative is 1, of functions with derivative 0 or 1. Elsewhere the
gradient is 0, even if the upstream gradient is infinite. The argument, often a matrix product, is
not read again."""


RECOMPUTE = "recompute"
"""The name in the arg of a CUSTOM_VJP whose second source computes the same value again; the
gradient flows through that source."""


CUSTOM = "custom"
"""The name in the arg of a CUSTOM_VJP whose gradient rule is a `weft.autograd.Function`."""


def is_checkpoint(node: UOp) -> bool:
    """Whether gradients flow through the second source of `node`, a recomputation of its value."""
    return node.op is Ops.CUSTOM_VJP and node.arg[0] == RECOMPUTE


def named_vjp(node: UOp, upstream: UOp) -> UOp:
    """Vector-Jacobian product of a named function: `upstream` times its derivative."""
    parameters: list[Any]
    name, *parameters = node.arg
    if name in MASK_DERIVATIVES:
        return MASK_DERIVATIVES[name](node.src[1], node).alu(Ops.WHERE, upstream, _const(node, 0.0))
    return upstream * DERIVATIVES[name](node.src[1], node, *parameters)
