"""spec.kernel_graph: the legal nodes after all computation is in kernels: memory, kernels, views.

The first sources of a KERNEL are the buffers that it writes. Each of them is an
ASSIGN(memory, KERNEL), and all of these share the KERNEL.
"""

from __future__ import annotations

from weft.uop import GroupOp, Kernel, Ops, UOp

_ALLOWED = frozenset(
    {Ops.SINK, Ops.BUFFER, Ops.DEVICE, Ops.UNIQUE, Ops.KERNEL, Ops.ASSIGN, Ops.CONST, Ops.BIND,
     Ops.DEFINE_VAR}
)  # fmt: skip


def complaint(node: UOp) -> str | None:
    """Why a node is illegal in a kernel graph; None if it is legal."""
    if node.op is Ops.ASSIGN:
        written = node.src[0].op in (Ops.BUFFER, Ops.ASSIGN)
        if not written or node.src[1].op is not Ops.KERNEL:
            return "it is not ASSIGN(memory, KERNEL)"
        named = node.src[0] in node.src[1].src
        return None if named else "its KERNEL does not write that memory"
    if node.op is Ops.KERNEL:
        if not isinstance(node.arg, Kernel):
            return "its arg is not a Kernel"
        odd = [s.op for s in node.src if s.op not in (Ops.BUFFER, Ops.ASSIGN, Ops.BIND)]
        return f"it reads {odd[0]}, which is no memory" if odd else None
    if node.op in _ALLOWED or node.op in GroupOp.Movement:
        return None
    return f"{node.op} is pending, it belongs in a kernel"
