"""Kernel fusion: merge kernels that share loops into one with several outputs and reduces.
Also: operator fusion, horizontal fusion, vertical fusion, producer-consumer fusion.

A *group* is a future kernel: its members are nodes that were to be kernels. The group computes its
members one after the other for every row (see `row_dependence`). Two groups are fused

- vertically (producer and consumer), where one reads what the other computes: the value need not be
  loaded again, and not be stored if it has no other reader;
- horizontally (siblings), where they read the same memory in the same loops;
- in sequence, where they are small sums that run soon after each other: this saves launches only.

Fusion is illegal where a third kernel would have to run in between, where one group reads other
rows of what the other writes, or where the rows that must be kept do not fit. It is not profitable
where a matrix product would lose its blocking.

in:  the nodes that become kernels
out: the same, in groups, sources first

Source: XLA, passes MultiOutputFusion and HorizontalLoopFusion; Kennedy and McKinley, "Maximizing
Loop Parallelism and Improving Data Locality via Loop Fusion and Distribution", LCPC 1993.
"""

from __future__ import annotations

import itertools

from weft.base.sequences import prod
from weft.base.settings import settings
from weft.schedule.context import ScheduleContext
from weft.schedule.fusion_analysis import RootKernels
from weft.schedule.fusion_candidates import Candidate, Group
from weft.schedule.fusion_legality import is_small_reduce
from weft.schedule.fusion_merging import Merging
from weft.schedule.fusion_order import GroupOrder
from weft.schedule.use_def import Uses
from weft.uop import UOp

# adjacent readers of one value that are tried as fusion partners
_NEIGHBOURS = 4
# rounds of the last phase: a merged group may allow further fusions
_ROUNDS = 2


def group_kernels(uses: Uses, realized: dict[UOp, None], ctx: ScheduleContext) -> list[Group]:
    """The kernels that compute `realized`, each after those whose results it reads."""
    alone = [Group([node], [node]) for node in realized]
    if len(alone) < 2 or not settings.GROUP_KERNELS:
        return alone
    grouping = _Grouping(uses, realized, ctx)
    if not grouping.order.has_order:
        return alone  # there is a cycle of writes: copies are made first
    grouping.fuse_vertically()
    grouping.fuse_horizontally()
    grouping.fuse_products_of_reader()
    grouping.fuse_vertically()
    grouping.fuse_in_sequence()
    grouping.fuse_small_reduces()
    return grouping.result()


class _Grouping:
    def __init__(self, uses: Uses, realized: dict[UOp, None], ctx: ScheduleContext) -> None:
        self.ctx = ctx
        self.roots = roots = RootKernels(uses, realized)
        self.merging = Merging(uses, roots, ctx)
        self.order = GroupOrder(len(roots.nodes), roots.edges())
        self.group_of = list(range(len(roots.nodes)))
        self.drafts: list[Candidate] = [self.merging.single(known) for known in roots.facts]
        # drafts do not change, and the order only grows stricter: what was rejected stays so, but
        # for what has no loop in common, which is tried again at the end
        self.rejected: set[tuple[Candidate, Candidate, UOp | None]] = set()

    def fuse_vertically(self) -> None:
        """Fuse every kernel with those that it reads from, nearest first."""
        numbers = range(len(self.group_of))
        for number in sorted(numbers, key=lambda n: self.order.rank[self.group_of[n]]):
            sources = self.roots.sources(self.roots.facts[number])
            for source in sorted(set(sources), reverse=True):
                self._try_merge(source, number)

    def fuse_in_sequence(self) -> None:
        """Fuse what is left without a common loop where that is no loss."""
        self.merging.is_last_phase = True
        self.rejected -= self.merging.deferred
        for _ in range(_ROUNDS):
            before = list(self.group_of)
            self.fuse_vertically()
            if self.group_of == before:
                break

    def fuse_small_reduces(self) -> None:
        """Fuse small sums with others that run soon before or after them."""
        near: list[int] = []
        for number in sorted(set(self.group_of), key=self.order.rank.__getitem__):
            draft = self.drafts[number]
            if draft.device is None or self.ctx.has_grid(draft.device):
                continue
            if not is_small_reduce(draft.facts, draft.work):
                continue
            member = self.roots.number[draft.members[0]]
            for other in reversed(near):
                first, second = self.group_of[other], self.group_of[member]
                united = self.merging.merged_in_sequence(self.drafts[first], self.drafts[second])
                if self._replace(first, second, united):
                    break
            else:
                near = [*near[1 - _NEIGHBOURS :], member]

    def fuse_horizontally(self) -> None:
        """Fuse the readers of one value with each other, neighbours only."""
        for base, readers in self.roots.readers.items():
            if len(readers) < 2 or prod(base.shape) == 1:
                continue
            near: list[int] = []
            for number in readers:
                for other in reversed(near):
                    if self._try_merge(other, number, base):
                        break
                else:
                    near = [*near[1 - _NEIGHBOURS :], number]

    def fuse_products_of_reader(self) -> None:
        """Fuse the matrix products that one kernel reads."""
        for known in self.roots.facts:
            sources = self.roots.sources(known)
            products = [number for number in sources if self.roots.facts[number].tiled]
            for one, other in itertools.combinations(products[:_NEIGHBOURS], 2):
                first, second = self.group_of[one], self.group_of[other]
                if first != second:
                    both = (self.drafts[first], self.drafts[second])
                    self._replace(first, second, self.merging.batched_products(*both))

    def _try_merge(self, a: int, b: int, shared: UOp | None = None) -> bool:
        """Merge the groups of two kernels if that is legal and profitable; whether they are one."""
        first, second = self.group_of[a], self.group_of[b]
        if first == second:
            return True
        attempt = (self.drafts[first], self.drafts[second], shared)
        if attempt in self.rejected:
            return False
        if not self._replace(first, second, self.merging.merged(*attempt)):
            self.rejected.add(attempt)
            return False
        return True

    def _replace(self, first: int, second: int, united: Candidate | None) -> bool:
        """Replace two groups by `united`, if it exists and an order allows it."""
        number = None if united is None else self.order.merge(first, second)
        if united is None or number is None:
            return False
        gone = second if number == first else first
        self.drafts[number] = united
        for known in self.drafts[gone].facts:
            self.group_of[self.roots.number[known.root]] = number
        return True

    def result(self) -> list[Group]:
        """All groups, in their order."""
        numbers = sorted(set(self.group_of), key=self.order.rank.__getitem__)
        return [self.merging.group(self.drafts[number]) for number in numbers]
