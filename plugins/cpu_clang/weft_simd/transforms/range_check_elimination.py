"""Range check elimination: run the iterations of a sum in which all gates pass without the gates.
Also: index-set splitting of a reduction, guard elimination, padding, bounds-check elimination,
bounds check elimination.

    for r < n: sum += x[r] * (a <= r < b ? y[r] : 0)
->  for r < b - a: sum += x[r + a] * y[r + a]; for the other r: sum += x[r] * 0

in:  spec.linear
out: spec.linear with two loops in place of such a loop; equal values

A gated element costs a comparison, a select of its address and no folded load, for each of few
multiply-adds where a vector is short. The bounds depend on outer loops alone, so they are computed
once for a loop. A gate that is invariant in the loop makes the first loop empty where it fails. The
zeros are still multiplied, because zero times a value that is not finite is NaN. Every accumulator
only adds products with a zero in these iterations, so the order of its other terms does not change.

Source: R. Bodik, R. Gupta, V. Sarkar, "ABCD: eliminating array bounds checks on demand" (PLDI
2000); LLVM's InductiveRangeCheckElimination, which splits a loop in the same way.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from weft.plugin import (
    PREFETCHES,
    AddrSpace,
    MachineModel,
    Ops,
    PtrDType,
    UOp,
    affine,
    conjuncts,
    dtypes,
    from_affine,
    loops_first,
    max_trip_count,
)
from weft_simd import thresholds
from weft_simd.transforms.innermost_loops import replace_innermost

_OF_ZEROS = "zeros"  # arg of the LOAD of an accumulator in the loop over zeros


def run(nodes: Sequence[UOp], machine: MachineModel) -> list[UOp]:
    """The program with such loops split; the same program if it has none."""
    numbers = itertools.count(1 + max((u.arg.id for u in nodes if u.op is Ops.RANGE), default=0))
    every = frozenset(nodes)

    def replace(loop: list[UOp], scopes: list[set[UOp]]) -> list[UOp] | None:
        return _Loop(loop, numbers, machine).split(scopes[:-1], every)

    return replace_innermost(nodes, replace)


class _Loop:
    """An innermost loop. nodes: from its RANGE to its ENDRANGE. numbers: of new loops."""

    def __init__(self, nodes: Sequence[UOp], numbers: Iterator[int], machine: MachineModel) -> None:
        self.nodes, self.loop, self.body = nodes, nodes[0], nodes[1:-1]
        self.numbers, self.machine = numbers, machine
        self.stores = [node for node in self.body if node.op is Ops.STORE]

    def split(self, scopes: Sequence[set[UOp]], every: frozenset[UOp]) -> list[UOp] | None:
        """The nodes of both loops after their bounds; None if the loop has no such gates, or if
        the loops share values.

        scopes: the nodes that are visible at the loop. every: all nodes of the program.
        """
        loads = self.gated_loads()
        gates = [conjuncts(load.src[0].src[2]) for load in loads]
        shared = [gate for gate in gates[0] if all(gate in one for one in gates)] if gates else []
        bounds = {gate: bound for gate in shared if (bound := self.bound(gate)) is not None}
        clear = sum(all(gate in bounds for gate in one) for one in gates)
        spared = max_trip_count(self.loop) * clear
        if not bounds or spared < thresholds.branch_operations(self.machine):
            return None
        start, count = self.passing(bounds.values())
        kind, dtype = self.loop.arg.kind, self.loop.dtype
        first = UOp.range(count, next(self.numbers), kind, dtype)
        rest = UOp.range(self.loop.src[0] - count, next(self.numbers), kind, dtype)
        index = (rest < start).where(rest, rest + count)
        loops = (
            (first, self.without_gates(first + start, bounds, loads)),
            (rest, self.over_zeros(index, loads)),
        )
        others = every.difference(self.nodes)
        return _listed((start, count, rest.src[0]), loops, scopes, others)

    # ---- what qualifies ---------------------------------------------------------------------

    def gated_loads(self) -> list[UOp]:
        """The gated LOADs, of which every accumulator adds a product with one; none otherwise."""
        found: dict[UOp, None] = {}
        for store in self.stores:
            load = _gated_factor(store)
            if load is None:
                return []
            found[load] = None
        return list(found)

    def bound(self, gate: UOp) -> tuple[str, UOp] | None:
        """("first", i) of a gate that passes from iteration i on, ("end", i) of one that fails from
        i on, ("all", gate) of one that is invariant; None of another one."""
        if not self.varies(gate):
            return "all", gate
        inverts = gate.op in (Ops.XOR, Ops.CMPNE) and gate.src[1].op is Ops.CONST
        fails = inverts and gate.src[1].arg is True
        test = gate.src[0] if fails else gate
        if test.op is not Ops.CMPLT or test.src[0].dtype is not self.loop.dtype:
            return None
        (left, low), (right, high) = (affine(side) for side in test.src)
        terms = {u: left.get(u, 0) - right.get(u, 0) for u in (*left, *right)}
        if terms.pop(self.loop, 0) != 1 or any(map(self.varies, terms)):
            return None
        rest = {term: -times for term, times in terms.items() if times}
        place = from_affine(rest, high - low, loops_first, self.loop.dtype)
        return ("first" if fails else "end"), place

    def varies(self, node: UOp) -> bool:
        """Whether a node depends on the loop."""
        return self.loop in node.toposort()

    def passing(self, bounds: Iterable[tuple[str, UOp]]) -> tuple[UOp, UOp]:
        """The first iteration in which all gates pass, and the number of these iterations."""
        zero = UOp.const(self.loop.dtype, 0)
        start, end = zero, self.loop.src[0]
        conditions: list[UOp] = []
        for kind, bound in bounds:
            if kind == "first":
                start = (start < bound).where(bound, start)
            elif kind == "end":
                end = (bound < end).where(bound, end)
            else:
                conditions.append(bound)
        count = (start < end).where(end - start, zero)
        for condition in conditions:
            count = condition.where(count, zero)
        return start, count

    # ---- the two loops ----------------------------------------------------------------------

    def without_gates(self, index: UOp, passing: Iterable[UOp], loads: Sequence[UOp]) -> list[UOp]:
        """The STOREs and prefetches of the iterations in which the gates `passing` hold."""
        new: dict[UOp, UOp] = {self.loop: index}
        hints = [u for u in self.body if u.op is Ops.LOAD and u.arg in PREFETCHES]
        for node in self.body:
            copy = _copy(node, new)
            if node in loads:
                place, *other = copy.src
                left = [_copied(u, new) for u in conjuncts(node.src[0].src[2]) if u not in passing]
                gate = (reduce(UOp.__and__, left),) if left else ()
                place = place.replace(src=(*place.src[:2], *gate))
                copy = copy.replace(src=(place, *(other if left else ())))
            new[node] = copy
        return [new[node] for node in (*hints, *self.stores)]

    def over_zeros(self, index: UOp, loads: Sequence[UOp]) -> list[UOp]:
        """The STOREs of the other iterations, in which the gated LOADs are zero."""
        new: dict[UOp, UOp] = {self.loop: index}
        own = {store.src[0] for store in self.stores}
        for node in self.body:
            copy = _copy(node, new)
            if node in loads:
                copy = node.src[1]
            elif node.op is Ops.LOAD and node.src[0] in own:
                copy = copy.replace(arg=_OF_ZEROS)
            new[node] = copy
        return [new[node] for node in self.stores]


def _gated_factor(store: UOp) -> UOp | None:
    """The gated LOAD, zero where its gate fails, that is a factor of the product that a STORE adds
    to an accumulator; None if it stores something else."""
    place, value = store.src
    pointer = place.src[0].dtype
    if not isinstance(pointer, PtrDType) or pointer.space is not AddrSpace.REG:
        return None
    if value.op is Ops.MULACC:
        factors, sums = value.src[:2], value.src[2:]
    elif value.op is Ops.ADD and value.src[0].op is Ops.MUL:
        factors, sums = value.src[0].src, value.src[1:]
    else:
        return None
    if any(one.op is not Ops.LOAD or one.src != (place,) for one in sums):
        return None
    for factor in factors:
        lanes = set(factor.src) if factor.op is Ops.VECTORIZE else {factor}
        load = lanes.pop()
        gated = load.op is Ops.LOAD and load.arg is None and len(load.src) == 2
        if gated and not lanes and load.src[1].op is Ops.CONST and load.src[1].arg == 0:
            return load
    return None


def _copy(node: UOp, new: dict[UOp, UOp]) -> UOp:
    """A node with sources that are replaced."""
    source = tuple(new.get(one, one) for one in node.src)
    return node if source == node.src else node.replace(src=source)


def _copied(root: UOp, new: dict[UOp, UOp]) -> UOp:
    """A node that may be no part of the body, with all below it that is replaced."""
    for node in root.toposort(gate=lambda u: u not in new):
        if node not in new:
            new[node] = _copy(node, new)
    return new[root]


def _listed(
    before: Sequence[UOp],
    loops: Sequence[tuple[UOp, Sequence[UOp]]],
    scopes: Sequence[set[UOp]],
    others: frozenset[UOp],
) -> list[UOp] | None:
    """The nodes of loops, each a RANGE and the roots of its body; None if a node occurs twice.

    before: nodes that precede the loops. others: all other nodes of the program.
    """
    out: dict[UOp, None] = {}
    visible = set[UOp]().union(*scopes)

    def emit(root: UOp, inside: set[UOp]) -> bool:
        fresh = root.toposort(gate=lambda u: u not in visible and u not in inside)
        for node in fresh:
            if node in visible or node in inside:
                continue
            if node in out or (node in others and node.op is not Ops.CONST):
                return False
            out[node] = None
            (visible if node.op is Ops.CONST else inside).add(node)
        return True

    outside = set[UOp]()
    if not all(emit(node, outside) for node in before):
        return None
    for loop, roots in loops:
        inside = {loop, *outside}
        out[loop] = None
        if not all(emit(root, inside) for root in roots):
            return None
        out[UOp(Ops.ENDRANGE, dtypes.void, (loop,))] = None
    return list(out)
