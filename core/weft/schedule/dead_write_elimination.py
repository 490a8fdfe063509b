"""Dead write elimination: remove writes and copies that a later write hides from every reader.
Also: dead store elimination.

in:  spec.tensor
out: spec.tensor, every requested value equal

Source: LLVM, pass DeadStoreElimination.
"""

from __future__ import annotations

from collections.abc import Mapping

from weft.schedule.batched_edits import Edit
from weft.schedule.movement_lists import is_reshape, transfer_moves
from weft.schedule.use_def import Uses, is_stored
from weft.uop import GroupOp, Ops, UOp

# how many steps between two writes are looked at
_MOST_NODES = 64


def dead_write_edits(uses: Uses) -> dict[UOp, Edit]:
    """The edits to a graph; usually none. They may enable more edits: call this again after
    them."""
    edits: dict[UOp, Edit] = {}
    for node in uses.order:
        if node.op is Ops.ASSIGN and not is_stored(node):
            edits.update(write_over_a_write(node, uses, edits))
        elif node.op is Ops.COPY:
            edits.update(copy_of_a_copy(node, uses))
    return edits


def write_over_a_write(node: UOp, uses: Uses, edits: Mapping[UOp, Edit]) -> dict[UOp, Edit]:
    """assign(assign(t, x), f(assign(t, x))) -> assign(t, f(x))   element by element"""
    first = node.src[0].base
    if first.op is not Ops.ASSIGN or is_stored(first) or first in edits or first in uses.sinks:
        return {}
    if first.arg is not None or node.arg is not None or not _is_read_only_by(first, node, uses):
        return {}

    def value_alone(done: Mapping[UOp, UOp]) -> UOp:
        return done.get(first.src[1], first.src[1])

    def both(done: Mapping[UOp, UOp]) -> UOp:
        version = done.get(first.src[0], first.src[0])
        target = transfer_moves(node.src[0], first, version)
        return node.over((target, done.get(node.src[1], node.src[1])))

    return {first: value_alone, node: both}


def _is_read_only_by(first: UOp, last: UOp, uses: Uses) -> bool:
    """Whether every reader of `first` is read by `last`, element by element."""
    stack, seen = [first], {first}
    while stack:
        node = stack.pop()
        for use in uses.of[node]:
            if not is_reshape(use.source, node):
                return False
            if use.user is last or use.user in seen:
                continue
            if use.user.op not in GroupOp.Elementwise or use.user in uses.sinks:
                return False
            seen.add(use.user)
            stack.append(use.user)
            if len(seen) > _MOST_NODES:
                return False
    return True


def copy_of_a_copy(node: UOp, uses: Uses) -> dict[UOp, Edit]:
    """copy(copy(x)) -> copy(x)   when nothing else reads the inner one"""
    source = node.src[0]
    inner = source.base
    if inner.op is not Ops.COPY or inner in uses.sinks or len(uses.of[inner]) != 1:
        return {}
    if not is_reshape(uses.of[inner][0].source, inner):
        return {}
    if any(not isinstance(device, str) for device in (node.device, inner.src[0].device)):
        return {}

    def direct(done: Mapping[UOp, UOp]) -> UOp:
        value = done.get(inner.src[0], inner.src[0])
        copied = UOp(Ops.COPY, node.dtype, (value, node.src[1]), node.arg)
        return copied if copied.shape == node.shape else copied.reshape(node.shape)

    return {node: direct}
