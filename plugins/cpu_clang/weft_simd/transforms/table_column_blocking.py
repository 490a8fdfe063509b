"""Column blocking: copy blocks of table columns to a local array before an indexed load.

    for i, j: out[i, j] = table[row(i, j), j]
->  for each part of the columns: panel = table[:, part]; for i, j in part: panel[row(i, j), j]

Each element is in another row, so each load misses the caches and uses one element of a cache
line. A panel of a few columns of all rows fits in the L2 cache and uses whole lines; the loads from
it hit. Rows whose distance is a power of two would conflict in the cache, the panel does not. The
copy is profitable if about as many elements are loaded as the table has.

The pass applies on one processor, to kernels with one STORE and no reduction.

in:  spec.lowered
out: spec.lowered in which such a LOAD reads a local array that a FILL copies; equal values

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001): blocking.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.plugin import (
    CLOSING,
    AddrSpace,
    AxisKind,
    Fill,
    MachineModel,
    Ops,
    Target,
    UOp,
    affine,
    ceildiv,
    conjuncts,
    dtypes,
    extent_of,
    from_affine,
    is_in_place,
    iteration_count,
    loop_order,
    loops_first,
    nodes_of,
    ranges_of,
    replace_nodes,
    substitute_ranges,
    trip_count,
)
from weft_simd import thresholds


class _Table(NamedTuple):
    """A table lookup: its address is `strides` over loops, `row * row_stride` and a constant.

    column: the contiguous loop. rows: the number of rows. lookups: the loops that read other rows
    of the same columns.
    """

    load: UOp
    strides: dict[UOp, int]
    row: UOp
    row_stride: int
    constant: int
    column: UOp
    rows: int
    lookups: tuple[UOp, ...]


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with panels of its table; the same kernel if it has no such table."""
    limits, machine = target.compute.limits, target.compute.machine
    if limits.global_size is not None or not limits.scratch_bytes or len(sink.src) != 1:
        return sink
    nodes = nodes_of(sink)
    if any(node.op in CLOSING for node in nodes) or sum(n.op is Ops.LOAD for n in nodes) < 2:
        return sink
    found = (_match_table(node, sink.src[0], machine) for node in nodes)
    tables = [table for table in found if table is not None]
    if len(tables) != 1 or is_in_place(nodes):
        return sink
    width = _panel_width(tables[0], limits.scratch_bytes // 2, machine.line_bytes)
    return _blocked_by_columns(sink, tables[0], width) if width else sink


def _match_table(load: UOp, store: UOp, machine: MachineModel) -> _Table | None:
    """The lookup that a LOAD does, if it reads another row in each column; None otherwise."""
    if load.op is not Ops.LOAD:
        return None
    index, *more = load.src
    pointer, at, *gate = index.src
    if more or gate:
        return None
    if pointer.op is not Ops.DEFINE_GLOBAL or load.dtype is dtypes.bool:
        return None
    strides, constant = affine(at)
    computed = [term for term in strides if term.op is not Ops.RANGE]
    column = next((loop for loop, stride in strides.items() if stride == 1), None)
    if len(computed) != 1 or column is None or column.op is not Ops.RANGE:
        return None
    (row,) = computed
    row_stride, loops = strides.pop(row), ranges_of(store)
    if row_stride < 2 or column not in ranges_of(row) or not (rows := _row_count(row)):
        return None
    if any(loop.arg.kind is not AxisKind.LOOP or loop.dtype is not dtypes.int for loop in loops):
        return None
    if not all(isinstance(extent_of(loop), int) for loop in loops):
        return None
    lookups = tuple(sorted((loop for loop in loops if loop not in strides), key=loop_order))
    if not lookups or iteration_count(lookups) < thresholds.TABLE_REUSE * rows:
        return None
    aligned = (row_stride * load.dtype.itemsize) % machine.line_bytes == 0
    part = thresholds.TABLE if aligned else thresholds.UNALIGNED_TABLE
    if rows * trip_count(column) * load.dtype.itemsize <= thresholds.l2_share(machine, part):
        return None
    return _Table(load, strides, row, row_stride, constant, column, rows, lookups)


def _row_count(row: UOp) -> int:
    """The number of rows, from the bounds check of a clamped index; 0 if it is unknown."""
    if row.op is Ops.MAX and row.src[1].op is Ops.CONST and row.src[1].arg == 0:
        row = row.src[0]
    if row.op is not Ops.WHERE or row.src[2].op is not Ops.CONST or row.src[2].arg != 0:
        return 0
    low, high = -1, 0
    for bound in conjuncts(row.src[0]):
        if bound.op is not Ops.CMPLT:
            continue
        if bound.src[0] is row.src[1] and bound.src[1].op is Ops.CONST:
            high = int(bound.src[1].arg)
        elif bound.src[1] is row.src[1] and bound.src[0].op is Ops.CONST:
            low = int(bound.src[0].arg) + 1
    return high if low == 0 else 0


def _panel_width(table: _Table, limit: int, line: int) -> int:
    """Return the columns of a panel, a power of two; 0 if a panel exceeds `limit` bytes."""
    itemsize, columns = table.load.dtype.itemsize, trip_count(table.column)
    others = iteration_count(loop for loop in table.strides if loop is not table.column)
    width = thresholds.TABLE_PANEL_LINES * line // itemsize
    while width * itemsize >= line:
        enough = columns * others >= thresholds.TABLE_PANELS * width
        if enough and width <= columns and table.rows * width * itemsize <= limit:
            return width
        width //= 2
    return 0


def _blocked_by_columns(sink: UOp, table: _Table, width: int) -> UOp:
    """The kernel with a loop over panels outside the lookup loops; each iteration fills a panel.

    The last panel may overlap the one before it; it stores the same values again.
    """
    nodes = list(sink.toposort())
    column, columns = table.column, trip_count(table.column)
    number = 1 + max(node.arg.id for node in nodes if node.op is Ops.RANGE)
    part = UOp.range(ceildiv(columns, width), number, AxisKind.LOOP)
    inside = UOp.range(width, number + 1 + len(table.lookups), AxisKind.LOOP)
    start = part * part.const_like(width)
    if columns % width:
        last = part.const_like(columns - width)
        start = UOp(Ops.WHERE, part.dtype, (start < last, start, last))
    values = {column: start + inside}
    for place, loop in enumerate(table.lookups, number + 1):
        values[loop] = UOp.range(extent_of(loop), place, AxisKind.LOOP)
    array, fill = _panel(table, start, width, number + len(values) + 1)
    row = table.row.cast(dtypes.int)
    at = row * row.const_like(width) + inside
    read = UOp(Ops.LOAD, table.load.dtype, (array.index(at), fill))
    replaced = replace_nodes(nodes, {table.load: read})
    return substitute_ranges(list(replaced.toposort()), values, {})


def _panel(table: _Table, start: UOp, width: int, number: int) -> tuple[UOp, UOp]:
    """Return the local array of a panel and its FILL. number: the first number of its loops."""
    load = table.load
    array = UOp(Ops.DEFINE_REG, load.dtype.ptr(table.rows * width, AddrSpace.REG), (), 0)
    row = UOp.range(table.rows, number, AxisKind.LOOP)
    inner = UOp.range(width, number + 1, AxisKind.LOOP)
    terms = {loop: step for loop, step in table.strides.items() if loop is not table.column}
    terms |= {row: table.row_stride, inner: 1}
    starts, constant = affine(start)
    place = from_affine(terms | starts, table.constant + constant, loops_first)
    copied = UOp(Ops.LOAD, load.dtype, (load.src[0].src[0].index(place),))
    store = UOp(Ops.STORE, dtypes.void, (array.index(row * row.const_like(width) + inner), copied))
    return array, UOp(Ops.FILL, dtypes.void, (store, row, inner), Fill())
