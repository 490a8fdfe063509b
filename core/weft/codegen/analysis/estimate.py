"""Cost estimate: count the operations and bytes of one launch of a linear program.
Also: roofline model.

Source: S. Williams, A. Waterman, D. Patterson, 'Roofline' (Communications of the ACM, 2009):
operations and bytes of a kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.base.dtype import AddrSpace, PtrDType, dtypes
from weft.base.sequences import prod
from weft.codegen.analysis.ranges import extent_of
from weft.device.program import Estimates
from weft.uop import GroupOp, Ops, UOp, sint
from weft.uop.args import PREFETCHES

_INDEXING = frozenset({Ops.INDEX, Ops.RANGE, Ops.SPECIAL})


def _simple(value: sint) -> sint:
    return value if isinstance(value, int) else value.simplify()


def _trips(loop: UOp) -> sint:
    """The iterations of a loop: of one whose extent depends on another loop, the most; of the rest
    of such a loop, the fewest."""
    extent = extent_of(loop)
    if isinstance(extent, UOp) and any(u.op is Ops.RANGE for u in extent.toposort()):
        is_rest = extent.op in (Ops.ADD, Ops.SUB) and extent.src[0].op is Ops.CONST
        return max(0, int(extent.vmin if is_rest else extent.vmax))
    return extent


def run(nodes: Sequence[UOp]) -> Estimates:
    """The operations and bytes of a linear program; index arithmetic does not count.

    The touched bytes of a buffer are at most the bytes that are loaded and stored: a table of which
    few rows are read costs those rows.
    """
    addressing = _addressing(nodes)
    times: list[sint] = [1]
    operations: sint = 0
    moved: sint = 0
    touched: dict[UOp, sint] = {}
    for node in nodes:
        op = node.op
        if op is Ops.RANGE:
            times.append(_simple(times[-1] * _trips(node)))
        elif op is Ops.ENDRANGE:
            times.pop()
        elif op is Ops.SPECIAL:
            times[0] = _simple(times[0] * extent_of(node))
        elif op in GroupOp.ALU and node not in addressing:
            cost = node.dtype.count * (2 if op is Ops.MULACC else 1)
            operations = operations + times[-1] * cost
        elif op is Ops.WMMA:
            work = prod(node.arg.dims)
            operations = operations + times[-1] * 2 * work // node.arg.threads
        elif op is Ops.DOT:
            operations = operations + times[-1] * 2 * node.arg.terms * node.dtype.count
        elif (op is Ops.LOAD and node.arg not in PREFETCHES) or op is Ops.STORE:
            pointer = node.src[0].dtype
            if isinstance(pointer, PtrDType) and pointer.space is not AddrSpace.REG:
                value = node.src[1].dtype if op is Ops.STORE else node.dtype
                part = times[-1] * value.itemsize
                moved = moved + part
                memory = node.src[0].src[0] if node.src[0].op is Ops.INDEX else node.src[0]
                if memory in touched:
                    touched[memory] = touched[memory] + part
        elif op is Ops.DEFINE_GLOBAL and isinstance(node.dtype, PtrDType) and node.dtype.size > 0:
            touched[node] = 0
    whole = sum(_at_most(part, memory) for memory, part in touched.items())
    return Estimates(_simple(operations), _simple(moved), whole)


def _at_most(part: sint, memory: UOp) -> int:
    """The smaller of `part` bytes and the size of the memory; the size if `part` is unknown."""
    dtype = memory.dtype
    assert isinstance(dtype, PtrDType)
    whole = dtype.nbytes
    known = _simple(part)
    return min(known, whole) if isinstance(known, int) else whole


def _addressing(nodes: Sequence[UOp]) -> set[UOp]:
    """The nodes that only addresses, gates and loop extents use."""
    data: set[UOp] = set()
    found: set[UOp] = set()
    for node in reversed(nodes):
        if node.op in _INDEXING:
            continue
        if node in data or node.dtype is dtypes.void:
            data.update(node.src)
        else:
            found.add(node)
    return found
