"""Fusion marks: compute in one kernel what the user marked with `Tensor.fuse()`.

Values below a mark are recomputed by each consumer instead of stored, although they are reduced or
expanded. This ends at values with memory of their own (CONTIGUOUS, ASSIGN, COPY, BUFFER). The
marked value itself is stored where any reduce would be, at the end of the chain of its readers, so
that readers outside do not recompute all of it. The pass removes the marks.

Where kernel fusion makes one kernel of it anyway, with local row buffers, the mark has no effect.

Values that are also requested, copied or written to are stored nevertheless. So are values that
would exceed the limits of the device. Memory that the same graph overwrites is read by the marked
kernel, not by the kernel that writes.

in:  spec.tensor with FUSE
out: spec.tensor without, and `Marks`

Source: Ragan-Kelley et al., "Halide", PLDI 2013 (the user chooses what is inlined into a
consumer).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from weft.base.deferred_dataclass import dataclass
from weft.schedule.batched_edits import Edit
from weft.schedule.fusion_candidates import Group
from weft.schedule.use_def import LEAVES, Uses, is_stored
from weft.uop import GroupOp, Ops, UOp

_COMPUTED = GroupOp.Elementwise | {Ops.REDUCE_AXIS}
_THROUGH = _COMPUTED | GroupOp.Movement | {Ops.FUSE}


@dataclass(frozen=True)
class Mark:
    """One marked value, and the nodes that are computed for it alone.

    reduces: whether a reduce is among them. alone: whether it needs memory of its own. few: whether
    only a few readers recompute it.
    """

    top: UOp
    inside: frozenset[UOp]
    reduces: bool = False
    alone: bool = False
    few: bool = False


@dataclass(frozen=True)
class Marks:
    """The requests of FUSE marks: nodes that are recomputed at their readers, marked values with a
    reduce, which end a fused chain like a reduce, and marked values that are stored in any case."""

    marks: tuple[Mark, ...] = ()

    @cached_property
    def inside(self) -> frozenset[UOp]:
        """Nodes that are computed where they are read."""
        return frozenset[UOp]().union(*(mark.inside for mark in self.marks))

    @cached_property
    def ends(self) -> frozenset[UOp]:
        """The marked values that hold a reduce."""
        return frozenset(mark.top for mark in self.marks if mark.reduces) - self.inside

    @cached_property
    def recomputed(self) -> frozenset[UOp]:
        """The marked values without a reduce, which every reader recomputes."""
        return frozenset(mark.top for mark in self.marks if not mark.reduces and not mark.few)

    @cached_property
    def dequantized(self) -> frozenset[UOp]:
        """The marked values of block-quantised memory, which a few readers recompute."""
        return frozenset(mark.top for mark in self.marks if not mark.reduces and mark.few)

    @cached_property
    def stored(self) -> frozenset[UOp]:
        """The marked values that need memory of their own."""
        return frozenset(mark.top for mark in self.marks if mark.alone) - self.inside


NONE = Marks()


def marked(uses: Uses) -> Marks:
    """The requests of the marks in a graph, in terms of its current nodes."""
    fuses = [node for node in uses.order if node.op is Ops.FUSE]
    if not fuses:
        return NONE
    overwritten = {node.src[0].base for node in uses.order if node.op is Ops.ASSIGN}
    found: list[Mark] = []
    quantized = {_marked_value(fuse) for fuse in fuses if fuse.arg is not None}
    for top in dict.fromkeys(_marked_value(fuse) for fuse in fuses):
        if top.op not in _COMPUTED:
            continue
        below = _inputs_of(top)
        inside = _exclusive_inputs(top, below, uses)
        reduces = any(u.op is Ops.REDUCE_AXIS for u in (top, *inside))
        alone = reduces and not overwritten.isdisjoint(below)
        found.append(Mark(top, inside, reduces, alone, top in quantized))
    return Marks(tuple(found))


def _exclusive_inputs(top: UOp, below: list[UOp], uses: Uses) -> frozenset[UOp]:
    """The nodes computed for `top` alone; values with other readers are computed once, for all."""
    inside = {top}
    for node in reversed(below):
        if node.op in _COMPUTED and node not in uses.sinks:
            readers = (use.user for use in uses.of[node])
            if all(reader in inside or reader.op is Ops.FUSE for reader in readers):
                inside.add(node)
    return frozenset(inside - {top})


def unfused_marks(marks: Marks, groups: Iterable[Group]) -> Marks:
    """The marks whose values would be computed in several of `groups`.

    A group that covers a mark keeps shared values in local row buffers, which is better than to
    recompute them.
    """
    groups = list(groups)
    left: list[Mark] = []
    for mark in marks.marks:
        cut = [group for group in groups if not mark.inside.isdisjoint(group.members)]
        whole = len(cut) == 1 and not mark.inside.issuperset(cut[0].members)
        if not mark.reduces or (cut and not whole):
            left.append(mark)
    return Marks(tuple(left))


def mark_removals(uses: Uses) -> dict[UOp, Edit]:
    """fuse(x) -> x"""
    fuses = [node for node in uses.order if node.op is Ops.FUSE]
    return {fuse: lambda done, fuse=fuse: done[fuse.src[0]] for fuse in fuses}


def rebuilt_marks(marks: Marks, done: Mapping[UOp, UOp]) -> Marks:
    """The same marks after the graph was rebuilt."""

    def now(node: UOp) -> UOp:
        return done.get(node, node).base

    return Marks(
        tuple(
            replace(mark, top=now(mark.top), inside=frozenset(map(now, mark.inside)))
            for mark in marks.marks
        )
    )


def _marked_value(node: UOp) -> UOp:
    """The node that a mark applies to, below movement and other marks."""
    while node.op is Ops.FUSE:
        node = node.src[0].base
    return node


def _inputs_of(top: UOp) -> list[UOp]:
    """The nodes read and computed for a marked value, down to memory."""
    found = UOp(Ops.SINK, src=(top,)).toposort(
        gate=lambda u: u.op is Ops.SINK or (u.op in _THROUGH and not is_stored(u))
    )
    return [u for u in found if u.op is not Ops.SINK and u.op not in LEAVES - {Ops.BUFFER}]
