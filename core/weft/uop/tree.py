"""Tree printing: the repr of a node as a tree, with names for shared nodes."""

from __future__ import annotations

from weft.uop.analyses import provide
from weft.uop.node import UOp

_MANY = 2000


def tree_text(root: UOp) -> str:
    """`UOp(Ops.ADD, dtypes.int, arg=None, src=(` ... `))`, children indented by two.

    A graph of more than 2,000 nodes prints its root and its size.
    """
    order = root.toposort()
    if len(order) > _MANY:
        return f"UOp({root.op}, {root.dtype!r}, arg={root.arg!r}, src=({len(order) - 1} nodes))"
    uses: dict[UOp, int] = {}
    for node in order:
        for source in node.src:
            uses[source] = uses.get(source, 0) + 1
    names: dict[UOp, str] = {}
    lines: list[str] = []
    # (node, depth, text after it): a stack instead of recursion, so depth is no limit
    stack: list[tuple[UOp, int, str]] = [(root, 0, "")]
    while stack:
        node, depth, tail = stack.pop()
        pad = "  " * depth
        if node in names:
            lines.append(f"{pad}{names[node]}{tail}")
            continue
        label = ""
        if uses.get(node, 0) > 1:
            names[node] = f"x{len(names)}"
            label = f"{names[node]}:="
        head = f"{pad}{label}UOp({node.op}, {node.dtype!r}, arg={node.arg!r}, src=("
        if not node.src:
            lines.append(f"{head})){tail}")
            continue
        lines.append(head)
        # the closing brackets follow the last child on its own line
        last = len(node.src) - 1
        close = f",)){tail}" if len(node.src) == 1 else f")){tail}"
        for position in range(last, -1, -1):
            child_tail = close if position == last else ","
            stack.append((node.src[position], depth + 1, child_tail))
    return "\n".join(lines)


provide("pretty", tree_text)
