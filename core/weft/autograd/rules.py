"""The gradient of every operation, in one table: rule(node, upstream) -> one part per source.

A rule builds nodes from the node, its sources and the gradient that flows into it; a part has the
shape and dtype of its source, and is None where nothing flows. Constants of rank 0 stand for their
broadcast and get no gradient. Sums over repeated elements of short floats are taken in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from weft.autograd.crop import cropped
from weft.autograd.derivatives import AGAIN, CUSTOM, is_checkpoint, times_derivative
from weft.autograd.functions import custom_parts
from weft.base.dtype import ImageDType, dtypes
from weft.base.errors import GradientError
from weft.base.promotion import sum_acc_dtype
from weft.shape import inverse_move
from weft.uop import GroupOp, Ops, UOp, laid_out

Rule: TypeAlias = Callable[[UOp, UOp], Sequence[UOp | None]]

RULES: dict[Ops, Rule] = {}
"""Which rule belongs to which operation."""

STOPS = GroupOp.Comparison | {
    Ops.DETACH, Ops.BITCAST, Ops.IDIV, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR,
    Ops.THREEFRY, Ops.BUFFER, Ops.BUFFER_VIEW, Ops.CONST, Ops.BIND, Ops.DEFINE_VAR, Ops.DEVICE,
    Ops.UNIQUE, Ops.KERNEL, Ops.MULTI, Ops.MSTACK,
}  # fmt: skip
"""What no gradient flows through."""

_LN_2 = math.log(2.0)


def rule(*ops: Ops) -> Callable[[Rule], Rule]:
    """Enter a function into the table."""

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
    """`no` may be a number; of two constants the chosen shape is that of the condition."""
    return condition.alu(Ops.WHERE, yes, no if isinstance(no, UOp) else UOp.const(yes.dtype, no))


def summed(value: UOp, axes: tuple[int, ...]) -> UOp:
    """Summed over `axes`, which stay as size one; short floats in float32."""
    if not axes:
        return value
    wide = sum_acc_dtype(value.dtype)
    return value.cast(wide).reduce(Ops.ADD, axes).cast(value.dtype)


# ---- conversions and markers ---------------------------------------------------------------------


@rule(Ops.CAST)
def cast(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """Converted back; how a value is stored, as an image, says nothing of its gradient."""
    given = node.src[0].dtype
    return (upstream.cast(given.base if isinstance(given, ImageDType) else given),)


@rule(Ops.CONTIGUOUS, Ops.FUSE, Ops.NOOP)
def unchanged(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """The value is that of the source."""
    return (upstream,)


@rule(Ops.SLOPE)
def named_derivative(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """g times the derivative that the function is known to have; g, to what is computed again; what
    the function says itself"""
    if node.arg[0] == CUSTOM:
        return custom_parts(node, upstream)
    if is_checkpoint(node):
        return (None, upstream)
    return (None, times_derivative(node, upstream))


@rule(Ops.CONTIGUOUS_BACKWARD)
def contiguous_backward(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """The gradient is materialised."""
    return (upstream.contiguous(),)


@rule(Ops.COPY)
def copy(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """Copied back to where the source is; cut as it is, where that is memory in parts."""
    source = node.src[0]
    if upstream.op is Ops.CONST:
        return (UOp.const(upstream.dtype, upstream.arg, source.device), None)
    if source.op is Ops.MULTI:
        return (laid_out(upstream, source.device, source.arg), None)
    return (upstream.copy_to_device(source.device), None)


@rule(Ops.ASSIGN)
def assign(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """To what was written, if all was overwritten."""
    if node.arg is not None:
        raise GradientError(
            "no gradient flows through a write to a part of memory",
            asked=f"a gradient through a write to {node.shape}",
            because="what was overwritten is not kept",
            try_="write into a value that is not realized, or x.detach()",
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
    """g b a**(b-1), g a**b ln(a): where a is 0 they are 0 for b = 0, and what the limit says."""
    a, b = node.src
    zero = a.eq(0.0)
    derivative = b * a.alu(Ops.POW, b - 1.0)
    left = upstream * (zero & b.eq(0.0)).alu(Ops.WHERE, UOp.const(node.dtype, 0.0), derivative)
    at_zero = (b < 0.0).alu(Ops.WHERE, UOp.const(node.dtype, -math.inf), UOp.const(node.dtype, 0.0))
    right = upstream * zero.alu(Ops.WHERE, at_zero, node * (a.alu(Ops.LOG2) * _LN_2))
    return (left, right)


@rule(Ops.MAX)
def maximum(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """To the larger; half to each where they are equal"""
    a, b = node.src
    half = _choose(a.eq(b), upstream * 0.5, 0.0)
    return (_choose(b < a, upstream, half), _choose(a < b, upstream, half))


@rule(Ops.WHERE)
def where(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """To the one that was chosen"""
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
    """ADD: g everywhere. MAX: shared between the largest. MUL: g times the product of the others"""
    source = node.src[0]
    op, axes = node.arg.op, node.arg.axes
    flowing = upstream.expand(source.shape)
    if op is Ops.ADD:
        return (flowing,)
    if op is Ops.MAX:
        # counted in integers: a half has no number for 70,000 equal elements
        largest = source.eq(node.expand(source.shape))
        wide = sum_acc_dtype(node.dtype)
        count = largest.cast(dtypes.int32).reduce(Ops.ADD, axes).cast(wide)
        share = (upstream.cast(wide) / count).cast(node.dtype)
        return (largest.cast(node.dtype) * share.expand(source.shape),)
    # Of a product with zeros: two or more leave nothing, one leaves something only for itself.
    zero = source.eq(0.0)
    zeros = zero.cast(dtypes.int32).reduce(Ops.ADD, axes).expand(source.shape)
    factor = zero.alu(Ops.WHERE, UOp.const(node.dtype, 1.0), source)
    product = factor.reduce(Ops.MUL, axes).expand(source.shape)
    alone = _choose(zero & zeros.eq(1), product, 0.0)
    others = zeros.eq(0).alu(Ops.WHERE, product / factor, alone)
    return (flowing * _product_of_others(source, axes, others),)


def _product_of_others(source: UOp, axes: tuple[int, ...], value: UOp) -> UOp:
    """`value`, which is for every element the product of the others along `axes`, differentiable
    at zeros too: that is written out, every element against all, and costs nothing unless a further
    gradient is requested."""
    shape = source.shape
    order = (*(axis for axis in range(len(shape)) if axis not in axes), *axes)
    plain = all(isinstance(size, int) and size > 0 for size in shape)
    if not plain or not isinstance(source.device, str):
        return value
    moved = tuple([shape[axis] for axis in order])
    rest, count = moved[: len(moved) - len(axes)], math.prod(shape[axis] for axis in axes)
    # a diagonal: rows of a one and zeros, each longer by one than it will be
    ones = UOp.const(dtypes.bool, True, source.device).reshape((1, 1)).expand((count, 1))
    line = ones.pad(((0, 0), (0, count))).reshape((count * (count + 1),))
    own = line.shrink(((0, count * count),)).reshape((*(1,) * len(rest), count, count))
    every = source.permute(order).reshape((*rest, 1, count)).expand((*rest, count, count))
    left = own.expand(every.shape).alu(Ops.WHERE, UOp.const(source.dtype, 1.0), every)
    product = left.reduce(Ops.MUL, (len(rest) + 1,)).reshape(moved)
    back = product.permute(tuple(sorted(range(len(order)), key=order.__getitem__)))
    return UOp(Ops.SLOPE, value.dtype, (value, back), (AGAIN,))


# ---- movement ------------------------------------------------------------------------------------


@rule(*GroupOp.Movement)
def movement(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """Moved back; repeated elements are summed, and of a sum no more than will be seen"""
    shape = node.src[0].shape
    op, arg = inverse_move(node.op, node.arg, shape)
    if op is Ops.REDUCE_AXIS:
        return (summed(upstream, arg),)
    if op is Ops.SHRINK:
        return (cropped(upstream, arg),)
    return (UOp(op, upstream.dtype, (upstream,), arg),)
