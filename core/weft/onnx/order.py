"""Topological order of nodes.

Source: A. B. Kahn, "Topological sorting of large networks", 1962.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from weft.onnx.errors import OnnxError
from weft.onnx.graph import Node


def in_order_of_evaluation(
    nodes: Sequence[Node], known: set[str], invalid: Callable[[str], OnnxError]
) -> tuple[Node, ...]:
    """Return nodes so that each one follows those that compute its inputs.

    The order of the file is kept where it is valid.

    :param known: values that are there before: inputs, constants, values of outer graphs.
    :param invalid: makes the error for a value that nothing computes, and for a cycle.
    """
    producer = {name: node for node in nodes for name in node.outputs if name}
    waiting: dict[Node, int] = {}
    users: dict[Node, list[Node]] = {}
    for node in nodes:
        needed = set()
        for name in node.used_names:
            if name in producer:
                needed.add(producer[name])
            elif name not in known:
                raise invalid(f"nothing computes {name!r}, an input of {node}")
        waiting[node] = len(needed)
        for each in needed:
            users.setdefault(each, []).append(node)
    if _is_sorted(nodes, producer):
        return tuple(nodes)
    ready = deque(node for node in nodes if not waiting[node])
    ordered = []
    while ready:
        node = ready.popleft()
        ordered.append(node)
        for user in users.get(node, ()):
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    if len(ordered) < len(nodes):
        left = next(node for node in nodes if waiting[node])
        raise invalid(f"its nodes form a cycle: {left} needs its own result")
    return tuple(ordered)


def _is_sorted(nodes: Iterable[Node], producer: dict[str, Node]) -> bool:
    done: set[str] = set()
    for node in nodes:
        if any(name in producer and name not in done for name in node.used_names):
            return False
        done.update(node.outputs)
    return True
