"""Linearization: order the graph as a list, sources before users, each node in its loop.

in:  spec.lowered after expansion
out: spec.linear, without the names and sizes of the program

A loop is one item in the list of its parent loop. Items keep the order of a depth-first traversal
as far as dependencies permit. Stores come last in their loop. If a kernel reads and writes one
buffer, the reads precede the write.

Source: S. Muchnick, "Advanced Compiler Design and Implementation" (1997), code scheduling.
"""

from __future__ import annotations

import heapq

from weft.base.dtype import AddrSpace, DType, PtrDType, dtypes
from weft.base.errors import SpecError
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.linearization import accumulators as accumulators
from weft.codegen.linearization.loop_nesting import Path, paths_of
from weft.device.program import indexed_stores_of
from weft.uop.args import PREFETCHES
from weft.uop.node import UOp
from weft.uop.ops import Ops

_FIRST = frozenset({Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR, Ops.DEFINE_LOCAL})
_NOWHERE = _FIRST | {Ops.SINK, Ops.NOOP}


class _Block:
    """What stands directly in one loop: nodes, and the loops inside (by their RANGE).

    Places are those of a topological order, so that an edge between two nodes of one block says
    nothing new: only edges to and from loops, and those that are no sources, are written down.
    """

    __slots__ = ("edges", "items")

    def __init__(self) -> None:
        self.items: dict[UOp, int] = {}  # item -> its place in the queue
        self.edges: dict[tuple[UOp, UOp], None] = {}

    def sorted(self) -> list[UOp]:
        at: dict[UOp, float] = dict(self.items)
        for first, then in self.edges:
            if then.op is Ops.RANGE and first.op is not Ops.RANGE:
                at[then] = max(at[then], self.items[first] + 0.5)  # right after what it waits for
        for first, then in self.edges:
            if at[first] >= at[then]:
                return self._queued()
        return sorted(at, key=at.__getitem__)

    def _queued(self) -> list[UOp]:
        """Always the first in place of those whose turn has come: what `sorted` finds quicker."""
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
                asked=f"a place for {stuck.op} {stuck.arg}",
                because="something would have to happen both before and after it: a kernel may "
                "read and write one buffer only element by element, at the same index",
            )
        return order


def run(sink: UOp, fused: frozenset[DType] = frozenset()) -> list[UOp]:
    """The nodes of a kernel in order. `fused`: scalar dtypes with a multiply-add of their own.

    SpecError where no order exists.
    """
    nodes = nodes_of(sink)
    made = accumulators.run(nodes, paths_of(nodes), fused)
    order = _depth_first((*filter(_is_asked, made.sink.src), *made.roots, *made.sink.src))
    blocks = _blocks(order, made.paths, made.late)
    for before, after in (*made.before, *_reads_before_writes(order)):
        _join(_items(before, made.paths[before]), _items(after, made.paths[after]), blocks)
    first = sorted(
        (node for node in order if node.op in _FIRST), key=lambda u: (u.op, _define_key(u))
    )
    return first + _emit((), blocks)


def _is_asked(root: UOp) -> bool:
    """What is only asked for comes first: nothing of a turn is held in registers meanwhile."""
    return root.op is Ops.LOAD and root.arg in PREFETCHES


def _depth_first(roots: tuple[UOp, ...]) -> list[UOp]:
    """Sources before users; of a STORE the value first: its address is not kept for long."""
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
            if isinstance(pointer.dtype, PtrDType) and pointer.dtype.space is AddrSpace.GLOBAL:
                (stores if node.op is Ops.STORE else loads).setdefault(pointer, []).append(node)
    pairs: list[tuple[UOp, UOp]] = []
    puts = indexed_stores_of(order)
    for pointer, written in stores.items():
        read = loads.get(pointer, ())
        if any(one in puts for one in written):
            # what is put at places that are looked up comes after what was there before
            after = [access for access in (*read, *written) if access in puts]
            pairs += [(one, put) for one in written if one not in puts for put in after]
        else:
            pairs += [(load, store) for load in read for store in written]
    return pairs


def _blocks(order: list[UOp], paths: dict[UOp, Path], delayed: set[UOp]) -> dict[Path, _Block]:
    blocks: dict[Path, _Block] = {(): _Block()}
    late = len(order)  # added to the place of a store: it comes last in its loop
    for position, node in enumerate(order):
        op = node.op
        if op in _NOWHERE:
            continue
        is_loop = op is Ops.RANGE
        path = paths[node]
        block = blocks.get(path)
        if block is None:
            for depth, loop in enumerate(path):
                blocks.setdefault(path[:depth], _Block()).items.setdefault(loop, position)
            block = blocks.setdefault(path, _Block())
        if not is_loop:
            last = op is Ops.STORE and node.src[0].dtype.space is AddrSpace.GLOBAL
            block.items[node] = position + late if last or node in delayed else position
        for source in node.src:
            before = source.op
            if before in _NOWHERE:
                continue
            other = paths[source]
            if other is path and not is_loop and before is not Ops.STORE:
                continue
            depth = len(other)
            if depth < len(path) and path[:depth] == other:
                if before is not Ops.RANGE:  # else the node stands in that loop
                    blocks[other].edges[source, path[depth]] = None
            else:
                _join(_items(source, other), _items(node, path), blocks)
    return blocks


def _join(a: Path, b: Path, blocks: dict[Path, _Block]) -> None:
    """The edge between two items of the innermost block that holds both."""
    common = 0
    while common < len(a) and common < len(b) and a[common] is b[common]:
        common += 1
    if common < len(a) and common < len(b):  # else one is the loop that the other stands in
        blocks[a[:common]].edges[a[common], b[common]] = None


def _items(node: UOp, path: Path) -> Path:
    """The items that contain a node, outermost first, the node (or loop) itself last."""
    return path if node.op is Ops.RANGE else (*path, node)


def _emit(path: Path, blocks: dict[Path, _Block]) -> list[UOp]:
    """As deep as loops are nested, which is not deep."""
    out: list[UOp] = []
    for item in blocks[path].sorted():
        if item.op is Ops.RANGE:
            out.append(item)
            out += _emit((*path, item), blocks)
            out.append(UOp(Ops.ENDRANGE, dtypes.void, (item,)))
        else:
            out.append(item)
    return out
