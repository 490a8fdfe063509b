"""Twice as many pending writes take twice as many steps, whoever reads what between them.

Counted are the calls that Python makes, which are the same in every run: nothing is timed.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

import pytest

from weft import Tensor

COUNT = 150
MOST = 2.8
"""Twice, and what a dictionary or a set takes more as it grows."""


def memory(size: int = 8) -> Tensor:
    return Tensor.zeros(size).contiguous().realize()


def adds(count: int) -> list[Tensor]:
    x = memory()
    for _ in range(count):
        x += 1
    return [x]


def writes_of_elements(count: int) -> list[Tensor]:
    x = memory()
    for number in range(count):
        x[number % 8] += 1
    return [x]


def adds_below_views(count: int) -> list[Tensor]:
    x = memory()
    views = [x[1:3], x.reshape(2, 4), x[::2]]
    for _ in range(count):
        x += 1
    return [x, *views]


def writes_through_views(count: int) -> list[Tensor]:
    x = memory()
    view = x[1:5]
    for _ in range(count):
        x += 1
        view *= 2
    return [x, view]


def readers_of_each_version(count: int) -> list[Tensor]:
    x, readers = memory(), []
    for _ in range(count):
        x += 1
        readers.append(x * 2)
    return [x, *readers]


def a_sum_of_each_version(count: int) -> list[Tensor]:
    x = memory()
    total = Tensor.zeros(8)
    sums = []
    for _ in range(count):
        x += 1
        total = total + x
        sums.append(total)
    return [x, *sums]


def two_that_read_each_other(count: int) -> list[Tensor]:
    x, y = memory(), memory()
    for _ in range(count):
        x += y
        y += x
    return [x, y]


def elements_that_read_another(count: int) -> list[Tensor]:
    x, y = memory(), memory()
    for number in range(count):
        y += 1
        x[number % 8] = y.sum()
    return [x, y]


def exchanged(count: int) -> list[Tensor]:
    x, y = memory(), memory()
    for _ in range(count):
        old = x.clone()
        x.assign(y)
        y.assign(old)
    return [x, y]


def a_recurrence(count: int) -> list[Tensor]:
    x = memory(count + 2)
    for place in range(count):
        x[place + 2] = x[place + 1] + x[place]
    return [x]


PROGRAMS = [
    adds, writes_of_elements, adds_below_views, writes_through_views, readers_of_each_version,
    a_sum_of_each_version, two_that_read_each_other, elements_that_read_another, exchanged,
    a_recurrence,
]  # fmt: skip


def calls(program: Callable[[int], list[Tensor]], count: int) -> int:
    """How often Python calls anything while a program is recorded and scheduled."""
    made = 0

    def count_one(frame: object, event: str, argument: object) -> None:
        nonlocal made
        made += 1

    gc.collect()
    before = sys.getprofile()
    sys.setprofile(count_one)
    try:
        Tensor.kernelize(*program(count))
    finally:
        sys.setprofile(before)
    return made


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_steps_are_in_proportion(program: Callable[[int], list[Tensor]]) -> None:
    calls(program, 4)
    once, twice = calls(program, COUNT), calls(program, 2 * COUNT)
    assert twice <= MOST * once, twice / once
