"""Small helpers over sequences."""

from __future__ import annotations

from weft.base.sequences import argsort, flatten, partition, prod


def test_prod_of_nothing_is_one() -> None:
    assert prod([]) == 1 and prod([2, 3, 4]) == 24 and prod(x for x in (0, 5)) == 0


def test_flatten_takes_one_level() -> None:
    assert flatten([[1, [2]], (), [3]]) == [1, [2], 3]


def test_partition_keeps_order_and_calls_once() -> None:
    asked: list[int] = []

    def odd(value: int) -> int:
        asked.append(value)
        return value % 2

    assert partition(iter([1, 2, 3, 4]), odd) == ([1, 3], [2, 4])
    assert asked == [1, 2, 3, 4]


def test_argsort_is_stable_and_inverts_permutations() -> None:
    assert argsort([2, 1, 2, 0]) == (3, 1, 0, 2)
    order = (2, 0, 3, 1)
    assert [order[i] for i in argsort(order)] == [0, 1, 2, 3]
    assert argsort(()) == ()
