"""Fusion merging: make one fusion candidate of two, where that is legal and profitable.

See `kernel_fusion` for the kinds of fusion.

in:  drafts of two groups
out: the draft of both as one, None where they stay separate

Source: Kennedy and McKinley, "Maximizing Loop Parallelism and Improving Data Locality via Loop
Fusion and Distribution", LCPC 1993.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TypeAlias

from weft.base.dtype import ImageDType
from weft.base.sequences import prod
from weft.schedule.context import ScheduleContext
from weft.schedule.fusion_analysis import Facts, Roots, loop_shape
from weft.schedule.fusion_candidates import Draft, Group, in_parts
from weft.schedule.fusion_legality import (
    aligned,
    goes_on_with_what_is_put,
    is_across,
    near_products,
    overwrites_what_it_needs,
    products_below,
    steps_of,
    turns_of,
)
from weft.schedule.row_buffers import RowsKept, in_rows, outer_shape, rows_kept
from weft.schedule.row_dependence import Allowed, both
from weft.schedule.use_def import Uses
from weft.uop import Ops, UOp

# what a kernel may hold before its source becomes too long to compile well
_MOST_NODES = 160
# how many buffers a kernel of several members touches at most where its device sets no limit
_MOST_BUFFERS = 24
# Where a kernel is spread over many work items, a product of matrices of more steps than this is
# not computed row by row: one item would have to do alone what many do together.
_SMALL_PRODUCT = 1 << 19
# how many times the steps of its values, each computed once, a kernel of several members may make
_MOST_AGAIN = 1.25
# elements that are in the caches in whichever order they are walked
_IN_CACHES = 1 << 15
# Steps from which on a kernel is shared by the threads of a processor
_ALONE = 1 << 18
# products of many small matrices with no more steps than this may be computed in one kernel
_SMALL_MATRICES = 1 << 25

_Loops: TypeAlias = tuple[list[Facts], Allowed, int, bool, list[UOp]]
"""Of two groups with loops in common: the facts, for how many rows they can be cut, into how many
they are cut, whether all loops are alike, and what is stored."""


class Unions:
    """What may be united, of the kernels of one graph.

    at_the_end: whether nothing better can be found any more than to run on without a loop in
    common. left_for_the_end: what was refused as long as it was not the end.
    """

    def __init__(self, uses: Uses, roots: Roots, ctx: ScheduleContext) -> None:
        self.uses, self.roots, self.ctx = uses, roots, ctx
        self.at_the_end = False
        self.left_for_the_end: set[tuple[Draft, Draft, UOp | None]] = set()
        self.near: dict[tuple[UOp, int], bool] = {}
        self.laid_out: dict[Draft, Group] = {}
        # what does not depend on the memory that two groups share: they may share much
        self._loops: dict[tuple[Draft, Draft, bool, bool], _Loops | None] = {}
        self._products: dict[tuple[Draft, Draft], Draft | None] = {}

    def alone(self, known: Facts) -> Draft:
        """The group of one kernel."""
        device = known.root.device
        whole = isinstance(device, str) and self.ctx.computes(device)
        # how a value is to be stored is lost where it is computed in passing
        whole = whole and not isinstance(known.root.dtype, ImageDType)
        if known.root.op is Ops.ASSIGN and isinstance(device, str):
            # a copy from elsewhere straight into memory is no kernel
            whole = whole and all(base.device == device for base in known.reads)
        allowed = known.rows if whole else frozenset()
        if known.placed and allowed and not self.ctx.has_grid(str(device)):
            allowed &= {known.size}  # with what goes through the same elements alone
        return Draft([known], allowed, device if whole else None)

    def united(self, a: Draft, b: Draft, shared: UOp | None) -> Draft | None:
        """Two groups as one, above each other or, with the memory `shared`, side by side."""
        united = self._in_common(a, b, shared)
        if united is not None or shared is None:
            return united
        if (a, b) not in self._products:
            self._products[a, b] = self._beside_product(a, b) or self.batched_products(a, b)
        return self._products[a, b]

    def _in_common(self, a: Draft, b: Draft, shared: UOp | None) -> Draft | None:
        """Two groups with their rows in common."""
        key = (a, b, shared is not None, self.at_the_end)
        if key not in self._loops:
            self._loops[key] = self._loops_in_common(a, b, shared)
        loops = self._loops[key]
        if loops is None:
            return None
        facts, allowed, rows, alike, stored = loops
        if shared is not None and not self._shares(a, b, shared, rows, alike):
            return None
        if alike:
            return Draft(facts, allowed, a.device)
        members = [known.root for known in facts]
        kept = self._kept(members, stored, rows, a.device)
        return None if kept is None else Draft(facts, allowed, a.device, rows_kept=kept)

    def _loops_in_common(self, a: Draft, b: Draft, shared: UOp | None) -> _Loops | None:
        """The loops of two groups as one; None where they cannot be."""
        if a.device is None or a.device != b.device:
            return None
        facts = self._together(a, b)
        if sum(known.nodes for known in facts) > _MOST_NODES:
            return None
        allowed = both(both(a.allowed, b.allowed), self._allowed_between(a, b))
        if not allowed:
            return None
        rows = max(allowed)
        alike = all(known.size == rows for known in facts)
        if rows == 1 and not alike and (shared is not None or not self._in_one_go(a, b)):
            self.left_for_the_end.add((a, b, shared))
            return None
        if not self.ctx.has_grid(a.device) and goes_on_with_what_is_put(facts):
            return None
        members = [known.root for known in facts]
        stored = self._stored(members)
        if self._buffers(facts, stored) > self._limit(a.device):
            return None
        if not self._keeps_blocks(facts, rows, alike) or overwrites_what_it_needs(facts):
            return None
        return facts, allowed, rows, alike, stored

    def _together(self, a: Draft, b: Draft) -> list[Facts]:
        """The kernels of two groups in their order."""
        return sorted((*a.facts, *b.facts), key=lambda known: self.roots.number[known.root])

    def _allowed_between(self, a: Draft, b: Draft) -> Allowed:
        """For how many rows all reads between two groups stay in their row."""
        allowed: Allowed = None
        for one, other in ((a, b), (b, a)):
            theirs = {known.root: known for known in one.facts}
            versions = {
                known.root.src[0].base: known for known in one.facts if known.root.op is Ops.ASSIGN
            }
            for known in other.facts:
                for base, read in known.reads.items():
                    if base in theirs:
                        whole = base.op is not Ops.ASSIGN or base.arg is None
                        allowed = both(allowed, read if whole else frozenset())
                    if base in versions:
                        # the old value is read exactly where the new one is written, or not at all
                        whole = versions[base].root.arg is None
                        here = frozenset((prod(base.shape),)) if whole else frozenset()
                        allowed = both(allowed, both(read, here))
                root = known.root
                if root.op is Ops.ASSIGN and root.src[0].base in theirs:
                    return frozenset()  # two versions of one memory
        return allowed

    def _shares(self, a: Draft, b: Draft, shared: UOp, rows: int, alike: bool) -> bool:
        """Whether two groups side by side gain: what both read is read once."""
        tiled = [any(known.tiled for known in draft.facts) for draft in (a, b)]
        loops = [frozenset().union(*(k.reduces for k in draft.facts)) for draft in (a, b)]
        if any(tiled):
            return False
        if alike and loops[0] == loops[1] and (loops[0] or self._reads_the_same(a, b)):
            return True
        if not alike and rows == 1:
            return False
        return all(
            read is None or rows in read
            for draft in (a, b)
            for known in draft.facts
            if (read := known.reads.get(shared, frozenset())) is not None and shared in known.reads
        )

    def _reads_the_same(self, a: Draft, b: Draft) -> bool:
        """Whether two groups read the same things, and so more than one they had in common."""
        one, other = ({base for k in draft.facts for base in k.reads} for draft in (a, b))
        return one == other and len(one) > 1

    def _in_one_go(self, a: Draft, b: Draft) -> bool:
        """Whether two groups may run one after the other in one kernel, although they have no loop
        in common: only at the end, when nothing better was found, where a kernel runs in one place,
        and where what comes first is small beside what needs it."""
        if not self.at_the_end or self.ctx.has_grid(str(a.device)):
            return False
        work = [draft.work for draft in (a, b)]
        if self._for_threads(a, b):
            return False
        return min(work) * 8 <= max(work) and self._read_in_order(a, b)

    def _for_threads(self, a: Draft, b: Draft) -> bool:
        """Whether one of two groups is shared by threads of a processor: these need a loop that
        everything in a kernel stands in."""
        device = str(a.device)
        shared = self.ctx.is_parallel(device) and not self.ctx.has_grid(device)
        return shared and max(a.work, b.work) > _ALONE

    def _read_in_order(self, a: Draft, b: Draft) -> bool:
        """Whether no reduce of one group is computed where the other reads it, if that is across
        the order in which it walks memory."""
        theirs = {known.root: known for draft in (a, b) for known in draft.facts}
        return all(
            not (known.reduces and sum(map(steps_of, known.reduces)) > _IN_CACHES)
            or not any(is_across(use.source, base) for use in self.uses.of[base])
            for base, known in theirs.items()
        )

    def _beside_product(self, a: Draft, b: Draft) -> Draft | None:
        """A sum that comes with a product of matrices, as the gradient of a bias with that of the
        weights: over the same loops, for some of the axes. It stands beside the blocks."""
        if a.device is None or a.device != b.device or a.shapes or b.shapes:
            return None
        if self._for_threads(a, b):
            return None
        (product, others) = (a, b) if a.facts[0].tiled else (b, a)
        large, size = product.facts[0], others.facts[0].size
        if not isinstance(size, int) or not isinstance(large.size, int):
            return None  # symbolic
        if len(product.facts) != 1 or not large.tiled or not 1 < size < large.size:
            return None
        if any(k.tiled or k.size != size or not k.rows for k in others.facts):
            return None
        turns = {turns_of(reduce) for known in others.facts for reduce in known.reduces}
        if not large.rows or {turns_of(reduce) for reduce in large.reduces} != turns:
            return None
        if self._allowed_between(a, b) is not None or size not in (others.allowed or ()):
            return None
        facts = self._together(a, b)
        members = [known.root for known in facts]
        if self._buffers(facts, self._stored(members)) > self._limit(a.device):
            return None
        shapes = {known.root: aligned(known.shape, large.shape) for known in others.facts}
        if None in shapes.values():
            return None
        return Draft(facts, frozenset(), a.device, {n: s for n, s in shapes.items() if s})

    def batched_products(self, a: Draft, b: Draft) -> Draft | None:
        """Two products of small matrices, for the same batch: each has its blocks, one matrix after
        the other, where a kernel runs in one place."""
        if len(a.facts) != 1 or len(b.facts) != 1 or a.device != b.device or a.device is None:
            return None
        facts = self._together(a, b)
        if self.ctx.has_grid(a.device) or self._allowed_between(a, b) is not None:
            return None
        common = both(a.allowed, b.allowed) or frozenset()
        batch = gcd(*(known.batch for known in facts))
        if batch < 2 or batch not in common or not all(known.tiled for known in facts):
            return None
        if max(steps_of(reduce) for known in facts for reduce in known.reduces) > _SMALL_MATRICES:
            return None
        if self._buffers(facts, [known.root for known in facts]) > self._limit(a.device):
            return None
        return Draft(facts, frozenset((batch,)), a.device)

    def one_after_the_other(self, a: Draft, b: Draft) -> Draft | None:
        """Two groups that have nothing to do with each other in one kernel, each in its own loops:
        where both are too small, together, to be shared by threads, so that a launch is spared.

        Not what is alike, which is compiled once and launched as often as it is needed.
        """
        if a.device is None or a.device != b.device or self._allowed_between(a, b) is not None:
            return None
        if not (a.allowed and b.allowed) or a.work + b.work > _ALONE:
            return None
        facts = self._together(a, b)
        if sum(known.nodes for known in facts) > _MOST_NODES:
            return None
        members = [known.root for known in facts]
        if self._buffers(facts, self._stored(members)) > self._limit(a.device):
            return None
        parts, others = a.parts or (a,), b.parts or (b,)
        if not {part.likeness for part in parts}.isdisjoint(part.likeness for part in others):
            return None
        kernels = [self._as_part(part) for part in (*parts, *others)]
        if not self._keep_apart(kernels):
            return None
        return Draft(facts, frozenset((1,)), a.device, parts=(*parts, *others))

    def _keep_apart(self, kernels: Sequence[Group]) -> bool:
        """Whether one of these at most keeps something on chip, in its outer loop, and no other one
        computes that as well: it would be read there, in loops that are none of its own."""
        keeping = [kernel for kernel in kernels if kernel.outer or kernel.kept]
        if len(keeping) != 1:
            return not keeping
        aside = {m for kernel in kernels if kernel is not keeping[0] for m in kernel.members}
        computed = UOp(Ops.SINK, src=tuple(aside)).toposort(
            gate=lambda u: u in aside or u not in self.roots.memory
        )
        return not any(node in computed for node in keeping[0].kept)

    def _keeps_blocks(self, facts: Sequence[Facts], rows: int, alike: bool) -> bool:
        """Whether the products of matrices of a group are computed as well as alone.

        Where all loops are alike, one is, beside what does not accumulate. Row by row those may be
        that read little beside their rows.
        """
        if alike:
            summed = sum(bool(known.reduces) for known in facts)
            return summed < 2 or not any(known.tiled for known in facts)
        wide = self.ctx.has_grid(str(facts[0].root.device))
        for known in facts:
            if not known.tiled:
                continue
            if known.size == rows or not self._is_near(known.root, rows):
                return False
            if wide and max(map(steps_of, known.reduces)) > _SMALL_PRODUCT:
                return False
        return True

    def _is_near(self, root: UOp, rows: int) -> bool:
        """Whether the products of matrices in a kernel read little beside so many rows."""
        if (found := self.near.get((root, rows))) is None:
            below = products_below(root, self.roots.memory.__contains__)
            found = self.near[root, rows] = near_products(below, rows)
        return found

    def _stored(self, members: Sequence[UOp]) -> list[UOp]:
        """The members whose values leave their kernel."""
        inside = {self.roots.number[member] for member in members}
        return [
            member
            for member in members
            if member in self.uses.sinks
            or member.op is Ops.ASSIGN
            or member in self.roots.writer  # a copy that was made to be written
            or any(reader not in inside for reader in self.roots.readers.get(member, ()))
            or not self.roots.readers.get(member)
        ]

    def _buffers(self, facts: Sequence[Facts], stored: Sequence[UOp]) -> int:
        members = {known.root for known in facts}
        read = {base for known in facts for base in known.reads if base not in members}
        written = {root.src[0].base if root.op is Ops.ASSIGN else root for root in stored}
        return len(read | written)

    def _limit(self, device: str) -> int:
        limit = self.ctx.max_buffers(device)
        return _MOST_BUFFERS if limit is None else min(limit, _MOST_BUFFERS)

    def _kept(
        self, members: Sequence[UOp], stored: Sequence[UOp], rows: int, device: str | None
    ) -> RowsKept | None:
        most = self.ctx.row_bytes(device) if device is not None else 0
        return rows_kept(members, frozenset(stored), rows, most, self.roots.memory.__contains__)

    def group(self, draft: Draft) -> Group:
        """A group as it will be: what leaves it, its loops, what it keeps on chip."""
        members = draft.members
        stored = self._stored(members)
        if draft.parts:
            return in_parts(members, stored, [self._as_part(part) for part in draft.parts])
        group = Group(members, stored, {n: s for n, s in draft.shapes.items() if n in stored})
        if len(members) == 1 or draft.shapes or not draft.allowed:
            return group
        rows = max(draft.allowed)
        kept = draft.rows_kept
        if kept is None and any(known.size != rows for known in draft.facts):
            kept = self._kept(members, stored, rows, draft.device)
        group.kept = [] if kept is None else kept.spared(_MOST_AGAIN)
        own = {node: loop_shape(node) for node in group.stored}
        own.update((node, tuple(node.shape)) for node in group.kept)
        if group.kept or len(set(own.values())) > 1:
            group.outer = outer_shape(own.values(), rows)
            group.shapes = {node: in_rows(shape, group.outer) for node, shape in own.items()}
        return group

    def _as_part(self, draft: Draft) -> Group:
        """The kernel of one of several groups, found once."""
        if (found := self.laid_out.get(draft)) is None:
            found = self.laid_out[draft] = self.group(draft)
        return found
