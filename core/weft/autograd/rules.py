"""Gradient rules: the vector-Jacobian product of every operation, in one table.
Also: VJP rules, adjoint rules, pullbacks.

`rule(node, upstream)` returns one gradient for each source. `upstream` is the gradient of the node.
A gradient has the shape and dtype of its source; None: no gradient flows to that source. Constants
of rank 0 represent their broadcast and get no gradient. The gradient of EXPAND sums half-precision
floats in float32.

Source: A. Griewank, A. Walther, "Evaluating Derivatives", SIAM 2008, chapter 3 (reverse mode).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from weft.autograd.derivatives import CUSTOM, RECOMPUTE, is_checkpoint, named_vjp
from weft.autograd.functions import custom_vjp
from weft.autograd.host_calls import host_call_vjp
from weft.autograd.shrink_pushdown import push_down_shrink
from weft.base.dtype import ImageDType, dtypes
from weft.base.errors import GradientError
from weft.base.promotion import sum_acc_dtype
from weft.shape import inverse_move
from weft.uop import GroupOp, Ops, UOp, laid_out

Rule: TypeAlias = Callable[[UOp, UOp], Sequence[UOp | None]]

RULES: dict[Ops, Rule] = {}
"""The gradient rule of each operation."""

NON_DIFFERENTIABLE = GroupOp.Comparison | {
    Ops.DETACH, Ops.BITCAST, Ops.IDIV, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR,
    Ops.THREEFRY, Ops.BUFFER, Ops.BUFFER_VIEW, Ops.CONST, Ops.BIND, Ops.DEFINE_VAR, Ops.DEVICE,
    Ops.UNIQUE, Ops.KERNEL, Ops.MULTI, Ops.MSTACK,
}  # fmt: skip
"""Operations that no gradient flows through."""

_LN_2 = math.log(2.0)


def rule(*ops: Ops) -> Callable[[Rule], Rule]:
    """Register a function as the rule of these operations."""

    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, function))
        return function

    return enter


def _zeros(like: UOp) -> UOp:
    zero = UOp.const(like.dtype, 0, like.device)
    if not like.shape:
        return zero
    return zero.reshape((1,) * len(like.shape)).expand(like.shape)


def _choose(condition: UOp, yes: UOp, no: UOp | float) -> UOp:
    """WHERE; `no` may be a number. A choice of two constants has the shape of the condition."""
    return condition.alu(Ops.WHERE, yes, no if isinstance(no, UOp) else UOp.const(yes.dtype, no))


def summed(value: UOp, axes: tuple[int, ...]) -> UOp:
    """The sum over `axes`, which keep size 1; half-precision floats are summed in float32."""
    if not axes:
        return value
    wide = sum_acc_dtype(value.dtype)
    return value.cast(wide).reduce(Ops.ADD, axes).cast(value.dtype)


# ---- conversions and markers ---------------------------------------------------------------------


@rule(Ops.CAST)
def cast(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g, cast to the dtype of the source; for an image to the dtype of its elements"""
    given = node.src[0].dtype
    return (upstream.cast(given.base if isinstance(given, ImageDType) else given),)


@rule(Ops.CONTIGUOUS, Ops.FUSE, Ops.NOOP)
def unchanged(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g: the value is that of the source"""
    return (upstream,)


@rule(Ops.CUSTOM_VJP)
def named_derivative(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g times the closed-form derivative; for a checkpoint g, to the recomputed value; for a
    `weft.autograd.Function` the result of its `backward`"""
    if node.arg[0] == CUSTOM:
        return custom_vjp(node, upstream)
    if is_checkpoint(node):
        return (None, upstream)
    return (None, named_vjp(node, upstream))


@rule(Ops.HOST_CALL)
def host_call(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """The rule of the host function"""
    return host_call_vjp(node, upstream)


@rule(Ops.CONTIGUOUS_BACKWARD)
def contiguous_backward(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g, materialized"""
    return (upstream.contiguous(),)


@rule(Ops.COPY)
def copy(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g, copied to the device of the source; for a sharded source, sharded like it"""
    source = node.src[0]
    if upstream.op is Ops.CONST:
        return (UOp.const(upstream.dtype, upstream.arg, source.device), None)
    value = source.src[0] if source.op is Ops.CONTIGUOUS else source
    if value.op is Ops.MULTI:
        return (laid_out(upstream, value.device, value.arg), None)
    return (upstream.copy_to_device(source.device), None)


@rule(Ops.ASSIGN)
def assign(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g, to the written value. :raises GradientError: for a write to a part of the memory."""
    if node.arg is not None:
        raise GradientError(
            "no gradient flows through a write to a part of memory",
            asked=f"a gradient through a write to {node.shape}",
            because="the overwritten values are not saved",
            try_="write to a value that is not realized, or detach it: x.detach()",
        )
    return (None, upstream)


# ---- arithmetic ----------------------------------------------------------------------------------


@rule(Ops.NEG)
def negative(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """-g"""
    return (-upstream,)


@rule(Ops.RECIP)
def reciprocal(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """-g / x**2"""
    return (-upstream * node * node,)


@rule(Ops.SQRT)
def square_root(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g / (2 sqrt(x)): infinite at 0"""
    return (upstream / (node * 2.0),)


@rule(Ops.EXP2)
def power_of_two(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g ln(2) 2**x"""
    return (upstream * node * _LN_2,)


@rule(Ops.LOG2)
def binary_logarithm(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g / (x ln(2))"""
    return (upstream / (node.src[0] * _LN_2),)


@rule(Ops.SIN)
def sine(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g cos(x), as 1 - 2 sin(x/2)**2"""
    half = (node.src[0] * 0.5).sin()
    return (upstream * (1.0 - half * half * 2.0),)


@rule(Ops.TRUNC)
def trunc(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """0"""
    return (_zeros(node),)


@rule(Ops.ADD)
def add(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g, g"""
    return (upstream, upstream)


@rule(Ops.SUB)
def subtract(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g, -g"""
    return (upstream, -upstream)


@rule(Ops.MUL)
def multiply(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g b, g a"""
    a, b = node.src
    return (upstream * b, upstream * a)


@rule(Ops.MULACC)
def multiply_add(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g b, g a, g"""
    a, b, _ = node.src
    return (upstream * b, upstream * a, upstream)


@rule(Ops.FDIV)
def divide(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g / b, -g (a / b) / b"""
    b = node.src[1]
    return (upstream / b, -(upstream * node) / b)


@rule(Ops.MOD)
def remainder(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g, -g trunc(a / b) for floats; nothing for integers"""
    a, b = node.src
    if not dtypes.is_float(node.dtype):
        return (None, None)
    return (upstream, -upstream * (a / b).alu(Ops.TRUNC))


@rule(Ops.POW)
def power(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g b a**(b-1), g a**b ln(a); at a = 0 the first is 0 if b = 0, and the second is its limit"""
    a, b = node.src
    zero = a.eq(0.0)
    derivative = b * a.alu(Ops.POW, b - 1.0)
    left = upstream * (zero & b.eq(0.0)).alu(Ops.WHERE, UOp.const(node.dtype, 0.0), derivative)
    at_zero = (b < 0.0).alu(Ops.WHERE, UOp.const(node.dtype, -math.inf), UOp.const(node.dtype, 0.0))
    right = upstream * zero.alu(Ops.WHERE, at_zero, node * (a.alu(Ops.LOG2) * _LN_2))
    return (left, right)


@rule(Ops.MAX)
def maximum(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g, to the larger; half of it to each if they are equal"""
    a, b = node.src
    half = _choose(a.eq(b), upstream * 0.5, 0.0)
    return (_choose(b < a, upstream, half), _choose(a < b, upstream, half))


@rule(Ops.WHERE)
def where(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g, to the selected source"""
    condition = node.src[0]
    zero = UOp.const(node.dtype, 0.0)
    return (
        None,
        condition.alu(Ops.WHERE, upstream, zero),
        condition.alu(Ops.WHERE, zero, upstream),
    )


# ---- reductions ----------------------------------------------------------------------------------


@rule(Ops.REDUCE_AXIS)
def reduce_axis(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """ADD: g. MAX: g divided equally among the maxima. MUL: g times the product of the others"""
    source = node.src[0]
    op, axes = node.arg.op, node.arg.axes
    flowing = upstream.expand(source.shape)
    if op is Ops.ADD:
        return (flowing,)
    if op is Ops.MAX:
        # count in integers: float16 ends at 65504, and there may be more equal elements
        largest = source.eq(node.expand(source.shape))
        wide = sum_acc_dtype(node.dtype)
        count = largest.cast(dtypes.int32).reduce(Ops.ADD, axes).cast(wide)
        share = (upstream.cast(wide) / count).cast(node.dtype)
        return (largest.cast(node.dtype) * share.expand(source.shape),)
    # two or more zeros: all derivatives are 0; one zero: only its own derivative is not 0
    zero = source.eq(0.0)
    zeros = zero.cast(dtypes.int32).reduce(Ops.ADD, axes).expand(source.shape)
    factor = zero.alu(Ops.WHERE, UOp.const(node.dtype, 1.0), source)
    product = factor.reduce(Ops.MUL, axes).expand(source.shape)
    alone = _choose(zero & zeros.eq(1), product, 0.0)
    others = zeros.eq(0).alu(Ops.WHERE, product / factor, alone)
    return (flowing * _product_of_others(source, axes, others),)


def _product_of_others(source: UOp, axes: tuple[int, ...], value: UOp) -> UOp:
    """`value`, the product of the other elements along `axes`, also differentiable at zeros.

    The gradient of the result flows through a second graph: for every element, the product of all
    with the element itself replaced by 1. Only second derivatives compute that graph.
    """
    shape = source.shape
    order = (*(axis for axis in range(len(shape)) if axis not in axes), *axes)
    plain = all(isinstance(size, int) and size > 0 for size in shape)
    if not plain or not isinstance(source.device, str):
        return value
    moved = tuple([shape[axis] for axis in order])
    rest, count = moved[: len(moved) - len(axes)], math.prod(shape[axis] for axis in axes)
    # the diagonal mask: a row of one 1 and `count` zeros, repeated, then cut to rows of `count`
    ones = UOp.const(dtypes.bool, True, source.device).reshape((1, 1)).expand((count, 1))
    line = ones.pad(((0, 0), (0, count))).reshape((count * (count + 1),))
    own = line.shrink(((0, count * count),)).reshape((*(1,) * len(rest), count, count))
    every = source.permute(order).reshape((*rest, 1, count)).expand((*rest, count, count))
    left = own.expand(every.shape).alu(Ops.WHERE, UOp.const(source.dtype, 1.0), every)
    product = left.reduce(Ops.MUL, (len(rest) + 1,)).reshape(moved)
    back = product.permute(tuple(sorted(range(len(order)), key=order.__getitem__)))
    return UOp(Ops.CUSTOM_VJP, value.dtype, (value, back), (RECOMPUTE,))


# ---- movement ------------------------------------------------------------------------------------


@rule(*GroupOp.Movement)
def movement(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g, through the inverse movement: EXPAND becomes a sum, PAD becomes SHRINK"""
    shape = node.src[0].shape
    op, arg = inverse_move(node.op, node.arg, shape)
    if op is Ops.REDUCE_AXIS:
        return (summed(upstream, arg),)
    if op is Ops.SHRINK:
        return (push_down_shrink(upstream, arg),)
    return (UOp(op, upstream.dtype, (upstream,), arg),)
