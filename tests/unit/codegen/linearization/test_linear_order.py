"""The order within one loop: by place, and right after what is waited for."""

import random

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.codegen.linearization.linear_order import _Block
from weft.uop import UOp


def leaf(number):
    return UOp.variable(f"order{number}", 0, number + 1)


def block_of(items, edges):
    block = _Block()
    block.items = {item: place for place, item in enumerate(items)}
    block.edges = dict.fromkeys(edges)
    return block


def test_a_loop_follows_its_dependences_directly():
    loop = UOp.range(4, 900)
    a, b, c = (leaf(n) for n in range(3))
    assert block_of([loop, a, b, c], [(b, loop)]).sorted() == [a, b, loop, c]


def test_users_of_a_loop_follow_it():
    loop = UOp.range(4, 900)
    a, b, c = (leaf(n) for n in range(3))
    assert block_of([loop, a, b, c], [(b, loop), (loop, a)]).sorted() == [b, loop, a, c]


@pytest.mark.parametrize("seed", range(40))
def test_the_fast_path_equals_list_scheduling(seed):
    rng = random.Random(seed)
    loops = [UOp.range(4, 900 + n) for n in range(3)]
    items = [*(leaf(n) for n in range(12)), *loops]
    rng.shuffle(items)
    edges = []
    for loop in loops:
        others = [item for item in items if item not in loops]
        before, after = rng.sample(others, 3), rng.sample(others, 2)
        edges += [(item, loop) for item in before]
        edges += [(loop, item) for item in after if item not in before]
    block = block_of(items, edges)
    try:
        expected = block._list_scheduled()
    except SpecError:
        with pytest.raises(SpecError):
            block.sorted()
        return
    assert block.sorted() == expected


def test_a_cyclic_dependence_is_reported():
    a, b = (leaf(n) for n in range(2))
    with pytest.raises(SpecError, match="no order of this kernel"):
        block_of([a, b], [(a, b), (b, a)]).sorted()


def test_sources_of_one_loop_come_before_their_users():
    a = leaf(1)
    total = a + UOp.const(dtypes.int, 77)
    block = block_of([a, total.src[1], total], [])
    assert block.sorted() == [a, total.src[1], total]
