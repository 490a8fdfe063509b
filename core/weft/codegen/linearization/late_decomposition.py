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
from weft.device import Target
from weft.uop import GroupOp, Ops, UOp

_INTRODUCED = frozenset(
    {
        Ops.ADD, Ops.SUB, Ops.MUL, Ops.IDIV, Ops.MOD, Ops.MAX, Ops.NEG, Ops.AND, Ops.OR, Ops.XOR,
        Ops.SHL, Ops.SHR, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ, Ops.WHERE,
    }
)  # fmt: skip


def run(nodes: Sequence[UOp], target: Target) -> list[UOp]:
    """The program in operations of the target; CapabilityError if one has no expansion."""
    lacking = _INTRODUCED - target.native_ops
    if not lacking or not any(node.op in lacking for node in nodes):
        return list(nodes)
    return _LateDecomposer(Rules(target.native_ops, target.compute.dtypes), target.native_ops).run(
        nodes
    )


class _LateDecomposer:
    """Inserts the expansions of operations into a list.

    place: the position of a node in the old list, or of the node that it follows directly.
    """

    def __init__(self, rules: Rules, native: frozenset[Ops]) -> None:
        self.rules, self.native = rules, native
        self.place: dict[UOp, int] = {}
        self.after: dict[int, list[UOp]] = {}
        self.new: dict[UOp, UOp] = {}

    def run(self, nodes: Sequence[UOp]) -> list[UOp]:
        for number, node in enumerate(nodes):
            same = self._rebuilt(node)
            if node.op in GroupOp.ALU and node.op not in self.native:
                same = self._expand(same)
            elif same not in self.place:
                self.place[same] = number
                self.after[number] = [same]
            self.new[node] = same
        first = self.after.get(-1, [])
        return [*first, *(one for at in range(len(nodes)) for one in self.after.get(at, ()))]

    def _expand(self, node: UOp) -> UOp:
        """The expansion of a node, with all its nodes inserted after their sources."""
        for one in node.toposort(gate=lambda u: u not in self.place):
            if one in self.new or one in self.place:
                continue
            same = self._rebuilt(one)
            expansion = None
            if same.op in GroupOp.ALU and same.op not in self.native:
                expansion = self.rules.rule(same)
            if expansion is not None:
                same = self._expand(expansion)
            elif same not in self.place:
                at = self.place[same] = max((self.place[s] for s in same.src), default=-1)
                self.after.setdefault(at, []).append(same)
            self.new[one] = same
        return self.new.get(node, node)

    def _rebuilt(self, node: UOp) -> UOp:
        src = tuple([self.new.get(source, source) for source in node.src])
        return node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
