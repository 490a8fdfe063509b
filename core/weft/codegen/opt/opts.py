"""Opts: describe one loop transformation as data.

A heuristic or a search chooses Opts. `Kernel` applies them.

Source: Halide (Ragan-Kelley et al., PLDI 2013), scheduling directives.
"""

from __future__ import annotations

from enum import StrEnum

from weft.base.deferred_dataclass import dataclass
from weft.base.errors import WeftError
from weft.uop import register_arg


class OptKind(StrEnum):
    """One kind of optimisation."""

    UPCAST = "upcast"  # split an output loop; unroll-and-jam the inner part
    UNROLL = "unroll"  # split a reduce loop; unroll the inner part
    VECTOR = "vector"  # split a loop; the inner part becomes the lanes of vectors
    SPLIT = "split"  # split a loop into two loops
    SWAP = "swap"  # interchange two loops of the same kind
    LOCAL = "local"  # split a launch-grid axis; the inner part is the work items of a group
    NOLOCALS = "nolocals"  # no workgroups
    GROUP = "group"  # split a loop; the work items of a group divide it, interleaved
    GROUPTOP = "grouptop"  # the same, with a contiguous part for each work item
    STAGE = "stage"  # copy reused operands to shared memory or a local array
    PACK = "pack"  # copy a reused operand to a local array before the loop
    KEEP = "keep"  # interchange a reduction with output loops; partial sums in an array
    PADTO = "padto"  # round an extent up to a multiple
    THREAD = "thread"  # divide a loop among the threads of one processor
    TC = "tc"  # reduce this axis with a matrix unit; amount: its index


@dataclass(frozen=True, slots=True)
class Opt:
    """One optimisation: `axis` counts in Kernel.axes at the time it is applied.

    amount: size of the inner part (0: the whole axis); for SWAP the other axis, for KEEP the
    outermost of the output loops that become inner loops, for STAGE the number of tiles of each
    operand at once (0: one).
    """

    kind: OptKind
    axis: int = 0
    amount: int = 0

    def __repr__(self) -> str:
        return f"Opt({self.kind.name}, {self.axis}, {self.amount})"


class OptError(WeftError, ValueError):
    """This optimisation is not legal for this kernel."""


def opt_of(kind: str, axis: int, amount: int) -> Opt:
    """The Opt of these plain data, which `dataclasses.astuple` gives."""
    return Opt(OptKind(kind), axis, amount)


register_arg(
    Opt,
    read=opt_of,
    write=lambda opt, text: f"Opt({opt.kind.value!r}, {opt.axis}, {opt.amount})",
)
