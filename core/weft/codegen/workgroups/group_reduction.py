"""Group reduction: work items of a group reduce parts of a loop and combine them in shared memory.
Also: tree reduction, warp shuffle reduction, parallel reduction.

in:  the expanded graph, with ranges of kind GROUP_REDUCE
out: the same with the work item's number in their place, DEFINE_LOCAL arrays and their FILLs

A REDUCE over such a range has three steps. Every work item accumulates its own part, stores it to a
shared array, and adds the parts of all. An array that a group fills together becomes shared too,
unless each work item reads only what it wrote (`private_rows`). The first work item alone executes
a store that does not depend on the range. All shared loops of a kernel have one extent, and they
are one index of the launch.

Where lanes of a warp exchange registers, a butterfly reduction combines the parts of one warp: each
lane adds the value of the lane 1, then 2, then 4 further. The results of the warps are combined in
shared memory. All work items of a group execute every exchange, as they execute a barrier.

A FILL of shared memory represents its STOREs and the barrier after them (see `reduce`).

Source: M. Harris, "Optimizing parallel reduction in CUDA" (NVIDIA, 2007).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from weft.base.dtype import AddrSpace, DType, PtrDType, dtypes
from weft.codegen.analysis.folding import added, scaled
from weft.codegen.analysis.ranges import Accumulate, Fill, extent_of, loops_of, ranges_of, values_of
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.thresholds import ONE_STEP
from weft.codegen.workgroups import private_rows
from weft.uop import AxisKind, Ops, UOp

THREAD = ("lidx0", "lidx1", "lidx2")  # the first that is free: `launch_dims` has left one


def is_shared(loop: UOp) -> bool:
    """Whether the work items of a group share a RANGE."""
    return loop.arg.kind is AxisKind.GROUP_REDUCE


class _Groups:
    def __init__(self, nodes: Sequence[UOp], extent: int, warp: int) -> None:
        self.nodes = nodes
        self.extent = extent
        taken = {node.arg for node in nodes if node.op is Ops.SPECIAL}
        number = next(name for name in THREAD if name not in taken)
        self.last = number != THREAD[0]
        # lanes of a warp are adjacent in the first dimension
        self.warp_lanes = math.gcd(extent, warp) if warp and number == THREAD[0] else 1
        self.thread = UOp(Ops.SPECIAL, dtypes.int, (_int(extent),), number)
        self.made: dict[UOp, UOp] = {}
        self.arrays = 0
        self.loops: dict[tuple[UOp, int], UOp] = {}
        ranges = (node.arg.id for node in nodes if node.op is Ops.RANGE)
        self.numbers = 1 + max(ranges, default=0)
        # groups of more dimensions: each row of work items has a part of every array
        others = sorted(
            (u for u in nodes if u.op is Ops.SPECIAL and u.arg.startswith("lidx")),
            key=lambda u: u.arg,
        )
        self.rows, self.row = 1, _int(0)
        for other in others:
            self.row = added(self.row, scaled(other, self.rows))
            self.rows *= other.src[0].arg
        self.filled = {
            store.src[0].src[0]
            for node in nodes
            if node.op is Ops.FILL and any(map(is_shared, loops_of(node)))
            for store in values_of(node)
        }
        self.private = self._private()

    def _private(self) -> dict[UOp, int]:
        """Arrays that stay in registers, and how many neighbours in them are one work item's."""
        places: dict[UOp, list[UOp]] = {}
        for node in self.nodes:
            if node.op is Ops.INDEX and node.src[0] in self.filled:
                places.setdefault(node.src[0], []).append(node.src[1])
        found: dict[UOp, int] = {}
        for array, indices in places.items():
            assert isinstance(array.dtype, PtrDType)
            length = private_rows.private_length(array.dtype, indices, self.extent)
            if length is not None:
                found[array] = length
        return found

    def run(self) -> UOp:
        made = self.made
        for node in self.nodes:
            op = node.op
            if op is Ops.RANGE and is_shared(node):
                made[node] = self.thread.cast(node.dtype)
            elif op is Ops.DEFINE_REG and node in self.filled:
                alone = node in self.private
                made[node] = self.own_array(node) if alone else self.array(node.dtype)
            elif op is Ops.INDEX and node.src[0] in self.filled:
                made[node] = self.within(node)
            elif op is Ops.REDUCE and any(map(is_shared, loops_of(node))):
                made[node] = self.reduce(node)
            elif op is Ops.FILL and any(map(is_shared, loops_of(node))):
                loops = [made[loop] for loop in loops_of(node) if not is_shared(loop)]
                stores = [made[store] for store in values_of(node)]
                made[node] = UOp(op, node.dtype, (*stores, *loops), node.arg)
            elif op is Ops.SINK:
                stores = [self.store(store) for store in node.src]
                made[node] = UOp(op, node.dtype, tuple(stores), node.arg)
            else:
                src = tuple([made[source] for source in node.src])
                made[node] = node if src == node.src else UOp(op, node.dtype, src, node.arg)
        return made[self.nodes[-1]]

    # ---- shared memory ------------------------------------------------------------------------

    def array(self, dtype: DType) -> UOp:
        """An array for every row of work items, in one piece of shared memory."""
        assert isinstance(dtype, PtrDType)
        self.arrays += 1
        whole = dtype.base.ptr(dtype.size * self.rows, AddrSpace.LOCAL)
        return UOp(Ops.DEFINE_LOCAL, whole, (), f"shared{self.arrays - 1}")

    def own_array(self, array: UOp) -> UOp:
        """The private part of one work item of an array."""
        dtype = array.dtype
        assert isinstance(dtype, PtrDType)
        length = private_rows.length(dtype, self.private[array], self.extent)
        return array.replace(dtype=dtype.base.ptr(length, dtype.space))

    def within(self, index: UOp) -> UOp:
        """An address in an array that became shared, or a work item's own."""
        src = tuple([self.made[source] for source in index.src])
        pointer = index.src[0].dtype
        assert isinstance(pointer, PtrDType)
        length = self.private.get(index.src[0])
        if length is not None:
            place = private_rows.within(index.src[1], length, self.extent, self.made)
            return src[0].index(place, *src[2:])
        return src[0].index(self.own(src[1], pointer.size), *src[2:])

    def own(self, index: UOp, size: int) -> UOp:
        """The index of an element in this row's part of an array of `size` elements."""
        if self.rows == 1:
            return index
        return added(scaled(self.row.cast(index.dtype), size), index)

    # ---- reductions ---------------------------------------------------------------------------

    def reduce(self, node: UOp) -> UOp:
        op, dtype = node.arg.op, node.dtype
        values = [self.made[value] for value in values_of(node)]
        loops = [self.made[loop] for loop in loops_of(node) if not is_shared(loop)]
        if loops:
            part = UOp(Ops.REDUCE, dtype, (*values, *loops), node.arg)
        else:
            part = values[0]
            for value in values[1:]:
                part = UOp(op, dtype, (part, value))
        lanes = self.warp_lanes
        if lanes > 1 and self.extent <= max(lanes, ONE_STEP) * lanes:
            return self.combine_in_warps(op, part, node, lanes)
        # the larger factor first: what is left for the second step is short
        first = _balanced(self.extent)
        second = self.extent // first
        lane = self.thread
        if second == 1:
            return self.combine(op, part, (node, 1), self.extent, lane, None, _int(0), self.extent)
        row = lane // _int(first)
        start = row * _int(first)
        part = self.combine(op, part, (node, 1), self.extent, lane, None, start, first)
        leader = (lane % _int(first)) < _int(1)
        return self.combine(op, part, (node, 2), second, row, leader, _int(0), second)

    def combine_in_warps(self, op: Ops, part: UOp, node: UOp, lanes: int) -> UOp:
        """Combine the parts of `lanes` adjacent work items in registers, then those of warps in
        shared memory."""
        part = _exchanged(op, part, lanes)
        count = self.extent // lanes
        if count == 1:
            return part
        leader = (self.thread % _int(lanes)) < _int(1)
        warp = self.thread // _int(lanes)
        if count > lanes or count & (count - 1):
            return self.combine(op, part, (node, 2), count, warp, leader, _int(0), count)
        # as many lanes as there are warps take one part each
        load = self.stored(part, (node, 2), count, warp, leader)(self.thread % _int(count))
        return _exchanged(op, load, count)

    def loop(self, node: UOp, step: int, count: int) -> UOp:
        """The loop over what was stored; one for all reduces that share theirs."""
        (shared,) = filter(is_shared, loops_of(node))
        known = self.loops.get((shared, step))
        if known is None:
            known = UOp.range(count, self.numbers, AxisKind.REDUCE)
            self.numbers += 1
            self.loops[shared, step] = known
        return known

    def combine(
        self,
        op: Ops,
        part: UOp,
        step: tuple[UOp, int],
        size: int,
        at: UOp,
        gate: UOp | None,
        start: UOp,
        count: int,
    ) -> UOp:
        """Each work item stores `part` at `at`, and gets `count` of them from `start` on."""
        loop = self.loop(*step, count)
        load = self.stored(part, step, size, at, gate)(added(start, loop))
        return UOp(Ops.REDUCE, part.dtype, (load, loop), Accumulate(op))

    def stored(
        self, part: UOp, step: tuple[UOp, int], size: int, at: UOp, gate: UOp | None
    ) -> Callable[[UOp], UOp]:
        """Each work item stores `part` at `at` of an array of `size`. What reads it there."""
        dtype, width = part.dtype, part.dtype.count
        array = self.array(dtype.scalar().ptr(size * width, AddrSpace.LOCAL))
        place = array.index(self.part(at, width, size), *_gates(gate))
        store = UOp(Ops.STORE, dtypes.void, (place, part))
        fill = UOp(Ops.FILL, dtypes.void, (store,), Fill(barrier=self.barrier_name(*step)))

        def read(where: UOp) -> UOp:
            index = array.index(self.part(where, width, size))
            return UOp(Ops.LOAD, dtype, (index, fill))

        return read

    def part(self, number: UOp, width: int, size: int) -> UOp:
        """The index of one of the `size` parts of this row of work items, in its bank."""
        if self.last and width == 1:
            return added(scaled(number, self.rows), self.row.cast(number.dtype))
        return self.own(scaled(number, width), size * width)

    def barrier_name(self, node: UOp, step: int) -> str:
        """The name of a barrier: all reduces of one loop share one."""
        (shared,) = filter(is_shared, loops_of(node))
        return f"{('parts', 'sums')[step - 1]} of {shared.arg.id}"

    # ---- stores -------------------------------------------------------------------------------

    def store(self, store: UOp) -> UOp:
        """A store of the kernel, by the first work item alone where all have the same."""
        same = self.made[store]
        if any(map(is_shared, ranges_of(store))):
            return same
        index, value = same.src
        gate = self.thread < _int(1)
        for other in index.src[2:]:
            gate = UOp(Ops.AND, dtypes.bool, (other, gate))
        return UOp(Ops.STORE, dtypes.void, (index.src[0].index(index.src[1], gate), value))


def _exchanged(op: Ops, part: UOp, lanes: int) -> UOp:
    """The combination of the parts of `lanes` adjacent work items, in each of them (butterfly)."""
    step = 1
    while step < lanes:
        part = UOp(op, part.dtype, (part, UOp(Ops.SHUFFLE, part.dtype, (part,), step)))
        step *= 2
    return part


def _int(value: int) -> UOp:
    return UOp.const(dtypes.int, value)


def _gates(gate: UOp | None) -> tuple[UOp, ...]:
    return () if gate is None else (gate,)


def _balanced(extent: int) -> int:
    """The parts that are added up in the first of two steps; all of them if one step suffices."""
    if extent <= ONE_STEP:
        return extent
    return next(n for n in range(math.isqrt(extent - 1) + 1, extent + 1) if extent % n == 0)


def run(sink: UOp, warp: int = 0) -> UOp:
    """The kernel with loops that a group shares replaced; the same kernel if there are none.

    warp: work items that exchange registers; a power of two, or 0: none do.
    """
    nodes = nodes_of(sink)
    shared = [node for node in nodes if node.op is Ops.RANGE and is_shared(node)]
    if not shared:
        return sink
    extent = extent_of(shared[0])
    assert isinstance(extent, int)
    return _Groups(nodes, extent, warp).run()
