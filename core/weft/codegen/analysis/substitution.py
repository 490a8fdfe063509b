"""Range substitution: replace the ranges of a lowered kernel by other expressions.

Source: none known; sound because every use of a range is replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.base.dtype import dtypes
from weft.codegen.analysis.folding import folded, is_false, is_true
from weft.codegen.analysis.ranges import CLOSING, loop_order, loops_of
from weft.uop.node import UOp
from weft.uop.ops import GroupOp, Ops

_DIVIDES = frozenset({Ops.IDIV, Ops.MOD})
_KEPT = frozenset({Ops.INDEX, Ops.LOAD, Ops.STORE, Ops.REDUCE, Ops.FILL, Ops.SINK})
_COUNTED = frozenset({dtypes.int, dtypes.long})
_FOLDED = _COUNTED | {dtypes.bool}


def replace_nodes(nodes: Sequence[UOp], made: Mapping[UOp, UOp]) -> UOp:
    """The graph of `nodes` (topological order, its root last) with other nodes in it."""
    done: dict[UOp, UOp] = {}
    for node in nodes:
        if node in made:
            done[node] = made[node]
            continue
        src = tuple([done[source] for source in node.src])
        done[node] = node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
    return done[nodes[-1]]


def substitute_ranges(
    nodes: Sequence[UOp], values: Mapping[UOp, UOp], loops: Mapping[UOp, Sequence[UOp]]
) -> UOp:
    """The graph of `nodes` (topological order, its root last) with other ranges.

    values: what stands in place of the value of a RANGE; loops: the ranges that a REDUCE or FILL
    closes in place of it. A RANGE that is no key stays. Addresses that divide are simplified again,
    since a division often falls away when a range becomes a sum.
    """
    made: dict[UOp, UOp] = {}
    divides: set[UOp] = set()
    for node in nodes:
        op = node.op
        if op is Ops.RANGE and node in values:
            made[node] = values[node]
            continue
        if op in CLOSING:
            closed = [loop for old in loops_of(node) for loop in loops.get(old, (old,))]
            closed.sort(key=loop_order)
            src = (*(made[value] for value in node.src[: node.arg.values]), *closed)
        else:
            src = tuple([made[source] for source in node.src])
        if op in _DIVIDES or not (op in _KEPT or divides.isdisjoint(node.src)):
            divides.add(node)
        if src == node.src:
            made[node] = node
        elif op is Ops.INDEX and node.src[1] in divides:
            made[node] = UOp(op, node.dtype, (src[0], src[1].simplify(), *src[2:]), node.arg)
        elif op in GroupOp.ALU and node.dtype in _FOLDED:
            made[node] = folded(op, node.dtype, src, node.arg)
        else:
            made[node] = UOp(op, node.dtype, src, node.arg)
    return made[nodes[-1]]


def fold_conditions(root: UOp) -> UOp:
    """The graph of `root` without the conditions that always hold, or never do: what is chosen or
    read under them is chosen or read as it is, or not at all."""
    made: dict[UOp, UOp] = {}
    for node in root.toposort():
        op, src = node.op, tuple([made[source] for source in node.src])
        if op is Ops.LOAD and src[0].op is Ops.INDEX and len(node.src[0].src) > 2:
            gate = src[0].src[2:]
            if not gate:
                made[node] = UOp(op, node.dtype, (src[0], *src[2:]), node.arg)
                continue
            if is_false(gate[0]):
                made[node] = src[1]
                continue
        elif op is Ops.INDEX:
            at, gate = src[1].simplify(), tuple(one for one in src[2:] if not is_true(one))
            src = (src[0], at, *gate)
        if op in GroupOp.Comparison and node.dtype is dtypes.bool and src[0].dtype in _COUNTED:
            bare = not any(u.op is Ops.LOAD for u in UOp.sink(*src).toposort())
            same = folded(op, node.dtype, src, node.arg)
            made[node] = same.simplify() if bare else same
        elif op in GroupOp.ALU:
            made[node] = node if src == node.src else folded(op, node.dtype, src, node.arg)
        else:
            made[node] = node if src == node.src else UOp(op, node.dtype, src, node.arg)
    return made[root]
