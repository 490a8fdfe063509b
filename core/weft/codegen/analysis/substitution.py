"""Range substitution: replace the ranges of a lowered kernel by expressions, and fold conditions.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001), chapter 4
(induction-variable substitution).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.base.dtype import dtypes
from weft.codegen.analysis.folding import folded, is_false, is_true, refolded
from weft.codegen.analysis.ranges import CLOSING, loop_order, loops_of
from weft.codegen.analysis.traversal import Rule, rewrite_once
from weft.uop import GroupOp, Ops, UOp

_DIVISIONS = frozenset({Ops.IDIV, Ops.MOD})
_NOT_INDICES = frozenset({Ops.INDEX, Ops.LOAD, Ops.STORE, Ops.REDUCE, Ops.FILL, Ops.SINK})
_INTEGERS = frozenset({dtypes.int, dtypes.long})
_FOLDED = _INTEGERS | {dtypes.bool}


def replace_nodes(nodes: Sequence[UOp], replacements: Mapping[UOp, UOp]) -> UOp:
    """The graph of `nodes` (topological order, its root last) with some nodes replaced."""
    return rewrite_once(nodes, {}, dict(replacements))[nodes[-1]]


def substitute_ranges(
    nodes: Sequence[UOp], values: Mapping[UOp, UOp], loops: Mapping[UOp, Sequence[UOp]]
) -> UOp:
    """The graph of `nodes` (topological order, its root last) with other ranges.

    values: the expression that replaces the value of a RANGE. loops: the ranges that a REDUCE or
    FILL closes instead of it. A RANGE that is in neither map is unchanged. Addresses with quotients
    or remainders are simplified again, because a division of a sum often cancels.
    """
    new: dict[UOp, UOp] = {}
    divided: set[UOp] = set()  # nodes that depend on a quotient or remainder
    for node in nodes:
        op = node.op
        if op is Ops.RANGE and node in values:
            new[node] = values[node]
            continue
        if op in CLOSING:
            closed = [loop for old in loops_of(node) for loop in loops.get(old, (old,))]
            closed.sort(key=loop_order)
            src = (*(new[value] for value in node.src[: node.arg.values]), *closed)
        else:
            src = tuple([new[source] for source in node.src])
        if op in _DIVISIONS or not (op in _NOT_INDICES or divided.isdisjoint(node.src)):
            divided.add(node)
        if src == node.src:
            new[node] = node
        elif op is Ops.INDEX and node.src[1] in divided:
            new[node] = UOp(op, node.dtype, (src[0], src[1].simplify(), *src[2:]), node.arg)
        elif op in GroupOp.ALU and node.dtype in _FOLDED:
            new[node] = folded(op, node.dtype, src, node.arg)
        else:
            new[node] = UOp(op, node.dtype, src, node.arg)
    return new[nodes[-1]]


def fold_conditions(root: UOp) -> UOp:
    """The graph of `root` without conditions and gates that are constant."""
    return rewrite_once(root.toposort(), _CONDITION_RULES)[root]


def _fold_gated_load(node: UOp, load: UOp) -> UOp | None:
    """LOAD(gate, other)   ->   LOAD if the gate is always true, other if it never is"""
    if load.src[0].op is not Ops.INDEX or len(node.src[0].src) < 3:
        return None
    gate = load.src[0].src[2:]
    if not gate:
        return UOp(load.op, load.dtype, (load.src[0], *load.src[2:]), load.arg)
    return load.src[1] if is_false(gate[0]) else None


def _fold_index(node: UOp, index: UOp) -> UOp:
    """INDEX(pointer, at, gate)   ->   INDEX(pointer, simplified at), with no gate if it is true"""
    pointer, at, *gates = index.src
    gates = [gate for gate in gates if not is_true(gate)]
    return UOp(index.op, index.dtype, (pointer, at.simplify(), *gates), index.arg)


def _fold_comparison(node: UOp, new: UOp) -> UOp | None:
    """A comparison of indices   ->   its simplified form"""
    if node.dtype is not dtypes.bool or new.src[0].dtype not in _INTEGERS:
        return refolded(node, new)
    result = folded(new.op, new.dtype, new.src, new.arg)
    loads = any(u.op is Ops.LOAD for u in UOp.sink(*new.src).toposort())
    return result if loads else result.simplify()


_CONDITION_RULES: dict[Ops, Rule] = {
    **dict.fromkeys(GroupOp.ALU, refolded),
    **dict.fromkeys(GroupOp.Comparison, _fold_comparison),
    Ops.LOAD: _fold_gated_load,
    Ops.INDEX: _fold_index,
}
