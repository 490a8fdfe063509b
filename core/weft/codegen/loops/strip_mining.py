"""Strip mining: record the axes that each loop is split into, and its index in terms of theirs.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001): strip mining.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.codegen.analysis.axes import Pad, Split
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import Ops


@dataclass(slots=True)
class AxisSplits:
    """roots: the axis that each RANGE was at first; splits, pads: what became of an axis.

    All axes are named by their numbers.
    """

    roots: Mapping[UOp, int]
    splits: dict[int, Split] = field(default_factory=dict)
    pads: dict[int, Pad] = field(default_factory=dict)

    def copy(self) -> AxisSplits:
        """The same, to be divided further."""
        return AxisSplits(self.roots, dict(self.splits), dict(self.pads))

    def split_axes(self, home: UOp) -> list[int]:
        """The axes of a RANGE that were split."""
        numbers, found = [self.roots[home]], []
        while numbers:
            number = numbers.pop()
            if number in self.pads:
                numbers.append(self.pads[number].longer)
            elif number in self.splits:
                found.append(number)
                numbers += [self.splits[number].outer, self.splits[number].inner]
        return found

    def remainder_axes(self) -> set[int]:
        """Both loops of every axis whose last part is shorter."""
        shorter = [split for split in self.splits.values() if split.remainder]
        return {number for split in shorter for number in (split.outer, split.inner)}

    def value(self, number: int, new: Mapping[int, UOp]) -> UOp:
        """An axis in terms of the ranges it was split into. As deep as it was split."""
        if number in self.pads:
            return self.value(self.pads[number].longer, new)
        split = self.splits.get(number)
        if split is None:
            return new[number]
        outer = self.value(split.outer, new)
        outer = outer * outer.const_like(split.factor)
        if split.last is not None:
            last = outer.const_like(split.last)
            outer = UOp(Ops.WHERE, outer.dtype, (outer < last, outer, last))
        return outer + self.value(split.inner, new)

    def valid_iterations(
        self, new: Mapping[int, UOp], count: int, values: dict[UOp, UOp]
    ) -> dict[UOp, UOp]:
        """For each padded RANGE when its turns are real.

        They are counted by ranges that stand in for what the padded axes were split into, and
        that `values` replaces together with the rest: none of them may be a RANGE that is there.
        """
        found: dict[UOp, UOp] = {}
        count = max(count, *(1 + home.arg.id for home in self.roots))
        for pad in self.pads.values():
            turn = UOp.range(pad.padded, count, AxisKind.LOOP, pad.home.dtype)
            count += 1
            values[turn] = self.value(pad.longer, new)
            real = turn < turn.const_like(pad.extent)
            known = found.get(pad.home)
            found[pad.home] = real if known is None else known & real
        return found
