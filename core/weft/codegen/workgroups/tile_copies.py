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
from weft.codegen.analysis.folding import added, scaled
from weft.codegen.analysis.ranges import Fill, alternative_of, extent_of
from weft.codegen.analysis.substitution import substitute_ranges
from weft.codegen.thresholds import ASYNC_BYTES, widest_access
from weft.codegen.vectorization.instances import INSTANTIATED
from weft.codegen.vectorization.memory_accesses import IN_FLIGHT_BYTES
from weft.codegen.workgroups.bank_padding import Access, banks_of, strides_of
from weft.device import ComputeCaps, Feature
from weft.uop import AxisKind, Ops, UOp


class Staged(NamedTuple):
    """An operand in an array: its LOAD, or a word of several, and the layout of the array.

    inside: the ranges that are axes of the array. strides: of each range in the array; steps: in
    memory. size: elements of the array.
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
        """The index of an element in the array."""
        at = UOp.const(dtypes.int, 0)
        for r in self.inside:
            at = added(at, scaled(places[r].cast(dtypes.int), self.strides[r]))
        return at


class Copying(NamedTuple):
    """The copy of tiles by a group.

    loop: each iteration uses one tile. group: the ranges of the work items, the slowest first.
    depth: buffers of a tile. compute: the device.
    """

    loop: UOp
    group: tuple[UOp, ...]
    depth: int
    compute: ComputeCaps

    def padded(self, tile: Staged) -> Staged:
        """The same tile, with padding between its rows where a warp would have bank conflicts."""
        width, is_async = self._width(tile)
        own = self._own(tile, width, is_async)
        axes = {r: place for place, r in enumerate(tile.inside)}
        itemsize = tile.load.dtype.itemsize
        widest = max(1, widest_access(self.compute) // itemsize)
        stored = width if is_async else min(widest, _run(tile, own))
        whole = {r: int(extent_of(r)) for r in tile.inside if r.arg.kind in INSTANTIATED}
        loaded = min(widest, _run(tile, whole))
        copied = tuple(
            (axes[r], int(extent_of(r)) // own.get(r, 1), own.get(r, 1))
            for r in _smallest_step_first(tile)
        )
        read = tuple(
            (axes[r], int(extent_of(r)), 1) if r in axes else (0, int(extent_of(r)), 0)
            for r in reversed(self.group)
        )
        shared = _count([r for r in tile.inside if r in self.group])
        accesses = (
            Access(copied, stored * itemsize, _count(tile.inside) // _count(self.group) // stored),
            Access(read, loaded * itemsize, max(1, _count(tile.inside) // shared // loaded)),
        )
        extents = tuple(int(extent_of(r)) for r in tile.inside)
        banks = banks_of(self.compute.machine)
        strides, size = strides_of(extents, itemsize, max(stored, loaded), accesses, banks)
        return tile._replace(strides=dict(zip(tile.inside, strides)), size=size)

    def tiles(self, tile: Staged) -> int:
        """Buffers of a tile: a copy through registers needs no third one."""
        _, is_async = self._width(tile)
        return self.depth if is_async else min(self.depth, 2)

    def filled(self, tile: Staged, array: UOp, number: int) -> tuple[UOp, UOp, int]:
        """The FILL of `array`, the index from which the tile of an iteration is read, and how many
        ranges from `number` on were used."""
        width, is_async = self._width(tile)
        depth = self.tiles(tile)
        own = self._own(tile, width, is_async)
        places, loops = self._distribution(tile, own, number, unrolled=depth > 1)
        at = tile.place(places)
        start = tile.place({r: r for r in tile.inside})
        if depth == 1:
            stores = [self._store(tile, array, at, places)]
        else:
            later = added(self.loop, depth - 1)
            slot = scaled(_modulo(later, depth), tile.size)
            gate = UOp(Ops.CMPLT, dtypes.bool, (later, self.loop.src[0].cast(later.dtype)))
            stores = [self._store(tile, array, added(at, slot), {**places, self.loop: later}, gate)]
            for buffer in range(depth - 1):
                first = {**places, self.loop: self.loop.const_like(buffer)}
                stores.append(self._store(tile, array, added(at, buffer * tile.size), first))
            start = added(start, scaled(_modulo(self.loop, depth), tile.size))
        arg = Fill(len(stores), f"tiles of {self.loop.arg.id}", depth, width if is_async else 0)
        return UOp(Ops.FILL, dtypes.void, (*stores, *loops), arg), start, len(loops)

    def _store(
        self, tile: Staged, array: UOp, at: UOp, places: dict[UOp, UOp], gate: UOp | None = None
    ) -> UOp:
        value = substitute_ranges(list(tile.load.toposort()), places, {})
        if gate is not None:
            value = _gated(value, gate)
        return UOp(Ops.STORE, dtypes.void, (array.index(at), value))

    def _width(self, tile: Staged) -> tuple[int, bool]:
        """The elements of one copy of a work item, and whether it is asynchronous."""
        compute, dtype = self.compute, tile.load.dtype
        each = _count(tile.inside) // _count(self.group)
        if compute.vector_bytes:
            return 1, False
        if self.depth > 1 and compute.has(Feature.ASYNC_COPY):
            together = math.gcd(each, _contiguous(tile, in_array=True))
            for nbytes in IN_FLIGHT_BYTES:
                width = nbytes // dtype.itemsize
                # short copies of short elements would be many: registers transpose whole vectors
                if width and together % width == 0 and (width == 1 or nbytes >= ASYNC_BYTES):
                    return width, True
        together = math.gcd(each, _contiguous(tile, in_array=False))
        widths = compute.vector_widths.get(dtype, ())
        return max((width for width in widths if together % width == 0), default=1), False

    def _own(self, tile: Staged, width: int, is_async: bool) -> dict[UOp, int]:
        """The innermost part of each range that one work item copies, `width` elements at least.

        If elements that are contiguous in memory are not contiguous in the array, one work item
        transposes as many rows as make a vector of the array, in registers. The next elements of
        the same row belong to the next work item: otherwise a warp would read with gaps.
        """
        own = _parts(_smallest_step_first(tile), tile.steps, width, {})
        row = _row_ranges(tile, self.compute.machine.line_bytes)
        left = _count(tile.inside) // _count(self.group) // math.prod(own.values())
        if not is_async and not self.compute.vector_bytes:
            inner = sorted(tile.inside, key=tile.strides.__getitem__)
            most = max(self.compute.vector_widths.get(tile.load.dtype, (1,)))
            while most > 1:
                more = _parts(inner, tile.strides, most, own)
                fits = left % (math.prod(more.values()) // math.prod(own.values())) == 0
                if fits and all(more.get(r, 1) == own.get(r, 1) for r in row):
                    return more
                most //= 2
        return own

    def _distribution(
        self, tile: Staged, own: dict[UOp, int], number: int, unrolled: bool
    ) -> tuple[dict[UOp, UOp], tuple[UOp, ...]]:
        """The elements that each work item copies in each iteration of new loops, and the loops."""
        item = UOp.const(dtypes.int, 0)
        for r in self.group:
            item = added(scaled(item, int(extent_of(r))), r.cast(dtypes.int))
        trips = _count(tile.inside) // _count(self.group) // math.prod(own.values())
        loops: list[UOp] = []
        flat = item
        if trips > 1:
            kind = AxisKind.UNROLL if unrolled else AxisKind.LOOP
            loops.append(UOp.range(trips, number, kind))
            flat = added(scaled(loops[-1], _count(self.group)), item)
        places: dict[UOp, UOp] = {}
        for r in _smallest_step_first(tile):
            part = own.get(r, 1)
            extent = UOp.const(dtypes.int, int(extent_of(r)) // part)
            place = (flat % extent).simplify()
            flat = (flat // extent).simplify()
            if part > 1:
                loops.append(UOp.range(part, number + len(loops), AxisKind.UNROLL))
                place = added(scaled(place, part), loops[-1])
            places[r] = place.cast(r.dtype)
        return places, tuple(loops)


def _row_ranges(tile: Staged, line_bytes: int) -> list[UOp]:
    """The ranges that are contiguous in memory, as far as a cache line."""
    found: list[UOp] = []
    length = 1
    for r in _smallest_step_first(tile):
        if tile.steps.get(r) != length or length * tile.load.dtype.itemsize >= line_bytes:
            break
        found.append(r)
        length *= int(extent_of(r))
    return found


def _run(tile: Staged, parts: dict[UOp, int]) -> int:
    """The number of contiguous elements in `parts` of the axes of an array: a power of two."""
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
    """`own`, extended to `count` elements that are contiguous by `steps`, or to as many as there
    are. order: the ranges, the smallest step first.
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


def _smallest_step_first(tile: Staged) -> list[UOp]:
    return sorted(tile.inside, key=lambda r: abs(tile.steps.get(r, 1 << 62)))


def _contiguous(tile: Staged, in_array: bool) -> int:
    """The number of elements that are contiguous in memory, and in the array if `in_array`.

    The number divides the index of the first of them: all other steps are multiples of it.
    """
    length = 1
    order = _smallest_step_first(tile)
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
    """The same LOAD under the condition `gate`."""
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
