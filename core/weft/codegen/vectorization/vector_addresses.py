"""Vector addresses: instantiate the addresses and masks of unrolled accesses as affine sums.

It also maps each instance of a node to the instances of its sources. Addresses are kept as affine
sums (see `affine`), so that an instance differs from its neighbour by a constant.

Source: none known; sound because each instance is the address with constants for its ranges.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from weft.base.dtype import DType, dtypes
from weft.base.errors import SpecError
from weft.codegen.analysis.affine import affine, from_affine, innermost_loop_order
from weft.codegen.analysis.folding import folded
from weft.codegen.analysis.ranges import CLOSING, loop_order, ranges_of
from weft.codegen.analysis.substitution import replace_nodes
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.vectorization.instances import (
    INSTANTIATED,
    Instances,
    Ranges,
    count_of,
    is_instantiated,
    merged,
    offsets,
    strides_of,
    width_of,
)
from weft.codegen.vectorization.memory_accesses import Address, Place
from weft.device.machine import MachineModel
from weft.device.packed_dot import PairDot
from weft.uop import AxisKind, Ops, UOp

Widths: TypeAlias = Mapping[DType, tuple[int, ...]]


class Filled(NamedTuple):
    """The arrays of a FILL for each combination of `over`; its instances, once they are known."""

    over: Ranges
    arrays: list[UOp]
    fills: list[UOp]


class Places(ABC):
    """The part of the expander that knows what is known so far, and where things are."""

    def __init__(
        self, sink: UOp, fused: frozenset[DType], widths: Widths | None, dots: Sequence[PairDot],
        machine: MachineModel, lanes: int,
    ) -> None:  # fmt: skip
        self.fused = fused
        self.dots = dots
        self.lanes = lanes  # of 32 bits in a register
        self.independent_sums = machine.independent_operations
        self.wide = widths is None
        self.widths = widths or {}
        self.scalar: dict[UOp, Instances] = {}  # VECTOR ranges instantiated like the others
        self.vector: dict[UOp, Instances] = {}  # VECTOR ranges as lanes
        self.addresses: dict[UOp, Address] = {}
        self.maps: dict[tuple[Ranges, Ranges], list[int]] = {}
        self.filled: dict[UOp, Filled] = {}
        self.closing: set[UOp] = set()  # what is computed from a REDUCE or FILL
        self.from_memory: set[UOp] = set()  # parts of addresses that are vectors
        self.sink = sink
        arrays = [node.arg for node in nodes_of(sink) if node.op is Ops.DEFINE_REG]
        self.names = itertools.count(max(arrays, default=0) + 1)

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
        indices = range(width_of(node))
        if node.arg.kind is AxisKind.VECTOR and lanes and self.wide:
            return Instances((), node, [UOp.const(node.dtype, tuple(indices))])
        return Instances((node,), None, [UOp.const(node.dtype, index) for index in indices])

    @abstractmethod
    def load(self, node: UOp) -> Instances:
        """The instances of a LOAD, which the part above knows: an address may hold one."""

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
        simple = _simplified if root in self.closing else UOp.simplify
        known[root] = Instances(found.over, None, [simple(value) for value in found.values])
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
        """Return the instance numbers of all lanes, for each combination of the other ranges."""
        if lane not in over:
            return [[i] * width_of(lane) for i in range(count_of(over))]
        rest = tuple(loop for loop in over if loop is not lane)
        strides = strides_of(over)
        factors = [strides[loop] for loop in rest]
        step = strides[lane]
        lanes = range(width_of(lane))
        return [[first + step * i for i in lanes] for first in offsets(rest, factors, 0)]

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
        hidden: set[UOp] = set()
        for term in (*address.other, *([address.gate] if address.gate is not None else [])):
            hidden |= {r for r in ranges_of(term) if r.arg.kind is AxisKind.VECTOR}
        lane = self.lane_of(address.pointer, lanes | hidden)
        if lane is None or lane in hidden:
            return lane, 0
        return lane, address.moving[lane]

    def places(
        self, address: Address, lane: UOp | None, shift: int, filled: Filled | None
    ) -> tuple[Ranges, list[Place]]:
        """For each combination of the ranges of an address, `lane` left out, and of its arrays."""
        moving = {loop: f for loop, f in address.moving.items() if loop is not lane}
        others = {term: self.scalars(term) for term in address.other}
        gate = None if address.gate is None else self.scalars(address.gate)
        unrolled = tuple(sorted(moving, key=loop_order))
        own = Filled((), [address.pointer], []) if filled is None else filled
        over = merged(
            [unrolled, *(o.over for o in others.values()), gate.over if gate else (), own.over]
        )
        factors = [moving.get(loop, 0) for loop in over]
        gates = None if gate is None else self.pick(gate, over)
        columns = {term: self.pick(found, over) for term, found in others.items()}
        base = from_affine(address.fixed, 0, innermost_loop_order, address.dtype)
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
                at = from_affine(terms, 0, innermost_loop_order, address.dtype)
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


def _simplified(value: UOp) -> UOp:
    """A value simplified around the sums and arrays in it: these are used elsewhere as they are,
    and written another way they would be computed twice."""
    marks: dict[UOp, UOp] = {}
    for node in value.toposort(gate=lambda u: not _is_computed_once(u)):
        if _is_computed_once(node):
            name = f"made_once_{len(marks)}"
            whole = dtypes.is_int(node.dtype) and node.vmin < node.vmax
            marks[node] = (
                UOp.variable(name, node.vmin, node.vmax, node.dtype)
                if whole
                else UOp(Ops.NOOP, node.dtype, (), name)
            )
    if not marks:
        return value.simplify()
    plain = replace_nodes(list(value.toposort()), marks).simplify()
    back = {mark: node for node, mark in marks.items()}
    return replace_nodes(list(plain.toposort()), back)


def _is_computed_once(node: UOp) -> bool:
    return node.op in CLOSING or (node.op is Ops.LOAD and node.src[-1].op is Ops.FILL)
