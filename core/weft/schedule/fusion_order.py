"""Dynamic topological order: keep groups of kernels in order while groups are merged.

Every group has a number, and everything that it needs has a lower one. Two groups may be merged
where no third one lies on a path between them. The groups with numbers in between are then
renumbered. Only groups with numbers in between are examined, and at most `_FAR` of them: groups
that are further apart stay separate, which keeps the cost linear.

Source: Pearce and Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs", ACM
Journal of Experimental Algorithmics 11, 2006.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

_FAR = 192


class GroupOrder:
    """A graph of `count` groups, by number; `edges` are (before, after)."""

    def __init__(self, count: int, edges: Iterable[tuple[int, int]]) -> None:
        self.before: list[set[int]] = [set() for _ in range(count)]
        self.after: list[set[int]] = [set() for _ in range(count)]
        for first, then in edges:
            if first != then:
                self.after[first].add(then)
                self.before[then].add(first)
        self.rank = [-1] * count
        waits = [len(found) for found in self.before]
        ready = deque(number for number in range(count) if not waits[number])
        place = 0
        while ready:
            number = ready.popleft()
            self.rank[number] = place
            place += 1
            for then in sorted(self.after[number]):
                waits[then] -= 1
                if not waits[then]:
                    ready.append(then)
        self.has_order = place == count

    def merge(self, a: int, b: int) -> int | None:
        """Merge two groups; the number that the merged group keeps, None where a third lies
        between."""
        low, high = (a, b) if self.rank[a] < self.rank[b] else (b, a)
        above = self._between(low, high, self.after, 1)
        if above is None or not above.isdisjoint(self.before[high]):
            return None
        below = self._between(high, low, self.before, -1)
        return None if below is None else self._united(low, high, above, below)

    def _degree(self, number: int) -> int:
        return len(self.before[number]) + len(self.after[number])

    def _between(self, start: int, end: int, edges: list[set[int]], sign: int) -> set[int] | None:
        """The groups reached from `start` by `edges` before the rank of `end`, without `end`."""
        found: set[int] = set()
        stack = [start]
        limit = sign * self.rank[end]
        while stack:
            for number in edges[stack.pop()]:
                if sign * self.rank[number] < limit and number not in found:
                    found.add(number)
                    if len(found) > _FAR:
                        return None
                    stack.append(number)
        return found

    def _united(self, low: int, high: int, above: set[int], below: set[int]) -> int:
        rank = self.rank
        ranks = sorted(rank[number] for number in (low, high, *above, *below))
        kept, gone = low, high
        if self._degree(low) < self._degree(high):
            kept, gone = high, low
        first, last = (sorted(part, key=rank.__getitem__) for part in (below, above))
        in_order = (*first, kept, *last)
        for number, place in zip(in_order, ranks):
            rank[number] = place
        rank[gone] = -1
        for here, there in ((self.before, self.after), (self.after, self.before)):
            for number in here[gone]:
                there[number].discard(gone)
                if number != kept:
                    there[number].add(kept)
                    here[kept].add(number)
            here[gone] = set()
            here[kept].discard(gone)
        return kept
