"""The graph becomes a list: every node once, sources first, each in the loop where it belongs.

in:  spec.lowered after expansion
out: spec.linear, without the names and sizes of the program

A loop is one item in the list of the loop around it. Items keep the order in which a depth-first
walk meets them, as far as dependencies allow; stores come last in their loop. Where a kernel reads
and writes the same buffer, reads come before the write.
"""

from __future__ import annotations

import heapq

from weft.base.dtype import AddrSpace, DType, PtrDType, dtypes
from weft.base.errors import SpecError
from weft.codegen import reduce as accumulators
from weft.codegen.linearize.nest import Path, paths_of
from weft.uop.node import UOp
from weft.uop.ops import Ops

_SILENT = frozenset({Ops.SINK, Ops.RANGE, Ops.NOOP})
_FIRST = frozenset({Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR, Ops.DEFINE_LOCAL})


class _Block:
    """What stands directly in one loop: nodes, and the loops inside (by their RANGE)."""

    __slots__ = ("items", "users", "waits")

    def __init__(self) -> None:
        self.items: dict[UOp, tuple[int, int]] = {}  # item -> its place in the queue
        self.users: dict[UOp, list[UOp]] = {}
        self.waits: dict[UOp, int] = {}

    def add(self, item: UOp, place: tuple[int, int]) -> None:
        known = self.items.get(item)
        if known is None or place < known:
            self.items[item] = place

    def edge(self, first: UOp, then: UOp) -> None:
        self.users.setdefault(first, []).append(then)
        self.waits[then] = self.waits.get(then, 0) + 1

    def sorted(self) -> list[UOp]:
        ready = [(place, i, item) for i, (item, place) in enumerate(self.items.items())]
        number = {item: i for _, i, item in ready}
        ready = [entry for entry in ready if not self.waits.get(entry[2])]
        heapq.heapify(ready)
        order: list[UOp] = []
        while ready:
            _, _, item = heapq.heappop(ready)
            order.append(item)
            for user in self.users.get(item, ()):
                self.waits[user] -= 1
                if not self.waits[user]:
                    heapq.heappush(ready, (self.items[user], number[user], user))
        if len(order) != len(self.items):
            stuck = next(item for item in self.items if item not in set(order))
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
    nodes = list(sink.toposort())
    made = accumulators.run(nodes, paths_of(nodes), fused)
    order = _depth_first((*made.roots, *made.sink.src))
    edges = [(source, node) for node in order for source in node.src]
    edges += made.before
    edges += _reads_before_writes(order)
    blocks = _blocks(order, made.paths, edges)
    first = sorted(
        (node for node in order if node.op in _FIRST), key=lambda u: (u.op, _define_key(u))
    )
    return first + _emit((), blocks)


def _depth_first(roots: tuple[UOp, ...]) -> list[UOp]:
    """Sources before users; of a STORE the value first: its address is not kept for long."""
    order: dict[UOp, None] = {}
    stack: list[tuple[UOp, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        node, ready = stack.pop()
        if node in order:
            continue
        if ready or not node.src:
            order[node] = None
            continue
        stack.append((node, True))
        src = node.src if node.op is Ops.STORE else reversed(node.src)
        stack.extend((source, False) for source in src if source not in order)
    return list(order)


def _define_key(node: UOp) -> tuple[str, int]:
    if node.op is Ops.DEFINE_VAR:
        return (node.arg.name, 0)
    return ("", node.arg) if isinstance(node.arg, int) else (str(node.arg), 0)


def _reads_before_writes(order: list[UOp]) -> list[tuple[UOp, UOp]]:
    """Pairs (load, store) of one buffer, for buffers that are both read and written."""
    stores: dict[UOp, list[UOp]] = {}
    loads: dict[UOp, list[UOp]] = {}
    for node in order:
        if node.op is Ops.STORE or node.op is Ops.LOAD:
            pointer = node.src[0].src[0]
            if isinstance(pointer.dtype, PtrDType) and pointer.dtype.space is AddrSpace.GLOBAL:
                (stores if node.op is Ops.STORE else loads).setdefault(pointer, []).append(node)
    return [
        (load, store)
        for pointer, written in stores.items()
        for load in loads.get(pointer, ())
        for store in written
    ]


def _blocks(
    order: list[UOp], paths: dict[UOp, Path], edges: list[tuple[UOp, UOp]]
) -> dict[Path, _Block]:
    blocks: dict[Path, _Block] = {(): _Block()}
    for position, node in enumerate(order):
        op = node.op
        if op in _FIRST or (op in _SILENT and op is not Ops.RANGE):
            continue
        path = paths[node]
        if path not in blocks:
            for depth, loop in enumerate(path):
                blocks.setdefault(path[:depth], _Block()).add(loop, (0, position))
                blocks.setdefault(path[: depth + 1], _Block())
        if op is not Ops.RANGE:
            last = op is Ops.STORE and node.src[0].dtype.space is AddrSpace.GLOBAL
            blocks[path].add(node, (int(last), position))
    skipped = _FIRST | _SILENT
    for source, user in edges:
        before, after = source.op, user.op
        if before in _FIRST or (after in skipped and (after is not Ops.RANGE or before in skipped)):
            continue
        a, b = paths[source], paths[user]
        if a is b and before is not Ops.RANGE and after is not Ops.RANGE:
            blocks[a].edge(source, user)
        else:
            _join(_items(source, a), _items(user, b), blocks)
    return blocks


def _join(a: Path, b: Path, blocks: dict[Path, _Block]) -> None:
    """The edge between two items of the innermost block that holds both."""
    common = 0
    while common < len(a) and common < len(b) and a[common] is b[common]:
        common += 1
    if common < len(a) and common < len(b):  # else one is the loop that the other stands in
        blocks[a[:common]].edge(a[common], b[common])


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
