"""Software prefetch of packed panels: load what the next panel is packed from during the product.

in:  spec.lowered after expansion
out: the same, with LOADs that nobody uses (PREFETCH_L1) among the sources of the SINK

While a panel is used, nothing of the next panel is read. If few rows share a panel, packing then
waits for memory. The reduction loop therefore prefetches a piece of the source of the next panel
every few iterations. It also prefetches the rows of the next tile.

Source: T. Mowry, M. Lam, A. Gupta, "Design and evaluation of a compiler algorithm for prefetching"
(ASPLOS 1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weft.plugin import (
    CLOSING,
    PREFETCH_L1,
    AddrSpace,
    AxisKind,
    ComputeCaps,
    DType,
    MachineModel,
    Ops,
    PtrDType,
    UOp,
    affine,
    dtypes,
    extent_of,
    fill_of,
    folded,
    iteration_count,
    loop_order,
    loops_of,
    nodes_of,
    ranges_of,
    replace_nodes,
    trip_count,
    values_of,
)
from weft_simd import thresholds
from weft_simd.prefetch import block_prefetch, iteration_prefetch, row_prefetch, window_prefetch

_MOST_ROWS = 16
_SOON = 16  # turns of a sum, while which memory answers
_LATER = frozenset({AxisKind.LOOP, AxisKind.REDUCE})


def run(sink: UOp, compute: ComputeCaps) -> UOp:
    """The kernel with prefetch LOADs in its SINK; itself if there are none."""
    if not compute.cache_bytes:
        return sink
    nodes, machine = nodes_of(sink), compute.machine
    stored = {node.src[0].src[0] for node in nodes if node.op is Ops.STORE}
    prefetches: dict[UOp, None] = {}
    windows: dict[tuple[UOp, ...], dict[UOp, None]] = {}
    together: dict[object, list[UOp]] = {}
    for node in nodes:
        if node.op is Ops.REDUCE:
            together.setdefault((loops_of(node), ranges_of(node)), []).append(node)
    for reduce, *others in together.values():
        loads = _loads(value for one in (reduce, *others) for value in values_of(one))
        fills = list(dict.fromkeys(fill for load in loads if (fill := fill_of(load)) is not None))
        fills = [fill for fill in fills if not ranges_of(fill).issuperset(_enclosing_loops(reduce))]
        if not fills or not _is_counted((*_enclosing_loops(reduce), *loops_of(reduce))):
            continue
        if window_prefetch.are_windows(reduce):
            windows.setdefault(loops_of(reduce), {}).update(dict.fromkeys(loads))
            continue
        for fill in fills:
            prefetches.update(dict.fromkeys(_panel_prefetches(reduce, fill, stored, machine)))
        prefetches.update(dict.fromkeys(_tile_row_prefetches(reduce, loads, stored, machine)))
    for loops, loads_of_windows in windows.items():
        prefetches.update(
            dict.fromkeys(
                window_prefetch.window_prefetches(loops, loads_of_windows, stored, machine)
            )
        )
    prefetches.update(dict.fromkeys(row_prefetch.row_prefetches(nodes, stored, compute.machine)))
    prefetches.update(
        dict.fromkeys(block_prefetch.block_prefetches(nodes, stored, compute.machine))
    )
    prefetches.update(
        dict.fromkeys(iteration_prefetch.iteration_prefetches(nodes, stored, compute.machine))
    )
    if not prefetches:
        return sink
    return UOp(Ops.SINK, sink.dtype, (*prefetches, *sink.src), sink.arg)


def _loads(values: Iterable[UOp]) -> list[UOp]:
    """The LOADs that values are made of, without those in loops of their own."""
    below = UOp.sink(*values).toposort(gate=lambda u: u.op not in CLOSING)
    return [node for node in below if node.op is Ops.LOAD]


def _enclosing_loops(reduce: UOp) -> list[UOp]:
    """The loops around a sum, outermost first."""
    return sorted(ranges_of(reduce), key=loop_order)


def _is_counted(loops: Iterable[UOp]) -> bool:
    return all(isinstance(extent_of(loop), int) and loop.arg.kind in _LATER for loop in loops)


def _is_far(load: UOp, stored: set[UOp], near: int) -> bool:
    """Whether a LOAD is from memory that no near cache holds, and that stays as it is."""
    index = load.src[0]
    kind = index.src[0].dtype
    if not isinstance(kind, PtrDType) or kind.space is not AddrSpace.GLOBAL:
        return False
    plain = len(index.src) == 2 and load.arg is None and index.src[0] not in stored
    return plain and kind.size > 0 and kind.nbytes > near


# ---- the next panel -----------------------------------------------------------------------------


def _panel_prefetches(reduce: UOp, fill: UOp, stored: set[UOp], machine: MachineModel) -> list[UOp]:
    """What fills a panel in the next turn of the loops around it, a piece every few turns."""
    loads, loops = _loads(values_of(fill)), loops_of(fill)
    near = thresholds.l2_share(machine, thresholds.PREFETCHED)
    if (
        not loops
        or not all(_is_far(load, stored, near) for load in loads)
        or not _is_counted(loops)
    ):
        return []
    following = _following(fill, loads)
    if following is None:
        return []
    pieces = iteration_count(loops)
    around = [loop for loop in _enclosing_loops(reduce) if loop not in ranges_of(fill)]
    tiles, terms = (
        iteration_count(around),
        iteration_count(loops_of(reduce)),
    )
    apart = 1
    while apart < terms and tiles * -(-terms // (2 * apart)) >= pieces:
        apart *= 2
    each = -(-terms // apart)
    if tiles * each < pieces:
        return []
    dtype = loads[0].src[0].src[1].dtype
    term, tile = _flat(loops_of(reduce), dtype), _flat(around, dtype)
    piece = tile * each + _alu(Ops.SHR, term, apart.bit_length() - 1)
    last = piece.const_like(pieces - 1)
    piece = folded(Ops.WHERE, dtype, (piece < last, piece, last), None)
    values = {**following, **_digits(piece, loops)}
    gate = _alu(Ops.AND, term, apart - 1).eq(0) if apart > 1 else None
    return [_prefetch_load(load, values, gate) for load in _a_line_each(loads, machine.line_bytes)]


def _following(fill: UOp, loads: list[UOp]) -> dict[UOp, UOp] | None:
    """The loops around a panel in the turn after this one, the innermost of them first; None where
    every turn is filled from the same memory."""
    below = UOp.sink(*(load.src[0].src[1] for load in loads)).toposort()
    loops = sorted((u for u in ranges_of(fill) if u in below), key=loop_order, reverse=True)
    loops += [u for u in below if u.op is Ops.SPECIAL]
    if not loops or not all(isinstance(extent_of(loop), int) for loop in loops):
        return None
    made: dict[UOp, UOp] = {}
    over: UOp | None = None  # whether all loops inside of this one are in their last turn
    for loop in loops:
        last = loop.const_like(trip_count(loop) - 1)
        more = folded(Ops.CMPLT, dtypes.bool, (loop, last), None)
        then = loop.const_like(0) if loop is not loops[-1] else last
        moved = folded(Ops.WHERE, loop.dtype, (more, loop + loop.const_like(1), then), None)
        made[loop] = moved if over is None else over.where(moved, loop)
        ended = loop.eq(last)
        over = ended if over is None else over & ended
    return made


def _digits(piece: UOp, loops: tuple[UOp, ...]) -> dict[UOp, UOp]:
    """The turn of each of `loops`, outermost first, for a number of their turns."""
    made: dict[UOp, UOp] = {}
    stride = iteration_count(loops)
    for place, loop in enumerate(loops):
        whole, stride = stride, stride // trip_count(loop)
        digit = piece if not place else piece % piece.const_like(whole)
        digit = digit // digit.const_like(stride) if stride > 1 else digit
        made[loop] = digit.cast(loop.dtype)
    return made


def _flat(loops: Iterable[UOp], dtype: DType) -> UOp:
    """The number of a turn of all of `loops`, outermost first."""
    total: UOp | None = None
    for loop in loops:
        here = loop.cast(dtype)
        total = here if total is None else total * total.const_like(trip_count(loop)) + here
    return UOp.const(dtype, 0) if total is None else total


# ---- the next rows ------------------------------------------------------------------------------


def _tile_row_prefetches(
    reduce: UOp, loads: list[UOp], stored: set[UOp], machine: MachineModel
) -> list[UOp]:
    """What the next tile reads in a row where this one reads it, a line of each row at once."""
    term, line = loops_of(reduce)[-1], machine.line_bytes
    near = thresholds.l2_share(machine, thresholds.PREFETCHED)
    rows: dict[tuple[UOp, UOp], list[tuple[int, UOp]]] = {}
    for load in loads:
        if load.dtype.count > 1 or load.src[-1].op is Ops.FILL or not _is_far(load, stored, near):
            continue
        terms, constant = affine(load.src[0].src[1])
        around = [loop for loop in _enclosing_loops(reduce) if loop in ranges_of(load)]
        if not around or around[-1].arg.kind is not AxisKind.LOOP:
            continue
        step = terms.get(term, 0)
        if step > 0:
            rows.setdefault((load.src[0].src[0], around[-1]), []).append((constant, load))
    prefetches: list[UOp] = []
    for (_, loop), found in rows.items():
        mine = [load for _, load in sorted(found, key=lambda p: p[0])]
        terms, _ = affine(mine[0].src[0].src[1])
        if any(affine(load.src[0].src[1])[0] != terms for load in mine):
            continue
        if terms[term] * mine[0].dtype.itemsize < line:
            prefetches += _rows(reduce, term, loop, mine, line)
        else:
            prefetches += _across(term, mine, machine)
    return prefetches


def _across(term: UOp, loads: list[UOp], machine: MachineModel) -> list[UOp]:
    """What lies across the rows of memory, some turns before it is read: a line for each, of which
    the next tile reads the rest when it is gone again."""
    nearest = thresholds.l1_share(machine, thresholds.NEAREST)
    if trip_count(term) * machine.line_bytes < nearest:
        return []
    gate = folded(Ops.CMPLT, dtypes.bool, (term, term.const_like(trip_count(term) - _SOON)), None)
    values = {term: term + term.const_like(_SOON)}
    return [_prefetch_load(loads[0], values, gate)]


def _rows(reduce: UOp, term: UOp, loop: UOp, loads: list[UOp], line: int) -> list[UOp]:
    itemsize = loads[0].dtype.itemsize
    terms, _ = affine(loads[0].src[0].src[1])
    step = terms[term]
    apart = 1 << (line // (step * itemsize)).bit_length() - 1
    kept: list[UOp] = []
    reached = None
    for load in loads:
        _, constant = affine(load.src[0].src[1])
        if reached is None or constant >= reached:
            kept.append(load)
            reached = constant + step
    if len(kept) > _MOST_ROWS or trip_count(term) < 2 * apart or trip_count(loop) < 2:
        return []
    last = loop.const_like(trip_count(loop) - 1)
    values = {loop: (loop < last).where(loop + loop.const_like(1), last)}
    gate = _alu(Ops.AND, term, apart - 1).eq(0) if apart > 1 else None
    for again in (u for u in _enclosing_loops(reduce) if loop_order(u) > loop_order(loop)):
        first = again.eq(0)  # the same rows are read in every turn of this
        gate = first if gate is None else gate & first
    return [_prefetch_load(load, values, gate) for load in kept]


# ---- prefetch loads ------------------------------------------------------------------------------


def _a_line_each(loads: list[UOp], line: int) -> list[UOp]:
    """One of all LOADs of a line."""
    kept: dict[tuple[object, int], UOp] = {}
    for load in loads:
        terms, constant = affine(load.src[0].src[1])
        key = (frozenset(terms.items()), load.src[0].src[0])
        kept.setdefault((key, constant * load.dtype.scalar().itemsize // line), load)
    return list(kept.values())


def _prefetch_load(load: UOp, values: Mapping[UOp, UOp], gate: UOp | None) -> UOp:
    index = load.src[0]
    at = replace_nodes(list(index.src[1].toposort()), values).simplify()
    scalar = index.src[0].dtype.base  # type: ignore[attr-defined]
    if gate is None:
        return UOp(
            Ops.LOAD, scalar, (UOp(Ops.INDEX, index.dtype, (index.src[0], at)),), PREFETCH_L1
        )
    place = UOp(Ops.INDEX, index.dtype, (index.src[0], at, gate))
    return UOp(Ops.LOAD, scalar, (place, UOp.const(scalar, 0)), PREFETCH_L1)


def _alu(op: Ops, value: UOp, amount: int) -> UOp:
    return folded(op, value.dtype, (value, value.const_like(amount)), None)
