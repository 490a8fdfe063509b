"""Column blocking: copy blocks of table columns to a local array before an indexed load.

    for i, j: out[i, j] = table[row(i, j), j]
->  for each part of the columns: panel = table[:, part]; for i, j in part: panel[row(i, j), j]

Every element comes from a row of its own, so that each would be waited for as long as memory takes,
for the sake of one element of a line. By columns all of a line is used: a panel of a few lines for
each row stays in the second-level cache, where rows a power of two apart would not, and what is
picked from it does not wait. It is worth it where about as many elements are picked as there are.
(4096 x 4096 picked from as many: 131 ms as it stands, 30 with panels.)

Only on one processor, where one thing is stored and nothing is added up.

in:  spec.lowered
out: spec.lowered in which such a LOAD reads an array that a FILL copies. All values are equal

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001): blocking.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.base.dtype import AddrSpace, dtypes
from weft.base.intmath import ceildiv
from weft.codegen.analysis.affine import affine, from_affine
from weft.codegen.analysis.axes import is_in_place
from weft.codegen.analysis.ranges import (
    CLOSING,
    Fill,
    extent_of,
    iteration_count,
    loop_order,
    ranges_of,
    trip_count,
)
from weft.codegen.analysis.substitution import replace_nodes, substitute_ranges
from weft.device.capabilities import Target
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import Ops

_FAR = 1 << 20  # bytes of a table, below which a near cache holds enough of it
_FARTHER = 1 << 23  # likewise where rows are no whole lines, of which parts are written twice
_LINE = 64  # bytes of a row of a panel, at least
_WIDEST = 128  # and at most
_PARTS = 4  # of the columns, at least, so that there is something to share out
_AGAIN = 0.25  # elements that are picked for each that is copied, at least


class _Table(NamedTuple):
    """What is read: `steps` of its address by loop, `row` times `apart` and a constant.

    column: the loop along memory. rows: how many there may be. picked: the loops that read other
    rows of the same columns.
    """

    load: UOp
    steps: dict[UOp, int]
    row: UOp
    apart: int
    constant: int
    column: UOp
    rows: int
    picked: tuple[UOp, ...]


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with a panel of such a table; itself where there is none."""
    limits = target.compute.limits
    if limits.global_size is not None or not limits.scratch_bytes or len(sink.src) != 1:
        return sink
    nodes = list(sink.toposort())
    if any(node.op in CLOSING for node in nodes) or sum(n.op is Ops.LOAD for n in nodes) < 2:
        return sink
    tables = [table for node in nodes if (table := _table(node, sink.src[0])) is not None]
    if len(tables) != 1 or is_in_place(nodes):
        return sink
    width = _width(tables[0], limits.scratch_bytes // 2)
    return _by_columns(sink, tables[0], width) if width else sink


def _table(load: UOp, store: UOp) -> _Table | None:
    """The table that a LOAD picks from, another row for each column; None where it is none."""
    if load.op is not Ops.LOAD or len(load.src) > 1 or len(load.src[0].src) > 2:
        return None
    pointer, at = load.src[0].src
    if pointer.op is not Ops.DEFINE_GLOBAL or load.dtype is dtypes.bool:
        return None
    steps, constant = affine(at)
    looked_up = [term for term in steps if term.op is not Ops.RANGE]
    column = next((loop for loop, step in steps.items() if step == 1), None)
    if len(looked_up) != 1 or column is None or column.op is not Ops.RANGE:
        return None
    (row,) = looked_up
    apart, loops = steps.pop(row), ranges_of(store)
    if apart < 2 or column not in ranges_of(row) or not (rows := _rows(row)):
        return None
    if any(loop.arg.kind is not AxisKind.LOOP or loop.dtype is not dtypes.int for loop in loops):
        return None
    if not all(isinstance(extent_of(loop), int) for loop in loops):
        return None
    picked = tuple(sorted((loop for loop in loops if loop not in steps), key=loop_order))
    again = iteration_count(picked)
    if not picked or again < _AGAIN * rows:
        return None
    whole = (apart * load.dtype.itemsize) % _LINE == 0
    if rows * trip_count(column) * load.dtype.itemsize <= (_FAR if whole else _FARTHER):
        return None
    return _Table(load, steps, row, apart, constant, column, rows, picked)


def _rows(row: UOp) -> int:
    """How many rows there are, by the condition under which one is looked up; 0: not known."""
    if row.op is Ops.MAX and row.src[1].op is Ops.CONST and row.src[1].arg == 0:
        row = row.src[0]
    if row.op is not Ops.WHERE or row.src[2].op is not Ops.CONST or row.src[2].arg != 0:
        return 0
    stack, least, most = [row.src[0]], -1, 0
    while stack:
        node = stack.pop()
        if node.op is Ops.AND:
            stack += node.src
        elif node.op is Ops.CMPLT and node.src[0] is row.src[1] and node.src[1].op is Ops.CONST:
            most = int(node.src[1].arg)
        elif node.op is Ops.CMPLT and node.src[1] is row.src[1] and node.src[0].op is Ops.CONST:
            least = int(node.src[0].arg) + 1
    return most if least == 0 else 0


def _width(table: _Table, room: int) -> int:
    """How many columns a panel has: a power of two of them; 0 where there is no room."""
    itemsize, columns = table.load.dtype.itemsize, trip_count(table.column)
    beside = iteration_count(loop for loop in table.steps if loop is not table.column)
    width = _WIDEST // itemsize
    while width * itemsize >= _LINE:
        enough = columns * beside >= _PARTS * width
        if enough and width <= columns and table.rows * width * itemsize <= room:
            return width
        width //= 2
    return 0


def _by_columns(sink: UOp, table: _Table, width: int) -> UOp:
    """The loop over parts of the columns outside of those that pick, a panel in each of its turns.

    The last part may overlap the one before it, and stores the same again.
    """
    nodes = list(sink.toposort())
    column, columns = table.column, trip_count(table.column)
    number = 1 + max(node.arg.id for node in nodes if node.op is Ops.RANGE)
    part = UOp.range(ceildiv(columns, width), number, AxisKind.LOOP)
    inside = UOp.range(width, number + 1 + len(table.picked), AxisKind.LOOP)
    start = part * part.const_like(width)
    if columns % width:
        last = part.const_like(columns - width)
        start = UOp(Ops.WHERE, part.dtype, (start < last, start, last))
    values = {column: start + inside}
    for place, loop in enumerate(table.picked, number + 1):
        values[loop] = UOp.range(extent_of(loop), place, AxisKind.LOOP)
    array, fill = _panel(table, start, width, number + len(values) + 1)
    row = table.row.cast(dtypes.int)
    at = row * row.const_like(width) + inside
    read = UOp(Ops.LOAD, table.load.dtype, (array.index(at), fill))
    picking = replace_nodes(nodes, {table.load: read})
    return substitute_ranges(list(picking.toposort()), values, {})


def _panel(table: _Table, start: UOp, width: int, number: int) -> tuple[UOp, UOp]:
    """An array on chip and what fills it. number: of its loops."""
    load = table.load
    array = UOp(Ops.DEFINE_REG, load.dtype.ptr(table.rows * width, AddrSpace.REG), (), 0)
    row = UOp.range(table.rows, number, AxisKind.LOOP)
    beside = UOp.range(width, number + 1, AxisKind.LOOP)
    terms = {loop: step for loop, step in table.steps.items() if loop is not table.column}
    terms |= {row: table.apart, beside: 1}
    starts, constant = affine(start)
    place = from_affine(terms | starts, table.constant + constant, _place_of)
    copied = UOp(Ops.LOAD, load.dtype, (load.src[0].src[0].index(place),))
    store = UOp(Ops.STORE, dtypes.void, (array.index(row * row.const_like(width) + beside), copied))
    return array, UOp(Ops.FILL, dtypes.void, (store, row, beside), Fill())


def _place_of(term: UOp) -> tuple[object, ...]:
    """Loops from the outermost inwards, and after them what is no loop."""
    return (0, loop_order(term)) if term.op is Ops.RANGE else (1, term.op)
