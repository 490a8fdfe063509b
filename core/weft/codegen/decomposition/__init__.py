"""Legalization: replace operations and dtypes that a target lacks by those that it has.

in:  spec.lowered
out: spec.lowered in the operations and dtypes of the target

The pass runs before loops are unrolled, while the graph is small.

Source: LLVM, SelectionDAG legalization of types and operations.
"""

from __future__ import annotations

from weft.codegen.analysis.traversal import Rule, nodes_of, rewrite_once
from weft.codegen.decomposition import dtypes as narrow
from weft.codegen.decomposition.ops import Rules
from weft.device import Target
from weft.uop import GroupOp, Ops, UOp

_GUARDED = frozenset({Ops.SHL, Ops.SHR, Ops.MOD})


def run(sink: UOp, target: Target) -> UOp:
    """The lowered kernel in operations and dtypes of `target`.

    CapabilityError for an operation or dtype without an expansion.
    """
    sink = narrow.run(sink, target.compute.dtypes)
    illegal = (GroupOp.ALU - target.native_ops) | _GUARDED
    if not any(node.op in illegal for node in nodes_of(sink)):
        return sink
    return _Decomposer(Rules(target.native_ops, target.compute.dtypes), illegal).run(sink)


class _Decomposer:
    """Expands illegal operations, and those of their expansions."""

    def __init__(self, rules: Rules, illegal: frozenset[Ops]) -> None:
        self.expansion = rules.rule
        self.rules: dict[Ops, Rule] = dict.fromkeys(illegal, self._expand)
        self.new: dict[UOp, UOp] = {}

    def run(self, root: UOp) -> UOp:
        """`root` in legal operations. It recurses once per expansion of an expansion."""
        nodes = root.toposort(gate=lambda u: u not in self.new)
        return rewrite_once(nodes, self.rules, self.new)[root]

    def _expand(self, node: UOp, rebuilt: UOp) -> UOp:
        known = self.new.get(rebuilt)
        if known is None:
            expansion = self.expansion(rebuilt)
            known = rebuilt if expansion is None else self.run(expansion)
            self.new[rebuilt] = self.new[known] = known
        return known
