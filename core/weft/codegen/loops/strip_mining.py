"""Strip mining: record the axes that each loop is split into, and its index in terms of theirs.
Also: strip-mining, loop sectioning.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001): strip mining.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.codegen.analysis.axes import Pad, Split
from weft.uop import AxisKind, Ops, UOp


@dataclass(slots=True)
class AxisSplits:
    """The splits and paddings of the loops of a kernel.

    roots: the first axis of each RANGE. splits, pads: the split or padding of an axis. Axes are
    identified by their numbers.
    """

    roots: Mapping[UOp, int]
    splits: dict[int, Split] = field(default_factory=dict[int, Split])
    pads: dict[int, Pad] = field(default_factory=dict[int, Pad])

    def copy(self) -> AxisSplits:
        """An independent copy."""
        return AxisSplits(self.roots, dict(self.splits), dict(self.pads))

    def split_axes(self, loop: UOp) -> list[int]:
        """The axes of a RANGE that are split further."""
        numbers = [self.roots[loop]]
        found: list[int] = []
        while numbers:
            number = numbers.pop()
            if number in self.pads:
                numbers.append(self.pads[number].longer)
            elif number in self.splits:
                found.append(number)
                numbers += [self.splits[number].outer, self.splits[number].inner]
        return found

    def remainder_axes(self) -> set[int]:
        """Both loops of each axis whose last part is shorter."""
        shorter = [split for split in self.splits.values() if split.remainder]
        return {number for split in shorter for number in (split.outer, split.inner)}

    def value(self, number: int, new: Mapping[int, UOp]) -> UOp:
        """The index of an axis in terms of the ranges it is split into; recurses once per split."""
        if number in self.pads:
            return self.value(self.pads[number].longer, new)
        split = self.splits.get(number)
        if split is None:
            return new[number]
        outer = self.value(split.outer, new)
        outer = outer * outer.const_like(split.factor)
        if split.last is not None:
            last = outer.const_like(split.last)
            # in canonical form, as later passes write it: not every index is simplified again
            inside = (outer < last).simplify()
            outer = UOp(Ops.WHERE, outer.dtype, (inside, outer, last))
        return outer + self.value(split.inner, new)

    def valid_iterations(
        self, new: Mapping[int, UOp], count: int, values: dict[UOp, UOp]
    ) -> dict[UOp, UOp]:
        """The condition under which an iteration of each padded RANGE is valid.

        The conditions use placeholder ranges, numbered from `count`; `values` gets the indices
        that replace them.
        """
        found: dict[UOp, UOp] = {}
        count = max(count, *(1 + loop.arg.id for loop in self.roots))
        for pad in self.pads.values():
            index = UOp.range(pad.padded, count, AxisKind.LOOP, pad.loop.dtype)
            count += 1
            values[index] = self.value(pad.longer, new)
            valid = index < index.const_like(pad.extent)
            known = found.get(pad.loop)
            found[pad.loop] = valid if known is None else known & valid
        return found
