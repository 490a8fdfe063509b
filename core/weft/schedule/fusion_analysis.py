"""Fusion analysis: collect loops, reads, reduces and costs of a kernel before it may be fused.

Source: Kennedy and McKinley, "Maximizing Loop Parallelism and Improving Data Locality via Loop
Fusion and Distribution", LCPC 1993.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Any

from weft.base.dtype import dtypes
from weft.base.sequences import prod
from weft.base.weak import WeakKeys
from weft.schedule.arange import is_counted
from weft.schedule.indexed_store_reductions import has_index_per_element, is_scatter
from weft.schedule.kernel_ast import elements
from weft.schedule.movement_lists import is_whole
from weft.schedule.row_dependence import Allowed, Rows, both, rows_of_shape, rows_of_view
from weft.schedule.use_def import LEAVES, Uses, is_stored
from weft.uop import GroupOp, Ops, UOp

_JOINS = frozenset({Ops.CONTIGUOUS, Ops.REDUCE_AXIS, Ops.ASSIGN}) | GroupOp.Elementwise


@dataclass(eq=False, slots=True)
class Facts:
    """One kernel: the node whose value it stores, and what is computed and read for it.

    shape: its loops. rows: the numbers of rows into which its loops can be cut. reads: its inputs,
    and the numbers of rows for which each read is row-local. nodes: its elementwise operations.
    reduces: shape and axes of its reduce loops. tiled: whether one is a matrix product, whose loops
    are blocked. batch: the number of matrix products, by leading axes. displaced: inputs that it
    reads below a reduce or through movement, so not only at the element that it stores.
    scatter_ops: the operations of reduces whose terms go to indices that are read from memory.
    scatters_elements: whether elements of one row have indices of their own. packed: whether a
    reduce adds products of 8-bit numbers, whose loops suit packed dot products.
    """

    root: UOp
    shape: tuple[Any, ...]
    rows: Rows
    reads: dict[UOp, Allowed] = field(default_factory=dict[UOp, Allowed])
    nodes: int = 0
    reduces: frozenset[tuple[Any, ...]] = frozenset()
    tiled: bool = False
    batch: int = 0
    displaced: frozenset[UOp] = frozenset()
    scatter_ops: frozenset[Ops] = frozenset()
    scatters_elements: bool = False
    packed: bool = False

    @property
    def size(self) -> int:
        """The number of iterations of its outer loops."""
        return prod(self.shape)

    @property
    def work(self) -> int:
        """About how many steps it takes, with symbolic extents at their upper bound."""
        reduced = max((elements(shape) for shape, _ in self.reduces), default=0)
        return reduced + elements(self.shape) * (1 + self.nodes)


def loop_shape(root: UOp) -> tuple[Any, ...]:
    """The shape of what a kernel stores: of the window, where it writes only that."""
    if root.op is Ops.ASSIGN:
        return tuple(root.arg.st.shape if root.arg is not None else root.src[0].shape)
    return tuple(root.shape)


def facts_of(root: UOp, realized: Mapping[UOp, object]) -> Facts:
    """The facts of the kernel of `root`, whose inputs are `realized` or stored already."""
    shape = loop_shape(root)
    known = Facts(root, shape, rows_of_shape(shape))
    if root.op not in _JOINS or not known.rows:
        known.rows = frozenset()
    value = root.src[-1] if root.op is Ops.ASSIGN else root
    tree = UOp(Ops.SINK, src=(value,)).toposort(
        gate=lambda u: u is root or not (u in realized or is_stored(u))
    )
    allowed: dict[UOp, Allowed] = {value.base: known.rows}
    if value.base is not value:
        allowed[value.base] = both(known.rows, rows_of_view(value.st, value.base.size))
    reduces: dict[tuple[Any, ...], None] = {}
    aside: set[UOp] = set() if is_whole(value) else {value.base}
    for node in reversed(tree):
        if node.op in GroupOp.Movement or node.op in LEAVES - {Ops.BUFFER} or node.op is Ops.SINK:
            continue
        mine = allowed.get(node)
        if node is not root and (node in realized or is_stored(node)):
            known.reads[node] = mine
            continue
        if node.op in GroupOp.ALU:
            known.nodes += 1
        if node.op is Ops.REDUCE_AXIS:
            mine = both(mine, rows_of_reduce(node))
            reduces[tuple(node.src[0].shape), node.arg.axes] = None
            known.packed = known.packed or adds_products_of_bytes(node)
            if is_scatter(node):
                known.scatter_ops |= {node.arg.op}
                known.scatters_elements = known.scatters_elements or has_index_per_element(node)
            if len(operands := reused_operands(node)) > 1:
                known.tiled = True
                first = min((*node.arg.axes, *(axis for _, axes in operands for axis in axes)))
                batch = prod(node.src[0].shape[:first])
                known.batch = gcd(known.batch, batch if isinstance(batch, int) else 1)
        elif node.op is Ops.ASSIGN and node is not root:
            mine = frozenset[int]()
        for source in node.src if node.op is not Ops.ASSIGN else node.src[-1:]:
            base = source.base
            if base.op in LEAVES and base.op is not Ops.BUFFER:
                continue
            read = mine if source is base else both(mine, rows_of_view(source.st, base.size))
            allowed[base] = both(allowed[base], read) if base in allowed else read
            if node in aside or node.op is Ops.REDUCE_AXIS or not is_whole(source):
                aside.add(base)
    known.reduces = frozenset(reduces)
    known.displaced = frozenset(known.reads) & aside
    return known


def rows_of_reduce(node: UOp) -> Rows:
    """Rows of what is reduced that are still rows of the result: those before the first axis."""
    shape = tuple(node.src[0].shape)
    first = min((a for a in node.arg.axes if shape[a] != 1), default=len(shape))
    return rows_of_shape(shape[:first])


def adds_products_of_bytes(reduce: UOp) -> bool:
    """Whether a sum of integers adds products of 8-bit numbers."""
    term = reduce.src[0]
    if reduce.arg.op is not Ops.ADD or not dtypes.is_int(reduce.dtype) or term.op is not Ops.MUL:
        return False
    factors = [factor.base for factor in term.src]
    return all(f.op is Ops.CAST and f.src[0].dtype.itemsize == 1 for f in factors)


def is_matrix_product(reduce: UOp) -> bool:
    """Whether two operands are each reused along axes along which the other varies."""
    return len(reused_operands(reduce)) > 1


_known: WeakKeys[UOp, list[tuple[UOp, frozenset[int]]]] = WeakKeys()


def reused_operands(reduce: UOp) -> list[tuple[UOp, frozenset[int]]]:
    """The operands (movement and all) with the result axes along which they do not move.

    Several passes need them; the list is cached and shared.
    """
    known = _known.get(reduce)
    if known is None:
        known = _known[reduce] = _reused_operands(reduce)
    return known


def _reused_operands(reduce: UOp) -> list[tuple[UOp, frozenset[int]]]:
    shape = tuple(reduce.src[0].shape)
    kept = [a for a, extent in enumerate(shape) if a not in reduce.arg.axes and extent != 1]
    found: dict[frozenset[int], UOp] = {}
    stack, seen = [reduce.src[0]], set[UOp]()
    while stack:
        node = stack.pop()
        if node in seen or tuple(node.shape) != shape:
            continue
        seen.add(node)
        if node.op in GroupOp.Movement or node.op is Ops.BUFFER:
            if is_counted(node):
                continue  # no memory is read
            strides = node.st.simplify().views[-1].strides
            still = frozenset(a for a in kept if isinstance(strides[a], int) and strides[a] == 0)
            if still and not any(known & still for known in found):
                found[still] = node
        elif node.op in GroupOp.Elementwise:
            stack.extend(node.src)
    return [(node, axes) for axes, node in found.items()]


class RootKernels:
    """All kernels of a graph before fusion, by number: `nodes` and their `facts`.

    number: of a node. readers: the kernels that read a node or memory. writer: the kernel that
    writes to existing memory. memory: all nodes with a value in memory when a kernel begins.
    """

    def __init__(self, uses: Uses, realized: dict[UOp, None]) -> None:
        self.nodes = list(realized)
        self.memory = frozenset(realized).union(node for node in uses.order if is_stored(node))
        self.number = {node: number for number, node in enumerate(self.nodes)}
        self.facts = [facts_of(node, realized) for node in self.nodes]
        self.readers: dict[UOp, list[int]] = {}
        for number, known in enumerate(self.facts):
            for base in known.reads:
                self.readers.setdefault(base, []).append(number)
        self.writer = {
            node.src[0].base: number
            for number, node in enumerate(self.nodes)
            if node.op is Ops.ASSIGN
        }

    def sources(self, known: Facts) -> list[int]:
        """The kernels whose results a kernel reads."""
        return [self.number[base] for base in known.reads if base in self.number]

    def edges(self) -> Iterable[tuple[int, int]]:
        """(before, after) pairs: sources before readers, readers before writers of their memory."""
        for number, (node, known) in enumerate(zip(self.nodes, self.facts)):
            for base in known.reads:
                if base in self.number:
                    yield self.number[base], number
                if base in self.writer:
                    yield number, self.writer[base]
            if node.op is Ops.ASSIGN and node.src[0].base in self.number:
                yield self.number[node.src[0].base], number
