"""Late decomposition: legalize operations that later passes add, by the rules of the target.

in:  spec.linear
out: spec.linear in operations of the target

Accumulated maxima, split loops and launch indices are created after `decomposition`. Here each
becomes what its rule returns. New nodes follow the last of their sources directly, and so are in
the correct loop.

Source: LLVM, LegalizeDAG (operation legalization).
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.codegen.decomposition.ops import Rules
from weft.device.capabilities import Target
from weft.uop.node import UOp
from weft.uop.ops import GroupOp, Ops

_BROUGHT_IN = frozenset(
    {
        Ops.ADD, Ops.SUB, Ops.MUL, Ops.IDIV, Ops.MOD, Ops.MAX, Ops.NEG, Ops.AND, Ops.OR, Ops.XOR,
        Ops.SHL, Ops.SHR, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ, Ops.WHERE,
    }
)  # fmt: skip


def run(nodes: Sequence[UOp], target: Target) -> list[UOp]:
    """The program in operations of the target; CapabilityError for what cannot be made of them."""
    lacking = _BROUGHT_IN - target.native_ops
    if not lacking or not any(node.op in lacking for node in nodes):
        return list(nodes)
    return _Late(Rules(target.native_ops, target.compute.dtypes), target.native_ops).run(nodes)


class _Late:
    """place: where in the old list a node stands, or what it is to stand right behind."""

    def __init__(self, rules: Rules, native: frozenset[Ops]) -> None:
        self.rules, self.native = rules, native
        self.place: dict[UOp, int] = {}
        self.behind: dict[int, list[UOp]] = {}
        self.made: dict[UOp, UOp] = {}

    def run(self, nodes: Sequence[UOp]) -> list[UOp]:
        for number, node in enumerate(nodes):
            src = tuple([self.made[source] for source in node.src])
            same = node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
            if node.op in GroupOp.ALU and node.op not in self.native:
                same = self._put(same)
            elif same not in self.place:
                self.place[same] = number
                self.behind[number] = [same]
            self.made[node] = same
        first = self.behind.get(-1, [])
        return [*first, *(one for at in range(len(nodes)) for one in self.behind.get(at, ()))]

    def _put(self, node: UOp) -> UOp:
        """What a node becomes, all of it in its place."""
        for one in node.toposort(gate=lambda u: u not in self.place):
            if one in self.made or one in self.place:
                continue
            src = tuple([self.made.get(source, source) for source in one.src])
            same = one if src == one.src else UOp(one.op, one.dtype, src, one.arg)
            simpler = None
            if same.op in GroupOp.ALU and same.op not in self.native:
                simpler = self.rules.rule(same)
            if simpler is not None:
                self.made[one] = self._put(simpler)
                continue
            if same not in self.place:
                at = self.place[same] = max((self.place[s] for s in same.src), default=-1)
                self.behind.setdefault(at, []).append(same)
            self.made[one] = same
        return self.made.get(node, node)
