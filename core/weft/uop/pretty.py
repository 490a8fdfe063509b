"""Expression printing: infix text of index arithmetic, sizes and conditions."""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.uop.analyses import provide
from weft.uop.node import UOp
from weft.uop.ops import GroupOp, Ops

_INFIX: dict[Ops, str] = {
    Ops.OR: "|", Ops.XOR: "^", Ops.AND: "&", Ops.CMPLT: "<", Ops.CMPNE: "!=", Ops.CMPEQ: "==",
    Ops.SHL: "<<", Ops.SHR: ">>", Ops.ADD: "+", Ops.SUB: "-", Ops.MUL: "*", Ops.IDIV: "//",
    Ops.FDIV: "/", Ops.MOD: "%", Ops.POW: "**",
}  # fmt: skip
_MOST = 4000


def render(root: UOp) -> str:
    """The expression below `root` as one line, every operation in brackets: `((a*4)+b)`.

    Arithmetic is infix (`//` and `%` truncate), other operations are calls; variables and loop
    counters are printed by name. Nodes that are not arithmetic appear as `op(arg)`.
    """
    texts: dict[UOp, str] = {}
    for node in root.toposort(gate=lambda u: u.op in GroupOp.Elementwise):
        text = _text(node, texts)
        # shared parts would otherwise double the text at every level
        texts[node] = text if len(text) < _MOST else f"{node.op.name.lower()}(...)"
    return texts[root]


def _text(node: UOp, texts: dict[UOp, str]) -> str:
    op, src = node.op, node.src
    if op is Ops.CONST:
        return str(node.arg)
    if op is Ops.DEFINE_VAR:
        return node.arg.name
    if op is Ops.BIND:
        return src[0].arg.name
    if op is Ops.RANGE:
        return f"r{node.arg.id}"
    if op is Ops.SPECIAL:
        return str(node.arg)
    if op not in GroupOp.Elementwise:
        return f"{op.name.lower()}({'' if node.arg is None else node.arg!r})"
    if op in _INFIX:
        return _infix(node, texts)
    if op is Ops.NEG:
        return f"(-{texts[src[0]]})"
    if op is Ops.WHERE:
        condition, yes, no = (texts[source] for source in src)
        return f"({yes} if {condition} else {no})"
    inside = ", ".join(texts[source] for source in src)
    if op is Ops.CAST:
        return f"{node.dtype.name}({inside})"
    if op is Ops.BITCAST:
        return f"bits_{node.dtype.name}({inside})"
    return f"{op.name.lower()}({inside})"


def _infix(node: UOp, texts: dict[UOp, str]) -> str:
    op, (a, b) = node.op, node.src
    if op is Ops.CMPNE and b.op is Ops.CONST and b.dtype is dtypes.bool and b.arg:
        if a.op is Ops.CMPLT:
            return f"({texts[a.src[0]]}>={texts[a.src[1]]})"
        return f"(not {texts[a]})"
    if op is Ops.ADD and b.op is Ops.CONST and b.arg < 0:
        return f"({texts[a]}-{-b.arg})"
    return f"({texts[a]}{_INFIX[op]}{texts[b]})"


provide("render", render)
