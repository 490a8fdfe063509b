"""Ranges that are unrolled become instances, ranges that are lanes become vectors.

in:  spec.lowered after optimisation: ranges of kind UPCAST, UNROLL and VECTOR among the others
out: spec.lowered without them: one node for each instance, vector dtypes where a VECTOR range was

Every node is instantiated directly, once for each value of the unrolled ranges that it depends on,
and for no others: what does not depend on an unrolled range stays one node. Nothing is matched or
rewritten afterwards. Addresses are kept as sums (see `affine`), so that an instance differs from
its neighbour by a constant; a load whose address moves by one with the lane is one vector load.

Where the target's arithmetic is scalar, lanes are instances like the others, and whatever instances
of one load or store turn out to be neighbours are vectors (see `neighbours`).

An array on chip is one for each combination of the unrolled ranges that its FILL stands in.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from weft.base.dtype import DType, dtypes
from weft.base.errors import SpecError
from weft.codegen.accesses import Address, Place, in_flight, loaded, neighbours, stored
from weft.codegen.affine import affine, from_affine
from weft.codegen.fold import folded
from weft.codegen.groups import is_shared
from weft.codegen.instances import (
    INSTANTIATED,
    UNROLLED,
    Instances,
    Ranges,
    count_of,
    is_instantiated,
    merged,
    offsets,
    strides_of,
    width_of,
)
from weft.codegen.lookups import is_looked_up
from weft.codegen.pairs import TAKES_SUM, packed
from weft.codegen.ranges import (
    CLOSING,
    Accumulate,
    Fragment,
    alternative_of,
    loop_order,
    loops_of,
    ranges_of,
    values_of,
)
from weft.codegen.transpose import columns_of
from weft.codegen.words import spelt_out
from weft.device.pair_dot import PairDot
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import Ops

Widths: TypeAlias = Mapping[DType, tuple[int, ...]]

_ON_CHIP = frozenset({Ops.DEFINE_REG, Ops.DEFINE_LOCAL})
INDEPENDENT_CHAINS = 8  # what a multiply-add of four cycles needs, two being started in each


@dataclass(frozen=True, slots=True)
class _Filled:
    """The arrays of a FILL for each combination of `over`; its instances, once they are known."""

    over: Ranges
    arrays: list[UOp]
    fills: list[UOp]


class _Expander:
    def __init__(
        self, sink: UOp, fused: frozenset[DType], widths: Widths | None, dots: Sequence[PairDot]
    ) -> None:
        self.fused = fused
        self.dots = dots
        self.wide = widths is None
        self.widths = widths or {}
        self.scalar: dict[UOp, Instances] = {}  # VECTOR ranges instantiated like the others
        self.vector: dict[UOp, Instances] = {}  # VECTOR ranges as lanes
        self.addresses: dict[UOp, Address] = {}
        self.maps: dict[tuple[Ranges, Ranges], list[int]] = {}
        self.filled: dict[UOp, _Filled] = {}
        self.closing: set[UOp] = set()  # what is computed from a REDUCE or FILL
        self.from_memory: set[UOp] = set()  # parts of addresses that are vectors
        self.sink = sink
        arrays = [node.arg for node in sink.toposort() if node.op is Ops.DEFINE_REG]
        self.names = itertools.count(max(arrays, default=0) + 1)

    def run(self) -> UOp:
        roots: list[UOp] = []
        for node in self.values():
            if node.op is Ops.SINK:
                break
            if node.op is Ops.STORE:
                if node.src[0].src[0].op not in _ON_CHIP:  # else it is part of a FILL
                    roots += self.store(node, None)
            elif node.op is Ops.FILL:
                self.filled[node] = self.fill(node)
            else:
                self.vector[node] = self.instances(node)
        return UOp.sink(*roots, arg=self.sink.arg)

    def values(self) -> list[UOp]:
        """What values are made of, sources first: all but what only addresses are made of."""
        nodes = list(self.sink.toposort())
        found: set[UOp] = set()
        for node in nodes:
            if node.op in CLOSING or any(source in self.closing for source in node.src):
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
            if term not in self.closing and any(map(is_looked_up, term.toposort()))
        ]
        self.from_memory.update(found)
        return found

    # ---- the value side -----------------------------------------------------------------------

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
        return Instances(found.over, found.lane, [spelt_out(value) for value in found.values])

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
        wide = []
        for position, (source, column) in enumerate(zip(sources, columns)):
            if source.lane is None and not (position == 0 and keep_scalar):
                column = [value.broadcast(width) for value in column]
            wide.append(column)
        values = [UOp(node.op, dtype.vec(width), src, node.arg) for src in zip(*wide)]
        return Instances(over, lane, values)

    def lane_of(self, node: UOp, lanes: Iterable[UOp | None]) -> UOp | None:
        found = {lane for lane in lanes if lane is not None}
        if len(found) > 1:
            raise SpecError(
                "a value would have the lanes of two vectors",
                asked=f"expanding a {node.op} node",
                because="two VECTOR ranges meet in it",
            )
        return found.pop() if found else None

    def range(self, node: UOp, lanes: bool) -> Instances:
        if node.arg.kind not in INSTANTIATED:
            return Instances((), None, [node])
        turns = range(width_of(node))
        if node.arg.kind is AxisKind.VECTOR and lanes and self.wide:
            return Instances((), node, [UOp.const(node.dtype, tuple(turns))])
        return Instances((node,), None, [UOp.const(node.dtype, turn) for turn in turns])

    def unit(self, node: UOp) -> Instances:
        """A matrix unit's work: what a lane holds of its factors and of the result are vectors."""
        arg: Fragment = node.arg
        ranges, lane = node.src[2:-1], node.src[-1]
        factors = []
        for source, bits in (
            (self.vector[node.src[0]], ranges[: arg.left]),
            (self.vector[node.src[1]], ranges[arg.left :]),
        ):
            own = tuple(loop for loop in source.over if loop not in bits)
            values = self.pick(source, (*own, *reversed(bits)))
            width = 1 << len(bits)
            dtype = values[0].dtype.vec(width)
            rows = [tuple(values[i : i + width]) for i in range(0, len(values), width)]
            packed = [_packed(dtype, row) for row in rows]
            factors.append(Instances(own, None, packed))
        over = merged(factor.over for factor in factors)
        dtype = node.dtype.vec(width_of(lane))
        pairs = zip(*(self.pick(factor, over) for factor in factors))
        return Instances(over, lane, [UOp(Ops.WMMA, dtype, pair, arg.core) for pair in pairs])

    # ---- reductions ---------------------------------------------------------------------------

    def reduce(self, node: UOp) -> Instances:
        op, dtype = node.arg.op, node.dtype
        source = self.vector[node.src[0]]
        loops = loops_of(node)
        written_out = UNROLLED if self.wide else INSTANTIATED
        unrolled = tuple(loop for loop in loops if loop.arg.kind in written_out)
        lanes = next((loop for loop in loops if loop.arg.kind is AxisKind.VECTOR), None)
        lanes = lanes if self.wide else None
        shared = tuple(loop for loop in loops if is_shared(loop))
        alone = [loop for loop in loops if loop not in shared]
        rest = tuple(loop for loop in alone if loop.arg.kind not in INSTANTIATED)
        outside = tuple(loop for loop in source.over if loop not in unrolled)
        lane = None if source.lane is lanes else source.lane
        full = outside + tuple(sorted(unrolled, key=loop_order))
        values = self.pick(source, full)
        width = 1
        if lanes is not None and source.lane is None:
            values = [value.broadcast(width_of(lanes)) for value in values]
        if lanes is not None:
            width = width_of(lanes)
        elif lane is not None:
            width = width_of(lane)
        vector = dtype.vec(width) if width > 1 else dtype
        turns = count_of(unrolled)
        groups = count_of(outside)
        chains = min(turns, max(1, INDEPENDENT_CHAINS // groups))
        results: list[UOp] = []
        for group in range(groups):
            mine = values[group * turns : (group + 1) * turns]
            if op is Ops.ADD and self.dots:
                mine = packed(mine, self.dots)
            chains = min(chains, len(mine))
            parts = []
            if mine[0].op is Ops.WMMA:
                chains = 1  # each result is many values already
            for chain in range(chains):
                part = mine[chain::chains]
                if rest:
                    arg = Accumulate(op, len(part))
                    parts.append(UOp(Ops.REDUCE, vector, (*part, *rest), arg))
                else:
                    parts.append(self.chained(op, vector, part))
            total = _tree(op, vector, parts)
            if lanes is not None:
                total = _horizontal(op, dtype, total, width)
            if shared:
                total = UOp(Ops.REDUCE, total.dtype, (total, *shared), Accumulate(op))
            results.append(total)
        found = Instances(outside, lane, results)
        return found if self.wide else self.by_lane(found)

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

    # ---- memory -------------------------------------------------------------------------------

    def load(self, node: UOp) -> Instances:
        address = self.address(node.src[0])
        filled, alternative = self.filled.get(node.src[-1]), alternative_of(node)
        if not self.wide:
            over, places = self.places(address, None, 0, filled)
            return Instances(over, None, self.load_neighbours(node, places, alternative))
        lane, step = self.lane_step(address)
        if lane is not None and step not in (1, -1):
            across = self.across(node, address, lane)
            if across is not None:
                return self.square(node.dtype, address, lane, across, filled)
            over, places = self.places(address, None, 0, filled)
            pick = self.gather(over, lane)
            loads = [loaded(place, alternative, node.dtype, 1, 0) for place in places]
            rest = tuple(loop for loop in over if loop is not lane)
            dtype = node.dtype.vec(width_of(lane))
            values = [UOp(Ops.VECTORIZE, dtype, tuple(loads[i] for i in row)) for row in pick]
            return Instances(rest, lane, values)
        width = 1 if lane is None else width_of(lane)
        shift = (width - 1) * step if step == -1 else 0
        over, places = self.places(address, lane, shift, filled)
        values = [loaded(place, alternative, node.dtype, width, step) for place in places]
        return Instances(over, lane, values)

    def across(self, node: UOp, address: Address, lane: UOp) -> UOp | None:
        """The unrolled range along which a load moves by one, if there are as many as lanes.

        Both are then the sides of a square, which is read by the rows it has in memory.
        """
        side = width_of(lane)
        plain = address.gate is None and node.dtype is not dtypes.bool and lane in address.moving
        if not plain or side & (side - 1) or any(is_instantiated(term) for term in address.other):
            return None
        for loop, factor in address.moving.items():
            if factor == 1 and width_of(loop) == side and loop.arg.kind is AxisKind.UPCAST:
                return loop
        return None

    def square(
        self, dtype: DType, address: Address, lane: UOp, across: UOp, filled: _Filled | None
    ) -> Instances:
        """A load of squares by their rows; each instance along `across` is a column."""
        over, places = self.places(address, across, 0, filled)
        side, rest = width_of(lane), tuple(loop for loop in over if loop not in (lane, across))
        rows = [loaded(place, None, dtype, side, 1) for place in places]
        whole = merged([rest, (across,)])
        strides = strides_of(whole)
        starts = offsets(rest, [strides[loop] for loop in rest], 0)
        values: dict[int, UOp] = {}
        for start, picked in zip(starts, self.gather(over, lane)):
            for number, column in enumerate(columns_of([rows[i] for i in picked])):
                values[start + number * strides[across]] = column
        return Instances(whole, lane, [values[number] for number in range(count_of(whole))])

    def load_neighbours(self, node: UOp, places: list[Place], alternative: UOp | None) -> list[UOp]:
        """The value at each place; those of neighbours are the lanes of one load."""
        found: dict[int, UOp] = {}
        for members in neighbours(places, self.widths.get(node.dtype, ())):
            first = places[members[0][0]]
            wide = loaded(first, alternative, node.dtype, len(members), 1)
            for lane, same in enumerate(members):
                for number in same:
                    found[number] = wide if len(members) == 1 else wide.gep(lane)
        return [found[number] for number in range(len(places))]

    def fill(self, node: UOp) -> _Filled:
        """An array for each combination of the unrolled ranges outside, all filled in one nest."""
        outside = [loop for loop in ranges_of(node) if loop.arg.kind in INSTANTIATED]
        if any(loop.arg.kind is AxisKind.VECTOR for loop in outside):
            raise SpecError(
                "the lanes of a vector would each have an array of their own",
                asked="expanding a FILL",
                because="a VECTOR range stands outside it",
            )
        over = tuple(sorted(outside, key=loop_order))
        first = node.src[0].src[0].src[0]
        arrays = [first, *(first.replace(arg=next(self.names)) for _ in range(1, count_of(over)))]
        filled = _Filled(over, arrays, [])
        most = node.arg.flies or None
        stores = [one for store in values_of(node) for one in self.store(store, filled, most)]
        rest = tuple(loop for loop in loops_of(node) if loop.arg.kind not in INSTANTIATED)
        for array in arrays:
            mine = [store for store in stores if store.src[0].src[0] is array]
            arg = replace(node.arg, values=len(mine))
            if arg.flies:
                mine = [in_flight(store) for store in mine]
            fill = UOp(Ops.FILL, dtypes.void, (*mine, *rest), arg)
            filled.fills.append(fill)
        return filled

    def store(self, node: UOp, arrays: _Filled | None, most: int | None = None) -> list[UOp]:
        """most: neighbours that are stored at once; None: as many as there are."""
        address = self.address(node.src[0])
        value = self.vector[node.src[1]]
        lane, step = self.lane_step(address)
        if not self.wide:
            return self.store_neighbours(address, value, arrays, most)
        scattered = lane is not None and step != 1
        if lane is None and value.lane is not None:
            raise SpecError(
                "many lanes would be stored in one place", asked="expanding a STORE",
                because="its value depends on a VECTOR range that its address does not have",
            )  # fmt: skip
        over, places = self.places(address, None if scattered else lane, 0, arrays)
        loops = tuple(loop for loop in over if loop is not lane)
        _check_over(value, loops)
        values = self.pick(value, loops)
        out: list[UOp] = []
        if not scattered:
            for place, item in zip(places, values):
                if lane is not None and value.lane is None:
                    item = item.broadcast(width_of(lane))
                out += stored(place, item)
            return out
        assert lane is not None
        for item, row in zip(values, self.gather(over, lane)):
            for number, i in enumerate(row):
                part = item if value.lane is None else item.gep(number)
                out += stored(places[i], part)
        return out

    def store_neighbours(
        self, address: Address, value: Instances, arrays: _Filled | None, most: int | None
    ) -> list[UOp]:
        """A store for each place; those of neighbours are one."""
        over, places = self.places(address, None, 0, arrays)
        _check_over(value, over)
        values = self.pick(value, over)
        out: list[UOp] = []
        widths = self.widths.get(values[0].dtype, ())
        if most is not None:
            widths = tuple(width for width in widths if width <= most)
        for members in neighbours(places, widths):
            mine = [values[same[-1]] for same in members]  # the last of several in one place
            item = mine[0]
            if len(mine) > 1:
                item = _packed(item.dtype.vec(len(mine)), tuple(mine))
            out += stored(places[members[0][0]], item)
        return out

    def address(self, node: UOp) -> Address:
        known = self.addresses.get(node)
        if known is not None:
            return known
        terms, constant = affine(node.src[1])
        result = Address(
            node.src[0], {}, {}, {}, constant, node.src[1].dtype,
            node.src[2] if len(node.src) > 2 else None,
        )  # fmt: skip
        for term, factor in terms.items():
            if not self.changes(term):
                result.fixed[term] = factor
            elif term.op is Ops.RANGE:
                result.moving[term] = factor
            else:
                result.other[term] = factor
        self.addresses[node] = result
        return result

    def lane_step(self, address: Address) -> tuple[UOp | None, int]:
        """The VECTOR range of an address, and its step; 0 where that is no one number."""
        lanes = {loop for loop in address.moving if loop.arg.kind is AxisKind.VECTOR}
        hidden = set()
        for term in (*address.other, *([address.gate] if address.gate is not None else [])):
            hidden |= {r for r in ranges_of(term) if r.arg.kind is AxisKind.VECTOR}
        lane = self.lane_of(address.pointer, lanes | hidden)
        if lane is None or lane in hidden:
            return lane, 0
        return lane, address.moving[lane]

    def places(
        self, address: Address, lane: UOp | None, shift: int, filled: _Filled | None
    ) -> tuple[Ranges, list[Place]]:
        """For each combination of the ranges of an address, `lane` left out, and of its arrays."""
        moving = {loop: f for loop, f in address.moving.items() if loop is not lane}
        others = {term: self.scalars(term) for term in address.other}
        gate = None if address.gate is None else self.scalars(address.gate)
        unrolled = tuple(sorted(moving, key=loop_order))
        own = _Filled((), [address.pointer], []) if filled is None else filled
        over = merged(
            [unrolled, *(o.over for o in others.values()), gate.over if gate else (), own.over]
        )
        factors = [moving.get(loop, 0) for loop in over]
        gates = None if gate is None else self.pick(gate, over)
        columns = {term: self.pick(found, over) for term, found in others.items()}
        base = from_affine(address.fixed, 0, _outermost_first, address.dtype)
        arrays = self.pick(Instances(own.over, None, own.arrays), over)
        fills = self.pick(Instances(own.over, None, own.fills), over) if own.fills else None
        result: list[Place] = []
        for number, constant in enumerate(offsets(over, factors, address.constant + shift)):
            at = base
            if columns:
                terms = dict(address.fixed)
                for term, factor in address.other.items():
                    more, extra = affine(columns[term][number])
                    constant += extra * factor
                    for part, times in more.items():
                        terms[part] = terms.get(part, 0) + times * factor
                terms = {part: times for part, times in terms.items() if times}
                at = from_affine(terms, 0, _outermost_first, address.dtype)
            before = at
            if constant:
                more_constant = UOp.const(address.dtype, constant)
                at = (
                    more_constant
                    if at.op is Ops.CONST
                    else UOp(Ops.ADD, address.dtype, (at, more_constant))
                )
            place = UOp(Ops.INDEX, address.pointer.dtype, (arrays[number], at))
            condition = None if gates is None else gates[number]
            fill = None if fills is None else fills[number]
            result.append(Place(place, condition, fill, before, constant))
        return over, result

    # ---- the index side -----------------------------------------------------------------------

    def scalars(self, root: UOp) -> Instances:
        """Instances of an integer or boolean expression, lanes instantiated like the rest."""
        known = self.scalar
        if root in known:
            return known[root]
        if root in self.from_memory:
            known[root] = self.by_lane(self.vector[root])
            return known[root]
        for node in root.toposort(gate=lambda u: u not in known and u.op not in CLOSING):
            if node in known:
                continue
            if not self.changes(node):
                known[node] = Instances((), None, [node])
            elif node.op is Ops.REDUCE:
                known[node] = self.by_lane(self.vector[node])
            elif node.op is Ops.LOAD and node.src[-1] in self.filled:
                known[node] = self.by_lane(self.load(node))
            elif node.op is Ops.FILL:
                known[node] = Instances((), None, [node])  # the load above it knows
            elif node.op is Ops.RANGE:
                known[node] = self.range(node, lanes=False)
            else:
                sources = [known[source] for source in node.src]
                over = merged(source.over for source in sources)
                columns = [self.pick(source, over) for source in sources]
                values = [folded(node.op, node.dtype, src, node.arg) for src in zip(*columns)]
                known[node] = Instances(over, None, values)
        found = known[root]
        known[root] = Instances(found.over, None, [value.simplify() for value in found.values])
        return known[root]

    def changes(self, node: UOp) -> bool:
        """Whether a node is another after expansion: ranges are instantiated in it or below it."""
        return is_instantiated(node) or node in self.closing

    def by_lane(self, found: Instances) -> Instances:
        """The lanes of a value as instances."""
        if found.lane is None:
            return found
        over = merged([found.over, (found.lane,)])
        strides, width = strides_of(over), width_of(found.lane)
        step = strides[found.lane]
        whole = self.pick(Instances(found.over, None, found.values), over)
        values = [value.gep(number // step % width) for number, value in enumerate(whole)]
        return Instances(over, None, values)

    # ---- which instance of a source belongs to which of a user --------------------------------

    def pick(self, source: Instances, over: Ranges) -> list[UOp]:
        """The values of `source` for every combination of `over`, which includes its own ranges."""
        if source.over == over:
            return source.values
        if not source.over:
            return source.values * count_of(over)
        key = (source.over, over)
        positions = self.maps.get(key)
        if positions is None:
            strides = strides_of(source.over)
            factors = [strides.get(loop, 0) for loop in over]
            positions = self.maps[key] = offsets(over, factors, 0)
        return [source.values[i] for i in positions]

    def gather(self, over: Ranges, lane: UOp) -> list[list[int]]:
        """For each combination of the other ranges, the numbers of the instances of all lanes."""
        if lane not in over:
            return [[i] * width_of(lane) for i in range(count_of(over))]
        rest = tuple(loop for loop in over if loop is not lane)
        strides = strides_of(over)
        factors = [strides[loop] for loop in rest]
        step = strides[lane]
        turns = range(width_of(lane))
        return [[first + step * turn for turn in turns] for first in offsets(rest, factors, 0)]


def _is_lanes(loop: UOp) -> bool:
    return loop.arg.kind is AxisKind.VECTOR


def _check_over(value: Instances, loops: Ranges) -> None:
    if not set(value.over) <= set(loops):
        raise SpecError(
            "many values would be stored in one place", asked="expanding a STORE",
            because="its value depends on an unrolled range that its address does not have",
        )  # fmt: skip


def _packed(dtype: DType, row: tuple[UOp, ...]) -> UOp:
    """A vector of these lanes: the one that they were taken from, where it is that."""
    whole = row[0].src[0] if row[0].op is Ops.GEP else row[0]
    if whole.dtype is dtype and row == tuple(whole.gep(lane) for lane in range(len(row))):
        return whole
    return UOp(Ops.VECTORIZE, dtype, row)


def _is_unrolled(reduce: UOp) -> bool:
    return any(loop.arg.kind in INSTANTIATED for loop in loops_of(reduce))


def _outermost_first(term: UOp) -> tuple[object, ...]:
    """Terms sorted by the innermost loop they turn with; those of no loop first."""
    ranges = ranges_of(term)
    if not ranges:
        return (-1, -1, str(term.arg))
    return (*max(loop_order(loop) for loop in ranges), term.op)


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
    fused: frozenset[DType] = frozenset(),
    widths: Widths | None = None,
    dots: Sequence[PairDot] = (),
) -> UOp:
    """The graph without unrolled ranges; itself where there are none.

    `fused`: scalar dtypes for which the target has a multiply-add. `widths`: how many neighbours
    it loads or stores at once, by dtype; None where it computes with vectors too. `dots`: what it
    has for sums of products of narrow numbers.
    """
    nodes = sink.toposort()
    if not any(
        (node.op is Ops.RANGE and node.arg.kind in INSTANTIATED)
        or (node.op is Ops.FILL and node.arg.flies)
        or node.op is Ops.DOT
        for node in nodes
    ):
        return sink
    return _Expander(sink, fused, widths, dots).run()
