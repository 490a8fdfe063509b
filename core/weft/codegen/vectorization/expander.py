"""Unrolling and vectorization: replace unrolled ranges by instances and lane ranges by vectors.
Also: loop unrolling, SIMD code generation.

in:  spec.lowered after optimisation: ranges of kind UPCAST, UNROLL and VECTOR among the others
out: spec.lowered without them: one node for each instance, vector dtypes where a VECTOR range was

Every node is instantiated once for each value of the unrolled ranges that it depends on. A node
that depends on none stays one node. Addresses are kept as affine sums (see `affine`), so that an
instance differs from its neighbour by a constant. A load whose address grows by one with the lane
is one vector load.

Where the arithmetic of the target is scalar, lanes are instances too. Adjacent instances of one
load or store are then merged to vectors (see `neighbours`).

A local array has one copy for each combination of the unrolled ranges around its FILL.

Source: R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures" (2001), vectorization
and unroll-and-jam.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.base.dtype import DType, dtypes
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.axes import is_computed_index
from weft.codegen.analysis.folding import folded, vector_of
from weft.codegen.analysis.ranges import (
    CLOSING,
    Accumulate,
    Fragment,
    loop_order,
    loops_of,
    ranges_of,
)
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.vectorization import prefix_scan
from weft.codegen.vectorization.instances import (
    INSTANTIATED,
    UNROLLED,
    Instances,
    Ranges,
    count_of,
    is_instantiated,
    merged,
    width_of,
)
from weft.codegen.vectorization.packed_dot import (
    TAKES_SUM,
    added_to_dots,
    decomposed_dot,
    packed,
)
from weft.codegen.vectorization.prefix_scan import Running, scanned
from weft.codegen.vectorization.superwords import lane_terms
from weft.codegen.vectorization.vector_addresses import Widths
from weft.codegen.vectorization.vector_memory import Accesses
from weft.codegen.workgroups.group_reduction import is_shared
from weft.device.machine import MachineModel
from weft.device.packed_dot import PairDot
from weft.uop import AxisKind, Ops, UOp

_LOCAL_ARRAYS = frozenset({Ops.DEFINE_REG, Ops.DEFINE_LOCAL})


class _Expander(Accesses):
    """The part that knows values: what is computed, and what is accumulated."""

    def run(self) -> UOp:
        roots: list[UOp] = []
        for node in self.values():
            if node.op is Ops.SINK:
                break
            if node.op is Ops.STORE:
                if node.src[0].src[0].op not in _LOCAL_ARRAYS:  # else it is part of a FILL
                    roots += self.store(node, None)
            elif node.op is Ops.FILL:
                self.filled[node] = self.fill(node)
            else:
                self.vector[node] = self.instances(node)
        return UOp.sink(*roots, arg=self.sink.arg)

    def values(self) -> list[UOp]:
        """The nodes of values, sources first, without the nodes that only addresses use."""
        nodes = nodes_of(self.sink)
        found: set[UOp] = set()
        for node in nodes:
            if node.op in CLOSING or not self.closing.isdisjoint(node.src):
                self.closing.add(node)
        # an address may hold a reduce: where to look something up is computed here as well
        stack = [self.sink, *(node for node in nodes if node.op in CLOSING)]
        while stack:
            node = stack.pop()
            if node not in found:
                found.add(node)
                stack.extend(self.looked_up(node) if node.op is Ops.INDEX else node.src)
        return [node for node in nodes if node in found]

    def looked_up(self, index: UOp) -> list[UOp]:
        """Parts of an address that lanes look up: computed as vectors, used lane by lane."""
        if not self.wide or not any(_is_lanes(loop) for loop in ranges_of(index)):
            return []
        terms = [
            term
            for term in affine(index.src[1])[0]
            if term.op is not Ops.RANGE and any(_is_lanes(loop) for loop in ranges_of(term))
        ]
        found = [
            term
            for term in terms
            if term not in self.closing and any(map(is_computed_index, term.toposort()))
        ]
        self.from_memory.update(found)
        return found

    def instances(self, node: UOp) -> Instances:
        op = node.op
        if op is Ops.RANGE:
            return self.range(node, lanes=True)
        if op is Ops.LOAD and node in self.closing:
            return self.load(node)
        if op is Ops.INDEX or not is_instantiated(node):
            if op is Ops.REDUCE and _is_unrolled(node):
                return self.reduce(node)
            if op is Ops.INDEX:
                return Instances((), None, [node])  # taken apart by the load or store above it
            return self.unchanged(node)
        if op is Ops.LOAD:
            return self.load(node)
        if op is Ops.REDUCE:
            return self.reduce(node)
        if op is Ops.WMMA:
            return self.unit(node)
        return self.dots_of(self.elementwise(node))

    def unchanged(self, node: UOp) -> Instances:
        """A node that no unrolled range reaches; what is below (a REDUCE) may have changed."""
        if node.op is Ops.LOAD:
            return Instances((), None, [node])
        src = tuple([self.vector[source].values[0] for source in node.src])
        same = node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
        return self.dots_of(Instances((), None, [same]))

    def dots_of(self, found: Instances) -> Instances:
        """The same, with ordinary operations for DOTs of a width that their unit does not have."""
        one = found.values[0]
        if one.op is not Ops.DOT or one.dtype.count in one.arg.lanes:
            return found
        return Instances(found.over, found.lane, [decomposed_dot(value) for value in found.values])

    def elementwise(self, node: UOp) -> Instances:
        sources = [self.vector[source] for source in node.src]
        over = merged(source.over for source in sources)
        lane = self.lane_of(node, [source.lane for source in sources])
        dtype = node.dtype
        columns = [self.pick(source, over) for source in sources]
        if lane is None:
            values = [folded(node.op, dtype, src, node.arg) for src in zip(*columns)]
            return Instances(over, None, values)
        width = width_of(lane)
        keep_scalar = node.op is Ops.WHERE and sources[0].lane is None
        wide: list[Sequence[UOp]] = []
        for position, (source, column) in enumerate(zip(sources, columns)):
            if source.lane is None and not (position == 0 and keep_scalar):
                column = [value.broadcast(width) for value in column]
            wide.append(column)
        if keep_scalar:
            values = [folded(node.op, dtype.vec(width), src, node.arg) for src in zip(*wide)]
        else:
            values = [UOp(node.op, dtype.vec(width), src, node.arg) for src in zip(*wide)]
        if node.op is Ops.ADD and self.dots:
            values = [added_to_dots(value) for value in values]
        return Instances(over, lane, values)

    def unit(self, node: UOp) -> Instances:
        """A matrix unit's work: what a lane holds of its factors and of the result are vectors."""
        arg: Fragment = node.arg
        ranges, lane = node.src[2:-1], node.src[-1]
        factors: list[Instances] = []
        for source, bits in (
            (self.vector[node.src[0]], ranges[: arg.left]),
            (self.vector[node.src[1]], ranges[arg.left :]),
        ):
            own = tuple(loop for loop in source.over if loop not in bits)
            values = self.pick(source, (*own, *reversed(bits)))
            width = 1 << len(bits)
            dtype = values[0].dtype.vec(width)
            rows = [tuple(values[i : i + width]) for i in range(0, len(values), width)]
            wide = [vector_of(dtype, row) for row in rows]
            factors.append(Instances(own, None, wide))
        over = merged(factor.over for factor in factors)
        dtype = node.dtype.vec(width_of(lane))
        pairs = zip(*(self.pick(factor, over) for factor in factors))
        return Instances(over, lane, [UOp(Ops.WMMA, dtype, pair, arg.core) for pair in pairs])

    def reduce(self, node: UOp) -> Instances:
        op, dtype = node.arg.op, node.dtype
        source = self.vector[node.src[0]]
        if isinstance(node.arg, Running):
            return self.running(node.arg, source)
        loops = loops_of(node)
        kinds = UNROLLED if self.wide else INSTANTIATED
        unrolled = tuple(loop for loop in loops if loop.arg.kind in kinds)
        lanes = next((loop for loop in loops if loop.arg.kind is AxisKind.VECTOR), None)
        lanes = lanes if self.wide else None
        shared = tuple(loop for loop in loops if is_shared(loop))
        alone = [loop for loop in loops if loop not in shared]
        rest = tuple(loop for loop in alone if loop.arg.kind not in INSTANTIATED)
        outside = tuple(loop for loop in source.over if loop not in unrolled)
        lane = None if source.lane is lanes else source.lane
        full = outside + tuple(sorted(unrolled, key=loop_order))
        values = self.pick(source, full)
        across = lane if lanes is None else lanes
        width = 1 if across is None else width_of(across)
        if lanes is not None and source.lane is None:
            values = [value.broadcast(width) for value in values]
        vector = dtype.vec(width) if width > 1 else dtype
        terms = count_of(unrolled)
        groups = count_of(outside)
        chains = min(terms, max(1, self.independent_sums // groups))
        results: list[UOp] = []
        for group in range(groups):
            mine = values[group * terms : (group + 1) * terms]
            if op is Ops.ADD and terms > 1:
                mine = [value for value in mine if not _is_zero(value)] or mine[:1]
            if op is Ops.ADD and self.dots:
                mine = packed(mine, self.dots)
            invariant: list[UOp] = []
            if rest and lanes is not None and op is Ops.ADD:
                extents = list(map(width_of, full[len(outside) :]))
                mine, invariant = lane_terms(mine, extents, self.lanes, dtype in self.fused)
                vector = mine[0].dtype
            chains = min(chains, len(mine))
            parts: list[UOp] = []
            if mine[0].op is Ops.WMMA or (mine[0].op is Ops.DOT and not rest):
                chains = 1  # each result is many values already, or adds to the one before
            for chain in range(chains):
                part = mine[chain::chains]
                if rest:
                    arg = Accumulate(op, len(part))
                    parts.append(UOp(Ops.REDUCE, vector, (*part, *rest), arg))
                else:
                    parts.append(self.chained(op, vector, part))
            total = _tree(op, vector, parts)
            if lanes is not None:
                total = _horizontal(op, dtype, total, vector.count)
            if invariant:
                total = UOp(op, dtype, (total, _invariant_sum(invariant, rest, width)))
            if shared:
                total = UOp(Ops.REDUCE, total.dtype, (total, *shared), Accumulate(op))
            results.append(total)
        found = Instances(outside, lane, results)
        return found if self.wide else self.by_lane(found)

    def running(self, arg: Running, source: Instances) -> Instances:
        """Return the prefix scan of a value over its lanes and the vectors along `arg.vectors`."""
        along = tuple(loop for loop in source.over if loop.arg == arg.vectors)
        full = (*(loop for loop in source.over if loop not in along), *along)
        values, many = self.pick(source, full), count_of(along)
        blocks = [values[first : first + many] for first in range(0, len(values), many)]
        found = [value for block in blocks for value in scanned(arg, block)]
        made = Instances(full, source.lane, found)
        return Instances(source.over, source.lane, self.pick(made, source.over))

    def chained(self, op: Ops, dtype: DType, values: list[UOp]) -> UOp:
        total = values[0]
        if total.op in TAKES_SUM:
            total = UOp(total.op, dtype, (*total.src, UOp.const(dtype, 0)), total.arg)
        for value in values[1:]:
            if value.op in TAKES_SUM:
                total = UOp(value.op, dtype, (*value.src, total), value.arg)
            elif op is Ops.ADD and value.op is Ops.MUL and dtype.scalar() in self.fused:
                total = UOp(Ops.MULACC, dtype, (*value.src, total))
            else:
                total = UOp(op, dtype, (total, value))
        return total


def _is_lanes(loop: UOp) -> bool:
    return loop.arg.kind is AxisKind.VECTOR


def _is_zero(value: UOp) -> bool:
    """Whether a term is known to be zero, and need not be added."""
    one = value.src[0] if value.op is Ops.VECTORIZE and len(set(value.src)) == 1 else value
    return one.op is Ops.CONST and one.arg == 0


def _invariant_sum(terms: list[UOp], rest: Ranges, width: int) -> UOp:
    """The sum over `width` lanes of terms that are the same in all lanes."""
    dtype = terms[0].dtype
    total = UOp(Ops.REDUCE, dtype, (*terms, *rest), Accumulate(Ops.ADD, len(terms)))
    whole = _horizontal(Ops.ADD, dtype.scalar(), total, dtype.count)
    return UOp(Ops.MUL, whole.dtype, (whole, whole.const_like(width)))


def _is_unrolled(reduce: UOp) -> bool:
    return any(loop.arg.kind in INSTANTIATED for loop in loops_of(reduce))


def _tree(op: Ops, dtype: DType, parts: list[UOp]) -> UOp:
    """Neighbours combined in pairs: the fewest roundings in a row."""
    while len(parts) > 1:
        pairs = [UOp(op, dtype, (a, b)) for a, b in zip(parts[::2], parts[1::2])]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def _horizontal(op: Ops, dtype: DType, total: UOp, width: int) -> UOp:
    """All lanes of a vector combined: its halves first, as long as they are equal."""
    while width > 1 and width % 2 == 0:
        width //= 2
        low = total.gep(tuple(range(width)))
        high = total.gep(tuple(range(width, 2 * width)))
        total = UOp(op, low.dtype, (low, high))
    if width == 1:
        return total
    return _tree(op, dtype, [total.gep(lane) for lane in range(width)])


def run(
    sink: UOp,
    machine: MachineModel,
    fused: frozenset[DType] = frozenset(),
    widths: Widths | None = None,
    dots: Sequence[PairDot] = (),
    vector_bytes: int = 0,
) -> UOp:
    """The graph without unrolled ranges; itself where there are none.

    `machine`: it tells how many sums are independent of each other. `fused`: scalar dtypes for
    which the target has a multiply-add. `widths`: how many neighbours it loads or stores at once,
    by dtype; None where it computes with vectors too. `dots`: what it has for sums of products of
    narrow numbers. `vector_bytes`: of its registers.
    """
    nodes = nodes_of(sink)
    if not any(
        (node.op is Ops.RANGE and node.arg.kind in INSTANTIATED)
        or (node.op is Ops.FILL and node.arg.async_width)
        or node.op is Ops.DOT
        for node in nodes
    ):
        return sink
    if widths is None:
        sink = prefix_scan.run(sink)
    return _Expander(sink, fused, widths, dots, machine, vector_bytes // dtypes.int.itemsize).run()
