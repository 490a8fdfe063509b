"""Graph simplification: fold constants and remove operations that need no kernel.

in:  spec.tensor
out: spec.tensor, every value equal

Source: Muchnick, "Advanced Compiler Design and Implementation", 1997, chapter 12; XLA, pass
AlgebraicSimplifier.
"""

from __future__ import annotations

from weft.schedule.clean_alu import clean_alu
from weft.schedule.clean_copy import clean_copy
from weft.schedule.clean_reduce import clean_reduce
from weft.schedule.constants import constant_like, constant_of, full
from weft.shape import has_shape
from weft.uop import GroupOp, Ops, PatternMatcher, UOp, UPat, exec_alu

simplify = PatternMatcher("simplify")

_NEVER_EMPTY = frozenset(
    {Ops.SINK, Ops.BUFFER, Ops.CONST, Ops.DEVICE, Ops.UNIQUE, Ops.KERNEL, Ops.ASSIGN}
)


@simplify.rule(UPat(GroupOp.Identity - {Ops.FUSE}, name="node"))
def markers_vanish(node: UOp) -> UOp:
    """detach(x), contiguous_backward(x) -> x"""
    return node.src[0]


@simplify.rule(UPat(GroupOp.All - GroupOp.Movement - _NEVER_EMPTY, name="node"))
def empty_values_are_constants(node: UOp) -> UOp | None:
    """x -> 0   when x has no elements"""
    if not has_shape(node) or 0 not in node.shape:
        return None
    return constant_like(node, 0)


@simplify.rule(UPat((Ops.SHRINK, Ops.PAD), name="node"))
def hidden_values_are_constants(node: UOp) -> UOp | None:
    """x -> 0   when masks hide every element of a view, or for padding around zeros"""
    if any(view.hides_all for view in node.st.views):
        return constant_like(node, 0)
    if node.op is Ops.PAD and node.src[0].op is not Ops.CONST and constant_of(node) is not None:
        return constant_like(node, 0)
    return None


@simplify.rule(UPat(GroupOp.Elementwise, name="node"))
def constants_fold(node: UOp) -> UOp | None:
    """f(c1, c2) -> c; f(x, expanded c) -> f(x, c)"""
    if node.op is Ops.BITCAST and node.dtype.itemsize != node.src[0].dtype.itemsize:
        return None
    constants = [constant_of(source) for source in node.src]
    if all(c is not None for c in constants):
        values = [c.arg for c in constants if c is not None]
        if node.op is Ops.CAST:
            return constant_like(node, values[0])
        if node.op is Ops.BITCAST:
            return None
        return constant_like(node, exec_alu(node.op, node.dtype, values))
    if not any(c is not None and s.op is not Ops.CONST for c, s in zip(constants, node.src)):
        return None
    if not any(c is None and s.op not in (Ops.BIND, Ops.DEFINE_VAR)
               for c, s in zip(constants, node.src)):  # fmt: skip
        return None
    src = tuple(s if c is None else UOp.const(c.dtype, c.arg) for c, s in zip(constants, node.src))
    return UOp(node.op, node.dtype, src, node.arg)


@simplify.rule(UPat(Ops.WHERE, name="node"))
def known_conditions(node: UOp) -> UOp | None:
    """where(true, a, b) -> a"""
    condition, yes, no = node.src
    const = constant_of(condition)
    if const is None:
        return None
    chosen = yes if const.arg else no
    if (known := constant_of(chosen)) is not None:  # keeps its device when it is the whole value
        return constant_like(node, known.arg)
    return chosen if chosen.shape == node.shape else full(node.shape, chosen)


simplify = simplify + clean_alu + clean_reduce + clean_copy
