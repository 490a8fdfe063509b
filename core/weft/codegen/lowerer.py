"""Views become loops and addresses.

in:  spec.kernel_ast   STOREs of values over ShapeTrackers
out: spec.lowered      RANGE, INDEX, gated LOAD, REDUCE over ranges; no views, no axes

Every value is computed *at an index*: an output starts with one range per axis, and each node is
asked for its value at a tuple of index expressions. A view changes the tuple, a reduce puts ranges
of its own in it, everything else passes it on. Values are remembered by (node, indices), so that a
value that does not depend on an inner loop is one node, and stands outside that loop by itself.

Where a view reads a computed value beyond its mask, the loads below are gated: no address that the
mask excludes is ever touched.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.codegen.ranges import Accumulate, ranges_of
from weft.shape.indexing import expr_from_ranges
from weft.shape.infer import shape_of
from weft.shape.tracker import ShapeTracker
from weft.uop.args import AxisKind
from weft.uop.evaluate import identity_element
from weft.uop.node import UOp, sint
from weft.uop.ops import GroupOp, Ops

Indices = tuple[UOp, ...]
Task = tuple[UOp, Indices, UOp | None]  # a value, where, and under which condition

_ZERO = UOp.const(dtypes.int, 0)
_LARGEST = dtypes.int.max
_PASSED_ON = frozenset({Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.DETACH, Ops.FUSE, Ops.NOOP})


class _StoreGroup:
    """Stores whose axes are the same loops: those of each lie within those of the one before."""

    def __init__(self, shape: tuple[sint, ...], ranges: dict[int, UOp]) -> None:
        self.shape = shape
        self.ranges = ranges
        self.axes = [frozenset(ranges)]

    def takes(self, shape: tuple[sint, ...]) -> bool:
        if len(shape) != len(self.shape):
            return False
        wanted = frozenset(axis for axis, extent in enumerate(shape) if not _is_one(extent))
        return all(
            shape[axis] == self.shape[axis] for axis in wanted & frozenset(self.ranges)
        ) and all(wanted <= other for other in self.axes)


class _Lowerer:
    def __init__(self) -> None:
        self.values: dict[Task, UOp] = {}
        self.numbers = itertools.count()
        self.groups: list[_StoreGroup] = []
        # (extents, indices outside, depth) -> ranges; and what these are once a reduce used them
        self.loops: dict[Any, tuple[UOp, ...]] = {}
        self.closed: dict[tuple[UOp, ...], tuple[frozenset[UOp], tuple[UOp, ...]]] = {}
        self.depth: dict[UOp, int] = {}

    # ---- outputs ------------------------------------------------------------------------------

    def store(self, store: UOp) -> UOp:
        view, value = store.src
        target, st = view.src[0], view.arg
        shape: tuple[sint, ...] = st.shape
        ranges = self.output_ranges(shape)
        indices = tuple(ranges.get(axis, _ZERO) for axis in range(len(shape)))
        at, gate = _address(st, indices)
        if gate is not None and gate.op is Ops.CONST and not gate.arg:
            return UOp(Ops.NOOP)
        lowered = self.value(value, indices, gate)
        return UOp(Ops.STORE, dtypes.void, (target.index(at, gate), lowered))

    def output_ranges(self, shape: tuple[sint, ...]) -> dict[int, UOp]:
        for group in self.groups:
            if group.takes(shape):
                kept = {a: r for a, r in group.ranges.items() if not _is_one(shape[a])}
                group.axes.append(frozenset(kept))
                return kept
        ranges = {
            axis: self.fresh(extent, AxisKind.LOOP)
            for axis, extent in enumerate(shape)
            if not _is_one(extent)
        }
        self.groups.append(_StoreGroup(shape, ranges))
        return ranges

    def fresh(self, extent: sint, kind: AxisKind) -> UOp:
        dtype = dtypes.long if _most(extent) > _LARGEST else dtypes.int
        end = extent.cast(dtype) if isinstance(extent, UOp) else extent
        return UOp.range(end, next(self.numbers), kind, dtype)

    # ---- values -------------------------------------------------------------------------------

    def value(self, root: UOp, indices: Indices, gate: UOp | None) -> UOp:
        """The value of `root` at `indices`; walked with a stack, so that no kernel is too deep."""
        values = self.values
        stack: list[tuple[Task, list[Task], Callable[[list[UOp]], UOp] | None]] = []
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

    def visit(self, task: Task, stack: list[Any]) -> None:
        """Put a task on the stack, with what it needs and how it is finished (None: rebuilt)."""
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
            valid = _address(node.arg, indices)[1]
            self.values[task] = UOp.const(dtypes.bool, True) if valid is None else valid
        elif op is Ops.VIEW:
            self.view(task, stack)
        elif op is Ops.REDUCE_AXIS:
            self.reduce(task, stack)
        elif op is Ops.BITCAST:
            self.bitcast(task, stack)
        elif op in _PASSED_ON:
            stack.append((task, [(node.src[0], indices, gate)], _first))
        else:
            raise SpecError(
                f"{op} has no value inside a kernel",
                asked="lowering a kernel",
                because="a kernel holds arithmetic, LOAD, VIEW, VALID, CONST and REDUCE_AXIS",
            )

    def view(self, task: Task, stack: list[Any]) -> None:
        node, indices, gate = task
        source = node.src[0]
        at, valid = _address(node.arg, indices)
        if valid is not None and valid.op is Ops.CONST:
            if not valid.arg:
                self.values[task] = UOp.const(node.dtype, 0)
                return
            valid = None
        shape = () if source.op is Ops.CONST else shape_of(source)
        need = (source, _unflatten(at, shape), _both(gate, valid))
        if valid is None:
            stack.append((task, [need], _first))
        else:
            zero = UOp.const(node.dtype, 0)
            condition = valid
            stack.append(
                (task, [need], lambda v: UOp(Ops.WHERE, node.dtype, (condition, v[0], zero)))
            )

    def bitcast(self, task: Task, stack: list[Any]) -> None:
        node, indices, gate = task
        source = node.src[0]
        if source.dtype.itemsize != node.dtype.itemsize:
            raise SpecError(
                "a bitcast between sizes stands inside a kernel",
                asked=f"{source.dtype} as {node.dtype}",
                because="only a bitcast to a dtype of the same size is elementwise",
                try_="store the value first, and view its buffer",
            )
        stack.append((task, [(source, indices, gate)], None))

    # ---- reductions ---------------------------------------------------------------------------

    def reduce(self, task: Task, stack: list[Any]) -> None:
        node, indices, gate = task
        source, op = node.src[0], node.arg.op
        shape = shape_of(source)
        axes = [axis for axis in node.arg.axes if not _is_one(shape[axis])]
        extents = tuple(shape[axis] for axis in axes)
        if any(isinstance(extent, int) and extent == 0 for extent in extents):
            self.values[task] = UOp.const(node.dtype, identity_element(op, node.dtype))
            return
        outside = tuple(_ZERO if axis in node.arg.axes else at for axis, at in enumerate(indices))
        key = (extents, tuple(axes), outside, self.depth_of(node))
        ranges = self.loops.get(key)
        if ranges is None:
            ranges = tuple(self.fresh(extent, AxisKind.REDUCE) for extent in extents)
            self.loops[key] = ranges
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
            known = (free.difference(loops), used)
            if self.closed.setdefault(loops, known) != known:
                # the same axes, but it stands in other loops: it gets ranges of its own
                fresh = tuple(
                    UOp.range(loop.src[0], next(self.numbers), AxisKind.REDUCE, loop.dtype)
                    for loop in used
                )
                value = value.substitute(dict(zip(used, fresh)))
                used = fresh
            value = UOp(Ops.REDUCE, dtype, (value, *used), Accumulate(op))
        if times is not None and op is Ops.ADD and dtype is not dtypes.bool:
            value = value * _converted(times, value)
        return value

    def depth_of(self, node: UOp) -> int:
        """How many reduces stand one upon the other here: of equal depth, none uses the other."""
        known = self.depth.get(node)
        if known is None:
            for below in node.toposort(gate=lambda u: u not in self.depth):
                if below not in self.depth:
                    deepest = max((self.depth.get(source, 0) for source in below.src), default=0)
                    self.depth[below] = deepest + (below.op is Ops.REDUCE_AXIS)
            known = self.depth[node]
        return known


def _is_one(extent: sint) -> bool:
    return isinstance(extent, int) and extent == 1


def _first(values: list[UOp]) -> UOp:
    return values[0]


def _both(a: UOp | None, b: UOp | None) -> UOp | None:
    if a is None or b is None or a is b:
        return b if a is None else a
    return UOp(Ops.AND, dtypes.bool, (a, b)).simplify()


def _product(ends: Iterable[UOp]) -> UOp | None:
    total: UOp | None = None
    for end in ends:
        if total is None:
            total = end
        elif total.op is Ops.CONST and end.op is Ops.CONST:
            total = UOp.const(dtypes.long, total.arg * end.arg)
        else:
            total = total.cast(dtypes.long) * end.cast(dtypes.long)
    return total


def _converted(times: UOp, value: UOp) -> UOp:
    if times.op is Ops.CONST:
        return UOp.const(value.dtype, times.arg)
    return times.cast(value.dtype)


def _load(node: UOp, indices: Indices, gate: UOp | None) -> UOp:
    view = node.src[0]
    at, valid = _address(view.arg, indices)
    gate = _both(gate, valid)
    if gate is None:
        return UOp(Ops.LOAD, node.dtype, (view.src[0].index(at),))
    zero = UOp.const(node.dtype, 0)
    if gate.op is Ops.CONST:
        return UOp(Ops.LOAD, node.dtype, (view.src[0].index(at),)) if gate.arg else zero
    return UOp(Ops.LOAD, node.dtype, (view.src[0].index(at, gate), zero))


def _address(st: ShapeTracker, indices: Indices) -> tuple[UOp, UOp | None]:
    """Where an element of `st` is, and whether it is: in 64 bits where 32 could overflow."""
    at, valid = expr_from_ranges(st, indices)
    if isinstance(at, int):
        at = UOp.const(dtypes.int, at)
    if _is_large(st):
        at = _widened(at)
        valid = None if valid is None else _widened(valid)
    return at, valid


def _most(extent: sint) -> int:
    return extent if isinstance(extent, int) else max(abs(extent.vmin), abs(extent.vmax))


def _is_large(st: ShapeTracker) -> bool:
    """Whether some index of some view of `st` could be beyond what 32 bits hold."""
    for view in st.views:
        count, reach = 1, _most(view.offset)
        for extent, stride in zip(view.shape, view.strides):
            count *= _most(extent)
            reach += max(_most(extent) - 1, 0) * _most(stride)
        if count > _LARGEST or reach > _LARGEST:
            return True
    return False


def _widened(expression: UOp) -> UOp:
    """The same integer expression computed in 64 bits; comparisons stay bool."""
    wide: dict[UOp, UOp] = {}
    for node in expression.toposort(gate=lambda u: u.op not in (Ops.RANGE, Ops.DEFINE_VAR)):
        if node.dtype is not dtypes.int and not node.src:
            wide[node] = node
        elif node.op is Ops.CONST:
            wide[node] = UOp.const(dtypes.long, node.arg)
        elif node.op is Ops.CAST and node.dtype is dtypes.long:
            wide[node] = wide[node.src[0]]
        elif node.op in GroupOp.ALU:
            dtype = dtypes.long if node.dtype is dtypes.int else node.dtype
            wide[node] = UOp(node.op, dtype, tuple(wide[s] for s in node.src), node.arg)
        else:
            wide[node] = node.cast(dtypes.long)
    return wide[expression]


def _unflatten(at: UOp, shape: tuple[sint, ...]) -> Indices:
    """The multi-index of element number `at` of a value of this shape."""
    axes = [axis for axis, extent in enumerate(shape) if not _is_one(extent)]
    indices = [_ZERO] * len(shape)
    if not axes:
        return tuple(indices)
    stride: sint = 1
    for place, axis in enumerate(reversed(axes)):
        extent = shape[axis]
        part = at if _is_one(stride) else at // stride
        if place < len(axes) - 1:
            part = part % extent
        # an index of one axis fits in 32 bits, whatever the number of all elements
        indices[axis] = part.simplify().cast(dtypes.int)
        stride = stride * extent
    return tuple(indices)


def _by_use(sink: UOp) -> dict[UOp, UOp]:
    """Output ranges renumbered: those that most stores and reduces stand in go outermost.

    A reduce that only depends on an inner output axis would otherwise be computed again in every
    turn of the axes outside it.
    """
    nodes = sink.toposort()
    uses: dict[UOp, tuple[int, int]] = {}
    for node in nodes:
        if node.op is Ops.STORE or node.op is Ops.REDUCE:
            for loop in ranges_of(node):
                stores, reduces = uses.get(loop, (0, 0))
                is_store = node.op is Ops.STORE
                uses[loop] = (stores + is_store, reduces + (not is_store))
    loops = sorted((u for u in uses if u.arg.kind is AxisKind.LOOP), key=lambda u: u.arg.id)
    wanted = sorted(loops, key=lambda u: tuple(-count for count in uses[u]))
    return {
        old: UOp.range(old.src[0], place.arg.id, AxisKind.LOOP, old.dtype)
        for place, old in zip(loops, wanted)
        if old is not place
    }


def _check_in_place(sink: UOp) -> None:
    """A buffer that is read and written must be read where it is written, or in other loops.

    SpecError otherwise: whether an element is read before or after it is overwritten would depend
    on the order of the loops.
    """
    nodes = sink.toposort()
    stores: dict[UOp, list[UOp]] = {}
    for node in nodes:
        if node.op is Ops.STORE:
            stores.setdefault(node.src[0].src[0], []).append(node.src[0])
    for node in nodes:
        if node.op is not Ops.LOAD or node.src[0].src[0] not in stores:
            continue
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


def run(ast: UOp) -> UOp:
    """The lowered form of a kernel.

    SpecError for a node that has no value inside a kernel, and for a buffer that is read at other
    places than those where it is written.
    """
    lowerer = _Lowerer()
    # the stores with most axes come first, so that those with fewer share their loops
    order = sorted(
        range(len(ast.src)),
        key=lambda i: -sum(not _is_one(extent) for extent in ast.src[i].src[0].arg.shape),
    )
    lowered = {i: lowerer.store(ast.src[i]) for i in order}
    stores = [lowered[i] for i in range(len(ast.src)) if lowered[i].op is Ops.STORE]
    sink = UOp.sink(*stores, arg=ast.arg)
    _check_in_place(sink)
    return sink.substitute(_by_use(sink))
