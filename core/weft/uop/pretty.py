"""Expressions for people: infix text of index arithmetic, sizes and conditions."""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.uop.node import UOp, provide
from weft.uop.ops import GroupOp, Ops

# how tightly an operator binds: a looser operand stands in brackets
_INFIX: dict[Ops, tuple[str, int]] = {
    Ops.OR: ("|", 1), Ops.XOR: ("^", 2), Ops.AND: ("&", 3), Ops.CMPLT: ("<", 4),
    Ops.CMPNE: ("!=", 4), Ops.CMPEQ: ("==", 4), Ops.SHL: ("<<", 5), Ops.SHR: (">>", 5),
    Ops.ADD: ("+", 6), Ops.SUB: ("-", 6), Ops.MUL: ("*", 7), Ops.IDIV: ("//", 7),
    Ops.FDIV: ("/", 7), Ops.MOD: ("%", 7), Ops.POW: ("**", 9),
}  # fmt: skip
_UNARY, _LEAF = 8, 10
_MOST = 4000


def render(root: UOp) -> str:
    """The expression below `root` as one line, as short as brackets allow.

    Arithmetic is infix (`//` and `%` truncate), other operations are calls; variables and loop
    counters go by their names. Nodes that are not arithmetic appear as `op(...)`.
    """
    texts: dict[UOp, tuple[str, int]] = {}
    for node in root.toposort(gate=lambda u: u.op in GroupOp.Elementwise or u is root):
        text, level = _text(node, texts)
        # shared parts would otherwise double the text at every level
        texts[node] = (
            (text, level) if len(text) < _MOST else (f"{node.op.name.lower()}(...)", _LEAF)
        )
    return texts[root][0]


def _text(node: UOp, texts: dict[UOp, tuple[str, int]]) -> tuple[str, int]:
    op, src = node.op, node.src
    if op is Ops.CONST:
        text = str(node.arg)
        return text, (_UNARY if text.startswith("-") else _LEAF)
    if op is Ops.DEFINE_VAR:
        return node.arg.name, _LEAF
    if op is Ops.BIND:
        return src[0].arg.name, _LEAF
    if op is Ops.RANGE:
        return f"r{node.arg.id}", _LEAF
    if op is Ops.SPECIAL:
        return str(node.arg), _LEAF
    if op not in GroupOp.Elementwise:
        return f"{op.name.lower()}({'' if node.arg is None else node.arg!r})", _LEAF
    if op in _INFIX:
        return _infix(node, texts)
    parts = [texts[source] for source in src]
    if op is Ops.NEG:
        return "-" + _in_brackets(parts[0], _UNARY), _UNARY
    if op is Ops.WHERE:
        condition, yes, no = (_in_brackets(part, 1) for part in parts)
        return f"{yes} if {condition} else {no}", 0
    inside = ", ".join(text for text, _ in parts)
    if op is Ops.CAST or op is Ops.BITCAST:
        name = node.dtype.name if op is Ops.CAST else f"bits_{node.dtype.name}"
        return f"{name}({inside})", _LEAF
    return f"{op.name.lower()}({inside})", _LEAF


def _infix(node: UOp, texts: dict[UOp, tuple[str, int]]) -> tuple[str, int]:
    op, (a, b) = node.op, node.src
    if op is Ops.CMPNE and b.op is Ops.CONST and b.dtype is dtypes.bool and b.arg:
        if a.op is Ops.CMPLT:
            left, right = texts[a.src[0]], texts[a.src[1]]
            return f"{_in_brackets(left, 5)} >= {_in_brackets(right, 5)}", 4
        return "not " + _in_brackets(texts[a], _UNARY), 3
    symbol, level = _INFIX[op]
    left = _in_brackets(texts[a], level)
    if op is Ops.ADD and b.op is Ops.CONST and b.arg < 0:
        return f"{left} - {-b.arg}", level
    # chains of + and * need no brackets to the right either, everything else does
    right = _in_brackets(texts[b], level if op in (Ops.ADD, Ops.AND, Ops.OR) else level + 1)
    return f"{left} {symbol} {right}", level


def _in_brackets(part: tuple[str, int], level: int) -> str:
    text, own = part
    return text if own >= level else f"({text})"


provide("render", render)
