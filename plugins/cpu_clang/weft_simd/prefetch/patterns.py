"""Access patterns: find the streams of a kernel that a hardware prefetcher does not follow.

A hardware prefetcher stops at a page, and restarts at each row. It does not follow strides of
several cache lines, and it does not know what a loop reads after it ends. Each function finds the
streams of one such pattern; its docstring is the predicate. `software_prefetch` has their table.

Source: T. Mowry, M. Lam, A. Gupta, "Design and evaluation of a compiler algorithm for prefetching"
(ASPLOS 1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from weft.plugin import (
    CLOSING,
    AddrSpace,
    AxisKind,
    GroupOp,
    Ops,
    UOp,
    affine,
    affine_through_casts,
    ceildiv,
    conjunction,
    from_affine,
    iteration_count,
    loop_order,
    loops_of,
    prod,
    ranges_of,
    replace_nodes,
    trip_count,
    values_of,
)
from weft_simd import thresholds
from weft_simd.prefetch.access_streams import (
    AccessStream,
    AddressGroup,
    Induction,
    KernelReads,
    Product,
    address_groups,
    are_counted,
    cache_lines,
    element_of,
    every,
    exceeds,
    is_plain,
    linear_position,
    loads_of,
    loop_induction,
)

# ---- reductions ----------------------------------------------------------------------------------


def contiguous_reductions(reads: KernelReads) -> Iterable[AccessStream]:
    """A reduction loop reads vectors of one contiguous stream, whole cache lines of memory."""
    loops = {loops_of(reduce) for reduce in reads.reduces}
    loads = loads_of(value for reduce in reads.reduces for value in values_of(reduce))
    groups = address_groups(loads)
    if len(loops) != 1 or reads.fills or len(groups) != 1:
        return []
    (closed,), ((_, strides, offsets, _),) = loops, groups
    lanes = loads[0].dtype.count
    in_order = [min(offsets) + lanes * place for place in range(len(loads))]
    contiguous = sorted(offsets) == in_order and strides.get(closed[0]) == lanes * len(loads)
    line = reads.machine.line_bytes // loads[0].dtype.scalar().itemsize
    if len(closed) != 1 or not contiguous or lanes < 2 or lanes * len(loads) < line:
        return []
    if not _are_uncached(reads, loads):
        return []
    # every LOAD of a line: a prefetch that finds no free fill buffer is dropped
    return [AccessStream(load.src[0], ()) for load in loads]


def _are_uncached(reads: KernelReads, loads: Sequence[UOp]) -> bool:
    """Whether all LOADs are of one width and read buffers that exceed the last-level cache."""
    far = all(exceeds(load, reads.machine.last_level_bytes) for load in loads)
    return far and all(is_plain(load) and load.dtype is loads[0].dtype for load in loads)


# ---- products of packed panels -------------------------------------------------------------------


def packed_panels(product: Product) -> Iterator[AccessStream]:
    """A product reads a packed panel: the iterations of its reduction share the next panel.

    Nothing of the next panel is read while a panel is used. If few rows share a panel, packing
    waits for memory.
    """
    for fill in product.fills:
        yield from _panel_streams(product, fill)


def _panel_streams(product: Product, fill: UOp) -> Iterator[AccessStream]:
    reads = product.reads
    loads, loops = loads_of(values_of(fill)), loops_of(fill)
    far = all(is_plain(load) and exceeds(load, reads.l2_resident) for load in loads)
    if not loops or not far or not are_counted(loops):
        return
    below = UOp.sink(*(load.src[0].src[1] for load in loads)).toposort()
    outer = sorted((u for u in ranges_of(fill) if u in below), key=loop_order, reverse=True)
    outer += [u for u in below if u.op is Ops.SPECIAL]
    if not outer or not all(map(trip_count, outer)):
        return
    around = [loop for loop in product.around if loop not in ranges_of(fill)]
    tiles, terms = map(iteration_count, (around, product.loops))
    line = reads.machine.line_bytes
    skipped = _vectors_of_a_line(loads, loops[-1], line)
    counts = [*map(trip_count, loops[:-1]), ceildiv(trip_count(loops[-1]) - 1, skipped) + 1]
    parts = prod(counts)
    period = 1
    while period < terms and tiles * ceildiv(terms, 2 * period) >= parts:
        period *= 2
    each = ceildiv(terms, period)
    if tiles * each < parts:
        return
    at = loads[0].src[0].src[1]
    term, tile = linear_position(product.loops, at), linear_position(around, at)
    part = tile * each + (term >> period.bit_length() - 1 if period > 1 else term)
    part = (part < parts - 1).where(part, parts - 1)
    advance, position = tuple(map(loop_induction, outer)), _delinearized(part, loops, counts)
    if skipped > 1:
        last = position[loops[-1]] * skipped
        most = trip_count(loops[-1]) - 1
        position[loops[-1]] = (last < most).where(last, last.const_like(most))
    for index in cache_lines(loads, line):
        yield AccessStream(index, advance, position, every(term, period))


def _vectors_of_a_line(loads: Sequence[UOp], loop: UOp, line: int) -> int:
    """The iterations of a loop that read one cache line, each of them a vector of it; 1 if an
    iteration reads a line or more."""
    (load, *others) = loads
    terms, _ = affine(load.src[0].src[1])
    contiguous = not others and terms.get(loop) == load.dtype.count
    return max(1, line // load.dtype.itemsize) if contiguous else 1


def _delinearized(position: UOp, loops: Sequence[UOp], counts: Sequence[int]) -> dict[UOp, UOp]:
    """The value of each loop, outermost first, in one iteration of a loop nest. counts: the
    number of values of each loop."""
    found: dict[UOp, UOp] = {}
    stride = prod(counts)
    for place, (loop, count) in enumerate(zip(loops, counts, strict=True)):
        whole, stride = stride, stride // count
        digit = position % whole if place else position
        digit = digit // stride if stride > 1 else digit
        found[loop] = digit.cast(loop.dtype)
    return found


def tile_rows(product: Product) -> Iterator[AccessStream]:
    """A product reads rows of its other factor: it loads the rows of the next tile."""
    term, line = product.loops[-1], product.reads.machine.line_bytes
    for loop, group in _tile_groups(product):
        stride = group.strides[term]
        period = 1 << max(1, line // (stride * group.itemsize)).bit_length() - 1
        rows = _one_of_each_row(group, stride)
        few = len(rows) <= product.reads.machine.fill_buffers and stride * group.itemsize < line
        if not few or trip_count(term) < 2 * period or trip_count(loop) < 2:
            continue
        inner = (u for u in product.around if loop_order(u) > loop_order(loop))
        first = (u.eq(0) for u in inner)  # all iterations of these read the same rows
        gates = [gate for gate in (every(term, period), *first) if gate is not None]
        for load in rows:
            gate = conjunction(gates) if gates else None
            yield AccessStream(load.src[0], (loop_induction(loop),), gate=gate)


def tile_columns(product: Product) -> Iterator[AccessStream]:
    """A product reads its other factor across its rows: it loads a cache line of a later row.

    The next tile reads the rest of the line, which the first-level cache has evicted by then.
    """
    term, machine = product.loops[-1], product.reads.machine
    nearest = thresholds.l1_share(machine, thresholds.NEAREST)
    for _, group in _tile_groups(product):
        across = group.strides[term] * group.itemsize >= machine.line_bytes
        if across and trip_count(term) * machine.line_bytes >= nearest:
            load = min(zip(group.offsets, group.accesses), key=lambda pair: pair[0])[1]
            yield AccessStream(load.src[0], (loop_induction(term),))


def _tile_groups(product: Product) -> Iterator[tuple[UOp, AddressGroup]]:
    """The single elements that a product reads from memory, and the loop over tiles that advances
    them, if all elements of a buffer have the same strides."""
    single = (load for load in product.loads if load.dtype.count == 1 and is_plain(load))
    far = (load for load in single if exceeds(load, product.reads.l2_resident))
    found: dict[tuple[UOp, UOp], list[AddressGroup]] = {}
    for group in address_groups(far):
        loops = [loop for loop in product.around if loop in ranges_of(group.accesses[0])]
        advances = group.strides.get(product.loops[-1], 0) > 0
        if loops and loops[-1].arg.kind is AxisKind.LOOP and advances:
            found.setdefault((group.buffer, loops[-1]), []).append(group)
    for (_, loop), groups in found.items():
        if len(groups) == 1:
            yield loop, groups[0]


def _one_of_each_row(group: AddressGroup, step: int) -> list[UOp]:
    """The first LOAD of a tile in each row: others are less than one iteration further."""
    kept: list[UOp] = []
    reached: int | None = None
    for offset, load in sorted(zip(group.offsets, group.accesses), key=lambda pair: pair[0]):
        if reached is None or offset >= reached:
            kept.append(load)
            reached = offset + step
    return kept


def windows(reads: KernelReads) -> Iterator[AccessStream]:
    """A product reads windows of an image: it loads the windows of a later channel.

    The next channel is one image further in memory, a stride that hardware does not follow.
    """
    together: dict[tuple[UOp, ...], dict[UOp, None]] = {}
    for product in (one for one in reads.products if one.is_windowed):
        together.setdefault(product.loops, {}).update(dict.fromkeys(product.loads))
    for closed, loads in together.items():
        loops = sorted(closed, key=loop_order)
        long = trip_count(loops[0]) >= 2 * thresholds.window_distance(reads.machine)
        if long and all(loop.arg.kind is AxisKind.REDUCE for loop in loops):
            far = [u for u in loads if u.arg is None and exceeds(u, reads.l2_resident)]
            for group in address_groups(far):
                yield from _window_streams(loops, group, reads.machine.line_bytes)


def _window_streams(loops: Sequence[UOp], group: AddressGroup, line: int) -> list[AccessStream]:
    """The cache lines of one window. Inner loops that stay in a row are part of the window."""
    channel, *inner = loops
    fixed = (term for term in group.strides if term.op is not Ops.RANGE)
    if any(u.op is Ops.LOAD or u in loops for term in fixed for u in term.toposort()):
        return []
    if abs(group.strides.get(channel, 0)) * group.itemsize < line:
        return []
    first, strides = min(group.offsets), dict(group.strides)
    last = max(at + load.dtype.count - 1 for at, load in zip(group.offsets, group.accesses))
    for loop in inner:
        reach = group.strides.get(loop, 0) * (trip_count(loop) - 1)
        if abs(reach) * group.itemsize < line:
            strides.pop(loop, None)
            first, last = first + min(reach, 0), last + max(reach, 0)
    lines = range(first, last + 1, line // group.itemsize)
    if len(lines) > thresholds.MOST_WINDOW_LINES:
        return []
    places = dict.fromkeys((*lines, last))
    indices = (from_affine(strides, place, _loops_last, channel.dtype) for place in places)
    advance = (loop_induction(channel),)
    return [AccessStream(group.buffer.index(at), advance, is_window=True) for at in indices]


def _loops_last(term: UOp) -> tuple[int, int]:
    return loop_order(term) if term.op is Ops.RANGE else (-1, 0)


# ---- rows ----------------------------------------------------------------------------------------


def rows_of_several_passes(reads: KernelReads) -> Iterator[AccessStream]:
    """A kernel iterates over each row several times: its most expensive pass loads the next row.

    The first pass reads a row from memory. Later passes read it from a cache, and memory is idle.
    Rows no longer than a page gain nothing. Rows that exceed the L2 cache are evicted before use.
    """
    work: dict[UOp, int] | None = None
    for loads in reads.uncached_buffers().values():
        around = frozenset[UOp].intersection(*map(ranges_of, loads))
        passes: dict[frozenset[UOp], list[UOp]] = {}
        for load in loads:
            passes.setdefault(ranges_of(load) - around, []).append(load)
        passes.pop(frozenset(), None)  # a few elements at the end of a row
        if len(passes) < 2 or (row := _row_loop(around, loads)) is None:
            continue
        work = _operations(reads.nodes) if work is None else work
        for line in _lines_of_best_pass(reads, passes, work):
            yield AccessStream(line, (loop_induction(row),))


def _row_loop(around: frozenset[UOp], loads: Iterable[UOp]) -> UOp | None:
    """The loop whose next iteration reads the next row, if that has a known address."""
    addresses = [load.src[0].src[1].toposort() for load in loads]
    if any(node.op is Ops.LOAD for below in addresses for node in below):
        return None
    loop = max(around, key=loop_order, default=None)
    if loop is None:
        loop = _launch_dimension(node for below in addresses for node in below)
    if loop is None or trip_count(loop) < 2:
        return None
    return loop if all(loop in below for below in addresses) else None


def _launch_dimension(nodes: Iterable[UOp]) -> UOp | None:
    """The loop that threads share, if there is one such loop."""
    shared = {node for node in nodes if node.op is Ops.SPECIAL}
    return shared.pop() if len(shared) == 1 else None


def _operations(nodes: Iterable[UOp]) -> dict[UOp, int]:
    """The operations in one iteration of each innermost loop; a vector counts as one."""
    found: dict[UOp, int] = {}
    counted: set[UOp] = set()

    def count(node: UOp, operations: int) -> None:
        if loops := ranges_of(node):
            loop = max(loops, key=loop_order)
            found[loop] = found.get(loop, 0) + operations

    for node in nodes:
        if node.op is Ops.STORE and element_of(node.src[0].src[0]).space is AddrSpace.GLOBAL:
            count(node, thresholds.STORE_OPERATIONS)
        if node.op not in (Ops.REDUCE, Ops.STORE):
            continue
        for value in values_of(node) if node.op is Ops.REDUCE else node.src[1:2]:
            apart = value.toposort(gate=lambda u: u.op not in CLOSING and u.op is not Ops.LOAD)
            new = [u for u in apart if u.op in GroupOp.ALU and u not in counted]
            counted.update(new)
            for below in new:
                count(below, 1)
    return found


def _lines_of_best_pass(
    reads: KernelReads, passes: Mapping[frozenset[UOp], list[UOp]], work: Mapping[UOp, int]
) -> list[UOp]:
    """The cache lines of the pass with the most operations per line; none if all have few."""
    best, machine = (0.0, list[UOp]()), reads.machine
    least = thresholds.l1_share(machine, thresholds.LEAST_ROW)
    for loops, loads in passes.items():
        loop, lines = max(loops, key=loop_order), cache_lines(loads, machine.line_bytes)
        nbytes = prod(map(trip_count, loops)) * len(lines) * machine.line_bytes
        strides, _ = affine(loads[0].src[0].src[1])
        step = abs(strides.get(loop, machine.line_bytes)) * loads[0].dtype.scalar().itemsize
        if least <= nbytes <= reads.l2_resident and step >= machine.line_bytes:
            each = work.get(loop, 0) / len(lines)
            best = max(best, (each, lines), key=lambda pair: pair[0])
    return best[1] if best[0] >= thresholds.line_operations(machine) else []


def rows_of_iterations(reads: KernelReads) -> Iterator[AccessStream]:
    """A loop reads one row in each iteration: each cache line loads the line of the next row.

    The rows are gathered, or they are added to sums in a local array.
    """
    machine, fills = reads.machine, reads.fills
    least = thresholds.l1_share(machine, thresholds.LEAST_ITERATION)
    if reads.reduces or len(fills) > 1:
        return
    for loads in reads.uncached_buffers().values():
        around = ranges_of(loads[0])
        inner = max(around, key=loop_order, default=None)
        if inner is None or any(ranges_of(load) != around for load in loads):
            continue
        row = _row_of_sums(fills[0], inner) if fills else _gathered_row(loads, inner)
        if row is None or row is inner or trip_count(row) < 2:
            continue
        lines = cache_lines(loads, machine.line_bytes)
        nbytes = trip_count(inner) * len(lines) * machine.line_bytes
        if least <= nbytes <= reads.l2_resident and _reads_lines(
            loads[0], inner, machine.line_bytes
        ):
            for line in lines:
                yield AccessStream(line, (loop_induction(row),))


def _reads_lines(load: UOp, inner: UOp, line: int) -> bool:
    """Whether a loop advances a LOAD by whole vectors and by at least a cache line."""
    step = affine_through_casts(load.src[0].src[1])[0].get(inner, 0)
    return step * load.dtype.scalar().itemsize >= line and step % load.dtype.count == 0


def _row_of_sums(fill: UOp, inner: UOp) -> UOp | None:
    """The loop over rows that are added to sums in a local array; `inner` iterates over one row."""
    loops, array = loops_of(fill), fill.src[0].src[0].src[0]
    accumulates = any(
        node.op is Ops.LOAD and node.src[0].src[0] is array
        for store in values_of(fill)
        for node in store.src[1].toposort()
    )
    return loops[0] if accumulates and len(loops) == 2 and loops[1] is inner else None


def _gathered_row(loads: Iterable[UOp], inner: UOp) -> UOp | None:
    """The loop that gathers a row in each iteration, the same in all iterations of `inner`."""
    found: set[UOp] = set()
    for load in loads:
        strides, _ = affine(load.src[0].src[1])
        gathered = [t for t in strides if any(u.op is Ops.LOAD for u in t.toposort())]
        if len(gathered) != 1 or inner in ranges_of(gathered[0]):
            return None
        found.add(gathered[0])
    if len(found) != 1:
        return None
    (term,) = found
    return max(ranges_of(term), key=loop_order, default=_launch_dimension(term.toposort()))


# ---- blocks --------------------------------------------------------------------------------------


def transposed_blocks(reads: KernelReads) -> Iterable[AccessStream]:
    """A blocked transpose reads squares of rows that are far apart: it loads a later block.

    Each square loads as many contiguous bytes of that block as it has itself. The loops over one
    block together load all of it.
    """
    loads = reads.loads
    groups = address_groups(loads) if len(loads) >= thresholds.LEAST_SQUARE else []
    if reads.reduces or reads.fills or len(reads.stored) != 1 or len(groups) != 1:
        return []
    line, lanes = reads.machine.line_bytes // groups[0].itemsize, loads[0].dtype.count
    square = len(loads) * lanes
    found = None
    if lanes > 1 and square % line == 0 and _are_uncached(reads, loads):
        found = _block_of(reads, groups[0])
    if found is None:
        return []
    first, inside, size = found
    buffer, at = first.src[0].src
    zeros = {loop: loop.const_like(0) for loop in inside}
    start = replace_nodes(list(at.toposort()), zeros).simplify()
    advance = (Induction(start, element_of(buffer).size, size),)
    place = start + linear_position(inside, at) * square
    lines = [buffer.index(place + offset) for offset in range(0, square, line)]
    return [AccessStream(index, advance) for index in lines]


def _block_of(reads: KernelReads, group: AddressGroup) -> tuple[UOp, list[UOp], int] | None:
    """(the first LOAD of a square, the loops over its block, the elements of a block); None if the
    rows are not evenly apart, or one block does not follow the other."""
    first = group.accesses[group.offsets.index(min(group.offsets))]
    apart = sorted(offset - min(group.offsets) for offset in group.offsets)
    loops = sorted((u for u in group.strides if u.op is Ops.RANGE), key=loop_order)
    rows, step, lanes = len(apart), apart[1], first.dtype.count
    if apart != [step * row for row in range(rows)] or ranges_of(first) != frozenset(loops):
        return None
    strides = _merged_quotients(group.strides)
    shared = [term for term in strides if term.op is not Ops.RANGE]  # among threads
    least = thresholds.page_share(reads.machine, thresholds.LEAST_BLOCK)
    most = thresholds.l2_share(reads.machine, thresholds.BLOCK)
    for many in range(1, len(loops) + 1):
        outside, inside = loops[:-many], loops[-many:]
        nearest = outside[-1] if outside else shared[0] if len(shared) == 1 else None
        parts = [(1, lanes), (step, rows), *((strides[u], trip_count(u)) for u in inside)]
        size = _contiguous_length(parts)
        fits = least <= size * group.itemsize <= most
        if fits and nearest is not None and strides[nearest] == size:
            return first, inside, size
    return None


def _merged_quotients(strides: Mapping[UOp, int]) -> dict[UOp, int]:
    """Strides in which the quotient and the remainder of a number are the number again: two loops
    that threads share as one, if memory is contiguous from one to the other."""
    found = dict(strides)
    for term, stride in strides.items():
        if term.op is Ops.MOD and term.src[1].op is Ops.CONST:
            over = next((u for u in strides if u.op is Ops.IDIV and u.src == term.src), None)
            if over is not None and strides[over] == stride * term.src[1].arg:
                del found[term], found[over]
                found[term.src[0]] = found.get(term.src[0], 0) + stride
    return found


def _contiguous_length(parts: Sequence[tuple[int, int]]) -> int:
    """The number of contiguous elements that these steps and counts reach; 0: not contiguous."""
    size = 1
    for step, count in sorted(parts):
        if step != size:
            return 0
        size *= count
    return size
