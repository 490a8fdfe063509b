"""Sharding: the layout of a value on several devices, as argument of MULTI and COPY.

A sharded value has the shape of the whole value. MULTI(MSTACK(part, ...), arg=Shard) is a value
that consists of parts in memory. COPY(value, DEVICE(several), arg=Shard) distributes a value.
Other nodes do not mention shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.uop.node import UOp
from weft.uop.ops import Ops
from weft.uop.text import register_arg

_seen = False


def note_sharding() -> None:
    """Record that graphs of this process may be on several devices."""
    global _seen
    _seen = True


def sharding_seen() -> bool:
    """Whether any graph of this process may be on several devices.

    If not, graphs are not searched for shards, so programs on one device have no overhead.
    """
    return _seen


@dataclass(frozen=True, slots=True)
class Cut:
    """The parts of one axis of a value along one axis of a mesh.

    Device `place` has part `place // stride % parts`: `stride` devices in a row have the same part.

    :param bounds: as of a `Shard`.
    """

    axis: int
    bounds: tuple[int, ...]
    stride: int = 1

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return len(self.bounds) - 1

    def part(self, place: int) -> int:
        """The number of the part that a device has."""
        return place // self.stride % self.parts

    def window(self, place: int) -> tuple[int, int]:
        """The range of the axis that a device has."""
        number = self.part(place)
        return self.bounds[number], self.bounds[number + 1]

    def groups(self, devices: int) -> list[tuple[int, ...]]:
        """The devices, by number, that differ in this part alone: each group has all parts."""
        span = self.stride * self.parts
        return [
            tuple(range(start + first, start + span, self.stride))
            for start in range(0, devices, span)
            for first in range(self.stride)
        ]

    def is_independent(self, other: Cut) -> bool:
        """Whether a device's part of one cut says nothing about its part of the other."""
        low, high = sorted((self, other), key=lambda cut: cut.stride)
        return high.stride % (low.stride * low.parts) == 0


@dataclass(frozen=True, slots=True)
class Shard:
    """The part of each device.

    axis: the axis that is cut; None: every device has the whole value.
    bounds: part i is bounds[i] to bounds[i + 1] of that axis. Parts may differ in size and may be
    empty: nothing is ever padded.
    mesh: the cuts along several axes of a mesh, or along one of them, where devices in one row of
    another axis have equal parts; `axis` and `bounds` are those of the first. Without cuts, each
    device has its own part of the one axis.
    """

    axis: int | None = None
    bounds: tuple[int, ...] = ()
    mesh: tuple[Cut, ...] = ()

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _read, (self.axis, self.bounds, self.mesh)

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """All cuts, in the order of their axes."""
        if self.mesh or self.axis is None:
            return self.mesh
        return (Cut(self.axis, self.bounds),)

    @property
    def largest(self) -> int:
        """The extent of the largest part along the axis."""
        return max((stop - start for start, stop in pairwise(self.bounds)), default=0)

    def window(self, part: int) -> tuple[int, int]:
        """The range of the axis that a part holds; (0, 0) without an axis."""
        if self.mesh:
            return self.mesh[0].window(part)
        return (0, 0) if self.axis is None else (self.bounds[part], self.bounds[part + 1])

    def windows(self, shape: tuple[Any, ...], part: int) -> tuple[tuple[Any, Any], ...]:
        """The range of every axis that a part of a value of `shape` holds."""
        found: list[tuple[Any, Any]] = [(0, extent) for extent in shape]
        for cut in self.cuts:
            found[cut.axis] = cut.window(part)
        return tuple(found)

    def local_shape(self, shape: tuple[Any, ...], part: int) -> tuple[Any, ...]:
        """The shape of one part of a value of `shape`."""
        found = list(shape)
        for cut in self.cuts:
            start, stop = cut.window(part)
            found[cut.axis] = stop - start
        return tuple(found)


def shard_of_cuts(cuts: Iterable[Cut], devices: int) -> Shard:
    """The layout of independent cuts of different axes over a number of devices."""
    found = tuple(sorted((cut for cut in cuts if cut.parts > 1), key=lambda cut: cut.axis))
    if not found:
        return Shard()
    first = found[0]
    if len(found) == 1 and first.stride == 1 and first.parts == devices:
        return Shard(first.axis, first.bounds)
    return Shard(first.axis, first.bounds, found)


def even_bounds(extent: int, parts: int) -> tuple[int, ...]:
    """The bounds of `parts` parts whose extents differ by at most one, larger ones first."""
    small, larger = divmod(extent, parts)
    return tuple(small * i + min(i, larger) for i in range(parts + 1))


def stacked(parts: Sequence[UOp], shard: Shard) -> UOp:
    """Single-device values, in device order, as one sharded value."""
    note_sharding()
    stack = UOp(Ops.MSTACK, parts[0].dtype, tuple(parts))
    return UOp(Ops.MULTI, stack.dtype, (stack,), shard)


def parts_of(multi: UOp) -> tuple[UOp, ...]:
    """The single-device values of a MULTI."""
    return multi.src[0].src


def laid_out(value: UOp, devices: tuple[str, ...], shard: Shard) -> UOp:
    """`value` distributed over `devices` by `shard`."""
    note_sharding()
    return UOp(Ops.COPY, value.dtype, (value, UOp(Ops.DEVICE, arg=devices)), shard)


def _read(axis: int | None, bounds: tuple[int, ...], mesh: tuple[Cut, ...] = ()) -> Shard:
    """A Shard of a graph that is unpickled or parsed."""
    note_sharding()
    return Shard(axis, bounds, mesh)


def _write(shard: Shard, write: Callable[[Any], str]) -> str:
    fields = [shard.axis, shard.bounds, *([shard.mesh] if shard.mesh else [])]
    return f"Shard({', '.join(map(write, fields))})"


register_arg(Cut)
register_arg(Shard, _read, _write)
