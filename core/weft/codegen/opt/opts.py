"""Opts: describe one loop transformation as data.

A heuristic or a search chooses Opts. `Kernel` applies them.

Source: Halide (Ragan-Kelley et al., PLDI 2013), scheduling directives.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from weft.base.errors import WeftError
from weft.uop.text import register_arg


class OptKind(StrEnum):
    """One kind of optimisation."""

    UPCAST = "upcast"  # split an output loop; the inner part is computed side by side
    UNROLL = "unroll"  # split a reduce loop; the inner part is written out
    VECTOR = "vector"  # split a loop; the inner part becomes the lanes of vectors
    SPLIT = "split"  # split a loop into two loops
    SWAP = "swap"  # exchange two loops of the same kind
    LOCAL = "local"  # split a launch-grid axis; the inner part is the work items of a group
    NOLOCALS = "nolocals"  # no workgroups
    GROUP = "group"  # split a loop; work items of a group share it, neighbours read neighbours
    GROUPTOP = "grouptop"  # the same, but each of them has a stretch of its own
    STAGE = "stage"  # what is read in a loop for several of its turns or work items goes on chip
    PACK = "pack"  # what all turns of a loop read again goes to an array of its own, once before it
    KEEP = "keep"  # loops of a sum go outside output loops; the sums so far are kept on chip
    PADTO = "padto"  # round an extent up to a multiple
    THREAD = "thread"  # a loop is gone through by threads of one processor, each a part of it
    TC = "tc"  # a matrix unit does the sum of this axis; amount: which of those there are


@dataclass(frozen=True, slots=True)
class Opt:
    """One optimisation: `axis` counts in Kernel.axes at the time it is applied.

    amount: size of the inner part (0: the whole axis); for SWAP the other axis, for KEEP the
    outermost of the output loops that come to stand inside, for STAGE how many tiles of each
    operand there are at once (0: one).
    """

    kind: OptKind
    axis: int = 0
    amount: int = 0

    def __repr__(self) -> str:
        return f"Opt({self.kind.name}, {self.axis}, {self.amount})"


class OptError(WeftError, ValueError):
    """This optimisation is not legal for this kernel."""


register_arg(Opt)
