"""Verification: check the nodes of a graph against a spec, and name the first illegal node.

Source: LLVM's verifier pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from weft.base.errors import SpecError
from weft.uop import UOp

Rule = Callable[[UOp], str | None]  # why a node is not allowed, or None


def verify(nodes: Iterable[UOp], rule: Rule, spec: str) -> None:
    """SpecError that names `spec` and the first of `nodes` that `rule` objects to."""
    for position, node in enumerate(nodes):
        reason = rule(node)
        if reason is not None:
            sources = ", ".join(f"{s.op.name} {s.dtype!r}" for s in node.src)
            raise SpecError(
                f"a node that spec.{spec} does not allow",
                asked=f"node {position}: {node.op.name} {node.dtype!r} arg={node.arg!r}"
                f" ({sources})",
                because=reason,
                try_="WEFT_SPEC=1 finds the first pass that leaves such a node",
            )
