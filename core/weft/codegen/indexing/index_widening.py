"""Index widening: compute loops and addresses in 64 bits.

in:  spec.lowered after optimisation: loops and addresses in 32 bits wherever those do
out: the same with loops, addresses and gates in 64 bits, for targets that say so

What is computed of loops, variables and constants alone is an index. Where it is used as a value it
is cast back; a sum or product that wraps in 32 bits does so there as well. Quotients, remainders
and comparisons are of the wide operands only where those cannot have wrapped. Lanes that are no
part of an address stay in 32 bits: twice as many go into a vector.

For the compiler behind a target this is more than taste: with 32-bit indices that may wrap every
access has an extension of its own, which optimisers analyse pairwise (a kernel of 250 stores took a
hundred times as long to compile).

Source: LLVM's IndVarSimplify pass (induction variable widening).
"""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.codegen.analysis.ranges import CLOSING, ranges_of
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.vectorization.instances import INSTANTIATED
from weft.device.capabilities import Target
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import Ops

_WRAPS_ALIKE = frozenset({Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG})
_MUST_FIT = frozenset({Ops.IDIV, Ops.MOD, Ops.MAX, Ops.WHERE})
_COUNTERS = frozenset({Ops.SPECIAL, Ops.DEFINE_VAR})
_COMPARED = frozenset({Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ})


class _Widening:
    def __init__(self) -> None:
        self.same: dict[UOp, UOp] = {}  # each node as a value
        self.wide: dict[UOp, UOp] = {}  # indices in 64 bits
        self.addressed: set[UOp] = set()  # what places and gates are made of

    def run(self, sink: UOp) -> UOp:
        nodes = nodes_of(sink)
        for node in nodes:
            if node.op is Ops.INDEX:
                stack = list(node.src[1:])
                while stack:
                    part = stack.pop()
                    if part not in self.addressed:
                        self.addressed.add(part)
                        made = part.op is Ops.LOAD or part.op in CLOSING
                        stack.extend(() if made else part.src)
        for node in nodes:
            self.visit(node)
        return self.same[sink]

    def visit(self, node: UOp) -> None:
        op, src = node.op, node.src
        if op is Ops.RANGE and node.dtype is dtypes.int and node.arg.kind in INSTANTIATED:
            self.wide[node], self.same[node] = node.cast(dtypes.long), node  # numbers, soon
            return
        if op is Ops.RANGE and node.dtype is dtypes.int:
            loop = UOp(op, dtypes.long, (self.index(src[0]),), node.arg)
            self.wide[node], self.same[node] = loop, loop.cast(dtypes.int)
            return
        if node.dtype is dtypes.int and op in _COUNTERS:
            self.wide[node], self.same[node] = node.cast(dtypes.long), node
            return
        if node.dtype is dtypes.int and self.is_index(node):
            made = tuple(self.index(s) if s.dtype is dtypes.int else self.same[s] for s in src)
            wide = self.wide[node] = UOp(op, dtypes.long, made, node.arg)
            self.same[node] = wide.cast(dtypes.int)
            return
        if op is Ops.CAST and node.dtype is dtypes.long and src[0] in self.wide:
            self.same[node] = self.wide[src[0]] if _fits(src[0]) else self.rebuilt(node)
            return
        self.same[node] = self.rebuilt(node)

    def is_index(self, node: UOp) -> bool:
        """Whether a node is computed of indices and may be computed in 64 bits."""
        if node.op not in _WRAPS_ALIKE and node.op not in _MUST_FIT:
            return False
        if self.is_of_lanes(node):
            return False
        operands = [source for source in node.src if source.dtype is dtypes.int]
        if not any(source in self.wide for source in operands):
            return False
        known = all(source in self.wide or source.op is Ops.CONST for source in operands)
        return known and (node.op in _WRAPS_ALIKE or all(map(_fits, operands)))

    def is_of_lanes(self, node: UOp) -> bool:
        """Whether lanes are computed and no address: in 64 bits half as many go into a vector."""
        lanes = any(loop.arg.kind is AxisKind.VECTOR for loop in ranges_of(node))
        return lanes and node not in self.addressed

    def index(self, node: UOp) -> UOp:
        """A node in 64 bits."""
        if node.op is Ops.CONST:
            return UOp.const(dtypes.long, node.arg)
        wide = self.wide.get(node)
        return self.same[node].cast(dtypes.long) if wide is None else wide

    def loop(self, node: UOp) -> UOp:
        """A RANGE as it is now, not its value."""
        wide = self.wide.get(node)
        return wide if wide is not None and wide.op is Ops.RANGE else self.same[node]

    def rebuilt(self, node: UOp) -> UOp:
        op, src = node.op, node.src
        if op is Ops.INDEX and src[1].dtype is dtypes.int:
            made = (self.same[src[0]], self.index(src[1]), *(self.same[s] for s in src[2:]))
        elif op in CLOSING:
            values = node.arg.values
            loops = (self.loop(loop) for loop in src[values:])
            made = (*(self.same[value] for value in src[:values]), *loops)
        elif op in _COMPARED and self.is_comparison(node):
            made = (self.index(src[0]), self.index(src[1]))
        else:
            made = tuple([self.same[s] for s in src])
        return node if made == src else UOp(op, node.dtype, made, node.arg)

    def is_comparison(self, node: UOp) -> bool:
        """Whether two indices are compared that cannot have wrapped."""
        operands = node.src
        if any(source.dtype is not dtypes.int for source in operands) or self.is_of_lanes(node):
            return False
        known = all(source in self.wide or source.op is Ops.CONST for source in operands)
        return known and any(s in self.wide for s in operands) and all(map(_fits, operands))


def _fits(node: UOp) -> bool:
    """Whether an index cannot have wrapped: of one that may nothing is known but its dtype."""
    return bool(dtypes.int.min < node.vmin and node.vmax < dtypes.int.max)


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with wide indices, where the target wants them."""
    return _Widening().run(sink) if target.compute.wide_indices else sink
