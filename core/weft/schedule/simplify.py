"""Clean the tensor graph: what needs no kernel vanishes, what is constant is computed now.

in:  spec.tensor      out: spec.tensor, every value equal
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes
from weft.base.sequences import prod
from weft.schedule.context import ScheduleContext
from weft.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, exec_alu, identity_element

simplify = PatternMatcher("simplify")

_NEVER_EMPTY = frozenset(
    {Ops.SINK, Ops.BUFFER, Ops.CONST, Ops.DEVICE, Ops.UNIQUE, Ops.KERNEL, Ops.ASSIGN}
)


def constant_of(node: UOp) -> UOp | None:
    """The CONST that every element of `node` equals, if it is a constant under plain movement."""
    while node.op in GroupOp.Movement and node.op is not Ops.PAD:
        node = node.src[0]
    return node if node.op is Ops.CONST else None


def full(shape: tuple[Any, ...], const: UOp) -> UOp:
    """`const` in every element of `shape`."""
    if not shape:
        return const
    return const.reshape((1,) * len(shape)).expand(shape)


def _constant(node: UOp, value: Any) -> UOp:
    return full(node.shape, UOp.const(node.dtype, value, node.device))


@simplify.rule(UPat(GroupOp.Identity, name="node"))
def markers_vanish(node: UOp) -> UOp:
    """detach(x), contiguous_backward(x) -> x"""
    return node.src[0]


@simplify.rule(UPat(GroupOp.All - GroupOp.Movement - _NEVER_EMPTY, name="node"))
def empty_values_are_constants(node: UOp) -> UOp | None:
    """x -> 0   when x has no elements"""
    if node.st is None or 0 not in node.shape:
        return None
    return _constant(node, 0)


@simplify.rule(UPat(Ops.REDUCE_AXIS, name="node"))
def trivial_reduces(node: UOp) -> UOp | None:
    """reduce(nothing) -> identity element; reduce over axes of size 1 -> x; of a constant -> it"""
    source, reduce = node.src[0], node.arg
    extents = [source.shape[axis] for axis in reduce.axes]
    if any(isinstance(e, UOp) for e in extents):
        return None
    if 0 in extents:
        return _constant(node, identity_element(reduce.op, node.dtype))
    count = prod(extents)
    if count == 1:
        return source
    const = constant_of(source)
    if const is None:
        return None
    if reduce.op is Ops.MAX:
        return _constant(node, const.arg)
    operation = Ops.MUL if reduce.op is Ops.ADD else Ops.POW
    if node.dtype is dtypes.bool:
        return None
    if operation is Ops.POW and not dtypes.is_float(node.dtype):
        width = 1 << (node.dtype.itemsize * 8)
        return _constant(node, pow(const.arg, count, width))
    return _constant(node, exec_alu(operation, node.dtype, (const.arg, count)))


@simplify.rule(UPat(GroupOp.Elementwise, name="node"))
def constants_fold(node: UOp) -> UOp | None:
    """f(c1, c2) -> c; f(x, expanded c) -> f(x, c)"""
    if node.op is Ops.BITCAST and node.dtype.itemsize != node.src[0].dtype.itemsize:
        return None
    constants = [constant_of(source) for source in node.src]
    if all(c is not None for c in constants):
        values = [c.arg for c in constants if c is not None]
        if node.op is Ops.CAST:
            return _constant(node, values[0])
        if node.op is Ops.BITCAST:
            return None
        return _constant(node, exec_alu(node.op, node.dtype, values))
    if not any(c is not None and s.op is not Ops.CONST for c, s in zip(constants, node.src)):
        return None
    if not any(c is None and s.op not in (Ops.BIND, Ops.DEFINE_VAR)
               for c, s in zip(constants, node.src)):  # fmt: skip
        return None
    src = tuple(s if c is None else UOp.const(c.dtype, c.arg) for c, s in zip(constants, node.src))
    return UOp(node.op, node.dtype, src, node.arg)


@simplify.rule(UPat((Ops.MUL, Ops.FDIV, Ops.IDIV, Ops.ADD, Ops.SUB), name="node"))
def neutral_operands(node: UOp) -> UOp | None:
    """x * 1, x / 1 -> x; x + 0, x - 0 -> x for integers (a float -0.0 + 0.0 is 0.0)"""
    x, other = node.src
    if other.op is not Ops.CONST and node.op in GroupOp.Commutative:
        x, other = other, x
    if other.op is not Ops.CONST or x.op is Ops.CONST:
        return None
    if node.op in (Ops.ADD, Ops.SUB):
        return x if other.arg == 0 and not dtypes.is_float(node.dtype) else None
    return x if other.arg == 1 else None


@simplify.rule(UPat(Ops.WHERE, name="node"))
def known_conditions(node: UOp) -> UOp | None:
    """where(true, a, b) -> a"""
    condition, yes, no = node.src
    const = constant_of(condition)
    if const is None:
        return None
    chosen = yes if const.arg else no
    if (chosen_const := constant_of(chosen)) is not None:  # keeps its place when it stands alone
        return _constant(node, chosen_const.arg)
    return chosen if chosen.shape == node.shape else full(node.shape, chosen)


@simplify.rule(UPat(Ops.COPY, name="node"))
def needless_copies(node: UOp, ctx: ScheduleContext) -> UOp | None:
    """copy(constant) -> constant there; copy to where it is -> x; copy(big view) -> view(copy)"""
    source, target = node.src[0], node.src[1].arg
    const = constant_of(source)
    if const is not None:
        return full(node.shape, UOp.const(node.dtype, const.arg, target))
    if source.device == target:
        return source
    base = source.base
    if source is base or source.op is Ops.CONTIGUOUS:
        return None
    if source.st.contiguous and source.size == base.size:
        copied = UOp(Ops.COPY, node.dtype, (base, node.src[1]), node.arg)
        return copied.reshape(node.shape)
    if ctx.computes(source.device):
        return UOp(Ops.COPY, node.dtype, (source.contiguous(), node.src[1]), node.arg)
    return None


@simplify.rule(UPat(Ops.CONTIGUOUS, name="node"))
def needless_contiguous(node: UOp) -> UOp | None:
    """contiguous(x) -> x   when x stands row-major in memory of its own already"""
    if node.arg is not None:  # a copy that was asked for
        return None
    source = node.src[0]
    base = source.base
    if base.op not in (Ops.BUFFER, Ops.ASSIGN, Ops.COPY, Ops.CONTIGUOUS, Ops.BUFFER_VIEW):
        return None
    whole = source is base or (source.st.contiguous and source.size == base.size)
    return source if whole else None


@simplify.rule(UPat(Ops.ASSIGN, name="node"))
def double_assigns(node: UOp) -> UOp | None:
    """assign(t, assign(t, x)) -> assign(t, x)"""
    target, value = node.src
    same = value.op is Ops.ASSIGN and value.src[0] is target
    return value if same and node.arg is None and value.arg is None else None
