"""Node table: the graphs of a recording as numbers and texts, every node once.

Nothing here references a node, so a recording keeps no memory of tensors alive. Graphs before and
after a pass share most of their nodes, so a graph costs little more than the number of its root.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from weft.base.provenance import Metadata, describe
from weft.uop import Kernel, Ops, UOp
from weft.uop.text import arg_text as ir_arg_text
from weft.uop.text import dtype_text

LONGEST_ARG = 400
NONE = -1


class NodeTable:
    """Nodes by number; a node's sources have smaller numbers than the node.

    most: the most nodes of the table. Further nodes have no number, and `full` is True.
    """

    def __init__(self, most: int = 400_000) -> None:
        self.most = most
        self.full = False
        self._texts: dict[str, int] = {}
        self._known: WeakKeyDictionary[UOp, int] = WeakKeyDictionary()
        self._by_content: dict[tuple[Any, ...], int] = {}
        self._origins: list[int] = []

    def __len__(self) -> int:
        return len(self._by_content)

    def text(self, text: str) -> int:
        """The number of a text."""
        return self._texts.setdefault(text, len(self._texts))

    def number(self, root: UOp) -> int:
        """The number of a node, whose graph is kept below it; NONE where the table is full."""
        known = self._known
        found = known.get(root)
        if found is not None:
            return found
        for node in root.toposort(gate=lambda u: u not in known):
            if node in known:
                continue
            # a node in the arg of a source may have been added meanwhile
            sources = tuple([known.get(source, NONE) for source in node.src])
            number = NONE if NONE in sources else self._add(node, sources)
            if number == NONE:
                return NONE
            known[node] = number
        return known[root]

    def _add(self, node: UOp, sources: tuple[int, ...]) -> int:
        inside = NONE
        if isinstance(node.arg, Kernel):
            inside = self.number(node.arg.ast)
        arg = NONE if node.arg is None else self.text(short_arg(node.arg))
        op = self.text(node.op.name)
        dtype = self.text("" if node.op is Ops.SINK else dtype_text(node.dtype))
        content = (op, dtype, sources, arg, inside)
        number = self._by_content.get(content)
        if number is None:
            if len(self) >= self.most:
                self.full = True
                return NONE
            number = self._by_content[content] = len(self._by_content)
            self._origins.append(self.text(origin) if (origin := _origin(node)) else NONE)
        return number

    def as_json(self) -> dict[str, Any]:
        """Columns of the table, in plain types."""
        rows = list(self._by_content)
        return {
            "texts": list(self._texts),
            "op": [row[0] for row in rows],
            "dtype": [row[1] for row in rows],
            "src": [row[2] for row in rows],
            "arg": [row[3] for row in rows],
            "inside": [row[4] for row in rows],
            "origin": self._origins,
        }


def short_arg(arg: Any) -> str:
    """The arg of a node for people, cut where it is long."""
    if isinstance(arg, Kernel):
        names = ", ".join(dict.fromkeys(str(m) for m in arg.metadata))
        return names[:LONGEST_ARG] or f"{arg.ast.op.name} of {len(arg.ast.toposort())} nodes"
    text = ir_arg_text(arg)
    if len(text) > LONGEST_ARG:
        return f"{text[: LONGEST_ARG // 2]} ... {text[-LONGEST_ARG // 4 :]}"
    return text


def origin_text(metadata: Metadata) -> str:
    """`sum (train.py:12 in loss)`: the Tensor method and the user's line."""
    backward = ", backward" if metadata.backward else ""
    return f"{metadata.name} ({describe(metadata.where)}{backward})"


def _origin(node: UOp) -> str:
    metadata = getattr(node, "meta", None)
    if isinstance(node.arg, Kernel):
        metadata = node.arg.metadata
    if isinstance(metadata, Metadata):
        return origin_text(metadata)
    if isinstance(metadata, tuple):
        known = [origin_text(m) if isinstance(m, Metadata) else str(m) for m in metadata]
        return "\n".join(dict.fromkeys(known))
    return ""
