"""Software prefetch of rows: a multi-pass kernel loads the next row in its most expensive pass.

in:  the nodes of an expanded kernel      out: LOADs that nobody uses (PREFETCH_L2)

The first pass over a row reads it from memory. Later passes read it from the cache, and memory is
idle. The pass with the most operations prefetches the elements of the next row at the same offset.
Rows no longer than a page gain nothing. Rows that exceed the L2 cache would be evicted before use.

Source: T. Mowry, M. Lam, A. Gupta, "Design and evaluation of a compiler algorithm for prefetching"
(ASPLOS 1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weft.plugin import (
    CLOSING,
    PREFETCH_L2,
    AddrSpace,
    GroupOp,
    MachineModel,
    Ops,
    PtrDType,
    UOp,
    affine,
    folded,
    loop_order,
    prod,
    ranges_of,
    replace_nodes,
    trip_count,
    values_of,
)
from weft_simd import thresholds

_WORK = 10  # operations for a line, while which it is on its way
_STORED = 8  # operations that a store to memory is as long as


def row_prefetches(nodes: Sequence[UOp], stored: set[UOp], machine: MachineModel) -> list[UOp]:
    """The prefetch LOADs. stored: what the kernel writes to; machine: its last-level cache
    holds what is not larger."""
    asked: list[UOp] = []
    work: dict[UOp, int] | None = None
    for loads in uncached_loads(nodes, stored, machine).values():
        around = frozenset.intersection(*(ranges_of(load) for load in loads))
        passes: dict[frozenset[UOp], list[UOp]] = {}
        for load in loads:
            passes.setdefault(ranges_of(load) - around, []).append(load)
        passes.pop(frozenset(), None)  # a few elements at the end of a row
        if len(passes) < 2 or (row := _row(around, loads)) is None:
            continue
        if work is None:
            work = _work(nodes)
        asked += _prefetches_of_pass(passes, row, work, machine)
    return asked


def uncached_loads(
    nodes: Iterable[UOp], stored: set[UOp], machine: MachineModel
) -> dict[UOp, list[UOp]]:
    """The LOADs of each buffer that no cache holds, and that stays as it is."""
    found: dict[UOp, list[UOp]] = {}
    for node in nodes:
        if node.op is not Ops.LOAD or node.src[0].op is not Ops.INDEX:
            continue
        pointer, kind = node.src[0].src[0], node.src[0].src[0].dtype
        if not isinstance(kind, PtrDType) or kind.space is not AddrSpace.GLOBAL:
            continue
        if pointer not in stored and kind.size > 0 and kind.nbytes > machine.last_level_bytes:
            found.setdefault(pointer, []).append(node)
    return {
        pointer: loads
        for pointer, loads in found.items()
        if all(load.arg is None and len(load.src[0].src) == 2 for load in loads)
    }


def _row(around: frozenset[UOp], loads: Iterable[UOp]) -> UOp | None:
    """The loop whose next turn reads the next row; None where there is none, or it is not known
    how often it turns."""
    addresses = [load.src[0].src[1].toposort() for load in loads]
    if any(node.op is Ops.LOAD for below in addresses for node in below):
        return None  # it is not known where the next row is
    loop = max(around, key=loop_order, default=None)
    if loop is None:  # then threads share it, with whatever is around it
        launched = {node for below in addresses for node in below if node.op is Ops.SPECIAL}
        loop = launched.pop() if len(launched) == 1 else None
    if loop is None or trip_count(loop) < 2:
        return None
    return loop if all(loop in below for below in addresses) else None


def _work(nodes: Iterable[UOp]) -> dict[UOp, int]:
    """How many operations, vectors counted as one, each innermost loop does in a turn."""
    found: dict[UOp, int] = {}
    counted: set[UOp] = set()
    for node in nodes:
        values: tuple[UOp, ...] = ()
        if node.op is Ops.REDUCE:
            values = values_of(node)
        elif node.op is Ops.STORE:
            values = (node.src[1],)
            kind = node.src[0].src[0].dtype
            if isinstance(kind, PtrDType) and kind.space is AddrSpace.GLOBAL:
                _count(found, node, _STORED)
        for value in values:
            for below in value.toposort(
                gate=lambda u: u.op not in CLOSING and u.op is not Ops.LOAD
            ):
                if below.op in GroupOp.ALU and below not in counted:
                    counted.add(below)
                    _count(found, below, 1)
    return found


def _count(found: dict[UOp, int], node: UOp, operations: int) -> None:
    if loops := ranges_of(node):
        loop = max(loops, key=loop_order)
        found[loop] = found.get(loop, 0) + operations


def _prefetches_of_pass(
    passes: Mapping[frozenset[UOp], list[UOp]],
    row: UOp,
    work: Mapping[UOp, int],
    machine: MachineModel,
) -> list[UOp]:
    """What the pass with the most work asks for; nothing where none has enough, or rows are short,
    or too long."""
    best: tuple[float, list[UOp]] | None = None
    line = machine.line_bytes
    least = thresholds.l1_share(machine, thresholds.LEAST_ROW)
    most = thresholds.l2_share(machine, thresholds.PREFETCHED)
    for loops, loads in passes.items():
        loop, lines = max(loops, key=loop_order), cache_line_indices(loads, line)
        if not least <= prod(map(trip_count, loops)) * len(lines) * line <= most:
            continue
        terms, _ = affine(loads[0].src[0].src[1])
        step = abs(terms.get(loop, line)) * loads[0].dtype.scalar().itemsize
        each = work.get(loop, 0) / len(lines)
        if step >= line and each >= _WORK and (best is None or each >= best[0]):
            best = each, lines
    if best is None:
        return []
    return [prefetch_next(index, row) for index in best[1]]


def cache_line_indices(loads: Iterable[UOp], line: int) -> list[UOp]:
    """An INDEX in each line that these LOADs read in an iteration. line: its bytes."""
    found: dict[tuple[object, int], UOp] = {}
    for load in loads:
        index, itemsize = load.src[0], load.dtype.scalar().itemsize
        terms, constant = affine(index.src[1])
        for lane in range(0, load.dtype.count, max(1, line // itemsize)):
            key = frozenset(terms.items()), (constant + lane) * itemsize // line
            at = index.src[1]
            at = folded(Ops.ADD, at.dtype, (at, at.const_like(lane)), None)
            found.setdefault(key, UOp(Ops.INDEX, index.dtype, (index.src[0], at)))
    return list(found.values())


def prefetch_next(index: UOp, row: UOp) -> UOp:
    """A prefetch LOAD of the same place in the next iteration of `row`, clamped to the last."""
    last = row.const_like(trip_count(row) - 1)
    more = folded(Ops.ADD, row.dtype, (row, row.const_like(1)), None)
    following = folded(Ops.WHERE, row.dtype, (row < last, more, last), None)
    pointer, at = index.src
    at = replace_nodes(list(at.toposort()), {row: following}).simplify()
    scalar = pointer.dtype.base  # type: ignore[attr-defined]
    return UOp(Ops.LOAD, scalar, (UOp(Ops.INDEX, index.dtype, (pointer, at)),), PREFETCH_L2)
