"""Linearization: order the graph as a list, sources before users, each node in its loop.
Also: list scheduling, instruction scheduling, loop-invariant code motion,
loop invariant code motion.

in:  spec.lowered after expansion
out: spec.linear, without the names and sizes of the program

A loop is one item in the list of its parent loop. Items keep the order of a depth-first traversal
as far as dependencies permit. Stores come last in their loop. If a kernel reads and writes one
buffer, the reads precede the write.

Source: S. Muchnick, "Advanced Compiler Design and Implementation" (1997), code scheduling.
"""

from __future__ import annotations

import heapq

from weft.base.dtype import AddrSpace, DType, dtypes
from weft.base.errors import SpecError
from weft.codegen.analysis.ranges import address_space
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.linearization import accumulators
from weft.codegen.linearization.loop_nesting import Path, paths_of
from weft.device.program import indexed_stores_of
from weft.uop import Ops, UOp
from weft.uop.args import PREFETCHES

_FIRST = frozenset({Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR, Ops.DEFINE_LOCAL})
_UNPLACED = _FIRST | {Ops.SINK, Ops.NOOP}


class _Block:
    """The items directly in one loop: nodes, and inner loops (by their RANGE).

    Positions follow a topological order, which implies the edges between two nodes of a block.
    `edges` holds the other ones: those to and from loops, and those that are not sources.
    """

    __slots__ = ("edges", "items")

    def __init__(self) -> None:
        self.items: dict[UOp, int] = {}  # item -> its position
        self.edges: dict[tuple[UOp, UOp], None] = {}

    def sorted(self) -> list[UOp]:
        """The items in an order that satisfies all edges; SpecError if there is none."""
        at: dict[UOp, float] = dict(self.items)
        for first, then in self.edges:
            if then.op is Ops.RANGE and first.op is not Ops.RANGE:
                at[then] = max(at[then], self.items[first] + 0.5)  # right after its dependence
        for first, then in self.edges:
            if at[first] >= at[then]:
                return self._list_scheduled()
        return sorted(at, key=at.__getitem__)

    def _list_scheduled(self) -> list[UOp]:
        """List scheduling: always the first ready item. `sorted` is a fast path of it."""
        place = self.items
        within = [(s, item) for item in place if item.op is not Ops.RANGE for s in item.src]
        users: dict[UOp, list[UOp]] = {}
        waits: dict[UOp, int] = {}
        for first, then in (*within, *self.edges):
            if first in place and first is not then:
                users.setdefault(first, []).append(then)
                waits[then] = waits.get(then, 0) + 1
        item_at = {number: item for item, number in place.items()}
        ready = [number for item, number in place.items() if item not in waits]
        heapq.heapify(ready)
        order: list[UOp] = []
        while ready:
            item = item_at[heapq.heappop(ready)]
            order.append(item)
            for user in users.get(item, ()):
                waits[user] -= 1
                if not waits[user]:
                    heapq.heappush(ready, place[user])
        if len(order) != len(place):
            stuck = next(item for item in place if item not in set(order))
            raise SpecError(
                "no order of this kernel satisfies every dependency",
                asked=f"a position for {stuck.op} {stuck.arg}",
                because="its dependences are cyclic: a kernel may read and write one buffer only "
                "element by element, at the same index",
            )
        return order


def run(sink: UOp, fused: frozenset[DType] = frozenset()) -> list[UOp]:
    """The nodes of a kernel in order. `fused`: scalar dtypes with a multiply-add of their own.

    SpecError where no order exists.
    """
    nodes = nodes_of(sink)
    result = accumulators.run(nodes, paths_of(nodes), fused)
    roots = result.sink.src
    # prefetches come first, while few registers are live
    prefetches = (root for root in roots if root.op is Ops.LOAD and root.arg in PREFETCHES)
    order = _depth_first((*prefetches, *result.roots, *roots))
    blocks = _make_blocks(order, result.paths, result.late)
    for before, after in (*result.before, *_reads_before_writes(order)):
        _join(_items(before, result.paths[before]), _items(after, result.paths[after]), blocks)
    first = sorted(
        (node for node in order if node.op in _FIRST), key=lambda u: (u.op, _define_key(u))
    )
    return first + _emit((), blocks)


def _depth_first(roots: tuple[UOp, ...]) -> list[UOp]:
    """Sources before users. The value of a STORE precedes its address, which is live briefly."""
    order: dict[UOp, None] = {}
    path, pending = [UOp.sink(*roots)], [iter(roots)]
    while path:
        for source in pending[-1]:
            if source in order:
                continue
            src = source.src
            if src:
                path.append(source)
                pending.append(reversed(src) if source.op is Ops.STORE else iter(src))
                break
            order[source] = None
        else:
            order[path.pop()] = None
            pending.pop()
    order.popitem()
    return list(order)


def _define_key(node: UOp) -> tuple[str, int, int]:
    """The sort key of arguments and shared arrays."""
    if node.op is Ops.DEFINE_VAR:
        return (node.arg.name, node.arg.low, node.arg.high)
    return ("", node.arg, 0) if isinstance(node.arg, int) else (str(node.arg), 0, 0)


def _reads_before_writes(order: list[UOp]) -> list[tuple[UOp, UOp]]:
    """Pairs (load, store) of one buffer, for buffers that are both read and written."""
    stores: dict[UOp, list[UOp]] = {}
    loads: dict[UOp, list[UOp]] = {}
    for node in order:
        if node.op is Ops.STORE or node.op is Ops.LOAD:
            pointer = node.src[0].src[0]
            if address_space(pointer) is AddrSpace.GLOBAL:
                (stores if node.op is Ops.STORE else loads).setdefault(pointer, []).append(node)
    pairs: list[tuple[UOp, UOp]] = []
    indexed = indexed_stores_of(order)
    for pointer, written in stores.items():
        read = loads.get(pointer, ())
        if any(one in indexed for one in written):
            # indexed stores follow the stores of the old values
            last = [access for access in (*read, *written) if access in indexed]
            pairs += [(one, store) for one in written if one not in indexed for store in last]
        else:
            pairs += [(load, store) for load in read for store in written]
    return pairs


def _make_blocks(order: list[UOp], paths: dict[UOp, Path], delayed: set[UOp]) -> dict[Path, _Block]:
    blocks: dict[Path, _Block] = {(): _Block()}
    late = len(order)  # added to the position of a store, which comes last in its loop
    for position, node in enumerate(order):
        op = node.op
        if op in _UNPLACED:
            continue
        is_loop = op is Ops.RANGE
        path = paths[node]
        block = blocks.get(path)
        if block is None:
            for depth, loop in enumerate(path):
                blocks.setdefault(path[:depth], _Block()).items.setdefault(loop, position)
            block = blocks.setdefault(path, _Block())
        if not is_loop:
            last = op is Ops.STORE and address_space(node.src[0]) is AddrSpace.GLOBAL
            block.items[node] = position + late if last or node in delayed else position
        for source in node.src:
            before = source.op
            if before in _UNPLACED:
                continue
            other = paths[source]
            if other is path and not is_loop and before is not Ops.STORE:
                continue
            depth = len(other)
            if depth < len(path) and path[:depth] == other:
                if before is not Ops.RANGE:  # otherwise the node is inside that loop
                    blocks[other].edges[source, path[depth]] = None
            else:
                _join(_items(source, other), _items(node, path), blocks)
    return blocks


def _join(a: Path, b: Path, blocks: dict[Path, _Block]) -> None:
    """Add the edge between two items of the innermost block that contains both."""
    common = 0
    while common < len(a) and common < len(b) and a[common] is b[common]:
        common += 1
    if common < len(a) and common < len(b):  # otherwise one is a loop around the other
        blocks[a[:common]].edges[a[common], b[common]] = None


def _items(node: UOp, path: Path) -> Path:
    """The items that contain a node, outermost first, the node (or loop) itself last."""
    return path if node.op is Ops.RANGE else (*path, node)


def _emit(path: Path, blocks: dict[Path, _Block]) -> list[UOp]:
    """The list of a block. It recurses once per nested loop."""
    out: list[UOp] = []
    for item in blocks[path].sorted():
        if item.op is Ops.RANGE:
            out.append(item)
            out += _emit((*path, item), blocks)
            out.append(UOp(Ops.ENDRANGE, dtypes.void, (item,)))
        else:
            out.append(item)
    return out
