"""Cooperative tile copies: the work items of a group copy a tile to shared memory.
Also: asynchronous copies, double buffering, software pipelining.

Adjacent work items copy adjacent elements, and each copies a vector where elements are contiguous.
With several buffers for a tile (multi-buffering) the tiles of later iterations are copied while the
group uses one. There is one barrier in each iteration. After it the current tile is complete, and
no work item reads the previous tile any more. Its buffer is filled next.

Source: NVIDIA, "CUDA C++ Programming Guide", asynchronous data copies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from weft.base.dtype import dtypes
from weft.codegen.analysis.folding import folded
from weft.codegen.analysis.ranges import Fill, alternative_of, extent_of
from weft.codegen.analysis.substitution import substitute_ranges
from weft.codegen.thresholds import ASYNC_BYTES, widest_access
from weft.codegen.vectorization.instances import INSTANTIATED
from weft.codegen.vectorization.memory_accesses import IN_FLIGHT_BYTES
from weft.codegen.workgroups.bank_padding import Access, banks_of, strides_of
from weft.device.capabilities import ComputeCaps, Feature
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import Ops


class Staged(NamedTuple):
    """One LOAD to be staged, or a word: the ranges that its array has as axes, how long a row is.

    strides: of each range in the array; steps: in memory; size: elements of the array.
    """

    load: UOp
    inside: tuple[UOp, ...]
    strides: dict[UOp, int]
    steps: dict[UOp, int]
    size: int

    @property
    def nbytes(self) -> int:
        return self.size * self.load.dtype.itemsize

    def place(self, places: dict[UOp, UOp]) -> UOp:
        """Where in its array an element is."""
        at = UOp.const(dtypes.int, 0)
        for r in self.inside:
            at = _sum(at, _times(places[r].cast(dtypes.int), self.strides[r]))
        return at


class Copying(NamedTuple):
    """Who copies: the ranges of a group, the slowest first. depth: tiles there may be at once."""

    loop: UOp
    group: tuple[UOp, ...]
    depth: int
    compute: ComputeCaps

    def drawn_apart(self, tile: Staged) -> Staged:
        """The same tile, with gaps between its rows where a warp would wait for banks else."""
        width, flies = self._width(tile)
        own = self._own(tile, width, flies)
        axes = {r: place for place, r in enumerate(tile.inside)}
        itemsize = tile.load.dtype.itemsize
        widest = max(1, widest_access(self.compute) // itemsize)
        put = width if flies else min(widest, _run(tile, own))
        whole = {r: int(extent_of(r)) for r in tile.inside if r.arg.kind in INSTANTIATED}
        got = min(widest, _run(tile, whole))
        copied = tuple(
            (axes[r], int(extent_of(r)) // own.get(r, 1), own.get(r, 1))
            for r in _nearest_first(tile)
        )
        read = tuple(
            (axes[r], int(extent_of(r)), 1) if r in axes else (0, int(extent_of(r)), 0)
            for r in reversed(self.group)
        )
        shared = _count([r for r in tile.inside if r in self.group])
        accesses = (
            Access(copied, put * itemsize, _count(tile.inside) // _count(self.group) // put),
            Access(read, got * itemsize, max(1, _count(tile.inside) // shared // got)),
        )
        extents = tuple(int(extent_of(r)) for r in tile.inside)
        banks = banks_of(self.compute.machine)
        strides, size = strides_of(extents, itemsize, max(put, got), accesses, banks)
        return tile._replace(strides=dict(zip(tile.inside, strides)), size=size)

    def tiles(self, tile: Staged) -> int:
        """How many there are at once: what goes by way of registers needs no third one."""
        _, flies = self._width(tile)
        return self.depth if flies else min(self.depth, 2)

    def filled(self, tile: Staged, array: UOp, number: int) -> tuple[UOp, UOp, int]:
        """The FILL of `array`, the place from which the tile of a turn is read, and how many ranges
        from `number` on were used."""
        width, flies = self._width(tile)
        depth = self.tiles(tile)
        own = self._own(tile, width, flies)
        places, loops = self._spread(tile, own, number, written_out=depth > 1)
        at = tile.place(places)
        start = tile.place({r: r for r in tile.inside})
        if depth == 1:
            stores = [self._store(tile, array, at, places)]
        else:
            later = _plus(self.loop, depth - 1)
            slot = _times(_modulo(later, depth), tile.size)
            gate = UOp(Ops.CMPLT, dtypes.bool, (later, self.loop.src[0].cast(later.dtype)))
            stores = [self._store(tile, array, _sum(at, slot), {**places, self.loop: later}, gate)]
            for turn in range(depth - 1):
                first = {**places, self.loop: self.loop.const_like(turn)}
                stores.append(self._store(tile, array, _plus(at, turn * tile.size), first))
            start = _sum(start, _times(_modulo(self.loop, depth), tile.size))
        arg = Fill(len(stores), f"tiles of {self.loop.arg.id}", depth, width if flies else 0)
        return UOp(Ops.FILL, dtypes.void, (*stores, *loops), arg), start, len(loops)

    def _store(
        self, tile: Staged, array: UOp, at: UOp, places: dict[UOp, UOp], gate: UOp | None = None
    ) -> UOp:
        value = substitute_ranges(list(tile.load.toposort()), places, {})
        if gate is not None:
            value = _gated(value, gate)
        return UOp(Ops.STORE, dtypes.void, (array.index(at), value))

    def _width(self, tile: Staged) -> tuple[int, bool]:
        """How many elements a work item copies at once, and whether nobody waits for the copy."""
        compute, dtype = self.compute, tile.load.dtype
        each = _count(tile.inside) // _count(self.group)
        if compute.vector_bytes:
            return 1, False
        if self.depth > 1 and compute.has(Feature.ASYNC_COPY):
            together = math.gcd(each, _together(tile, in_array=True))
            for nbytes in IN_FLIGHT_BYTES:
                width = nbytes // dtype.itemsize
                # short copies of short elements would be many: registers turn whole vectors
                if width and together % width == 0 and (width == 1 or nbytes >= ASYNC_BYTES):
                    return width, True
        together = math.gcd(each, _together(tile, in_array=False))
        widths = compute.vector_widths.get(dtype, ())
        return max((width for width in widths if together % width == 0), default=1), False

    def _own(self, tile: Staged, width: int, flies: bool) -> dict[UOp, int]:
        """The innermost part of each range that one work item copies, `width` elements at least.

        What is read together need not be put down together: then as many rows as make a vector of
        the array are turned by one work item, in registers. What lies beyond its own in the same
        row is its neighbour's: else a warp would read with gaps.
        """
        own = _parts(_nearest_first(tile), tile.steps, width, {})
        row = _in_a_row(tile, self.compute.machine.line_bytes)
        left = _count(tile.inside) // _count(self.group) // math.prod(own.values())
        if not flies and not self.compute.vector_bytes:
            inner = sorted(tile.inside, key=tile.strides.__getitem__)
            most = max(self.compute.vector_widths.get(tile.load.dtype, (1,)))
            while most > 1:
                more = _parts(inner, tile.strides, most, own)
                fits = left % (math.prod(more.values()) // math.prod(own.values())) == 0
                if fits and all(more.get(r, 1) == own.get(r, 1) for r in row):
                    return more
                most //= 2
        return own

    def _spread(
        self, tile: Staged, own: dict[UOp, int], number: int, written_out: bool
    ) -> tuple[dict[UOp, UOp], tuple[UOp, ...]]:
        """Where each work item copies from, turn by turn."""
        item = UOp.const(dtypes.int, 0)
        for r in self.group:
            item = _sum(_times(item, int(extent_of(r))), r.cast(dtypes.int))
        turns = _count(tile.inside) // _count(self.group) // math.prod(own.values())
        loops: list[UOp] = []
        flat = item
        if turns > 1:
            kind = AxisKind.UNROLL if written_out else AxisKind.LOOP
            loops.append(UOp.range(turns, number, kind))
            flat = _sum(_times(loops[-1], _count(self.group)), item)
        places: dict[UOp, UOp] = {}
        for r in _nearest_first(tile):
            part = own.get(r, 1)
            extent = UOp.const(dtypes.int, int(extent_of(r)) // part)
            place = (flat % extent).simplify()
            flat = (flat // extent).simplify()
            if part > 1:
                loops.append(UOp.range(part, number + len(loops), AxisKind.UNROLL))
                place = _sum(_times(place, part), loops[-1])
            places[r] = place.cast(r.dtype)
        return places, tuple(loops)


def _in_a_row(tile: Staged, line_bytes: int) -> list[UOp]:
    """The ranges that go from neighbour to neighbour in memory, as far as a line of it."""
    found: list[UOp] = []
    length = 1
    for r in _nearest_first(tile):
        if tile.steps.get(r) != length or length * tile.load.dtype.itemsize >= line_bytes:
            break
        found.append(r)
        length *= int(extent_of(r))
    return found


def _run(tile: Staged, parts: dict[UOp, int]) -> int:
    """How many neighbours in the array `parts` of its axes are: a power of two."""
    length = 1
    for r in sorted(tile.inside, key=tile.strides.__getitem__):
        if tile.strides[r] != length:
            break
        length *= parts.get(r, 1)
        if parts.get(r, 1) < int(extent_of(r)):
            break
    return length & -length


def _parts(
    order: Sequence[UOp], steps: dict[UOp, int], count: int, own: dict[UOp, int]
) -> dict[UOp, int]:
    """`own` and what else it takes to have `count` neighbours by `steps`, or as many as there are.

    order: of ranges, the nearest first.
    """
    parts, length = dict(own), 1
    for r in order:
        if length >= count or steps.get(r) != length:
            break
        extent = int(extent_of(r))
        part = math.gcd(extent, count // length)
        if part % parts.get(r, 1) and parts.get(r, 1) % part:
            break
        parts[r] = max(part, parts.get(r, 1))
        length *= part
        if part < extent:
            break
    return parts


def _nearest_first(tile: Staged) -> list[UOp]:
    return sorted(tile.inside, key=lambda r: abs(tile.steps.get(r, 1 << 62)))


def _together(tile: Staged, in_array: bool) -> int:
    """How many neighbours there are in memory, and in the array as well.

    It divides the place of the first of them: all other steps are multiples of it.
    """
    length = 1
    order = _nearest_first(tile)
    for r in order:
        if tile.steps.get(r) != length or (in_array and tile.strides[r] != length):
            break
        length *= int(extent_of(r))
    for r, step in tile.steps.items():
        length = math.gcd(length, step) if abs(step) >= length or r not in tile.inside else length
    if in_array:
        others = [tile.strides[r] for r in tile.inside if tile.strides[r] >= length]
        length = math.gcd(length, tile.size, *others)
    return length


def _gated(load: UOp, gate: UOp) -> UOp:
    """The same LOAD where `gate` holds, else nothing is touched."""
    index, other = load.src[0], alternative_of(load)
    if len(index.src) > 2:
        gate = UOp(Ops.AND, dtypes.bool, (index.src[2], gate))
    if other is None:
        other = UOp.const(load.dtype, 0)
    gated = UOp(Ops.INDEX, index.dtype, (*index.src[:2], gate))
    return UOp(Ops.LOAD, load.dtype, (gated, other), load.arg)


def _count(loops: Sequence[UOp]) -> int:
    return math.prod(int(extent_of(r)) for r in loops)


def _modulo(value: UOp, by: int) -> UOp:
    return UOp(Ops.MOD, value.dtype, (value, value.const_like(by))).cast(dtypes.int)


def _plus(value: UOp, more: int) -> UOp:
    return _sum(value, value.const_like(more))


def _sum(a: UOp, b: UOp) -> UOp:
    return folded(Ops.ADD, a.dtype, (a, b), None)


def _times(a: UOp, factor: int) -> UOp:
    return folded(Ops.MUL, a.dtype, (a, a.const_like(factor)), None)
