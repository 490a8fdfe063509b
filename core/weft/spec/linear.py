"""spec.linear: the linear program, input of a renderer.

Sources come before their users and no node occurs twice. Loops and conditions are properly nested,
and a value that is computed inside a loop is not used outside of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.spec.check import verify as _verify
from weft.spec.lowered import OBJECTIONS
from weft.uop import Ops, UOp

_OPENS = frozenset({Ops.RANGE, Ops.IF})
_CLOSES = frozenset({Ops.ENDRANGE, Ops.ENDIF})
_LOWERED_AWAY = frozenset({Ops.REDUCE, Ops.REDUCE_AXIS, Ops.FILL, Ops.VIEW, Ops.VALID})


class _Scopes:
    """The visible nodes at one position of the list."""

    def __init__(self) -> None:
        self.open: list[UOp] = []
        self.seen: list[set[UOp]] = [set()]
        self.ever: set[UOp] = set()

    def rule(self, node: UOp) -> str | None:
        if node in self.ever:
            return "it occurs twice in the list"
        self.ever.add(node)
        op = node.op
        if op in _LOWERED_AWAY:
            return "a linear program has no such node"
        if op in _CLOSES:
            if not self.open or self.open[-1] is not node.src[0]:
                return "it does not close the innermost loop or condition"
            self.open.pop()
            self.seen.pop()
            return None
        for source in node.src:
            if not any(source in scope for scope in self.seen):
                return f"its source {source.op.name} {source.arg!r} is not visible here"
        if op in _OPENS:
            self.open.append(node)
            self.seen.append({node})
            return None
        self.seen[-1].add(node)
        if op is Ops.SHUFFLE and any(one.op is Ops.IF for one in self.open):
            return "lanes may diverge at an IF"  # all lanes must take part
        objection = OBJECTIONS.get(op)
        return None if objection is None else objection(node)


def verify(nodes: Sequence[UOp]) -> None:
    """SpecError for the first node that is illegal at its position."""
    scopes = _Scopes()
    _verify(nodes, scopes.rule, "linear")
    if scopes.open:
        _verify(scopes.open[-1:], lambda node: "it is never closed", "linear")
