"""Lowering: translate views and axes into loops and addresses.

in:  spec.kernel_ast   STOREs of values over ShapeTrackers
out: spec.lowered      RANGE, INDEX, gated LOAD, REDUCE over ranges; no views, no axes

Every value is computed *at an index*: an output has one range per axis, and the lowerer evaluates
each node at a tuple of index expressions. A view changes the tuple, a reduction inserts ranges of
its own, other nodes pass it on. Values are cached by (node, indices). So a value that is invariant
in an inner loop is one node, outside of that loop.

A local row (CONTIGUOUS with a Row) is computed once for every index of its outer axes, over ranges
of its own for the inner axes: a FILL of an array, which any index can then read.

Where a view masks a computed value, the loads of that value are gated, so no address that the mask
excludes is read.

Source: J. Ragan-Kelley et al., 'Halide' (PLDI 2013): lowering a pure definition to loops, bottom-up
from the outputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from weft.base.dtype import AddrSpace, dtypes
from weft.base.errors import SpecError
from weft.base.sequences import prod
from weft.codegen.analysis.ranges import CLOSING, Accumulate, Fill, ranges_of
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.lowering.addresses import (
    ZERO,
    Indices,
    address,
    indices_in,
    intersect_gates,
    max_magnitude,
    row_major,
)
from weft.codegen.lowering.loop_fusion import StoreNests, is_one, opens_loops, reads_of
from weft.shape import shape_of
from weft.uop import AxisKind, GroupOp, Ops, Reduce, Row, UOp, identity_element, sint

Task = tuple[UOp, Indices, UOp | None]  # a node, its index, and the gate of its loads
Stack = list[tuple[Task, list[Task], Callable[[list[UOp]], UOp] | None]]
"""Tasks, each with the tasks it needs and the function from their values to its own."""

_INT_MAX = dtypes.int.max
_IDENTITIES = frozenset({Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.DETACH, Ops.FUSE, Ops.NOOP})


@dataclass
class _Shared:
    """The loops of a reduction or row, and its loads (computed when a second one compares them)."""

    node: UOp
    loops: tuple[UOp, ...]
    known: frozenset[UOp] | None = None

    def reads(self) -> frozenset[UOp]:
        if self.known is None:
            self.known = reads_of(self.node.src[0])
        return self.known


@dataclass
class _LocalRow:
    """A local row: its outer indices, inner shape and loops, its array, and its FILL."""

    outer: Indices
    shape: tuple[sint, ...]
    loops: tuple[UOp, ...]
    array: UOp
    fill: UOp | None = None


class _Lowerer:
    def __init__(self, always_fuse: bool, outer: int) -> None:
        self.values: dict[Task, UOp] = {}
        self.numbers = itertools.count()
        self.nests = StoreNests(always_fuse, outer)
        self.outputs: set[UOp] = set()
        # (extents, outer indices, depth) -> ranges; ranges -> the loops around and inside a REDUCE
        self.loops: dict[Any, list[_Shared]] = {}
        self.closed: dict[tuple[UOp, ...], tuple[frozenset[UOp], tuple[UOp, ...]]] = {}
        self.depth: dict[UOp, int] = {}
        self.rows: dict[UOp, _LocalRow] = {}

    # ---- outputs ------------------------------------------------------------------------------

    def store(self, store: UOp) -> UOp:
        view, value = store.src
        target, st = view.src[0], view.arg
        shape: tuple[sint, ...] = st.shape
        ranges = self.output_ranges(shape, value)
        indices = tuple(ranges.get(axis, ZERO) for axis in range(len(shape)))
        at, gate = address(st, indices)
        if gate is not None and gate.op is Ops.CONST and not gate.arg:
            return UOp(Ops.NOOP)
        lowered = self.value(value, indices, gate)
        return UOp(Ops.STORE, dtypes.void, (target.index(at, gate), lowered))

    def output_ranges(self, shape: tuple[sint, ...], value: UOp) -> dict[int, UOp]:
        ranges = self.nests.shared(shape, value)
        for axis, extent in enumerate(shape):
            if axis not in ranges and not is_one(extent):
                ranges[axis] = self.fresh(extent, AxisKind.LOOP)
        self.nests.add(shape, value, ranges)
        self.outputs.update(ranges.values())
        return ranges

    def fresh(self, extent: sint, kind: AxisKind) -> UOp:
        dtype = dtypes.long if max_magnitude(extent) > _INT_MAX else dtypes.int
        end = extent.cast(dtype) if isinstance(extent, UOp) else extent
        return UOp.range(end, next(self.numbers), kind, dtype)

    # ---- values -------------------------------------------------------------------------------

    def value(self, root: UOp, indices: Indices, gate: UOp | None) -> UOp:
        """The value of `root` at `indices`, computed with a stack instead of recursion."""
        values = self.values
        stack: Stack = []
        self.visit((root, indices, gate), stack)
        while stack:
            task, needs, finish = stack[-1]
            if task in values:
                stack.pop()
                continue
            missing = [need for need in needs if need not in values]
            if missing:
                for need in reversed(missing):
                    self.visit(need, stack)
                continue
            stack.pop()
            sources = [values[need] for need in needs]
            if finish is None:
                node = task[0]
                values[task] = UOp(node.op, node.dtype, tuple(sources), node.arg)
            else:
                values[task] = finish(sources)
        return values[(root, indices, gate)]

    def visit(self, task: Task, stack: Stack) -> None:
        """Push a task, its dependences and the function that finishes it (None: rebuild)."""
        node, indices, gate = task
        op = node.op
        if op in GroupOp.ALU or op is Ops.CAST:
            stack.append((task, [(source, indices, gate) for source in node.src], None))
        elif op is Ops.CONST:
            self.values[task] = UOp(Ops.CONST, node.dtype, (), node.arg)
        elif op is Ops.DEFINE_VAR:
            self.values[task] = node
        elif op is Ops.IOTA:
            self.values[task] = indices[0].cast(node.dtype)
        elif op is Ops.BIND:
            self.values[task] = node.src[0]
        elif op is Ops.LOAD:
            self.values[task] = _load(node, indices, gate)
        elif op is Ops.VALID:
            valid = address(node.arg, indices)[1]
            self.values[task] = UOp.const(dtypes.bool, True) if valid is None else valid
        elif op is Ops.VIEW:
            self.view(task, stack)
        elif op is Ops.REDUCE_AXIS:
            self.reduce(task, stack)
        elif op is Ops.BITCAST:
            self.bitcast(task, stack)
        elif op is Ops.CONTIGUOUS and isinstance(node.arg, Row):
            self.row(task, stack)
        elif op in _IDENTITIES:
            stack.append((task, [(node.src[0], indices, gate)], _first))
        else:
            raise SpecError(
                f"{op} has no value inside a kernel",
                asked="lowering a kernel",
                because="a kernel holds arithmetic, LOAD, VIEW, VALID, CONST and REDUCE_AXIS",
            )

    def view(self, task: Task, stack: Stack) -> None:
        node, indices, gate = task
        source = node.src[0]
        at, valid = indices_in(node.arg, indices, shape_of(source))
        if valid is not None and valid.op is Ops.CONST:
            if not valid.arg:
                self.values[task] = UOp.const(node.dtype, 0)
                return
            valid = None
        need = (source, at, intersect_gates(gate, valid))
        if valid is None:
            stack.append((task, [need], _first))
        else:
            zero = UOp.const(node.dtype, 0)
            condition = valid
            stack.append(
                (task, [need], lambda v: UOp(Ops.WHERE, node.dtype, (condition, v[0], zero)))
            )

    def bitcast(self, task: Task, stack: Stack) -> None:
        node, indices, gate = task
        source = node.src[0]
        if source.dtype.itemsize != node.dtype.itemsize:
            raise SpecError(
                "a kernel contains a bitcast between different sizes",
                asked=f"{source.dtype} as {node.dtype}",
                because="only a bitcast to a dtype of the same size is elementwise",
                try_="store the value first, and view its buffer",
            )
        stack.append((task, [(source, indices, gate)], None))

    # ---- reductions ---------------------------------------------------------------------------

    def reduce(self, task: Task, stack: Stack) -> None:
        node, indices, gate = task
        arg: Reduce = node.arg
        source, op = node.src[0], arg.op
        shape = shape_of(source)
        axes = [axis for axis in arg.axes if not is_one(shape[axis])]
        extents = tuple(shape[axis] for axis in axes)
        if any(isinstance(extent, int) and extent == 0 for extent in extents):
            self.values[task] = UOp.const(node.dtype, identity_element(op, node.dtype))
            return
        outside = tuple(ZERO if axis in arg.axes else at for axis, at in enumerate(indices))
        key = (extents, tuple(axes), outside, self.depth_of(node))
        ranges = self.shared_loops(key, node, AxisKind.REDUCE)
        inside = list(outside)
        for axis, loop in zip(axes, ranges):
            inside[axis] = loop
        need = (source, tuple(inside), gate)
        loops = ranges
        stack.append((task, [need], lambda v: self.close(node, v[0], loops)))

    def close(self, node: UOp, value: UOp, loops: tuple[UOp, ...]) -> UOp:
        """REDUCE of `value` over those of `loops` that it depends on."""
        op, dtype = node.arg.op, node.dtype
        free = ranges_of(value)
        used = tuple(loop for loop in loops if loop in free or op is Ops.MUL)
        times = _product(loop.src[0] for loop in loops if loop not in used)
        if used:
            value, used = self.closed_value(value, loops, used)
            value = UOp(Ops.REDUCE, dtype, (value, *used), Accumulate(op))
        if times is not None and op is Ops.ADD and dtype is not dtypes.bool:
            value = value * _cast_like(times, value)
        return value

    def closed_value(
        self, value: UOp, loops: tuple[UOp, ...], used: tuple[UOp, ...]
    ) -> tuple[UOp, tuple[UOp, ...]]:
        """A value and those of `loops` to close around it; new ones in another loop nest."""
        known = (ranges_of(value).difference(loops), used)
        if self.closed.setdefault(loops, known) == known:
            return value, used
        fresh = tuple(
            UOp.range(loop.src[0], next(self.numbers), loop.arg.kind, loop.dtype) for loop in used
        )
        return value.substitute(dict(zip(used, fresh))), fresh

    # ---- local rows ---------------------------------------------------------------------------

    def row(self, task: Task, stack: Stack) -> None:
        """A value that is computed once for its outer indices, and loaded from its local row."""
        node, indices, gate = task
        outer = node.arg.outer
        shape = shape_of(node)[outer:]
        if all(is_one(extent) for extent in shape):
            stack.append((task, [(node.src[0], indices, gate)], _first))
            return
        row = self.rows.get(node)
        if row is None:
            row = self.rows[node] = self.local_row(node, indices[:outer], shape)
        if row.outer != indices[:outer]:
            raise _row_error(node, "it is read at two different ones")
        if row.fill is not None:
            self.values[task] = _load_row(node, row, indices[outer:], gate)
            return
        ranges = iter(row.loops)
        inside = tuple(ZERO if is_one(extent) else next(ranges) for extent in shape)

        def finish(values: list[UOp]) -> UOp:
            assert row is not None
            if row.fill is None:
                row.fill = self.fill(node, row, values[0])
            return _load_row(node, row, indices[outer:], gate)

        stack.append((task, [(node.src[0], (*indices[:outer], *inside), None)], finish))

    def local_row(self, node: UOp, outer: Indices, shape: tuple[sint, ...]) -> _LocalRow:
        """The new local row of a node; SpecError if its outer indices do not permit one."""
        for index, extent in zip(outer, shape_of(node)):
            if any(loop not in self.outputs for loop in ranges_of(index)):
                raise _row_error(node, "it would be computed inside a loop over its inner axes")
            if index.vmin < 0 or index.vmax >= max_magnitude(extent):
                raise _row_error(node, "it is read beyond its outer axes")
        loops = set[UOp]().union(*map(ranges_of, outer))
        iterations = prod([max_magnitude(loop.src[0]) for loop in loops])
        if iterations > prod([max_magnitude(e) for e in shape_of(node)[: len(outer)]]):
            raise _row_error(node, "several iterations would compute the same row")
        extents = tuple(extent for extent in shape if not is_one(extent))
        size = prod([max_magnitude(extent) for extent in shape])
        array = UOp(Ops.DEFINE_REG, node.dtype.ptr(size, AddrSpace.REG), (), len(self.rows))
        key = (extents, None, outer, self.depth_of(node))
        return _LocalRow(outer, shape, self.shared_loops(key, node, AxisKind.LOOP), array)

    def fill(self, node: UOp, row: _LocalRow, value: UOp) -> UOp:
        """The FILL that stores `value` to the array of a local row."""
        value, loops = self.closed_value(value, row.loops, row.loops)
        ranges = iter(loops)
        inside = tuple(ZERO if is_one(extent) else next(ranges) for extent in row.shape)
        place = row.array.index(row_major(inside, row.shape))
        store = UOp(Ops.STORE, dtypes.void, (place, value))
        return UOp(Ops.FILL, dtypes.void, (store, *loops), Fill())

    # ---- loops that several share -------------------------------------------------------------

    def shared_loops(self, key: Any, node: UOp, kind: AxisKind) -> tuple[UOp, ...]:
        """The ranges of `key`: those of a node with common loads, or new ones."""
        extents: tuple[sint, ...] = key[0]
        entries = self.loops.setdefault(key, [])
        for entry in entries:
            if entry.node is node or not reads_of(node.src[0]).isdisjoint(entry.reads()):
                return entry.loops
        loops = tuple(self.fresh(extent, kind) for extent in extents)
        entries.append(_Shared(node, loops))
        return loops

    def depth_of(self, node: UOp) -> int:
        """The longest chain of reductions and rows below; nodes of equal depth are independent."""
        known = self.depth.get(node)
        if known is None:
            for below in node.toposort(gate=lambda u: u not in self.depth):
                if below not in self.depth:
                    deepest = max((self.depth.get(source, 0) for source in below.src), default=0)
                    self.depth[below] = deepest + opens_loops(below)
            known = self.depth[node]
        return known


def _first(values: list[UOp]) -> UOp:
    return values[0]


def _load_row(node: UOp, row: _LocalRow, indices: Indices, gate: UOp | None) -> UOp:
    """The LOAD of an element of a local row."""
    assert row.fill is not None
    at = row_major(indices, row.shape)
    if gate is None or gate.op is Ops.CONST:
        return UOp(Ops.LOAD, node.dtype, (row.array.index(at), row.fill))
    zero = UOp.const(node.dtype, 0)
    return UOp(Ops.LOAD, node.dtype, (row.array.index(at, gate), zero, row.fill))


def _row_error(node: UOp, because: str) -> SpecError:
    return SpecError(
        "a local row is read at other outer indices than it is filled at",
        asked=f"lowering a row of shape {shape_of(node)} with {node.arg.outer} outer axes",
        because=because,
        try_="store it in a buffer first",
    )


def _product(ends: Iterable[UOp]) -> UOp | None:
    """The product of loop extents, in 64 bits; None for no loops."""
    total: UOp | None = None
    for end in ends:
        if total is None:
            total = end
        elif total.op is Ops.CONST and end.op is Ops.CONST:
            total = UOp.const(dtypes.long, total.arg * end.arg)
        else:
            total = total.cast(dtypes.long) * end.cast(dtypes.long)
    return total


def _cast_like(times: UOp, value: UOp) -> UOp:
    """An integer in the dtype of `value`."""
    if times.op is Ops.CONST:
        return UOp.const(value.dtype, times.arg)
    return times.cast(value.dtype)


def _load(node: UOp, indices: Indices, gate: UOp | None) -> UOp:
    view = node.src[0]
    at, valid = address(view.arg, indices)
    gate = intersect_gates(gate, valid)
    if gate is None:
        return UOp(Ops.LOAD, node.dtype, (view.src[0].index(at),))
    zero = UOp.const(node.dtype, 0)
    if gate.op is Ops.CONST:
        return UOp(Ops.LOAD, node.dtype, (view.src[0].index(at),)) if gate.arg else zero
    return UOp(Ops.LOAD, node.dtype, (view.src[0].index(at, gate), zero))


def _order_outputs_by_use(sink: UOp, outputs: set[UOp]) -> dict[UOp, UOp]:
    """New numbers for the output ranges: those of most stores, rows and reductions are outermost.

    Otherwise a reduction that depends only on an inner output axis would be recomputed in each
    iteration of the outer ones. SpecError if a row would be recomputed nevertheless.
    """
    nodes = nodes_of(sink)
    uses: dict[UOp, list[int]] = {}
    stores, fills = set(sink.src), [node for node in nodes if node.op is Ops.FILL]
    for node in nodes:
        if node in stores or node.op in CLOSING:
            kind = 0 if node in stores else 1 if node.op is Ops.FILL else 2
            for loop in ranges_of(node):
                if loop in outputs:
                    uses.setdefault(loop, [0, 0, 0])[kind] += 1
    loops = sorted(uses, key=lambda u: u.arg.id)
    order = sorted(loops, key=lambda u: tuple(-count for count in uses[u]))
    for store in stores:
        nest = [loop for loop in order if loop in ranges_of(store)]
        for fill in fills:
            around = ranges_of(fill)
            if not around <= set(nest[: len(around)]) and fill in store.toposort():
                raise SpecError(
                    "a local row would be recomputed in each iteration of an outer loop",
                    asked=f"lowering a row that depends on {len(around)} loops",
                    because="these are not the outermost loops of a store that reads it",
                    try_="store it in a buffer first",
                )
    return {
        old: UOp.range(old.src[0], place.arg.id, AxisKind.LOOP, old.dtype)
        for place, old in zip(loops, order)
        if old is not place
    }


def _check_in_place(sink: UOp) -> None:
    """Check that in-place kernels read a buffer at the index they write, or in other loops.

    SpecError otherwise, because the order of the loops would decide whether an element is read
    before it is overwritten.
    """
    nodes = nodes_of(sink)
    stores: dict[UOp, list[UOp]] = {}
    for node in nodes:
        if node.op is Ops.STORE:
            stores.setdefault(node.src[0].src[0], []).append(node.src[0])
    for node in nodes:
        if node.op is not Ops.LOAD or node.src[0].src[0] not in stores:
            continue
        if node.src[0].src[0].op is Ops.DEFINE_REG:
            continue  # a FILL precedes the read
        read = node.src[0]
        for written in stores[read.src[0]]:
            same = read.src[1] is written.src[1]
            if not same and not ranges_of(read).isdisjoint(ranges_of(written)):
                raise SpecError(
                    "a kernel reads elements of a buffer that it may have overwritten",
                    asked=f"LOAD and STORE of slot {read.src[0].arg}",
                    because="they are at different indices in one loop",
                    try_="store the value in a buffer of its own first",
                )


def run(ast: UOp, always_fuse: bool = False) -> UOp:
    """The lowered form of a kernel.

    always_fuse: stores share loops wherever legal, even if not profitable. SpecError for a node
    that has no value inside a kernel, and for a buffer that is read at other indices than it is
    written at.
    """
    rows = (u.arg.outer for u in ast.toposort() if isinstance(u.arg, Row))
    lowerer = _Lowerer(always_fuse, max(rows, default=0))
    # stores with the most axes come first; stores with fewer axes share their loops
    order = sorted(
        range(len(ast.src)),
        key=lambda i: -sum(not is_one(extent) for extent in ast.src[i].src[0].arg.shape),
    )
    lowered = {i: lowerer.store(ast.src[i]) for i in order}
    stores = [lowered[i] for i in range(len(ast.src)) if lowered[i].op is Ops.STORE]
    sink = UOp.sink(*stores, arg=ast.arg)
    _check_in_place(sink)
    return sink.substitute(_order_outputs_by_use(sink, lowerer.outputs))
