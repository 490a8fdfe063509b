"""Reduction lowering: replace REDUCE by an accumulator with its initialization, update and result.
Also: scalar replacement of a reduction, register promotion.

in:  the expanded graph and the path of every node
out: the same without REDUCE and FILL, with DEFINE_REG and the STOREs that belong to each

A FILL becomes its STOREs, and the reads of its array follow their loops. If a workgroup shares the
array, a barrier separates them. In a loop another barrier precedes the STOREs, because a work item
that is one iteration behind may still read the old elements.

If such an array holds several tiles, one barrier at the start of an iteration is enough. The STOREs
after it overwrite what the previous iteration read. They come last, so that the loads have the
whole iteration to complete. Asynchronous copies start at once, and the wait for them precedes the
barrier.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001), reductions;
NVIDIA, CUDA C++ Programming Guide, asynchronous copies with commit groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from weft.base.dtype import AddrSpace, DType, dtypes
from weft.codegen.analysis.ranges import address_space, loops_of, values_of
from weft.codegen.linearization.loop_nesting import Path
from weft.codegen.vectorization.packed_dot import TAKES_SUM
from weft.uop import Ops, UOp, identity_element
from weft.uop.args import ASYNC

AFTER = "after"  # arg of the LOAD of an accumulator after its loops


@dataclass
class Accumulators:
    """The result of `run`: the new sink, the path of each new node, and order constraints.

    roots: nodes to emit although no node uses them. before: (first, then) pairs; a RANGE represents
    its whole loop. late: STOREs that come last in their loop.
    """

    sink: UOp
    paths: dict[UOp, Path]
    roots: list[UOp] = field(default_factory=list[UOp])
    before: list[tuple[UOp, UOp]] = field(default_factory=list[tuple[UOp, UOp]])
    late: set[UOp] = field(default_factory=set[UOp])

    def place(self, path: Path, *nodes: UOp) -> None:
        """Place new nodes in the loops of `path`."""
        for node in nodes:
            if node.op is not Ops.CONST or node not in self.paths:
                self.paths[node] = path

    def emit(
        self, path: Path, node: UOp, after: Iterable[UOp] = (), before: Iterable[UOp] = ()
    ) -> UOp:
        """Place a node that no node uses, after and before others."""
        self.place(path, node)
        self.roots.append(node)
        self.before += [(first, node) for first in after]
        self.before += [(node, then) for then in before]
        return node


def run(nodes: list[UOp], paths: dict[UOp, Path], fused: frozenset[DType]) -> Accumulators:
    """Replace the REDUCEs and FILLs among `nodes` (topological order, the SINK last).

    `fused`: the scalar dtypes for which a multiply-add of the target exists.
    """
    result = Accumulators(nodes[-1], {})
    new: dict[UOp, UOp] = {}
    found = result.paths
    count = 1 + max((node.arg for node in nodes if node.op is Ops.DEFINE_REG), default=-1)
    changed = new.keys()  # other nodes are unchanged
    for node in nodes:
        op, same = node.op, node
        if op is Ops.REDUCE:
            src = tuple([new.get(source, source) for source in node.src])
            new[node] = _accumulate(node, src, count, paths, fused, result)
            count += 1
            continue
        if not changed.isdisjoint(node.src):
            src = tuple([new.get(source, source) for source in node.src])
            same = new[node] = UOp(op, node.dtype, src, node.arg)
        if op is Ops.FILL:
            result.roots += same.src
            if same.arg.depth > 1:
                _multi_buffer(same, paths[node], result)
            elif address_space(same.src[0].src[0]) is AddrSpace.LOCAL:
                _add_barriers(same, paths[node], result)
            continue
        if op is Ops.LOAD and same.src[-1].op is Ops.FILL:
            fill = same.src[-1]
            same = new[node] = UOp(op, same.dtype, same.src[:-1], same.arg)
            result.before += [(before, same) for before in _end_of(fill, paths[node.src[-1]])]
        path = paths[node]
        if same not in found or len(path) >= len(found[same]):
            found[same] = path
    result.sink = new.get(nodes[-1], nodes[-1])
    return result


def _end_of(fill: UOp, path: Path) -> tuple[UOp, ...]:
    """The nodes after which an array is filled: its barrier, its loop or its stores."""
    if address_space(fill.src[0].src[0]) is AddrSpace.LOCAL:
        return (_barrier(fill, path, "full"),)
    return loops_of(fill)[:1] or values_of(fill)


def _name(fill: UOp) -> str:
    """The name of the barriers of a FILL."""
    return fill.arg.barrier or str(fill.src[0].src[0].src[0].arg)


def _barrier(fill: UOp, path: Path, state: str) -> UOp:
    name = _name(fill)
    loops = "".join(f" in {loop.arg.id}" for loop in path[-1:])
    return UOp(Ops.BARRIER, dtypes.void, (), f"{name} {state}{loops}")


def _add_barriers(fill: UOp, path: Path, result: Accumulators) -> None:
    """Add the barrier after a shared array is filled, and in a loop the one before."""
    inside = (*loops_of(fill)[:1], *values_of(fill))
    result.emit(path, _barrier(fill, path, "full"), after=inside)
    if path:
        result.emit(path, _barrier(fill, path, "free"), before=inside)


def _multi_buffer(fill: UOp, path: Path, result: Accumulators) -> None:
    """Add the order constraints of a FILL of several tiles, whose own loops are unrolled."""
    loop, outside = path[-1], path[:-1]
    inside = [store for store in values_of(fill) if len(result.paths[store]) == len(path)]
    first = [store for store in values_of(fill) if store not in inside]
    full = result.emit(path, _barrier(fill, path, "full"), before=inside)
    result.before += [(store, loop) for store in first]
    copies = [store for store in inside if store.arg == ASYNC]
    if outside:
        free = result.emit(outside, _barrier(fill, outside, "free"), before=first)
        if copies:
            # the last copies of an outer iteration are unused, but may still be in flight
            drained = UOp(Ops.WAIT, dtypes.void, (), (0, f"{_name(fill)} again"))
            result.emit(outside, drained, before=[free])
    result.late.update(store for store in inside if store not in copies)
    if copies:
        _wait_for_copies(fill, path, first, copies, full, result)


def _wait_for_copies(
    fill: UOp, path: Path, first: list[UOp], copies: list[UOp], full: UOp, result: Accumulators
) -> None:
    """Add a commit group per iteration, one per first tile before the loop, and the waits."""
    name, newer = _name(fill), fill.arg.depth - 2
    result.emit(path, UOp(Ops.WAIT, dtypes.void, (), (newer, name)), before=[full])
    result.emit(path, UOp(Ops.COMMIT, dtypes.void, (), name), after=copies)
    after = first
    for tile in range(newer + 1):
        commit = UOp(Ops.COMMIT, dtypes.void, (), f"{name} at {tile}")
        after = [result.emit(path[:-1], commit, after=after)]
    result.before += [(one, path[-1]) for one in after]


def _accumulate(
    node: UOp,
    src: tuple[UOp, ...],
    number: int,
    paths: dict[UOp, Path],
    fused: frozenset[DType],
    result: Accumulators,
) -> UOp:
    """The LOAD of the finished accumulator `number`, which replaces a REDUCE.

    src: the sources of the REDUCE after their own replacement.
    """
    op, dtype, outside = node.arg.op, node.dtype, paths[node]
    values, loops = src[: node.arg.values], loops_of(node)
    inside = paths[loops[-1]]
    register = UOp(Ops.DEFINE_REG, dtype.ptr(1, AddrSpace.REG), (), number)
    zero = UOp.const(dtypes.int, 0)
    place = UOp(Ops.INDEX, register.dtype, (register, zero))
    neutral = UOp.const(dtype, identity_element(op, dtype.scalar()))
    start = UOp(Ops.STORE, dtypes.void, (place, neutral))
    total = UOp(Ops.LOAD, dtype, (place,))
    result.place(outside, register, place, start)
    result.place((), zero, *neutral.toposort())
    result.place(inside, total)
    for value in values:
        total = _combine(op, total, value, dtype.scalar() in fused)
        result.place(inside, total)
        update = total
        while op is Ops.ADD and value.op is Ops.WHERE and update.op is Ops.WHERE:
            update, value = update.src[1], value.src[1]  # nested gates
            result.place(inside, update)
    update = UOp(Ops.STORE, dtypes.void, (place, total))
    final = UOp(Ops.LOAD, dtype, (place,), AFTER)
    result.place(inside, update)
    result.place(outside, final)
    # the loops are roots too, because a constant value does not depend on them
    result.roots += [start, update, *loops]
    result.before += [(start, loops[0]), (loops[0], final)]
    return final


def _combine(op: Ops, total: UOp, value: UOp, fused: bool) -> UOp:
    """The accumulator after one more value; a multiply-add if `fused`."""
    if value.op in TAKES_SUM:
        return UOp(value.op, total.dtype, (*value.src, total), value.arg)
    if op is Ops.ADD and value.op is Ops.WHERE and _is_zero(value.src[2]):
        # adding zero does not change the sum
        added = _combine(op, total, value.src[1], fused)
        return UOp(Ops.WHERE, total.dtype, (value.src[0], added, total))
    if fused and op is Ops.ADD and value.op is Ops.MUL:
        return UOp(Ops.MULACC, total.dtype, (*value.src, total))
    return UOp(op, total.dtype, (total, value))


def _is_zero(value: UOp) -> bool:
    """Whether every lane is the constant 0."""
    lanes = value.src if value.op is Ops.VECTORIZE else (value,)
    return all(lane.op is Ops.CONST and lane.arg == 0 for lane in lanes)
