"""All-reduce as a graph: what is sent, and what that is worth."""

import pytest

from helpers.graphs import buffer
from weft.base.settings import settings
from weft.schedule.allreduce import all_reduce, reduce_scatter, uses_ring
from weft.uop import Ops, Shard, UOp

NAMES = ("X", "Y", "Z", "W")


def sent(count, size, ring):
    """The sizes of all copies of an all-reduce of `size` elements between `count` devices."""
    devices = NAMES[:count]
    parts = tuple(buffer(size, device=device) for device in devices)
    with settings.override(RING=2 if ring else 0):
        found = all_reduce(Ops.ADD, parts, devices)
    assert [part.device for part in found] == list(devices)
    assert all(part.shape == (size,) for part in found)
    return [node.size for node in UOp.sink(*found).toposort() if node.op is Ops.COPY]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_plainly_everybody_gets_everything(count):
    assert sent(count, 12, ring=False) == [12] * (count * (count - 1))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_in_a_ring_everybody_sends_two_chunks_less_than_all(count):
    assert sent(count, 12, ring=True) == [12 // count] * (2 * count * (count - 1))


def test_uneven_chunks_go_round_too():
    assert sum(sent(3, 10, ring=True)) == 10 * 2 * 2


@pytest.mark.parametrize(
    ("ring", "devices", "size", "expected"),
    [
        (0, 4, 10**9, False),
        (1, 4, 256000, False),
        (1, 4, 256001, True),
        (1, 2, 10**9, False),
        (2, 2, 2, True),
        (2, 4, 3, False),
    ],
)
def test_choice_of_the_ring(ring, devices, size, expected):
    with settings.override(RING=ring):
        assert uses_ring(buffer(size), devices) is expected


def test_the_threshold_is_a_setting():
    with settings.override(RING_ALLREDUCE_THRESHOLD=10):
        assert uses_ring(buffer(11), 3) and not uses_ring(buffer(10), 3)


def test_plainly_all_devices_compute_in_one_order():
    """The same bits everywhere: replicas must not drift apart."""
    devices = NAMES[:3]
    parts = tuple(buffer(2, device=device) for device in devices)
    with settings.override(RING=0):
        found = all_reduce(Ops.ADD, parts, devices)
    for total in found:
        order = []
        while total.op is Ops.ADD:
            order.append(total.src[1])
            total = total.src[0]
        order.append(total)
        held = [n.src[0] if n.op is Ops.COPY else n for n in reversed(order)]
        assert [n.base.device for n in held] == list(devices)


def test_sharded_results_are_sent_as_shards():
    devices = NAMES[:3]
    parts = tuple(buffer(12, device=device) for device in devices)
    found = reduce_scatter(Ops.MAX, parts, devices, Shard(0, (0, 4, 8, 12)))
    assert [(part.shape, part.device) for part in found] == [((4,), name) for name in devices]
    copies = [node.size for node in UOp.sink(*found).toposort() if node.op is Ops.COPY]
    assert copies == [4] * 6
