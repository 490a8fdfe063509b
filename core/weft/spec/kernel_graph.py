"""What is left once all that was pending is in kernels: memory, kernels, writes, and views.

A KERNEL has what it writes among its sources, first of all; every memory that it writes is an
ASSIGN(memory, KERNEL) of its own, and all of them share the one KERNEL.
"""

from __future__ import annotations

from weft.uop import GroupOp, Kernel, Ops, UOp

_ALLOWED = frozenset(
    {Ops.SINK, Ops.BUFFER, Ops.DEVICE, Ops.UNIQUE, Ops.KERNEL, Ops.ASSIGN, Ops.CONST, Ops.BIND,
     Ops.DEFINE_VAR}
)  # fmt: skip


def complaint(node: UOp) -> str | None:
    """What is wrong with one node of a kernel graph; None where nothing is."""
    if node.op is Ops.ASSIGN:
        written = node.src[0].op in (Ops.BUFFER, Ops.ASSIGN)
        if not written or node.src[1].op is not Ops.KERNEL:
            return "it is not ASSIGN(memory, KERNEL)"
        named = node.src[0] in node.src[1].src
        return None if named else "its KERNEL, which may write several memories, does not have it"
    if node.op is Ops.KERNEL:
        if not isinstance(node.arg, Kernel):
            return "its arg is not a Kernel"
        odd = [s.op for s in node.src if s.op not in (Ops.BUFFER, Ops.ASSIGN, Ops.BIND)]
        return f"it reads {odd[0]}, which is no memory" if odd else None
    if node.op in _ALLOWED or node.op in GroupOp.Movement:
        return None
    return f"{node.op} is pending, it belongs in a kernel"
