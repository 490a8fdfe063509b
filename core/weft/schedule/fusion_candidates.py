"""Fusion candidates: groups of kernels to be fused, and their properties while they grow.

in:  the facts of its members
out: its loops, and the rows that it keeps in local arrays

Source: Kennedy and McKinley, "Maximizing Loop Parallelism and Improving Data Locality via Loop
Fusion and Distribution", LCPC 1993.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.schedule.fusion_analysis import Facts, loop_shape
from weft.schedule.row_buffers import RowBufferPlan
from weft.schedule.row_dependence import Allowed
from weft.uop import UOp


@dataclass(eq=False)
class Group:
    """One fused kernel: its members, sources first, and the values that leave it.

    stored: the members that other kernels read. shapes: the loops of a member or Row if they differ
    from its shape. outer: the leading loops that all share. kept: the nodes that are kept in local
    row buffers (Rows), sources first.
    """

    members: list[UOp]
    stored: list[UOp] = field(default_factory=list[UOp])
    shapes: dict[UOp, tuple[Any, ...]] = field(default_factory=dict[UOp, tuple[Any, ...]])
    outer: tuple[int, ...] = ()
    kept: list[UOp] = field(default_factory=list[UOp])


@dataclass(eq=False, slots=True)
class Candidate:
    """A fusion candidate. allowed: the numbers of rows into which its loops can be cut. parts:
    groups that run in sequence, each in loops of its own."""

    facts: list[Facts]
    allowed: Allowed
    device: str | None
    shapes: dict[UOp, tuple[Any, ...]] = field(default_factory=dict[UOp, tuple[Any, ...]])
    parts: tuple[Candidate, ...] = ()
    row_plan: RowBufferPlan | None = None

    @property
    def members(self) -> list[UOp]:
        """Its nodes, sources first."""
        return [known.root for known in self.facts]

    @property
    def work(self) -> int:
        """About how many steps it takes."""
        return sum(known.work for known in self.facts)

    @property
    def signature(self) -> tuple[Any, ...]:
        """A value that is equal for candidates that are likely the same kernel on other memory."""
        return tuple((one.shape, one.reduces, one.nodes, len(one.reads)) for one in self.facts)


def sequential_group(members: list[UOp], stored: list[UOp], parts: Sequence[Group]) -> Group:
    """The kernel of groups in sequence, at most one of which has an outer loop for all of its
    members. Each stores along axes of its own, so that no loop is shared by mistake and its body
    repeated."""
    whole, place = Group(members, stored), 0
    for part in sorted(parts, key=lambda one: not one.outer):
        own = {node: part.shapes.get(node, loop_shape(node)) for node in part.stored}
        whole.shapes |= part.shapes | {n: ((1,) * place + shape) for n, shape in own.items()}
        whole.kept += part.kept
        whole.outer = whole.outer or part.outer
        place += max(len(shape) for shape in own.values())
    return whole
