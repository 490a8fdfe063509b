"""Index widening: compute loops and addresses in 64 bits.
Also: overflow of indices.

in:  spec.lowered after the strategy; loops and addresses have 32 bits where these suffice
out: the same with loops, addresses and gates in 64 bits, for targets with `wide_indices`

An expression of loops, variables and constants is an index. Where an index is used as a value it is
cast back, so a sum or product wraps in 32 bits as before. Quotients, remainders and comparisons use
the wide operands only if these cannot have wrapped. Vector lanes that are not part of an address
remain in 32 bits, because a vector register holds twice as many.

A C compiler needs a sign extension per access for 32-bit indices that may wrap, and its alias
analysis compares all pairs of them.

Source: LLVM's IndVarSimplify pass (induction variable widening).
"""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.codegen.analysis.ranges import CLOSING, ranges_of
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.vectorization.instances import INSTANTIATED
from weft.device import Target
from weft.uop import AxisKind, Ops, UOp

_MODULAR = frozenset({Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG})
_EXACT = frozenset({Ops.IDIV, Ops.MOD, Ops.MAX, Ops.WHERE})
_INDEX_LEAVES = frozenset({Ops.SPECIAL, Ops.DEFINE_VAR})
_COMPARISONS = frozenset({Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ})


class _Widening:
    def __init__(self) -> None:
        self.narrow: dict[UOp, UOp] = {}  # each node as a value of its own dtype
        self.wide: dict[UOp, UOp] = {}  # each index in 64 bits
        self.addressing: set[UOp] = set()  # sources of addresses and gates

    def run(self, sink: UOp) -> UOp:
        nodes = nodes_of(sink)
        for node in nodes:
            if node.op is Ops.INDEX:
                stack = list(node.src[1:])
                while stack:
                    part = stack.pop()
                    if part not in self.addressing:
                        self.addressing.add(part)
                        computed = part.op is Ops.LOAD or part.op in CLOSING
                        stack.extend(() if computed else part.src)
        for node in nodes:
            self.visit(node)
        return self.narrow[sink]

    def visit(self, node: UOp) -> None:
        op, src = node.op, node.src
        expands = op is Ops.RANGE and node.arg.kind in INSTANTIATED  # to constants
        if node.dtype is dtypes.int and (expands or op in _INDEX_LEAVES):
            self.wide[node], self.narrow[node] = node.cast(dtypes.long), node
            return
        if op is Ops.RANGE and node.dtype is dtypes.int:
            # canonical: simplifying an address that contains the loop must not make another loop
            loop = UOp(op, dtypes.long, (self.index(src[0]).simplify(),), node.arg)
            self.wide[node], self.narrow[node] = loop, loop.cast(dtypes.int)
            return
        if node.dtype is dtypes.int and self.is_index(node):
            new_src = tuple(self.index(s) if s.dtype is dtypes.int else self.narrow[s] for s in src)
            wide = self.wide[node] = UOp(op, dtypes.long, new_src, node.arg)
            self.narrow[node] = wide.cast(dtypes.int)
            return
        if op is Ops.CAST and node.dtype is dtypes.long and src[0] in self.wide:
            self.narrow[node] = self.wide[src[0]] if _fits(src[0]) else self.rebuilt(node)
            return
        self.narrow[node] = self.rebuilt(node)

    def is_index(self, node: UOp) -> bool:
        """Whether a node is an expression of indices that may be computed in 64 bits."""
        if node.op not in _MODULAR and node.op not in _EXACT:
            return False
        if self.is_vector_value(node):
            return False
        operands = [source for source in node.src if source.dtype is dtypes.int]
        if not any(source in self.wide for source in operands):
            return False
        known = all(source in self.wide or source.op is Ops.CONST for source in operands)
        return known and (node.op in _MODULAR or all(map(_fits, operands)))

    def is_vector_value(self, node: UOp) -> bool:
        """Whether a node has vector lanes and is not part of an address."""
        lanes = any(loop.arg.kind is AxisKind.VECTOR for loop in ranges_of(node))
        return lanes and node not in self.addressing

    def index(self, node: UOp) -> UOp:
        """An index in 64 bits."""
        if node.op is Ops.CONST:
            return UOp.const(dtypes.long, node.arg)
        wide = self.wide.get(node)
        return self.narrow[node].cast(dtypes.long) if wide is None else wide

    def loop(self, node: UOp) -> UOp:
        """The new RANGE itself, without a cast."""
        wide = self.wide.get(node)
        return wide if wide is not None and wide.op is Ops.RANGE else self.narrow[node]

    def rebuilt(self, node: UOp) -> UOp:
        op, src = node.op, node.src
        if op is Ops.INDEX and src[1].dtype is dtypes.int:
            new_src = (self.narrow[src[0]], self.index(src[1]), *(self.narrow[s] for s in src[2:]))
        elif op in CLOSING:
            values = node.arg.values
            loops = (self.loop(loop) for loop in src[values:])
            new_src = (*(self.narrow[value] for value in src[:values]), *loops)
        elif op in _COMPARISONS and self.is_comparison(node):
            new_src = (self.index(src[0]), self.index(src[1]))
        else:
            new_src = tuple([self.narrow[s] for s in src])
        return node if new_src == src else UOp(op, node.dtype, new_src, node.arg)

    def is_comparison(self, node: UOp) -> bool:
        """Whether a node compares two indices that cannot have wrapped."""
        operands = node.src
        if any(source.dtype is not dtypes.int for source in operands) or self.is_vector_value(node):
            return False
        known = all(source in self.wide or source.op is Ops.CONST for source in operands)
        return known and any(s in self.wide for s in operands) and all(map(_fits, operands))


def _fits(node: UOp) -> bool:
    """Whether an index cannot have wrapped: its bounds are narrower than its dtype."""
    return bool(dtypes.int.min < node.vmin and node.vmax < dtypes.int.max)


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with wide indices; the same kernel if the target does not prefer them."""
    return _Widening().run(sink) if target.compute.wide_indices else sink
