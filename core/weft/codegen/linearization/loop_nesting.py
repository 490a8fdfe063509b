"""Loop nesting: find the parent loops of every loop and of every node.
Also: loop-invariant code motion, global code motion.

The path of a node is the tuple of loops around it, outermost first. It contains the loops that the
value depends on and their parents. The graph alone determines it. The loops of one STORE are nested
in the order of their kind and number. A loop that a REDUCE or FILL closes is nested in the loops on
which the finished value depends, and in the loops that the same node closes before it.

A node that does not depend on a loop is outside of it. This makes a pass for loop-invariant code
motion unnecessary.

Source: C. Click, "Global code motion / global value numbering" (PLDI 1995), early scheduling.
"""

from __future__ import annotations

from weft.base.dtype import AddrSpace
from weft.base.errors import SpecError
from weft.codegen.analysis.ranges import (
    CLOSING,
    address_space,
    cache_ranges,
    loop_order,
    loops_of,
    ranges_of,
    values_of,
)
from weft.uop import Ops, UOp

Path = tuple[UOp, ...]
_NESTS = CLOSING | {Ops.STORE, Ops.RANGE}
_WITHOUT_SOURCE_PATH = CLOSING | {Ops.RANGE, Ops.SINK}


def paths_of(nodes: list[UOp]) -> dict[UOp, Path]:
    """The path of each of `nodes`, which are in topological order.

    SpecError if the loops do not form a nest: two loops would contain each other, or cross.
    """
    around = _loops_around(nodes)
    paths: dict[UOp, Path] = {}
    for node in nodes:
        op = node.op
        if op in _WITHOUT_SOURCE_PATH:
            if op is Ops.RANGE:
                paths[node] = (*_chain(around[node], around), node)
                continue
            if op is Ops.SINK:
                paths[node] = ()
                continue
            if loops_of(node):
                paths[node] = paths[loops_of(node)[0]][:-1]
                _keep_between_barriers(node, paths)
                continue
        longest: Path = ()
        several = False
        for source in node.src:
            below = paths[source]
            if below is not longest and below:
                several = several or bool(longest)
                if len(below) > len(longest):
                    longest = below
        if several:
            _check_one_nest(node, longest, paths)
        paths[node] = longest
        if op is Ops.FILL:
            _keep_between_barriers(node, paths)
    return paths


def _keep_between_barriers(node: UOp, paths: dict[UOp, Path]) -> None:
    """Move invariant STOREs to shared memory into the loop of their FILL, between its barriers."""
    if node.op is not Ops.FILL or address_space(node.src[0].src[0]) is not AddrSpace.LOCAL:
        return
    if node.arg.depth > 1:  # the first tiles are filled before the loop
        return
    for store in values_of(node):
        if len(paths[store]) < len(paths[node]):
            paths[store] = paths[node]


def _check_one_nest(node: UOp, longest: Path, paths: dict[UOp, Path]) -> None:
    """SpecError unless the path of each source is a prefix of the longest one."""
    for source in node.src:
        below = paths[source]
        if below != longest[: len(below)]:
            raise SpecError(
                "two loops cross each other",
                asked=f"the position of a {node.op} node",
                because=f"it is inside {_names(below)} and inside {_names(longest)}",
            )


def _loops_around(nodes: list[UOp]) -> dict[UOp, frozenset[UOp]]:
    """The loops around each RANGE."""
    cache_ranges(nodes)
    direct: dict[UOp, set[UOp]] = {}
    for node in nodes:
        if node.op not in _NESTS:
            continue
        if node.op in CLOSING:
            outside: list[UOp] = list(ranges_of(node))
            for loop in loops_of(node):
                direct.setdefault(loop, set()).update(outside)
                outside.append(loop)
        elif node.op is Ops.STORE and address_space(node.src[0]) is AddrSpace.GLOBAL:
            outside = []
            for loop in sorted(ranges_of(node), key=loop_order):
                direct.setdefault(loop, set()).update(outside)
                outside.append(loop)
        elif node.op is Ops.RANGE:
            direct.setdefault(node, set()).update(ranges_of(node.src[0]))
    closed: dict[UOp, frozenset[UOp]] = {}
    for loop in direct:
        _transitive_loops(loop, direct, closed)
    return closed


def _transitive_loops(
    loop: UOp, direct: dict[UOp, set[UOp]], closed: dict[UOp, frozenset[UOp]]
) -> frozenset[UOp]:
    """All loops around `loop`. It recurses once per nested loop."""
    known = closed.get(loop)
    if known is not None:
        return known
    closed[loop] = frozenset()
    result = frozenset(direct[loop]).union(
        *(_transitive_loops(outer, direct, closed) for outer in direct[loop])
    )
    if loop in result:
        raise SpecError(
            "a loop would contain itself",
            asked=f"the loop nest of {loop.arg}",
            because=f"it is inside {_names(tuple(direct[loop]))}",
        )
    closed[loop] = result
    return result


def _chain(loops: frozenset[UOp], around: dict[UOp, frozenset[UOp]]) -> Path:
    """Loops in nesting order, outermost first."""
    return tuple(sorted(loops, key=lambda loop: (len(around[loop]), *loop_order(loop))))


def _names(path: Path) -> str:
    return ", ".join(f"{loop.arg.kind.name.lower()} {loop.arg.id}" for loop in path) or "no loop"
