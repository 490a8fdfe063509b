"""Access streams: the addresses that a kernel reads from memory, and how its loops advance them.
Also: prefetch distance.

A stream is an address and the induction variables that advance it. The address of a later iteration
has later values of these variables. Every pattern of software prefetches is described this way.

Source: T. Mowry, M. Lam, A. Gupta, "Design and evaluation of a compiler algorithm for prefetching"
(ASPLOS 1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, cast

from weft.plugin import (
    CLOSING,
    AddrSpace,
    AxisKind,
    MachineModel,
    Ops,
    PtrDType,
    UOp,
    affine,
    conjunction,
    extent_of,
    fill_of,
    loop_order,
    loops_of,
    nodes_of,
    ranges_of,
    replace_nodes,
    trip_count,
    values_of,
)
from weft_simd import thresholds

_COUNTED = frozenset({AxisKind.LOOP, AxisKind.REDUCE})


class Induction(NamedTuple):
    """An induction variable. extent: its first invalid value; step: what an iteration adds."""

    variable: UOp
    extent: int
    step: int = 1


@dataclass(frozen=True)
class AccessStream:
    """One cache line that a kernel reads in each iteration, and how a later address is computed.

    :ivar index: the INDEX that is read.
    :ivar advance: the variables that advance it, innermost first: each carries into the next one.
    :ivar position: other loops of which the prefetch has values of its own.
    :ivar gate: the condition of iterations that prefetch; None: every iteration.
    :ivar is_window: whether the address is that of a window, which may exceed its buffer.
    """

    index: UOp
    advance: tuple[Induction, ...]
    position: Mapping[UOp, UOp] = field(default_factory=dict[UOp, UOp])
    gate: UOp | None = None
    is_window: bool = False


class AddressGroup(NamedTuple):
    """LOADs, or STOREs, of one buffer whose addresses differ by constants.

    strides: elements per iteration.
    """

    buffer: UOp
    strides: Mapping[UOp, int]
    offsets: list[int]
    accesses: list[UOp]

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return element_of(self.buffer).itemsize


class Product(NamedTuple):
    """REDUCEs in the same loops that read packed panels.

    :ivar reads: the kernel.
    :ivar loops: the loops of the reduction.
    :ivar around: the output loops, outermost first.
    :ivar fills: the FILLs of the panels.
    """

    reads: KernelReads
    loops: tuple[UOp, ...]
    around: list[UOp]
    loads: list[UOp]
    fills: list[UOp]

    @property
    def is_windowed(self) -> bool:
        """Whether it reads short rows, each of them in an iteration of another loop."""
        shortest = trip_count(max(self.loops, key=loop_order))
        return len(self.loops) > 1 and shortest < thresholds.term_distance(self.reads.machine)


class KernelReads:
    """The accesses of a kernel, and the machine that it is compiled for."""

    def __init__(self, sink: UOp, machine: MachineModel) -> None:
        self.nodes = nodes_of(sink)
        self.machine = machine
        self.loads = [node for node in self.nodes if node.op is Ops.LOAD]
        self.reduces = [node for node in self.nodes if node.op is Ops.REDUCE]
        self.fills = [node for node in self.nodes if node.op is Ops.FILL]
        self.stored = {node.src[0].src[0] for node in self.nodes if node.op is Ops.STORE}
        self.l2_resident = thresholds.l2_share(machine, thresholds.PREFETCHED)
        """Bytes of memory that the second-level cache holds without a prefetch."""

    def uncached_buffers(self) -> dict[UOp, list[UOp]]:
        """The LOADs of each buffer that exceeds the last-level cache, if none of them is gated."""
        found: dict[UOp, list[UOp]] = {}
        for load in self.loads:
            if load.src[0].op is Ops.INDEX and exceeds(load, self.machine.last_level_bytes):
                found.setdefault(load.src[0].src[0], []).append(load)
        return {buffer: loads for buffer, loads in found.items() if all(map(is_plain, loads))}

    @cached_property
    def products(self) -> list[Product]:
        """The products of packed panels, in loops whose trip counts are known."""
        together: dict[object, list[UOp]] = {}
        for reduce in self.reduces if self.fills else ():
            together.setdefault((loops_of(reduce), ranges_of(reduce)), []).append(reduce)
        found: list[Product] = []
        for reduces in together.values():
            loops, outputs = loops_of(reduces[0]), ranges_of(reduces[0])
            loads = loads_of(value for one in reduces for value in values_of(one))
            fills = dict.fromkeys(fill for load in loads if (fill := fill_of(load)) is not None)
            panels = [fill for fill in fills if not ranges_of(fill).issuperset(outputs)]
            if panels and are_counted((*outputs, *loops)):
                around = sorted(outputs, key=loop_order)
                found.append(Product(self, loops, around, loads, panels))
        return found


# ---- what is read --------------------------------------------------------------------------------


def element_of(buffer: UOp) -> PtrDType:
    """The dtype of a buffer: a pointer to its elements."""
    return cast(PtrDType, buffer.dtype)


def exceeds(load: UOp, nbytes: int) -> bool:
    """Whether a LOAD reads memory of more than `nbytes` bytes."""
    dtype = load.src[0].src[0].dtype
    if not isinstance(dtype, PtrDType) or dtype.space is not AddrSpace.GLOBAL:
        return False
    return dtype.size > 0 and dtype.nbytes > nbytes


def is_plain(load: UOp) -> bool:
    """Whether a LOAD has no gate and no mark."""
    return load.arg is None and len(load.src[0].src) == 2


def loads_of(values: Iterable[UOp]) -> list[UOp]:
    """The LOADs that values are computed from, without those in loops of their own."""
    below = UOp.sink(*values).toposort(gate=lambda u: u.op not in CLOSING)
    return [node for node in below if node.op is Ops.LOAD]


def are_counted(loops: Iterable[UOp]) -> bool:
    """Whether all loops remain loops after expansion, with trip counts that are known."""
    return all(isinstance(extent_of(loop), int) and loop.arg.kind in _COUNTED for loop in loops)


def address_groups(accesses: Iterable[UOp]) -> list[AddressGroup]:
    """LOADs, or STOREs, grouped by buffer and strides."""
    found: dict[object, AddressGroup] = {}
    for access in accesses:
        buffer, at = access.src[0].src[:2]
        strides, offset = affine(at)
        key = buffer, frozenset(strides.items())
        group = found.setdefault(key, AddressGroup(buffer, strides, [], []))
        group.offsets.append(offset)
        group.accesses.append(access)
    return list(found.values())


def cache_lines(loads: Iterable[UOp], line: int) -> list[UOp]:
    """One INDEX in each cache line of `line` bytes that LOADs read in one iteration."""
    found: dict[object, UOp] = {}
    for load in loads:
        (buffer, at, *_), itemsize = load.src[0].src, load.dtype.scalar().itemsize
        strides, offset = affine(at)
        for lane in range(0, load.dtype.count, max(1, line // itemsize)):
            key = buffer, frozenset(strides.items()), (offset + lane) * itemsize // line
            found.setdefault(key, buffer.index(at + lane if lane else at))
    return list(found.values())


# ---- later iterations ----------------------------------------------------------------------------


def loop_induction(loop: UOp) -> Induction:
    """The induction variable of a loop, or of a launch dimension."""
    return Induction(loop, trip_count(loop))


def later_address(stream: AccessStream, distance: int, skips_end: bool) -> UOp:
    """The INDEX that a stream reads `distance` iterations later.

    skips_end: whether the last iterations do not prefetch; otherwise they stay in their range.
    """
    gate = stream.gate
    if skips_end:
        values = {one.variable: one.variable + distance * one.step for one in stream.advance}
        inside = conjunction(_is_inside(one, distance) for one in stream.advance)
        gate = inside if gate is None else gate & inside
    else:
        values = {**stream.position, **_later_values(stream.advance, distance)}
    buffer, at, *_ = stream.index.src
    later = replace_nodes(list(at.toposort()), values)
    if not stream.is_window:
        return buffer.index(later.simplify(), gate)
    end = element_of(buffer).size - 1
    if at.vmin < 0 or at.vmax > end:
        later = (later < 0).where(0, later)
        later = (later < end).where(later, end)
    return buffer.index(later, gate)  # others share its terms in this order


def _later_values(advance: Sequence[Induction], distance: int) -> dict[UOp, UOp]:
    """The value of each variable `distance` iterations later. One that ends restarts and advances
    the next one; at its end the last one stays."""
    found: dict[UOp, UOp] = {}
    ended: UOp | None = None  # whether all inner variables have their last values
    for one in advance:
        variable, last = one.variable, one.variable.const_like(one.extent - 1)
        after = variable.const_like(0) if one is not advance[-1] else last
        if distance > 1:
            after = variable
        later = _is_inside(one, distance).where(variable + distance * one.step, after)
        found[variable] = later if ended is None else ended.where(later, variable)
        is_last = variable.eq(last)
        ended = is_last if ended is None else ended & is_last
    return found


def _is_inside(one: Induction, distance: int) -> UOp:
    """The condition that a variable has a valid value `distance` iterations later."""
    return one.variable < one.extent - (distance + 1) * one.step + 1


def every(variable: UOp, period: int) -> UOp | None:
    """The condition of every `period`-th iteration, a power of two; None for all of them."""
    return (variable & (period - 1)).eq(0) if period > 1 else None


def linear_position(loops: Sequence[UOp], like: UOp) -> UOp:
    """The number of an iteration of a loop nest, outermost loop first, in the dtype of `like`."""
    total = like.const_like(0)
    for place, loop in enumerate(loops):
        here = loop.cast(like.dtype)
        total = total * trip_count(loop) + here if place else here
    return total
