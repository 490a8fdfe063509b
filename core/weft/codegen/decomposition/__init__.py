"""Legalization: replace operations and dtypes that a target lacks by those that it has.

in:  spec.lowered
out: spec.lowered in the operations and dtypes of the target

This is done before anything is unrolled, while the graph is small.

Source: LLVM, SelectionDAG legalization of types and operations.
"""

from __future__ import annotations

from weft.codegen.decomposition import dtypes as narrow
from weft.codegen.decomposition.ops import Rules
from weft.device.capabilities import Target
from weft.uop.node import UOp
from weft.uop.ops import GroupOp, Ops

_GUARDED = frozenset({Ops.SHL, Ops.SHR, Ops.MOD})


def run(sink: UOp, target: Target) -> UOp:
    """The lowered kernel in operations and dtypes of `target`.

    CapabilityError for what cannot be made of what the target has.
    """
    sink = narrow.run(sink, target.compute.dtypes)
    wanted = (GroupOp.ALU - target.native_ops) | _GUARDED
    if not any(node.op in wanted for node in sink.toposort()):
        return sink
    rules = Rules(target.native_ops, target.compute.dtypes)
    return _Decomposer(rules, wanted).run(sink)


class _Decomposer:
    def __init__(self, rules: Rules, wanted: frozenset[Ops]) -> None:
        self.rules = rules
        self.wanted = wanted
        self.made: dict[UOp, UOp] = {}

    def run(self, root: UOp) -> UOp:
        """`root` decomposed. Recursion is as deep as rules are made of rules, which is not deep."""
        made = self.made
        for node in root.toposort(gate=lambda u: u not in made):
            if node in made:
                continue
            src = tuple([made[source] for source in node.src])
            new = node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
            if node.op in self.wanted and new not in made:
                simpler = self.rules.rule(new)
                if simpler is not None:
                    new = self.run(simpler)
            made[node] = new
            made[new] = new
        return made[root]
