"""Groups of kernels stay in an order while they are united."""

import random

from weft.schedule.fusion_order import GroupOrder


def test_neighbours_are_united():
    order = GroupOrder(3, [(0, 1), (1, 2)])
    kept = order.merge(0, 1)
    assert kept in (0, 1)
    assert order.after[kept] == {2} and order.before[2] == {kept}
    assert order.rank[kept] < order.rank[2]


def test_a_third_between_two_keeps_them_apart():
    order = GroupOrder(3, [(0, 1), (1, 2), (0, 2)])
    assert order.merge(0, 2) is None
    assert order.rank == [0, 1, 2] and order.after[0] == {1, 2}


def test_a_cycle_has_no_order():
    assert not GroupOrder(2, [(0, 1), (1, 0)]).has_order
    assert GroupOrder(2, [(0, 1), (1, 1)]).has_order


def test_distant_groups_are_not_merged():
    count = 500
    edges = [(0, n) for n in range(1, count)] + [(n, count) for n in range(1, 2)]
    order = GroupOrder(count + 1, edges)
    assert order.merge(0, count) is None


def test_at_random_against_reachability():
    rng = random.Random(5)
    united = refused = 0
    for _ in range(60):
        count = rng.randint(3, 14)
        edges = {(a, b) for b in range(count) for a in range(b) if rng.random() < 0.25}
        order = GroupOrder(count, edges)
        home = list(range(count))
        for _ in range(count):
            a, b = rng.sample(sorted(set(home)), 2) if len(set(home)) > 1 else (0, 0)
            if a == b:
                break
            merged = {(home[x], home[y]) for x, y in edges if home[x] != home[y]}
            legal = not _longer_path(merged, a, b) and not _longer_path(merged, b, a)
            kept = order.merge(a, b)
            assert (kept is not None) == legal
            united, refused = united + legal, refused + (not legal)
            if kept is not None:
                home = [kept if h in (a, b) else h for h in home]
            for x, y in edges:
                assert home[x] == home[y] or order.rank[home[x]] < order.rank[home[y]]
            ranks = [order.rank[h] for h in set(home)]
            assert len(set(ranks)) == len(ranks)
    assert united > 50 and refused > 50


def _longer_path(edges, start, end):
    """Whether there is a path of two edges or more."""
    stack, seen = [y for x, y in edges if x == start and y != end], set()
    while stack:
        node = stack.pop()
        if node == end:
            return True
        if node not in seen:
            seen.add(node)
            stack.extend(y for x, y in edges if x == node)
    return False
