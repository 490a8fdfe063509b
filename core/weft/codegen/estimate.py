"""What one launch of a linear program costs: operations, bytes moved, bytes touched."""

from __future__ import annotations

from collections.abc import Sequence

from weft.base.dtype import AddrSpace, PtrDType
from weft.codegen.ranges import extent_of
from weft.device.program import Estimates
from weft.uop.node import UOp, sint
from weft.uop.ops import GroupOp, Ops


def _simple(value: sint) -> sint:
    return value if isinstance(value, int) else value.simplify()


def run(nodes: Sequence[UOp]) -> Estimates:
    """The costs of the nodes of a linear program; index arithmetic does not count as operations."""
    addressing = _addressing(nodes)
    times: list[sint] = [1]
    operations: sint = 0
    moved: sint = 0
    touched = 0
    for node in nodes:
        op = node.op
        if op is Ops.RANGE:
            times.append(_simple(times[-1] * extent_of(node)))
        elif op is Ops.ENDRANGE:
            times.pop()
        elif op is Ops.SPECIAL:
            times[0] = _simple(times[0] * extent_of(node))
        elif op in GroupOp.ALU and node not in addressing:
            cost = node.dtype.count * (2 if op is Ops.MULACC else 1)
            operations = operations + times[-1] * cost
        elif op is Ops.LOAD or op is Ops.STORE:
            pointer = node.src[0].dtype
            if isinstance(pointer, PtrDType) and pointer.space is not AddrSpace.REG:
                value = node.src[1].dtype if op is Ops.STORE else node.dtype
                moved = moved + times[-1] * value.itemsize
        elif op is Ops.DEFINE_GLOBAL and isinstance(node.dtype, PtrDType) and node.dtype.size > 0:
            touched += node.dtype.nbytes
    return Estimates(_simple(operations), _simple(moved), touched)


def _addressing(nodes: Sequence[UOp]) -> set[UOp]:
    """Nodes that only addresses, gates and loop ends are made of."""
    found: set[UOp] = set()
    users: dict[UOp, list[UOp]] = {}
    for node in nodes:
        for source in node.src:
            users.setdefault(source, []).append(node)
    for node in reversed(nodes):
        using = users.get(node)
        if using and all(
            user in found or user.op in (Ops.INDEX, Ops.RANGE, Ops.SPECIAL) for user in using
        ):
            found.add(node)
    return found
