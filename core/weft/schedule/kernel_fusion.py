"""Kernel fusion: merge kernels that share loops into one with several outputs and reduces.

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
from collections.abc import Iterable

from weft.base.sequences import prod
from weft.base.settings import settings
from weft.schedule.context import ScheduleContext
from weft.schedule.fusion_analysis import Roots
from weft.schedule.fusion_candidates import Draft, Group
from weft.schedule.fusion_legality import is_small_sum
from weft.schedule.fusion_merging import Unions
from weft.schedule.fusion_order import GroupOrder
from weft.schedule.use_def import Uses
from weft.uop import UOp

# how many neighbours among the readers of one value are tried
_NEIGHBOURS = 4
# how often what is left is gone through again: what came together may take more along
_ROUNDS = 2


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
        self.ctx = ctx
        self.roots = roots = Roots(uses, realized)
        self.unions = Unions(uses, roots, ctx)
        self.order = GroupOrder(len(roots.nodes), roots.edges())
        self.home = list(range(len(roots.nodes)))
        self.drafts: list[Draft] = [self.unions.alone(known) for known in roots.facts]
        # drafts do not change, and the order only grows stricter: what was refused stays so, but
        # for what has no loop in common, which is tried again at the end
        self.refused: set[tuple[Draft, Draft, UOp | None]] = set()

    def up_and_down(self) -> None:
        """Every kernel with those that it reads from, nearest first."""
        numbers = range(len(self.home))
        for number in sorted(numbers, key=lambda n: self.order.rank[self.home[n]]):
            sources = self.roots.sources(self.roots.facts[number])
            for source in sorted(set(sources), reverse=True):
                self._try(source, number)

    def run_on(self) -> None:
        """What is left, without a loop in common where that is no loss."""
        self.unions.at_the_end = True
        self.refused -= self.unions.left_for_the_end
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
            if draft.device is None or self.ctx.has_grid(draft.device):
                continue
            if not is_small_sum(draft.facts, draft.work):
                continue
            member = self.roots.number[draft.members[0]]
            for other in reversed(near):
                first, second = self.home[other], self.home[member]
                united = self.unions.one_after_the_other(self.drafts[first], self.drafts[second])
                if self._unite(first, second, united):
                    break
            else:
                near = [*near[1 - _NEIGHBOURS :], member]

    def side_by_side(self) -> None:
        """The readers of one value with each other, neighbours only."""
        for base, readers in self.roots.readers.items():
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
        for known in self.roots.facts:
            sources = self.roots.sources(known)
            products = [number for number in sources if self.roots.facts[number].tiled]
            for one, other in itertools.combinations(products[:_NEIGHBOURS], 2):
                first, second = self.home[one], self.home[other]
                if first != second:
                    both = (self.drafts[first], self.drafts[second])
                    self._unite(first, second, self.unions.batched_products(*both))

    def _try(self, a: int, b: int, shared: UOp | None = None) -> bool:
        """Unite the groups of two kernels if that is allowed and of use; whether they are one."""
        first, second = self.home[a], self.home[b]
        if first == second:
            return True
        attempt = (self.drafts[first], self.drafts[second], shared)
        if attempt in self.refused:
            return False
        if not self._unite(first, second, self.unions.united(*attempt)):
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
            self.home[self.roots.number[known.root]] = number
        return True

    def result(self) -> list[Group]:
        """All groups, in their order."""
        numbers = sorted(set(self.home), key=self.order.rank.__getitem__)
        return [self.unions.group(self.drafts[number]) for number in numbers]
