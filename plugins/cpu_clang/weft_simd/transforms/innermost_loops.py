"""Innermost loops of a linear program: find them, and replace them by other nodes.

in:  spec.linear
out: spec.linear with other nodes in place of innermost loops

Source: none known; sound because the nodes of a replacement are visible at its place, and none
occurs twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from weft.plugin import Ops, UOp

Replacement = Callable[[list[UOp], list[set[UOp]]], list[UOp] | None]
"""(nodes from a RANGE to its ENDRANGE, the nodes that are visible before it, by scope) -> the nodes
in their place, or None to keep the loop."""


def replace_innermost(nodes: Sequence[UOp], replace: Replacement) -> list[UOp]:
    """The program with what `replace` makes of each loop that contains no other loop, no branch
    and no barrier. Constants of a replacement precede all other nodes."""
    out: list[UOp] = []
    constants: dict[UOp, None] = {}
    scopes: list[set[UOp]] = [set()]
    start = -1  # of the innermost open loop
    for node in nodes:
        out.append(node)
        if node.op is Ops.RANGE:
            start = len(out) - 1
        elif node.op in (Ops.IF, Ops.ENDIF, Ops.BARRIER):
            start = -1
        if node.op in (Ops.RANGE, Ops.IF):
            scopes.append({node})
        elif node.op not in (Ops.ENDRANGE, Ops.ENDIF):
            scopes[-1].add(node)
        else:
            inside = scopes.pop()
            loop, start = (out[start:], -1) if start >= 0 else ([], -1)
            new = replace(loop, [*scopes, inside]) if loop else None
            if new is not None:
                constants.update((u, None) for u in new if u.op is Ops.CONST)
                out[len(out) - len(loop) :] = new
                scopes[-1].update(itertools.takewhile(lambda u: u.op is not Ops.RANGE, new))
    if not constants:
        return out
    return [*constants, *(node for node in out if node not in constants)]
