"""Local row buffers: choose the values that a fused kernel keeps in local arrays, row by row.

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
from dataclasses import dataclass
from typing import Any

from weft.base.sequences import prod
from weft.schedule.arange import is_address
from weft.schedule.fusion_analysis import loop_shape, rows_of_reduce
from weft.schedule.row_dependence import rows_of_shape, rows_of_view
from weft.schedule.use_def import LEAVES
from weft.uop import GroupOp, Ops, UOp

# steps of one element: what is dearer than this is kept rather than computed again
_DEAR = 8
_STEPS = {
    Ops.EXP2: 10, Ops.LOG2: 12, Ops.SIN: 12, Ops.SQRT: 4, Ops.RECIP: 4, Ops.FDIV: 4, Ops.POW: 24,
    Ops.IDIV: 8, Ops.MOD: 8, Ops.THREEFRY: 80,
}  # fmt: skip
_ENDLESS = 1 << 20
# how many ways to come to a value are told apart
_MOST_CONTEXTS = 16

Contexts = frozenset[Any]


@dataclass(eq=False, slots=True)
class _Tree:
    """What a kernel computes: its nodes, how large each is and how dear, and how deep."""

    members: Collection[UOp]
    stored: Collection[UOp]
    rows: int
    order: list[UOp]
    sizes: dict[UOp, Any]
    dear: Mapping[UOp, int]
    depth: Mapping[UOp, int]


@dataclass(eq=False, slots=True)
class _Choice:
    """The nodes chosen for Rows, sources first, and in how many loops each node is computed."""

    chosen: list[UOp]
    places: dict[UOp, int]
    strays: set[UOp]


@dataclass(eq=False, slots=True)
class RowsKept:
    """A way to run the kernels of a group row by row: what has to be kept for it as Rows."""

    tree: _Tree
    choice: _Choice
    most_bytes: int

    def spared(self, most_again: float) -> list[UOp]:
        """The nodes to keep as Rows, sources first.

        most_again: how many times the steps that would do, if nothing were computed twice, may be
        made; cheap values are computed again rather than kept only as long as that holds.
        """
        return _spared(self.tree, self.choice, self.most_bytes, most_again)


def rows_kept(
    members: Collection[UOp],
    stored: Collection[UOp],
    rows: int,
    most_bytes: int,
    is_read: Callable[[UOp], bool],
) -> RowsKept | None:
    """What is kept where kernels run row by row; None where what must be kept does not fit.

    members: the kernels that are to share their loops, each run once for every one of `rows`.
    is_read: whether a node is read from memory, if it is no member.
    """
    order = _tree(members, is_read)
    sizes = {node: prod(node.shape) for node in order}
    dear, depth = _dearness(sizes, rows), _depths(order)
    tree = _Tree(members, stored, rows, order, sizes, dear, depth)
    choice = _choose(tree, most_bytes, frozenset())
    return None if choice is None else RowsKept(tree, choice, most_bytes)


def _spared(tree: _Tree, choice: _Choice, most_bytes: int, most_again: float) -> list[UOp]:
    """More Rows until few enough steps are made: the shortest first, of those what saves most."""
    extra: frozenset[UOp] = frozenset()
    once = sum(_steps_of(node, tree.sizes) for node in tree.order)
    steps = _steps_made(tree, choice)
    while steps > most_again * once:
        best = None
        for node in _cheap_ones(tree, choice):
            tried = _choose(tree, most_bytes, extra | {node})
            if tried is None or node not in tried.chosen:
                continue
            figures = (node.dtype.itemsize * tree.sizes[node], _steps_made(tree, tried))
            if figures[1] < steps and (best is None or figures < best[0]):
                best = figures, node, tried
        if best is None:
            break
        (_, steps), node, choice = best
        extra |= {node}
    return choice.chosen


def _cheap_ones(tree: _Tree, choice: _Choice) -> list[UOp]:
    """What is computed in several loops."""
    return [
        node
        for node in tree.order
        if choice.places[node] > 1
        and tree.sizes[node] > tree.rows
        and node not in choice.strays
        and node.op in GroupOp.ALU
        and not is_address(node)
    ]


def _steps_of(node: UOp, sizes: Mapping[UOp, Any]) -> int:
    """How many steps all elements of a value take, a multiply-add being two."""
    if node.op is Ops.REDUCE_AXIS:
        return prod(node.src[0].shape)
    return sizes[node] * (1 + (node.op is Ops.MULACC)) if node.op in GroupOp.ALU else 0


def _steps_made(tree: _Tree, choice: _Choice) -> int:
    """The same of all values, each as often as it is computed."""
    return sum(_steps_of(node, tree.sizes) * choice.places[node] for node in tree.order)


def _choose(tree: _Tree, most_bytes: int, extra: frozenset[UOp]) -> _Choice | None:
    """What is dear enough to be kept, and `extra`; None where it does not fit."""
    members, rows, dear = tree.members, tree.rows, tree.dear
    contexts: dict[UOp, set[Any]] = {node: set() for node in tree.order}
    places: dict[UOp, int] = {}
    used: set[UOp] = set()
    grows: set[UOp] = set()
    strays: set[UOp] = set()  # read in other rows than their own: never kept, but computed again
    for member in members:
        if member in tree.stored:
            inner = prod(loop_shape(member)) // rows
            contexts[member].add(("store", inner))
    chosen: list[UOp] = []
    room, refused = most_bytes, 0
    for node in reversed(tree.order):
        here = contexts[node]
        size = tree.sizes[node]
        # what was written is read from where it is kept: its old value may be gone from memory
        written = node.op is Ops.ASSIGN and node in used
        dear_here = size > rows and _is_wanted(node, members, len(here), node in grows, dear[node])
        if written or dear_here or node in extra:
            length = size // rows * node.dtype.itemsize
            fits = length <= room and node not in strays
            # a small part of what there is no room for is not worth the way to memory and back
            fits = fits and (node in members or node in extra or 2 * dear[node] >= refused)
            if not fits or size % rows or rows not in rows_of_shape(node.shape):
                if node in members or dear[node] >= _ENDLESS:
                    return None
                refused = max(refused, dear[node])
            else:
                room -= length
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
            contexts[base] |= here if source is base else _seen_through(source, base, here)
            used.add(base)
            if node in strays or not _is_local(node, source, base, rows):
                strays.add(base)
            if source is not base and prod(source.shape) > tree.sizes[base]:
                grows.add(base)
    return _Choice(chosen[::-1], places, strays)


def _seen_through(source: UOp, base: UOp, contexts: set[Any]) -> set[Any]:
    """The contexts in which `base` is computed where it is read through a movement.

    Other elements at the same turn of a loop are computed once more.
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


def _is_wanted(node: UOp, members: Collection[UOp], places: int, grows: bool, steps: int) -> bool:
    if (places < 2 and not grows) or (node not in members and is_address(node)):
        return False
    return grows or steps >= (1 if node in members else _DEAR)


def _tree(members: Collection[UOp], is_read: Callable[[UOp], bool]) -> list[UOp]:
    """What is computed in the kernel, without movement, sources first."""
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


def _dearness(sizes: Mapping[UOp, Any], rows: int) -> dict[UOp, int]:
    """How many steps one element of each value takes; a reduce of more than one row-wise, endless.

    What is reduced to one element per row is computed once, wherever it is read.
    """
    dear: dict[UOp, int] = {}
    for node, size in sizes.items():
        if size <= rows:
            dear[node] = 0
        elif node.op is Ops.REDUCE_AXIS:
            dear[node] = _ENDLESS
        else:
            own = _STEPS.get(node.op, 1) if node.op in GroupOp.ALU else 0
            below = [dear.get(s.base, 0) for s in node.src]
            dear[node] = min(own + sum(below), _ENDLESS)
    return dear


def _depths(order: list[UOp]) -> Mapping[UOp, int]:
    """How many reduces stand one upon the other."""
    depth: dict[UOp, int] = {}
    for node in order:
        below = 0
        for source in node.src:
            below = max(below, depth.get(source.base, 0))
        depth[node] = below + (node.op is Ops.REDUCE_AXIS)
    return depth


def outer_shape(shapes: Collection[tuple[Any, ...]], rows: int) -> tuple[int, ...]:
    """The outer axes that the loops of a group share: the most detailed ones among its shapes."""
    best: tuple[int, ...] = (rows,)
    for shape in shapes:
        if (axes := _leading(shape, rows)) is None:
            continue
        outer = tuple(extent for extent in shape[:axes] if extent != 1)
        if len(outer) > len(best) or best == (rows,):
            best = outer
    return best


def in_rows(shape: tuple[Any, ...], outer: tuple[int, ...]) -> tuple[Any, ...]:
    """`shape` with `outer` in the place of its leading axes, which have as many elements."""
    axes = _leading(shape, prod(outer))
    inner = shape[axes:] if axes is not None else (prod(shape) // prod(outer),)
    return (*outer, *inner)


def _leading(shape: tuple[Any, ...], rows: int) -> int | None:
    """How many leading axes have `rows` elements, the fewest that do."""
    count = 1
    for number in range(len(shape) + 1):
        if count == rows:
            return number
        if number < len(shape):
            count *= shape[number]
    return None
