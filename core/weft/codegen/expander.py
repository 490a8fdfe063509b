"""Ranges that are unrolled become instances, ranges that are lanes become vectors.

in:  spec.lowered after optimisation: ranges of kind UPCAST, UNROLL and VECTOR among the others
out: spec.lowered without them: one node for each instance, vector dtypes where a VECTOR range was

Every node is instantiated directly, once for each value of the unrolled ranges that it depends on,
and for no others: what does not depend on an unrolled range stays one node. Nothing is matched or
rewritten afterwards. Addresses are kept as sums (see `affine`), so that an instance differs from
its neighbour by a constant; a load whose address moves by one with the lane is one vector load.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from weft.base.dtype import DType, dtypes
from weft.base.errors import SpecError
from weft.codegen.affine import affine, from_affine
from weft.codegen.fold import folded, is_false, is_true
from weft.codegen.ranges import Accumulate, extent_of, loop_order, loops_of, ranges_of
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import Ops

_UNROLLED = frozenset({AxisKind.UPCAST, AxisKind.UNROLL})
_INSTANTIATED = _UNROLLED | {AxisKind.VECTOR}
INDEPENDENT_CHAINS = 8  # what a multiply-add of four cycles needs, two being started in each

Ranges = tuple[UOp, ...]


@dataclass(frozen=True, slots=True)
class Instances:
    """The values of a node, one for each combination of `over`, row-major; lanes are `lane`."""

    over: Ranges
    lane: UOp | None
    values: list[UOp]


@dataclass(slots=True)
class _Address:
    """An INDEX taken apart: fixed terms, ranges with their factor, terms that are instantiated."""

    pointer: UOp
    fixed: dict[UOp, int]
    moving: dict[UOp, int]
    other: dict[UOp, int]
    constant: int
    dtype: DType
    gate: UOp | None


class _Expander:
    def __init__(self, sink: UOp, fused: frozenset[DType]) -> None:
        self.fused = fused
        self.scalar: dict[UOp, Instances] = {}  # VECTOR ranges instantiated like the others
        self.vector: dict[UOp, Instances] = {}  # VECTOR ranges as lanes
        self.addresses: dict[UOp, _Address] = {}
        self.maps: dict[tuple[Ranges, Ranges], list[int]] = {}
        self.sink = sink

    def run(self) -> UOp:
        roots: list[UOp] = []
        for node in self.sink.toposort(gate=lambda u: u.op is not Ops.INDEX):
            if node.op is Ops.SINK:
                break
            if node.op is Ops.STORE:
                roots += self.store(node)
            else:
                self.vector[node] = self.instances(node)
        return UOp.sink(*roots, arg=self.sink.arg)

    # ---- the value side -----------------------------------------------------------------------

    def instances(self, node: UOp) -> Instances:
        op = node.op
        if op is Ops.RANGE:
            return self.range(node, lanes=True)
        if op is Ops.INDEX or not ranges_of_kind(node):
            if op is Ops.REDUCE and _is_unrolled(node):
                return self.reduce(node)
            if op is Ops.INDEX:
                return Instances((), None, [node])  # taken apart by the load or store above it
            return self.unchanged(node)
        if op is Ops.LOAD:
            return self.load(node)
        if op is Ops.REDUCE:
            return self.reduce(node)
        return self.elementwise(node)

    def unchanged(self, node: UOp) -> Instances:
        """A node that no unrolled range reaches; what is below (a REDUCE) may have changed."""
        if node.op is Ops.LOAD:
            return Instances((), None, [node])
        src = tuple([self.vector[source].values[0] for source in node.src])
        same = node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
        return Instances((), None, [same])

    def elementwise(self, node: UOp) -> Instances:
        sources = [self.vector[source] for source in node.src]
        over = _merged(source.over for source in sources)
        lane = self.lane_of(node, [source.lane for source in sources])
        dtype = node.dtype
        columns = [self.pick(source, over) for source in sources]
        if lane is None:
            values = [folded(node.op, dtype, src, node.arg) for src in zip(*columns)]
            return Instances(over, None, values)
        width = _width(lane)
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
        if node.arg.kind not in _INSTANTIATED:
            return Instances((), None, [node])
        turns = range(_width(node))
        if node.arg.kind is AxisKind.VECTOR and lanes:
            return Instances((), node, [UOp.const(node.dtype, tuple(turns))])
        return Instances((node,), None, [UOp.const(node.dtype, turn) for turn in turns])

    # ---- reductions ---------------------------------------------------------------------------

    def reduce(self, node: UOp) -> Instances:
        op, dtype = node.arg.op, node.dtype
        source = self.vector[node.src[0]]
        loops = loops_of(node)
        unrolled = tuple(loop for loop in loops if loop.arg.kind in _UNROLLED)
        lanes = next((loop for loop in loops if loop.arg.kind is AxisKind.VECTOR), None)
        rest = tuple(loop for loop in loops if loop.arg.kind not in _INSTANTIATED)
        outside = tuple(loop for loop in source.over if loop not in unrolled)
        lane = None if source.lane is lanes else source.lane
        full = outside + tuple(sorted(unrolled, key=loop_order))
        values = self.pick(source, full)
        width = 1
        if lanes is not None and source.lane is None:
            values = [value.broadcast(_width(lanes)) for value in values]
        if lanes is not None:
            width = _width(lanes)
        elif lane is not None:
            width = _width(lane)
        vector = dtype.vec(width) if width > 1 else dtype
        turns = _count(unrolled)
        groups = _count(outside)
        chains = min(turns, max(1, INDEPENDENT_CHAINS // groups))
        results = []
        for group in range(groups):
            mine = values[group * turns : (group + 1) * turns]
            parts = []
            for chain in range(chains):
                part = mine[chain::chains]
                if rest:
                    arg = Accumulate(op, len(part))
                    parts.append(UOp(Ops.REDUCE, vector, (*part, *rest), arg))
                else:
                    parts.append(self.chained(op, vector, part))
            total = _tree(op, vector, parts)
            results.append(total if lanes is None else _horizontal(op, dtype, total, width))
        return Instances(outside, lane, results)

    def chained(self, op: Ops, dtype: DType, values: list[UOp]) -> UOp:
        total = values[0]
        for value in values[1:]:
            if op is Ops.ADD and value.op is Ops.MUL and dtype.scalar() in self.fused:
                total = UOp(Ops.MULACC, dtype, (*value.src, total))
            else:
                total = UOp(op, dtype, (total, value))
        return total

    # ---- memory -------------------------------------------------------------------------------

    def load(self, node: UOp) -> Instances:
        address = self.address(node.src[0])
        alternative = node.src[1] if len(node.src) > 1 else None
        lane, step = self.lane_step(address)
        if lane is not None and step not in (1, -1):
            over, places = self.places(address, None)
            pick = self.gather(over, lane)
            loads = [_loaded(place, gate, alternative, node.dtype, 1, 0) for place, gate in places]
            rest = tuple(loop for loop in over if loop is not lane)
            dtype = node.dtype.vec(_width(lane))
            values = [UOp(Ops.VECTORIZE, dtype, tuple(loads[i] for i in row)) for row in pick]
            return Instances(rest, lane, values)
        width = 1 if lane is None else _width(lane)
        over, places = self.places(address, lane, (width - 1) * step if step == -1 else 0)
        values = [
            _loaded(place, gate, alternative, node.dtype, width, step) for place, gate in places
        ]
        return Instances(over, lane, values)

    def store(self, node: UOp) -> list[UOp]:
        address = self.address(node.src[0])
        value = self.vector[node.src[1]]
        lane, step = self.lane_step(address)
        scattered = lane is not None and step != 1
        if lane is None and value.lane is not None:
            raise SpecError(
                "many lanes would be stored in one place", asked="expanding a STORE",
                because="its value depends on a VECTOR range that its address does not have",
            )  # fmt: skip
        over, places = self.places(address, None if scattered else lane)
        loops = tuple(loop for loop in over if loop is not lane)
        if not set(value.over) <= set(loops):
            raise SpecError(
                "many values would be stored in one place", asked="expanding a STORE",
                because="its value depends on an unrolled range that its address does not have",
            )  # fmt: skip
        values = self.pick(value, loops)
        out: list[UOp] = []
        if not scattered:
            for (place, gate), item in zip(places, values):
                if lane is not None and value.lane is None:
                    item = item.broadcast(_width(lane))
                out += _stored(place, gate, item)
            return out
        assert lane is not None
        for item, row in zip(values, self.gather(over, lane)):
            for number, i in enumerate(row):
                part = item if value.lane is None else item.gep(number)
                out += _stored(*places[i], part)
        return out

    def address(self, node: UOp) -> _Address:
        known = self.addresses.get(node)
        if known is not None:
            return known
        terms, constant = affine(node.src[1])
        result = _Address(
            node.src[0], {}, {}, {}, constant, node.src[1].dtype,
            node.src[2] if len(node.src) > 2 else None,
        )  # fmt: skip
        for term, factor in terms.items():
            if not ranges_of_kind(term):
                result.fixed[term] = factor
            elif term.op is Ops.RANGE:
                result.moving[term] = factor
            else:
                result.other[term] = factor
        self.addresses[node] = result
        return result

    def lane_step(self, address: _Address) -> tuple[UOp | None, int]:
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
        self, address: _Address, lane: UOp | None, shift: int = 0
    ) -> tuple[Ranges, list[tuple[UOp, UOp | None]]]:
        """(index, gate) for each combination of the ranges of an address, `lane` left out."""
        moving = {loop: f for loop, f in address.moving.items() if loop is not lane}
        others = {term: self.scalars(term) for term in address.other}
        gate = None if address.gate is None else self.scalars(address.gate)
        unrolled = tuple(sorted(moving, key=loop_order))
        over = _merged([unrolled, *(o.over for o in others.values()), gate.over if gate else ()])
        factors = [moving.get(loop, 0) for loop in over]
        gates = None if gate is None else self.pick(gate, over)
        columns = {term: self.pick(found, over) for term, found in others.items()}
        base = from_affine(address.fixed, 0, _outermost_first, address.dtype)
        result: list[tuple[UOp, UOp | None]] = []
        for number, turns in enumerate(_combinations(over)):
            constant = address.constant + shift
            constant += sum(turn * factor for turn, factor in zip(turns, factors))
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
            if constant:
                more_constant = UOp.const(address.dtype, constant)
                at = more_constant if at.op is Ops.CONST else at + more_constant
            place = UOp(Ops.INDEX, address.pointer.dtype, (address.pointer, at))
            result.append((place, None if gates is None else gates[number]))
        return over, result

    # ---- the index side -----------------------------------------------------------------------

    def scalars(self, root: UOp) -> Instances:
        """Instances of an integer or boolean expression, lanes instantiated like the rest."""
        known = self.scalar
        if root in known:
            return known[root]
        for node in root.toposort(gate=lambda u: u not in known):
            if node in known:
                continue
            if not ranges_of_kind(node):
                known[node] = Instances((), None, [node])
            elif node.op is Ops.RANGE:
                known[node] = self.range(node, lanes=False)
            else:
                sources = [known[source] for source in node.src]
                over = _merged(source.over for source in sources)
                columns = [self.pick(source, over) for source in sources]
                values = [folded(node.op, node.dtype, src, node.arg) for src in zip(*columns)]
                known[node] = Instances(over, None, values)
        found = known[root]
        known[root] = Instances(found.over, None, [value.simplify() for value in found.values])
        return known[root]

    # ---- which instance of a source belongs to which of a user --------------------------------

    def pick(self, source: Instances, over: Ranges) -> list[UOp]:
        """The values of `source` for every combination of `over`, which includes its own ranges."""
        if source.over == over:
            return source.values
        if not source.over:
            return source.values * _count(over)
        key = (source.over, over)
        positions = self.maps.get(key)
        if positions is None:
            strides = _strides(source.over)
            factors = [strides.get(loop, 0) for loop in over]
            positions = [
                sum(t * f for t, f in zip(turns, factors)) for turns in _combinations(over)
            ]
            self.maps[key] = positions
        return [source.values[i] for i in positions]

    def gather(self, over: Ranges, lane: UOp) -> list[list[int]]:
        """For each combination of the other ranges, the numbers of the instances of all lanes."""
        if lane not in over:
            return [[i] * _width(lane) for i in range(_count(over))]
        rest = tuple(loop for loop in over if loop is not lane)
        strides = _strides(over)
        factors = [strides[loop] for loop in rest]
        step = strides[lane]
        rows = []
        for turns in _combinations(rest):
            first = sum(t * f for t, f in zip(turns, factors))
            rows.append([first + step * turn for turn in range(_width(lane))])
        return rows


def ranges_of_kind(node: UOp) -> bool:
    """Whether the value of a node depends on a range that is instantiated."""
    return any(loop.arg.kind in _INSTANTIATED for loop in ranges_of(node))


def _is_unrolled(reduce: UOp) -> bool:
    return any(loop.arg.kind in _INSTANTIATED for loop in loops_of(reduce))


def _width(loop: UOp) -> int:
    extent = extent_of(loop)
    if not isinstance(extent, int):
        raise SpecError(
            "a range of unknown extent cannot be unrolled", asked=f"expanding {loop.arg}"
        )
    return extent


def _count(over: Ranges) -> int:
    total = 1
    for loop in over:
        total *= _width(loop)
    return total


def _strides(over: Ranges) -> dict[UOp, int]:
    strides: dict[UOp, int] = {}
    step = 1
    for loop in reversed(over):
        strides[loop] = step
        step *= _width(loop)
    return strides


def _combinations(over: Ranges) -> list[tuple[int, ...]]:
    result: list[tuple[int, ...]] = [()]
    for loop in over:
        result = [(*turns, turn) for turns in result for turn in range(_width(loop))]
    return result


def _merged(many: Iterable[Ranges]) -> Ranges:
    found: dict[UOp, None] = {}
    for ranges in many:
        for loop in ranges:
            found[loop] = None
    return tuple(sorted(found, key=loop_order)) if len(found) > 1 else tuple(found)


def _outermost_first(term: UOp) -> tuple[object, ...]:
    """Terms sorted by the innermost loop they turn with; those of no loop first."""
    ranges = ranges_of(term)
    if not ranges:
        return (-1, -1, str(term.arg))
    return (*max(loop_order(loop) for loop in ranges), term.op)


def _loaded(
    place: UOp, gate: UOp | None, alternative: UOp | None, dtype: DType, width: int, step: int
) -> UOp:
    """One load of `width` lanes; backwards where the address moves down with the lane."""
    vector = dtype.vec(width) if width > 1 else dtype
    if gate is not None and not is_true(gate):
        other = alternative if alternative is not None else UOp.const(dtype, 0)
        if is_false(gate):
            return other.broadcast(width)
        gated = UOp(Ops.INDEX, place.dtype, (*place.src, gate))
        loaded = UOp(Ops.LOAD, vector, (gated, other.broadcast(width)))
    else:
        loaded = UOp(Ops.LOAD, vector, (place,))
    return loaded.gep(tuple(range(width - 1, -1, -1))) if step == -1 and width > 1 else loaded


def _stored(place: UOp, gate: UOp | None, value: UOp) -> list[UOp]:
    if gate is not None and not is_true(gate):
        if is_false(gate):
            return []
        place = UOp(Ops.INDEX, place.dtype, (*place.src, gate))
    return [UOp(Ops.STORE, dtypes.void, (place, value))]


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


def run(sink: UOp, fused: frozenset[DType] = frozenset()) -> UOp:
    """The graph without unrolled ranges; itself where there are none.

    `fused`: scalar dtypes for which the target has a multiply-add.
    """
    nodes = sink.toposort()
    if not any(node.op is Ops.RANGE and node.arg.kind in _INSTANTIATED for node in nodes):
        return sink
    return _Expander(sink, fused).run()
