"""Reduction lowering: replace REDUCE by an accumulator with its initialization, update and result.

in:  the expanded graph and the path of every node
out: the same without REDUCE and FILL, with DEFINE_REG and the STOREs that belong to each

A FILL becomes its STOREs, and the reads of its array follow their loops. If a workgroup shares the
array, a barrier separates them. In a loop another barrier precedes the STOREs, because a work item
that is one iteration behind may still read the old elements.

If such an array holds several tiles, one barrier at the start of an iteration is enough. The STOREs
after it overwrite what the previous iteration read. They come last, so that the loads have the
whole iteration to complete. Asynchronous copies start at once, and the wait for them precedes the
barrier.

Source: none known; sound because the accumulator takes the terms in the order of the loops.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from weft.base.dtype import AddrSpace, DType, dtypes
from weft.codegen.analysis.ranges import loops_of, values_of
from weft.codegen.linearization.loop_nesting import Path
from weft.codegen.vectorization.packed_dot import TAKES_SUM
from weft.uop.args import ASYNC
from weft.uop.evaluate import identity_element
from weft.uop.node import UOp
from weft.uop.ops import Ops

AFTER = "after"  # arg of the LOAD that reads an accumulator once its loops are done


@dataclass
class Accumulators:
    """What `run` made: the new sink, the path of every new node, and the order to be kept.

    roots: nodes that must be emitted though nothing uses them. before: (first, then) pairs, where
    `then` may be a RANGE that stands for its whole loop, and `first` likewise. late: STOREs that
    come last in their loop.
    """

    sink: UOp
    paths: dict[UOp, Path]
    roots: list[UOp] = field(default_factory=list)
    before: list[tuple[UOp, UOp]] = field(default_factory=list)
    late: set[UOp] = field(default_factory=set)


def run(nodes: list[UOp], paths: dict[UOp, Path], fused: frozenset[DType]) -> Accumulators:
    """Replace the REDUCEs and FILLs among `nodes` (topological order, the SINK last).

    `fused`: the scalar dtypes for which a multiply-add of the target exists.
    """
    result = Accumulators(nodes[-1], {})
    made: dict[UOp, UOp] = {}
    found = result.paths
    count = 1 + max((node.arg for node in nodes if node.op is Ops.DEFINE_REG), default=-1)
    others = made.keys()  # those that became others; the rest stay what they are
    for node in nodes:
        op, same = node.op, node
        if op is Ops.REDUCE:
            src = tuple([made.get(source, source) for source in node.src])
            made[node] = _accumulate(node, src, count, paths, fused, result)
            count += 1
            continue
        if not others.isdisjoint(node.src):
            src = tuple([made.get(source, source) for source in node.src])
            same = made[node] = UOp(op, node.dtype, src, node.arg)
        if op is Ops.FILL:
            result.roots += same.src
            if same.arg.depth > 1:
                _go_ahead(same, paths[node], result)
            elif same.src[0].src[0].dtype.space is AddrSpace.LOCAL:
                _fence(same, paths[node], result)
            continue
        if op is Ops.LOAD and same.src[-1].op is Ops.FILL:
            fill = same.src[-1]
            same = made[node] = UOp(op, same.dtype, same.src[:-1], same.arg)
            result.before += [(before, same) for before in _last_of(fill, paths[node.src[-1]])]
        path = paths[node]
        if same not in found or len(path) >= len(found[same]):
            found[same] = path
    result.sink = made.get(nodes[-1], nodes[-1])
    return result


def _last_of(fill: UOp, path: Path) -> tuple[UOp, ...]:
    """After what an array is full: its barrier, the loop it is filled in, or its stores."""
    if fill.src[0].src[0].dtype.space is AddrSpace.LOCAL:
        return (_barrier(fill, path, "full"),)
    return loops_of(fill)[:1] or values_of(fill)


def _name(fill: UOp) -> str:
    return fill.arg.barrier or str(fill.src[0].src[0].src[0].arg)


def _barrier(fill: UOp, path: Path, state: str) -> UOp:
    name = _name(fill)
    loops = "".join(f" in {loop.arg.id}" for loop in path[-1:])
    return UOp(Ops.BARRIER, dtypes.void, (), f"{name} {state}{loops}")


def _fence(fill: UOp, path: Path, result: Accumulators) -> None:
    """The barrier after a shared array is filled, and the one before if that happens in a loop."""
    stores, loops = values_of(fill), loops_of(fill)
    after = _barrier(fill, path, "full")
    _stand(result, path, (after,))
    result.roots.append(after)
    result.before += [(first, after) for first in (*loops[:1], *stores)]
    if path:
        before = _barrier(fill, path, "free")
        _stand(result, path, (before,))
        result.roots.append(before)
        result.before += [(before, then) for then in (*loops[:1], *stores)]


def _go_ahead(fill: UOp, path: Path, result: Accumulators) -> None:
    """The order of a FILL of several tiles, all of whose own loops are written out."""
    loop, outside = path[-1], path[:-1]
    inside = [store for store in values_of(fill) if len(result.paths[store]) == len(path)]
    first = [store for store in values_of(fill) if store not in inside]
    full = _barrier(fill, path, "full")
    _stand(result, path, (full,))
    result.roots.append(full)
    result.before += [(full, store) for store in inside]
    result.before += [(store, loop) for store in first]
    flying = [store for store in inside if store.arg == ASYNC]
    if outside:
        free = _barrier(fill, outside, "free")
        _stand(result, outside, (free,))
        result.roots.append(free)
        result.before += [(free, store) for store in first]
    if outside and flying:
        # the last copies of a turn outside bring nothing any more, but they may still be under way
        landed = UOp(Ops.WAIT, dtypes.void, (), (0, f"{_name(fill)} again"))
        _stand(result, outside, (landed,))
        result.roots.append(landed)
        result.before.append((landed, free))
    result.late.update(store for store in inside if store not in flying)
    if flying:
        _await(fill, path, first, flying, full, result)


def _await(
    fill: UOp, path: Path, first: list[UOp], flying: list[UOp], full: UOp, result: Accumulators
) -> None:
    """Copies are committed turn by turn; those of the first tiles are as if of turns before."""
    name, newer = _name(fill), fill.arg.depth - 2
    wait = UOp(Ops.WAIT, dtypes.void, (), (newer, name))
    commit = UOp(Ops.COMMIT, dtypes.void, (), name)
    started = [UOp(Ops.COMMIT, dtypes.void, (), f"{name} at {turn}") for turn in range(newer + 1)]
    _stand(result, path, (wait, commit))
    _stand(result, path[:-1], tuple(started))
    result.roots += [wait, commit, *started]
    result.before += [(wait, full), *((store, commit) for store in flying)]
    result.before += [(store, started[0]) for store in first]
    result.before += [(one, then) for one, then in zip(started, [*started[1:], path[-1]])]


def _accumulate(
    node: UOp,
    src: tuple[UOp, ...],
    number: int,
    paths: dict[UOp, Path],
    fused: frozenset[DType],
    result: Accumulators,
) -> UOp:
    op, dtype, outside = node.arg.op, node.dtype, paths[node]
    values, loops = src[: node.arg.values], loops_of(node)
    inside = paths[loops[-1]]
    register = UOp(Ops.DEFINE_REG, dtype.ptr(1, AddrSpace.REG), (), number)
    zero = UOp.const(dtypes.int, 0)
    place = UOp(Ops.INDEX, register.dtype, (register, zero))
    neutral = UOp.const(dtype, identity_element(op, dtype.scalar()))
    start = UOp(Ops.STORE, dtypes.void, (place, neutral))
    total = UOp(Ops.LOAD, dtype, (place,))
    _stand(result, outside, (register, place, start))
    _stand(result, (), (zero, *neutral.toposort()))
    _stand(result, inside, (total,))
    for value in values:
        total = _combined(op, total, value, dtype.scalar() in fused)
        _stand(result, inside, (total,))
        made = total
        while op is Ops.ADD and value.op is Ops.WHERE and made.op is Ops.WHERE:
            made, value = made.src[1], value.src[1]  # a gate within a gate
            _stand(result, inside, (made,))
    update = UOp(Ops.STORE, dtypes.void, (place, total))
    final = UOp(Ops.LOAD, dtype, (place,), AFTER)
    _stand(result, inside, (update,))
    _stand(result, outside, (final,))
    # the loops are roots too: a value that turned out constant no longer leads to them
    result.roots += [start, update, *loops]
    result.before += [(start, loops[0]), (loops[0], final)]
    return final


def _stand(result: Accumulators, path: Path, nodes: tuple[UOp, ...]) -> None:
    for node in nodes:
        if node.op is not Ops.CONST or node not in result.paths:
            result.paths[node] = path


def _combined(op: Ops, total: UOp, value: UOp, fused: bool) -> UOp:
    if value.op in TAKES_SUM:
        return UOp(value.op, total.dtype, (*value.src, total), value.arg)
    if op is Ops.ADD and value.op is Ops.WHERE and _is_zero(value.src[2]):
        # what is not added leaves the sum as it is
        added = _combined(op, total, value.src[1], fused)
        return UOp(Ops.WHERE, total.dtype, (value.src[0], added, total))
    if fused and op is Ops.ADD and value.op is Ops.MUL:
        return UOp(Ops.MULACC, total.dtype, (*value.src, total))
    return UOp(op, total.dtype, (total, value))


def _is_zero(value: UOp) -> bool:
    """Whether every lane is the constant 0."""
    lanes = value.src if value.op is Ops.VECTORIZE else (value,)
    return all(lane.op is Ops.CONST and lane.arg == 0 for lane in lanes)
