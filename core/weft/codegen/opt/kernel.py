"""Loop transformations: split, reorder and annotate the loops of a lowered kernel.

`apply` only records an Opt. `finish` rewrites the graph once. Each RANGE of the lowered kernel is a
sum of axes, and a split replaces one axis by two.

Source: Halide (Ragan-Kelley et al., PLDI 2013), schedules apart from the algorithm.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.base.dtype import dtypes
from weft.base.intmath import ceildiv, round_up
from weft.base.sequences import prod
from weft.base.text import identifiers
from weft.codegen.analysis.axes import (
    Access,
    Axis,
    Pad,
    Split,
    Unit,
    access_of,
    in_place_stores,
    is_in_place,
    last_tile_extent,
    reads_any,
    reduces_in_place,
    stored_buffers,
)
from weft.codegen.analysis.ranges import (
    CLOSING,
    extent_of,
    loop_order,
    loops_of,
    ranges_of,
    values_of,
)
from weft.codegen.analysis.substitution import substitute_ranges
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.indexing import indexed_stores
from weft.codegen.indexing.scatter_add import accumulates, ordered_loops
from weft.codegen.loops import loop_interchange, loop_padding, zero_elimination
from weft.codegen.loops.strip_mining import AxisSplits
from weft.codegen.memory import operand_staging
from weft.codegen.opt import legality, tensor_cores
from weft.codegen.opt.legality import illegal, require
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.vectorization.instances import UNROLLED
from weft.codegen.vectorization.packed_dot import words_of
from weft.device import Feature, Target
from weft.uop import AxisKind, KernelInfo, Ops, UOp

_OUTPUT = frozenset({AxisKind.GLOBAL, AxisKind.LOCAL, AxisKind.LOOP})
_LOOPS = _OUTPUT | {AxisKind.REDUCE}
_SHARED_BY_GROUP = frozenset({OptKind.GROUP, OptKind.GROUPTOP})


class Kernel:
    """The loops of a kernel. `axes` is in loop order; `apply` changes it, or raises OptError.

    nests: for every STORE and REDUCE the ranges around it or in it. accesses: every LOAD and STORE.
    fills: the FILLs of local arrays, whose STOREs are among `stores`. ordered: loops whose
    iterations keep their order, since they add to a local array or store at computed indices.
    once: all loops of a FILL that adds. changing: the loops around stores to a buffer that is read.
    """

    def __init__(self, sink: UOp, target: Target) -> None:
        self.sink = sink
        self.target = target
        self.applied: list[Opt] = []
        nodes = nodes_of(sink)
        self.size = len(nodes)
        self.stores = [node for node in nodes if node.op is Ops.STORE]
        self.reduces = [node for node in nodes if node.op is Ops.REDUCE]
        self.fills = [node for node in nodes if node.op is Ops.FILL]
        self.ordered = frozenset[UOp]().union(
            *map(ordered_loops, self.fills), *map(indexed_stores.ordered_loops, sink.src)
        )
        self.once = frozenset(u for one in self.fills if accumulates(one) for u in loops_of(one))
        self.nests: dict[UOp, frozenset[UOp]] = {}
        for node in self.stores:
            self.nests[node] = ranges_of(node)
        for node in self.reduces:
            below = [ranges_of(value) for value in values_of(node)]
            self.nests[node] = frozenset(loops_of(node)).union(ranges_of(node), *below)
        self._accesses: list[Access] | None = None
        self._nodes = nodes
        ranges = sorted((node for node in nodes if node.op is Ops.RANGE), key=loop_order)
        self.axes = [Axis(i, extent_of(r), r.arg.kind, r) for i, r in enumerate(ranges)]
        self._staged: int | None = None
        self._depth, self._before = 1, False
        self._kept: tuple[tuple[int, ...], tuple[int, ...]] | None = None
        self.units: list[Unit] = []
        self._count = len(ranges)
        self._splits = AxisSplits({axis.loop: axis.number for axis in self.axes})
        self.in_place = is_in_place(nodes)
        self.sums_in_place = self.in_place and reduces_in_place(nodes)
        changing = in_place_stores(nodes) if self.in_place else ()
        self.changing = frozenset[UOp]().union(*map(ranges_of, changing))
        if target.compute.limits.global_size is not None:
            self._launch()

    def copy(self) -> Kernel:
        """Return a copy of the kernel, to be optimised another way."""
        other = object.__new__(Kernel)
        other.__dict__.update(self.__dict__)
        other.axes = list(self.axes)
        other.applied = list(self.applied)
        other._splits = self._splits.copy()
        other.units = list(self.units)
        return other

    def become(self, other: Kernel) -> None:
        """Take over the state of a copy of this kernel, which must not be used afterwards."""
        self.__dict__.update(other.__dict__)

    def _launch(self) -> None:
        """Make the axes in which every store is nested the launch grid.

        An axis on which a local array does not depend is left out, because each work item would
        fill an array of its own again. The same holds for reductions, unless no axis would remain.
        """
        first, *others = (self.nests[store] for store in self.sink.src)
        shared = first.intersection(*others)
        shared = shared.intersection(*(ranges_of(fill) for fill in self.fills))
        shared = shared.intersection(*(ranges_of(node) for node in self.reduces)) or shared
        self.axes = [
            axis._replace(kind=AxisKind.GLOBAL)
            if axis.kind is AxisKind.LOOP and axis.loop in shared
            else axis
            for axis in self.axes
        ]
        self._sort_axes()

    @property
    def accesses(self) -> list[Access]:
        """Every LOAD and STORE, analysed once. A word that several LOADs make up is one access."""
        if self._accesses is None:
            words = words_of(self._nodes)  # one access each
            parts = {u for word in words for u in word.toposort() if u.op is Ops.LOAD}
            self._accesses = [
                access_of(words.get(node, node), node)
                for node in self._nodes
                if node in words or (node.op in (Ops.LOAD, Ops.STORE) and node not in parts)
            ]
        return self._accesses

    def inside(self, root: UOp) -> list[Access]:
        """Return the accesses in the innermost loop of a STORE or REDUCE."""
        below = root.toposort(gate=lambda u: u is root or u.op not in CLOSING)
        return [access for access in self.accesses if access.node in below]

    # ---- applying -----------------------------------------------------------------------------

    def axis_of(self, loop: UOp, kinds: Iterable[AxisKind] = _LOOPS) -> int | None:
        """Return the place in `axes` of the outermost loop that is left of a RANGE, or None."""
        for place, axis in enumerate(self.axes):
            if axis.loop is loop and axis.kind in kinds:
                return place
        return None

    def apply(self, opt: Opt) -> None:
        """Record one optimisation. If it is illegal, raise OptError and change nothing."""
        before = self.copy()
        try:
            self._apply(opt)
            legality.check(self, opt)
        except OptError:
            self.become(before)
            raise
        self.applied.append(opt)

    def attempt(self, kind: OptKind, axis: int | None, amount: int) -> bool:
        """Record one optimisation; return False if it is illegal or `axis` is None."""
        if axis is None:
            return False
        try:
            self.apply(Opt(kind, axis, amount))
        except OptError:
            return False
        return True

    def _apply(self, opt: Opt) -> None:
        kind = opt.kind
        if kind is OptKind.NOLOCALS:
            return
        if kind is OptKind.THREAD:
            self._thread(opt)
            return
        if self._staged is not None:
            raise illegal(opt, "what is staged depends on all loops: STAGE comes last, and once")
        if self._kept is not None and kind not in (OptKind.STAGE, OptKind.PACK):
            raise illegal(opt, "what is kept depends on all loops: only STAGE comes after KEEP")
        require(opt, 0 <= opt.axis < len(self.axes), f"there are {len(self.axes)} axes")
        axis = self.axes[opt.axis]
        if axis.loop in self.ordered:
            raise illegal(opt, "its iterations add to one array, one after the other")
        if kind is OptKind.SWAP:
            self._swap(opt)
        elif kind is OptKind.UPCAST:
            self._split(opt, AxisKind.UPCAST, _OUTPUT - {AxisKind.LOCAL})
        elif kind is OptKind.UNROLL:
            self._split(opt, AxisKind.UNROLL, {AxisKind.REDUCE})
        elif kind is OptKind.VECTOR:
            require(opt, not self.units, "what a matrix unit gives is in lanes already")
            self._split(opt, AxisKind.VECTOR, _LOOPS - {AxisKind.LOCAL} | UNROLLED)
        elif kind is OptKind.SPLIT:
            self._split(opt, axis.kind, _LOOPS - {AxisKind.LOCAL})
        elif kind is OptKind.LOCAL:
            if self.target.compute.limits.local_size is None:
                raise illegal(opt, "the target has no workgroups")
            self._split(opt, AxisKind.LOCAL, {AxisKind.GLOBAL})
        elif kind in _SHARED_BY_GROUP:
            self._group(opt)
        elif kind is OptKind.STAGE or kind is OptKind.PACK:
            self._stage(opt)
        elif kind is OptKind.KEEP:
            self._keep(opt)
        elif kind is OptKind.TC:
            self._tensor_core(opt)
        else:
            self._pad(opt)

    def _split(
        self,
        opt: Opt,
        inner_kind: AxisKind,
        allowed: Iterable[AxisKind],
        stretches: bool = False,
    ) -> None:
        """Split an axis, or make all of it `inner_kind`.

        stretches: the new kind counts parts of elements that lie together, and not within a part.
        """
        axis = self.axes[opt.axis]
        extent = self._divisible_extent(opt, allowed)
        amount = opt.amount or extent
        require(opt, 1 <= amount <= extent, f"its extent is {extent}")
        require(opt, amount != 1, "a part of one iteration changes nothing")
        if amount == extent:
            same = axis.kind is inner_kind
            require(opt, not same, "the whole axis as one part changes nothing")
            self.axes[opt.axis] = axis._replace(kind=inner_kind)
        else:
            last, rest = None, 0
            if extent % amount and axis.kind is inner_kind is AxisKind.REDUCE:
                legality.check_remainder(self, opt, axis, amount)
                rest = extent % amount
            elif extent % amount:
                legality.check_overlap(self, opt, axis, amount)
                last = extent - amount
            outer, inner = self._new_number(), self._new_number()
            self.axes[opt.axis : opt.axis + 1] = [
                Axis(outer, ceildiv(extent, amount), axis.kind, axis.loop),
                Axis(inner, amount, inner_kind, axis.loop),
            ]
            split = Split(outer, inner, amount, last, rest)
            if stretches:
                require(opt, last is None, f"{amount} does not divide its extent {extent}")
                split = Split(inner, outer, extent // amount, None)
            self._splits.splits[axis.number] = split
        self._sort_axes()

    def _divisible_extent(self, opt: Opt, allowed: Iterable[AxisKind]) -> int:
        """The extent of an axis that may be split or padded, of one of these kinds."""
        axis = self.axes[opt.axis]
        require(opt, axis.kind in allowed, f"axis {opt.axis} is of kind {axis.kind.name}")
        if not isinstance(axis.extent, int):
            raise illegal(opt, "the extent of the axis is a variable")
        even = axis.number not in self._splits.remainder_axes()
        require(opt, even, "its last part is shorter than the others")
        return axis.extent

    def _new_number(self) -> int:
        """The number of another axis."""
        self._count += 1
        return self._count - 1

    def _sort_axes(self) -> None:
        self.axes.sort(key=lambda axis: axis.kind)

    def _pad(self, opt: Opt) -> None:
        """Round an extent up to a multiple. Iterations beyond it do nothing (`loop_padding`)."""
        axis = self.axes[opt.axis]
        extent = self._divisible_extent(opt, _LOOPS - {AxisKind.LOCAL})
        ragged = opt.amount >= 2 and extent % opt.amount
        require(opt, ragged, f"its extent is {extent}: nothing is left to round up")
        gated = axis.loop not in self.once
        require(opt, gated, "its iterations add to a local array, whose accesses have no mask")
        padded = round_up(extent, opt.amount)
        require(opt, padded <= dtypes.int.max, f"it would have {padded} iterations")
        longer = self._new_number()
        self._splits.pads[axis.number] = Pad(axis.loop, longer, padded, extent)
        self.axes[opt.axis] = Axis(longer, padded, axis.kind, axis.loop)

    def _group(self, opt: Opt) -> None:
        """Divide a reduction axis or an output loop among the work items of a group."""
        legality.check_group(self, opt, self._splits)
        parts = opt.kind is OptKind.GROUPTOP
        self._split(opt, AxisKind.GROUP_REDUCE, {AxisKind.REDUCE, AxisKind.LOOP}, stretches=parts)

    def _thread(self, opt: Opt) -> None:
        """Make an output loop the launch range that threads divide; its body stays as it is.

        All computation is inside of it: each thread would repeat what does not depend on it.
        """
        compute = self.target.compute
        if compute.limits.global_size is not None or not compute.has(Feature.THREADS):
            raise illegal(opt, "the target has no threads that would share a loop")
        require(opt, 0 <= opt.axis < len(self.axes), f"there are {len(self.axes)} axes")
        axis = self.axes[opt.axis]
        if axis.kind is not AxisKind.LOOP or opt.amount:
            raise illegal(opt, "it takes a whole loop over elements of the output")
        require(opt, axis.loop not in self.ordered, "its iterations keep their order")
        if any(axis.loop not in self.nests[store] for store in self.sink.src):
            raise illegal(opt, "something is stored outside of this loop")
        if any(axis.loop not in ranges_of(node) for node in (*self.reduces, *self.fills)):
            raise illegal(opt, "every thread would compute again what does not depend on it")
        if self._staged is not None:
            numbers = [one.number for one in self.axes]
            if numbers.index(self._staged) < opt.axis + self._before:
                raise illegal(opt, "staged operands are copied in a loop around it")
        if self._kept is not None and axis.number in self._kept[1]:
            raise illegal(opt, "its sums are kept between iterations of a loop around it")
        others = [one.extent for one in self.axes if one.kind is AxisKind.GLOBAL]
        if others and not all(isinstance(extent, int) for extent in (*others, axis.extent)):
            raise illegal(opt, "a launch over a variable extent has one loop only")
        count = prod(e if isinstance(e, int) else int(e.vmax) for e in (*others, axis.extent))
        require(opt, count <= dtypes.int.max, f"a launch has at most {dtypes.int.max} iterations")
        self.axes[opt.axis] = axis._replace(kind=AxisKind.GLOBAL)
        self._sort_axes()

    def _tensor_core(self, opt: Opt) -> None:
        """Make the innermost parts of a sum's loop and of two output axes a unit's fragments."""
        cores = self.target.compute.tensor_cores
        require(opt, 0 <= opt.amount < len(cores), f"the target has {len(cores)} tensor cores")
        core, axis = cores[opt.amount], self.axes[opt.axis]
        first = all(done.kind is OptKind.PADTO for done in self.applied)
        if axis.kind is not AxisKind.REDUCE or self.units or not first:
            raise illegal(opt, "it comes first, and its axis is the loop of a sum")
        mine = [reduce for reduce in self.reduces if axis.loop in loops_of(reduce)]
        found = [tensor_cores.product_of(reduce, core) for reduce in mine]
        (product, *others) = found
        if product is None or others:
            because = f"no sum of {core.dtype_in!r} products in {core.dtype_out!r}"
            raise illegal(opt, because)
        extents = {
            a.loop: a.extent
            for a in self.axes
            if a.kind is AxisKind.GLOBAL and isinstance(a.extent, int)
        }
        m, n, k = core.dims
        fragment = tensor_cores.fragment_sides(product, core, extents)
        if fragment is None:
            raise illegal(opt, f"its factors have no axes of multiples of {m} and {n}")
        rows, columns = fragment
        if not isinstance(axis.extent, int) or axis.extent % k:
            raise illegal(opt, f"the sum is no multiple of {k} terms")
        inner = self._cut(rows, m), self._cut(columns, n), self._cut(axis.loop, k)
        lanes = [self._new_number() for _ in range(core.threads.bit_length() - 1)]
        self.axes += [Axis(lane, 2, AxisKind.LOCAL, rows) for lane in lanes]
        self._sort_axes()
        self.units.append(Unit(core, rows, columns, *inner, tuple(reversed(lanes))))

    def _cut(self, loop: UOp, size: int) -> int:
        """Split the innermost part off an axis, and return the number of that part."""
        place = self.axis_of(loop)
        assert place is not None
        axis = self.axes[place]
        assert isinstance(axis.extent, int)
        outer, inner = self._new_number(), self._new_number()
        self.axes[place] = Axis(outer, axis.extent // size, axis.kind, loop)
        self._splits.splits[axis.number] = Split(outer, inner, size, None)
        return inner

    def _stage(self, opt: Opt) -> None:
        """Record that each iteration of an axis copies operands to local or shared memory."""
        compute, axis = self.target.compute, self.axes[opt.axis]
        limits = compute.limits
        if axis.kind not in (AxisKind.LOOP, AxisKind.REDUCE):
            raise illegal(opt, f"axis {opt.axis} is of kind {axis.kind.name}")
        if self.fills or any(other.kind is AxisKind.GROUP_REDUCE for other in self.axes):
            raise illegal(opt, "local row buffers and shared loops exclude it")
        before = opt.kind is OptKind.PACK
        if before and (axis.kind is not AxisKind.LOOP or limits.global_size is not None):
            raise illegal(opt, "it takes an output loop of one processor")
        graph, ranges = self._graph()
        found = operand_staging.candidates(graph, ranges[axis.number], before)
        require(opt, found, "nothing in it is read more than once")
        stored = stored_buffers(self._nodes)
        if self.in_place and any(reads_any(one.load.toposort(), stored) for one in found):
            raise illegal(opt, "the kernel reads what it writes, and a copy would be out of date")
        limit = limits.scratch_bytes
        threads = [int(one.extent) for one in self.axes if one.kind is AxisKind.LOCAL]
        if limits.local_size is not None:
            if not (compute.has(Feature.BARRIER) and compute.has(Feature.SHARED) and threads):
                raise illegal(opt, "there is no group that could share memory")
            limit = limits.shared_bytes
            if any(prod(int(extent_of(r)) for r in one.inside) % prod(threads) for one in found):
                raise illegal(opt, f"its operands are no multiple of {prod(threads)} elements")
            most = operand_staging.depth_at_most(graph, ranges[axis.number], found)
        else:
            most = 1
        depth = 1 if before else max(opt.amount, 1)
        require(opt, depth <= most, f"there can be {most} tiles of an operand at once here")
        nbytes = sum(one.nbytes for one in found)
        if limits.local_size is not None:
            tiles = operand_staging.laid_out(graph, ranges[axis.number], found, depth, compute)
            nbytes = sum(one.nbytes * copying.tiles(one) for one, copying in tiles)
        require(opt, nbytes <= limit, f"its operands are larger than {limit} bytes")
        self._staged, self._depth, self._before = axis.number, depth, before

    def _keep(self, opt: Opt) -> None:
        """Record that a loop of a sum, and those around it, are moved outside an output loop and
        the loops inside that one."""
        axis = self.axes[opt.axis]
        require(opt, axis.kind is AxisKind.REDUCE, f"axis {opt.axis} is of kind {axis.kind.name}")
        inside = [one for one in self.axes[opt.amount :] if one.kind is AxisKind.LOOP]
        legality.check_interchange(self, opt, inside)
        graph, ranges = self._graph()
        (reduce,) = (node for node in graph.toposort() if node.op is Ops.REDUCE)
        outside = [one for one in self.axes[: opt.axis + 1] if one.kind is AxisKind.REDUCE]
        if len(loops_of(reduce)) == len(outside):
            raise illegal(opt, "nothing is left of the sum inside: SPLIT it first")
        parts = loop_interchange.accumulator_axes(reduce, [ranges[one.number] for one in inside])
        nbytes = prod(int(extent_of(part)) for part in parts) * reduce.dtype.itemsize
        limit = self.target.compute.limits.scratch_bytes
        require(opt, nbytes <= limit, f"its local array needs {nbytes} bytes, of at most {limit}")
        self._kept = (
            tuple(one.number for one in outside), tuple(one.number for one in inside)
        )  # fmt: skip

    def _swap(self, opt: Opt) -> None:
        legality.check_swap(self, opt, self._splits)
        a, b = opt.axis, opt.amount
        self.axes[a], self.axes[b] = self.axes[b], self.axes[a]

    # ---- the result ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """`E_25_4`, `r_32_256`: whether it reduces, and the extents of its axes."""
        sizes = [
            str(axis.extent) if isinstance(axis.extent, int) else _word(axis.extent)
            for axis in self.axes
        ]
        return "_".join(["r" if self.reduces else "E", *(sizes or ["1"])])

    def finish(self) -> UOp:
        """The lowered kernel with all that was applied."""
        sink, ranges = self._graph()
        if self.target.compute.limits.global_size is None:
            sink = zero_elimination.mask_zero_products(sink)
        if self._staged is not None:
            loop, compute = ranges[self._staged], self.target.compute
            sink = operand_staging.run(sink, loop, self._depth, compute, self._before)
        info = self.sink.arg if isinstance(self.sink.arg, KernelInfo) else KernelInfo()
        return sink.replace(arg=KernelInfo(info.name or self.name, tuple(self.applied)))

    def _graph(self) -> tuple[UOp, dict[int, UOp]]:
        """The lowered kernel over new ranges, and the range of every axis by number."""
        new: dict[int, UOp] = {}
        for place, axis in enumerate(self.axes):
            loop = axis.loop
            end = loop.src[0] if axis.extent is extent_of(loop) else axis.extent
            new[axis.number] = UOp.range(end, place, axis.kind, loop.dtype)
        for split in self._splits.splits.values():
            if split.remainder:
                outer, inner = new[split.outer], new[split.inner]
                new[split.inner] = inner.replace(src=(last_tile_extent(outer, split),))
        count = len(self.axes)
        for unit in self.units:
            for number, size in zip((unit.m, unit.n, unit.k), unit.core.dims):
                new[number] = UOp.range(size, count, AxisKind.LOOP)
                count += 1
        values: dict[UOp, UOp] = {}
        loops: dict[UOp, list[UOp]] = {}
        for loop, number in self._splits.roots.items():
            values[loop] = self._splits.value(number, new)
            loops[loop] = [new[axis.number] for axis in self.axes if axis.loop is loop]
        nodes = self._nodes
        if self._splits.pads:
            real = self._splits.valid_iterations(new, count, values)
            nodes = list(loop_padding.run(nodes, real).toposort())
        sink = substitute_ranges(nodes, values, loops)
        for unit in self.units:
            m, n, k = new[unit.m], new[unit.n], new[unit.k]
            lanes = tuple(new[lane] for lane in unit.lanes)
            sink = tensor_cores.run(sink, tensor_cores.Place(unit.core, m, n, k, lanes))
        if self._kept is not None:
            outside, inside = ([new[one] for one in part] for part in self._kept)
            sink, moved = loop_interchange.run(sink, outside, inside)
            new.update((number, moved[new[number]]) for number in self._kept[0])
        return sink, new


def _word(extent: UOp) -> str:
    names = identifiers(variable.arg.name for variable in extent.variables())
    return "x".join(names) or "n"
