"""Local row buffers: choose the values that a fused kernel keeps in local arrays, row by row.
Also: scratchpad allocation.

Some values of a group have one element per row: they stay in registers. Some are used once where
they are computed: they are inlined. Some are needed by several loops of the kernel, or several
times by one loop: these are kept as a Row, as long as they fit. In a softmax `max(x)` is of the
first kind, the quotient of the second and `exp(x - max)` of the third.

in:  the members of a group and its number of rows
out: the nodes that are kept as Rows

Source: Ragan-Kelley et al., "Halide", PLDI 2013 (compute_at: compute a producer per iteration of
an outer loop of its consumer).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.base.sequences import prod
from weft.schedule.arange import is_address
from weft.schedule.fusion_analysis import loop_shape, rows_of_reduce
from weft.schedule.kernel_ast import elements
from weft.schedule.row_dependence import rows_of_shape, rows_of_view
from weft.schedule.use_def import LEAVES
from weft.uop import GroupOp, Ops, UOp

# operations per element from which on a value is kept rather than recomputed
_EXPENSIVE = 8
_STEPS = {
    Ops.EXP2: 10, Ops.LOG2: 12, Ops.SIN: 12, Ops.SQRT: 4, Ops.RECIP: 4, Ops.FDIV: 4, Ops.POW: 24,
    Ops.IDIV: 8, Ops.MOD: 8, Ops.THREEFRY: 80,
}  # fmt: skip
_INFINITE = 1 << 20
# contexts of a value that are distinguished
_MOST_CONTEXTS = 16


@dataclass(eq=False, slots=True)
class _Computation:
    """The nodes that a kernel computes, with the size, cost and reduce depth of each.

    sizes: the largest ones, where they depend on variables.
    """

    members: Collection[UOp]
    stored: Collection[UOp]
    rows: int
    order: list[UOp]
    sizes: dict[UOp, int]
    cost: Mapping[UOp, int]
    depth: Mapping[UOp, int]


@dataclass(eq=False, slots=True)
class _Choice:
    """The nodes chosen for Rows, sources first, and in how many loops each node is computed."""

    chosen: list[UOp]
    places: dict[UOp, int]
    nonlocal_reads: set[UOp]


@dataclass(eq=False, slots=True)
class RowBufferPlan:
    """The Rows that fused kernels need to run row by row."""

    tree: _Computation
    choice: _Choice
    most_bytes: int

    def nodes(self, most_repeated: float) -> list[UOp]:
        """The nodes to keep as Rows, sources first.

        most_repeated: the most operations to execute, relative to each value computed once. Cheap
        values are recomputed rather than kept as long as that holds.
        """
        return _with_fewer_recomputations(self.tree, self.choice, self.most_bytes, most_repeated)


def plan_row_buffers(
    members: Collection[UOp],
    stored: Collection[UOp],
    rows: int,
    most_bytes: int,
    is_read: Callable[[UOp], bool],
) -> RowBufferPlan | None:
    """The Rows of kernels that run row by row; None where they do not fit.

    members: the kernels that are to share their loops, each run once for every one of `rows`.
    is_read: whether a node is read from memory, if it is no member.
    """
    order = _computed_nodes(members, is_read)
    sizes = {node: elements(node.shape) for node in order}
    cost, depth = _costs(sizes, rows), _reduce_depths(order)
    tree = _Computation(members, stored, rows, order, sizes, cost, depth)
    choice = _choose(tree, most_bytes, frozenset())
    return None if choice is None else RowBufferPlan(tree, choice, most_bytes)


def _with_fewer_recomputations(
    tree: _Computation, choice: _Choice, most_bytes: int, most_repeated: float
) -> list[UOp]:
    """Add Rows until few enough operations are executed: the shortest first, of those the one that
    saves most."""
    extra: frozenset[UOp] = frozenset()
    once = sum(_operations_of(node, tree.sizes) for node in tree.order)
    steps = _operations_executed(tree, choice)
    while steps > most_repeated * once:
        best = None
        for node in _recomputed(tree, choice):
            tried = _choose(tree, most_bytes, extra | {node})
            if tried is None or node not in tried.chosen:
                continue
            figures = (node.dtype.itemsize * tree.sizes[node], _operations_executed(tree, tried))
            if figures[1] < steps and (best is None or figures < best[0]):
                best = figures, node, tried
        if best is None:
            break
        (_, steps), node, choice = best
        extra |= {node}
    return choice.chosen


def _recomputed(tree: _Computation, choice: _Choice) -> list[UOp]:
    """The nodes that are computed in several loops."""
    return [
        node
        for node in tree.order
        if choice.places[node] > 1
        and tree.sizes[node] > tree.rows
        and node not in choice.nonlocal_reads
        and node.op in GroupOp.ALU
        and not is_address(node)
    ]


def _operations_of(node: UOp, sizes: Mapping[UOp, int]) -> int:
    """The number of operations for all elements of a value; a multiply-add counts as two."""
    if node.op is Ops.REDUCE_AXIS:
        return elements(node.src[0].shape)
    return sizes[node] * (1 + (node.op is Ops.MULACC)) if node.op in GroupOp.ALU else 0


def _operations_executed(tree: _Computation, choice: _Choice) -> int:
    """The number of operations of all values, each as often as it is computed."""
    return sum(_operations_of(node, tree.sizes) * choice.places[node] for node in tree.order)


def _choose(tree: _Computation, most_bytes: int, extra: frozenset[UOp]) -> _Choice | None:
    """The values that are expensive enough to keep, and `extra`; None where they do not fit."""
    members, rows, cost = tree.members, tree.rows, tree.cost
    contexts: dict[UOp, set[Any]] = {node: set() for node in tree.order}
    places: dict[UOp, int] = {}
    used: set[UOp] = set()
    expanded: set[UOp] = set()
    nonlocal_reads: set[UOp] = set()  # read in other rows: recomputed, never kept
    for member in members:
        if member in tree.stored:
            inner = prod(loop_shape(member)) // rows
            contexts[member].add(("store", inner))
    chosen: list[UOp] = []
    free_bytes, rejected_cost = most_bytes, 0
    for node in reversed(tree.order):
        here = contexts[node]
        size = tree.sizes[node]
        # a written value is read from its Row: memory may not hold the old value any more
        written = node.op is Ops.ASSIGN and node in used
        is_expensive = size > rows and _is_profitable_to_keep(
            node, members, len(here), node in expanded, cost[node]
        )
        if written or is_expensive or node in extra:
            length = size // rows * node.dtype.itemsize
            fits = length <= free_bytes and node not in nonlocal_reads
            # a cheap part of a value that does not fit is not profitable to keep
            fits = fits and (node in members or node in extra or 2 * cost[node] >= rejected_cost)
            if not fits or size % rows or rows not in rows_of_shape(node.shape):
                if node in members or cost[node] >= _INFINITE:
                    return None
                rejected_cost = max(rejected_cost, cost[node])
            else:
                free_bytes -= length
                chosen.append(node)
                here = {("row", node)}
        places[node] = len(here) if size > rows else 1
        if node.op is Ops.REDUCE_AXIS:
            inner = prod(node.src[0].shape) // rows
            here = {("reduce", inner, node.arg.axes, tree.depth[node])}
        for source in node.src if node.op is not Ops.ASSIGN else node.src[-1:]:
            base = source.base
            if base not in contexts:
                continue
            contexts[base] |= here if source is base else _contexts_through(source, base, here)
            used.add(base)
            if node in nonlocal_reads or not _is_local(node, source, base, rows):
                nonlocal_reads.add(base)
            if source is not base and elements(source.shape) > tree.sizes[base]:
                expanded.add(base)
    return _Choice(chosen[::-1], places, nonlocal_reads)


def _contexts_through(source: UOp, base: UOp, contexts: set[Any]) -> set[Any]:
    """The contexts in which `base` is computed where it is read through a movement.

    Other elements in the same iteration of a loop are computed once more.
    """
    st = source.st.simplify()
    if prod(source.shape) != prod(base.shape) or st.contiguous or len(contexts) > _MOST_CONTEXTS:
        return contexts
    return {("seen", st, context) for context in contexts}


def _is_local(node: UOp, source: UOp, base: UOp, rows: int) -> bool:
    """Whether `node` reads `base` row by row."""
    if node.op is Ops.REDUCE_AXIS and rows not in rows_of_reduce(node):
        return False
    if source is base:
        return True
    read = rows_of_view(source.st, base.size)
    return read is None or rows in read


def _is_profitable_to_keep(
    node: UOp, members: Collection[UOp], places: int, expanded: bool, steps: int
) -> bool:
    """Whether to keep a value that is computed in several loops, or expanded.

    A mere conversion of memory is not: it costs no more than reading it again.
    """
    if (places < 2 and not expanded) or (node not in members and is_address(node)):
        return False
    return (expanded and steps > 0) or steps >= (1 if node in members else _EXPENSIVE)


def _computed_nodes(members: Collection[UOp], is_read: Callable[[UOp], bool]) -> list[UOp]:
    """The nodes computed in the kernel, without movement, sources first."""
    known = frozenset(members)
    found = UOp(Ops.SINK, src=tuple(members)).toposort(gate=lambda u: u in known or not is_read(u))
    return [
        node
        for node in found
        if node.op is not Ops.SINK
        and node.op not in GroupOp.Movement
        and node.op not in LEAVES
        and (node in known or not is_read(node))
    ]


def _costs(sizes: Mapping[UOp, int], rows: int) -> dict[UOp, int]:
    """The number of operations for one element of each value; a reduce with more than one element
    per row is infinite.

    What is reduced to one element per row is computed once, wherever it is read.
    """
    cost: dict[UOp, int] = {}
    for node, size in sizes.items():
        if size <= rows:
            cost[node] = 0
        elif node.op is Ops.REDUCE_AXIS:
            cost[node] = _INFINITE
        else:
            own = _STEPS.get(node.op, 1) if node.op in GroupOp.ALU else 0
            below = [cost.get(s.base, 0) for s in node.src]
            cost[node] = min(own + sum(below), _INFINITE)
    return cost


def _reduce_depths(order: list[UOp]) -> Mapping[UOp, int]:
    """The number of reduces that depend on each other, up to each node."""
    depth: dict[UOp, int] = {}
    for node in order:
        below = 0
        for source in node.src:
            below = max(below, depth.get(source.base, 0))
        depth[node] = below + (node.op is Ops.REDUCE_AXIS)
    return depth


def outer_shape(shapes: Collection[tuple[Any, ...]], rows: int) -> tuple[int, ...]:
    """The outer axes that the loops of a group share: the most detailed among its shapes."""
    best: tuple[int, ...] = (rows,)
    for shape in shapes:
        if (axes := _leading_axes(shape, rows)) is None:
            continue
        outer = tuple(extent for extent in shape[:axes] if extent != 1)
        if len(outer) > len(best) or best == (rows,):
            best = outer
    return best


def with_outer_axes(shape: tuple[Any, ...], outer: tuple[int, ...]) -> tuple[Any, ...]:
    """`shape` with `outer` in place of its leading axes, which have as many elements."""
    axes = _leading_axes(shape, prod(outer))
    inner = shape[axes:] if axes is not None else (prod(shape) // prod(outer),)
    return (*outer, *inner)


def _leading_axes(shape: tuple[Any, ...], rows: int) -> int | None:
    """The smallest number of leading axes with `rows` elements; None where there is none."""
    count = 1
    for number in range(len(shape) + 1):
        if count == rows:
            return number
        if number < len(shape):
            count *= shape[number]
    return None
