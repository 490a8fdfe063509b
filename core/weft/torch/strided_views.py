"""Strided views of values: `as_strided` reads the memory of its argument, whatever shape that has.

Values of weft have no strides. `bind_strided_views` replaces the argument of `as_strided` by the
value that owns the memory, with its axes in the order of that memory. Then places in memory are
places in a row-major value. `is_bound` tells for which calls that succeeded.

in:  a graph with `as_strided` of views      out: the same with `as_strided` of row-major values

Source: PyTorch, "Functionalization" (views are made again from their base).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from weft.torch.exchange import inverse, memory_order
from weft.torch.registry import name_of
from weft.torch.symbolic_sizes import hint_of

_READS = frozenset(("aten::as_strided", "aten::as_strided_copy"))
_WRITE = "aten::as_strided_scatter"


def bind_strided_views(graph_module: GraphModule) -> None:
    """Give each `as_strided` of a graph the value that owns the memory, in row-major order."""
    for node in list(graph_module.graph.nodes):
        name = name_of(node.target) if node.op == "call_function" else ""
        if (name in _READS or name == _WRITE) and not is_bound(node):
            _bind(graph_module, node, name == _WRITE)


def is_bound(node: Node) -> bool:
    """Return whether a call reads the memory of a row-major value, or no memory by strides."""
    name = name_of(node.target)
    if name not in _READS and name != _WRITE:
        return True
    value = node.args[0]
    axes = _axes_in_memory(value)
    return axes is not None and list(axes) == sorted(axes)


def _bind(graph_module: GraphModule, node: Node, is_write: bool) -> None:
    value = node.args[0]
    assert isinstance(value, Node)
    owner = value if is_write else _owner(value)
    axes = _axes_in_memory(owner)
    *sizes, start = _arguments(node, 4 if is_write else 3)
    start = value.meta["val"].storage_offset() if start is None else start
    if axes is None or not isinstance(start, (int, Node)):
        return
    with graph_module.graph.inserting_before(node):
        node.args = (_permuted(graph_module, owner, axes), *sizes, start)
        node.kwargs = {}
    if is_write and list(axes) != sorted(axes):
        shown = node.meta["val"]
        node.meta["val"] = shown.permute(axes).contiguous()
        with graph_module.graph.inserting_after(node):
            back = _permuted(graph_module, node, inverse(axes))
        back.meta["val"] = shown
        node.replace_all_uses_with(back, delete_user_cb=lambda user: user is not back)


def _arguments(node: Node, place: int) -> list[Any]:
    """Return the arguments after the first one: sizes, strides, and the offset or None."""
    given = list(node.args[1:])
    if len(given) < place:
        given.append(node.kwargs.get("storage_offset"))
    return given


def _permuted(graph_module: GraphModule, value: Node, axes: Sequence[int]) -> Node:
    if list(axes) == sorted(axes):
        return value
    made = graph_module.graph.call_function(torch.ops.aten.permute.default, (value, list(axes)))
    made.meta["val"] = value.meta["val"].permute(axes)
    return made


def _owner(value: Node) -> Node:
    """Return the first value in whose memory a value is, along the views between them."""
    owner, memory = value, _memory(value)
    while isinstance(value, Node) and value.op == "call_function" and value.args:
        source = value.args[0]
        if not isinstance(source, Node):
            break
        example = source.meta.get("val")
        if isinstance(example, torch.Tensor):
            if _memory(source) != memory:
                break
            owner = source
        value = source
    return owner


def _memory(value: Node) -> int:
    return value.meta["val"].untyped_storage()._cdata


def _axes_in_memory(value: Any) -> tuple[int, ...] | None:
    """Return the axes of a value as they are in memory; None if it is not all of its memory."""
    example = value.meta.get("val") if isinstance(value, Node) else None
    if not isinstance(example, torch.Tensor):
        return None
    storage = example.untyped_storage()
    hints = [hint_of(each) for each in (*example.shape, *example.stride(), storage.nbytes())]
    known = [each for each in hints if each is not None]
    if len(known) < len(hints) or hint_of(example.storage_offset()) != 0:
        return None
    shape, strides = known[: example.ndim], known[example.ndim : -1]
    axes = memory_order(shape, strides) or tuple(range(len(shape)))
    rest = 1
    for axis in reversed(axes):
        if shape[axis] != 1 and strides[axis] != rest:
            return None
        rest *= shape[axis]
    return axes if known[-1] == rest * example.element_size() else None
