"""Kernels that share their loops become one: with several outputs, several reduces, rows on chip.

A *group* is a kernel to be: members are nodes that each were to be a kernel. For every one of its
rows (see `row_local`) the members are computed one after the other. Two groups are united

- up and down, where one reads what the other computes: what is read need not be loaded again, and
  where nobody else reads it, it need not be stored at all;
- side by side, where they read the same memory in the same loops;
- in passing, one after the other, where they are small sums that run soon after each other: what
  the launches cost is spared, and nothing else changes.

Never where a third kernel would have to run between them, where one reads other rows of what the
other writes, where the rows that must be kept do not fit, or where a product of matrices would lose
the blocks it is computed in.

in:  the nodes that become kernels      out: the same, in groups, sources first
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from math import gcd

from weft.base.dtype import ImageDType
from weft.base.sequences import prod
from weft.base.settings import settings
from weft.schedule.context import ScheduleContext
from weft.schedule.group_drafts import Draft, Group, in_parts
from weft.schedule.group_facts import Facts, facts_of, loop_shape
from weft.schedule.group_needs import (
    aligned,
    goes_on_with_what_is_put,
    is_across,
    is_small_sum,
    near_products,
    overwrites_what_it_needs,
    products_below,
    steps_of,
    turns_of,
)
from weft.schedule.group_order import GroupOrder
from weft.schedule.row_local import Allowed, both
from weft.schedule.rows import RowsKept, in_rows, outer_shape, rows_kept
from weft.schedule.uses import Uses, is_stored
from weft.uop import Ops, UOp

# what a kernel may hold before its source becomes too long to compile well
_MOST_NODES = 160
# how many buffers a kernel of several members touches at most where its device sets no limit
_MOST_BUFFERS = 24
# how many neighbours among the readers of one value are tried
_NEIGHBOURS = 4
# Where a kernel is spread over many work items, a product of matrices of more steps than this is
# not computed row by row: one item would have to do alone what many do together.
_SMALL_PRODUCT = 1 << 19
# how many times the steps of its values, each computed once, a kernel of several members may make
_MOST_AGAIN = 1.25
# elements that are in the caches in whichever order they are walked
_IN_CACHES = 1 << 15
# Steps from which on a kernel is shared by the threads of a processor
_ALONE = 1 << 18
# how often what is left is gone through again: what came together may take more along
_ROUNDS = 2
# products of many small matrices with no more steps than this may be computed in one kernel
_SMALL_MATRICES = 1 << 25


def single_groups(realized: Iterable[UOp]) -> list[Group]:
    """Every node a kernel of its own."""
    return [Group([node], [node]) for node in realized]


def group_kernels(uses: Uses, realized: dict[UOp, None], ctx: ScheduleContext) -> list[Group]:
    """The kernels that compute `realized`, each after those whose results it reads."""
    roots = list(realized)
    if len(roots) < 2 or not settings.GROUP_KERNELS:
        return single_groups(roots)
    grouping = _Grouping(uses, realized, ctx)
    if not grouping.order.has_order:
        return single_groups(roots)  # some writes wait for each other: copies will be made first
    grouping.up_and_down()
    grouping.side_by_side()
    grouping.for_one_reader()
    grouping.up_and_down()
    grouping.run_on()
    grouping.in_passing()
    return grouping.result()


class _Grouping:
    def __init__(self, uses: Uses, realized: dict[UOp, None], ctx: ScheduleContext) -> None:
        self.uses, self.realized, self.ctx = uses, realized, ctx
        self.at_the_end = False
        self.roots = list(realized)
        self.memory = frozenset(realized).union(node for node in uses.order if is_stored(node))
        self.number = {root: number for number, root in enumerate(self.roots)}
        self.facts = [facts_of(root, realized) for root in self.roots]
        self.readers: dict[UOp, list[int]] = {}
        for number, known in enumerate(self.facts):
            for base in known.reads:
                self.readers.setdefault(base, []).append(number)
        self.writer = {
            root.src[0].base: number
            for number, root in enumerate(self.roots)
            if root.op is Ops.ASSIGN
        }
        self.order = GroupOrder(len(self.roots), self._edges())
        self.home = list(range(len(self.roots)))
        self.drafts: list[Draft] = [self._draft(known) for known in self.facts]
        self.near: dict[tuple[UOp, int], bool] = {}
        self.laid_out: dict[Draft, Group] = {}
        # drafts do not change, and the order only grows stricter: what was refused stays so, but
        # for what has no loop in common, which is tried again at the end
        self.refused: set[tuple[Draft, Draft, UOp | None]] = set()
        self.left_for_the_end: set[tuple[Draft, Draft, UOp | None]] = set()

    def _edges(self) -> Iterable[tuple[int, int]]:
        """What has to be computed before what: sources, and readers of what is overwritten."""
        for number, (root, known) in enumerate(zip(self.roots, self.facts)):
            for base in known.reads:
                if base in self.number:
                    yield self.number[base], number
                if base in self.writer:
                    yield number, self.writer[base]
            if root.op is Ops.ASSIGN and root.src[0].base in self.number:
                yield self.number[root.src[0].base], number

    def _draft(self, known: Facts) -> Draft:
        device = known.root.device
        whole = isinstance(device, str) and self.ctx.computes(device)
        # how a value is to be stored is lost where it is computed in passing
        whole = whole and not isinstance(known.root.dtype, ImageDType)
        if known.root.op is Ops.ASSIGN and isinstance(device, str):
            # a copy from elsewhere straight into memory is no kernel
            whole = whole and all(base.device == device for base in known.reads)
        allowed = known.rows if whole else frozenset()
        if known.placed and allowed and not self.ctx.is_wide(str(device)):
            allowed &= {known.size}  # with what goes through the same elements alone
        return Draft([known], allowed, device if whole else None)

    # ---- who is tried with whom ---------------------------------------------------------------

    def up_and_down(self) -> None:
        """Every kernel with those that it reads from, nearest first."""
        for number in sorted(range(len(self.roots)), key=lambda n: self.order.rank[self.home[n]]):
            sources = [
                self.number[base] for base in self.facts[number].reads if base in self.number
            ]
            for source in sorted(set(sources), reverse=True):
                self._try(source, number)

    def run_on(self) -> None:
        """What is left, without a loop in common where that is no loss."""
        self.at_the_end = True
        self.refused -= self.left_for_the_end
        for _ in range(_ROUNDS):
            before = list(self.home)
            self.up_and_down()
            if self.home == before:
                break

    def in_passing(self) -> None:
        """Small sums with others that run soon before or after them, one after the other."""
        near: list[int] = []
        for number in sorted(set(self.home), key=self.order.rank.__getitem__):
            draft = self.drafts[number]
            if draft.device is None or self.ctx.is_wide(draft.device):
                continue
            if not is_small_sum(draft.facts, draft.work):
                continue
            member = self.number[draft.members[0]]
            for other in reversed(near):
                first, second = self.home[other], self.home[member]
                united = self._one_after_the_other(self.drafts[first], self.drafts[second])
                if self._unite(first, second, united):
                    break
            else:
                near = [*near[1 - _NEIGHBOURS :], member]

    def side_by_side(self) -> None:
        """The readers of one value with each other, neighbours only."""
        for base, readers in self.readers.items():
            if len(readers) < 2 or prod(base.shape) == 1:
                continue
            near: list[int] = []
            for number in readers:
                for other in reversed(near):
                    if self._try(other, number, base):
                        break
                else:
                    near = [*near[1 - _NEIGHBOURS :], number]

    def for_one_reader(self) -> None:
        """The products of matrices that one kernel reads, with each other."""
        for known in self.facts:
            sources = [self.number[base] for base in known.reads if base in self.number]
            products = [number for number in sources if self.facts[number].tiled]
            for one, other in itertools.combinations(products[:_NEIGHBOURS], 2):
                first, second = self.home[one], self.home[other]
                if first != second:
                    self._unite(
                        first,
                        second,
                        self._batched_products(self.drafts[first], self.drafts[second]),
                    )

    def _try(self, a: int, b: int, shared: UOp | None = None) -> bool:
        """Unite the groups of two kernels if that is allowed and of use; whether they are one."""
        first, second = self.home[a], self.home[b]
        if first == second:
            return True
        attempt = (self.drafts[first], self.drafts[second], shared)
        if attempt in self.refused:
            return False
        united = self._united(*attempt)
        if united is None and shared is not None:
            both_drafts = (self.drafts[first], self.drafts[second])
            united = self._beside_product(*both_drafts) or self._batched_products(*both_drafts)
        if not self._unite(first, second, united):
            self.refused.add(attempt)
            return False
        return True

    def _unite(self, first: int, second: int, united: Draft | None) -> bool:
        """Put `united` in the place of two groups, if there is such a thing and a place for it."""
        number = None if united is None else self.order.unite(first, second)
        if united is None or number is None:
            return False
        gone = second if number == first else first
        self.drafts[number] = united
        for known in self.drafts[gone].facts:
            self.home[self.number[known.root]] = number
        return True

    # ---- what may be united --------------------------------------------------------------------

    def _united(self, a: Draft, b: Draft, shared: UOp | None) -> Draft | None:
        if a.device is None or a.device != b.device:
            return None
        facts = sorted((*a.facts, *b.facts), key=lambda known: self.number[known.root])
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
        if not self.ctx.is_wide(a.device) and goes_on_with_what_is_put(facts):
            return None
        members = [known.root for known in facts]
        stored = self._stored(members)
        if self._buffers(facts, stored) > self._limit(a.device):
            return None
        if not self._keeps_blocks(facts, rows, alike) or overwrites_what_it_needs(facts):
            return None
        if shared is not None and not self._shares(a, b, shared, rows, alike):
            return None
        if alike:
            return Draft(facts, allowed, a.device)
        kept = self._kept(members, stored, rows, a.device)
        return None if kept is None else Draft(facts, allowed, a.device, rows_kept=kept)

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
        if not self.at_the_end or self.ctx.is_wide(str(a.device)):
            return False
        work = [draft.work for draft in (a, b)]
        if self._for_threads(a, b):
            return False
        return min(work) * 8 <= max(work) and self._read_in_order(a, b)

    def _for_threads(self, a: Draft, b: Draft) -> bool:
        """Whether one of two groups is shared by threads of a processor: these need a loop that
        everything in a kernel stands in."""
        device = str(a.device)
        shared = self.ctx.is_parallel(device) and not self.ctx.is_wide(device)
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
        facts = sorted((*a.facts, *b.facts), key=lambda known: self.number[known.root])
        members = [known.root for known in facts]
        if self._buffers(facts, self._stored(members)) > self._limit(a.device):
            return None
        shapes = {known.root: aligned(known.shape, large.shape) for known in others.facts}
        if None in shapes.values():
            return None
        return Draft(facts, frozenset(), a.device, {n: s for n, s in shapes.items() if s})

    def _batched_products(self, a: Draft, b: Draft) -> Draft | None:
        """Two products of small matrices, for the same batch: each has its blocks, one matrix after
        the other, where a kernel runs in one place."""
        if len(a.facts) != 1 or len(b.facts) != 1 or a.device != b.device or a.device is None:
            return None
        facts = sorted((*a.facts, *b.facts), key=lambda known: self.number[known.root])
        if self.ctx.is_wide(a.device) or self._allowed_between(a, b) is not None:
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

    def _one_after_the_other(self, a: Draft, b: Draft) -> Draft | None:
        """Two groups that have nothing to do with each other in one kernel, each in its own loops:
        where both are too small, together, to be shared by threads, so that a launch is spared.

        Not what is alike, which is compiled once and launched as often as it is needed.
        """
        if a.device is None or a.device != b.device or self._allowed_between(a, b) is not None:
            return None
        if not (a.allowed and b.allowed) or a.work + b.work > _ALONE:
            return None
        facts = sorted((*a.facts, *b.facts), key=lambda known: self.number[known.root])
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
            gate=lambda u: u in aside or u not in self.memory
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
        wide = self.ctx.is_wide(str(facts[0].root.device))
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
            below = products_below(root, self.memory.__contains__)
            found = self.near[root, rows] = near_products(below, rows)
        return found

    def _stored(self, members: Sequence[UOp]) -> list[UOp]:
        """The members whose values leave their kernel."""
        inside = {self.number[member] for member in members}
        return [
            member
            for member in members
            if member in self.uses.sinks
            or member.op is Ops.ASSIGN
            or member in self.writer  # a copy that was made to be written
            or any(reader not in inside for reader in self.readers.get(member, ()))
            or not self.readers.get(member)
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
        return rows_kept(members, frozenset(stored), rows, most, self.memory.__contains__)

    # ---- the end -------------------------------------------------------------------------------

    def result(self) -> list[Group]:
        """All groups, in their order."""
        numbers = sorted(set(self.home), key=self.order.rank.__getitem__)
        return [self._group(self.drafts[number]) for number in numbers]

    def _group(self, draft: Draft) -> Group:
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
            found = self.laid_out[draft] = self._group(draft)
        return found
