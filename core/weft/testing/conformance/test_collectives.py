"""Collectives of the devices of one group: every kind, on every group of the family that opens.

In a program of several processes each of them runs these tests together with the others, and
compares the results of its own devices::

    mpirun -n 2 python -m pytest --pyargs weft.testing.conformance.test_collectives \\
        --weft-device MPI
"""

from __future__ import annotations

import math
from itertools import accumulate

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import DeviceError, ScheduleError
from weft.base.scalars import pack, unpack
from weft.device import AsyncCollective, Buffer, registry
from weft.tensor import Tensor
from weft.uop import Collective, CollectiveKind, Ops

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")

MOST = 4
REDUCTIONS = {Ops.ADD: sum, Ops.MUL: math.prod, Ops.MAX: max}
DTYPES = (
    dtypes.bool, dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32,
    dtypes.uint32, dtypes.int64, dtypes.uint64, dtypes.float16, dtypes.bfloat16, dtypes.float32,
    dtypes.float64,
)  # fmt: skip


@pytest.fixture
def group(weft_device):
    """The devices of the collective group, by number, as far as they open."""
    declared = weft_device.capabilities.memory.collective_group
    if declared is None:
        pytest.skip("the device declares no MemoryCaps.collective_group")
    found = []
    for number in range(MOST):
        try:
            one = registry.open(f"{weft_device.id.family}:{number}")
        except DeviceError:
            break
        if one.capabilities.memory.collective_group == declared:
            found.append(one)
    return found or [weft_device]


def at_once(run, outputs, inputs):
    """Call a collective."""
    run(outputs, inputs)


def started(run, outputs, inputs):
    """Start a collective, and wait for its end."""
    exchanging = run.starter(None)(outputs, inputs)
    exchanging.progress()
    exchanging.wait()


def started_again(run, outputs, inputs):
    """Start a collective on the same memory several times."""
    start = run.starter((outputs, inputs))
    for _ in range(3):
        start(outputs, inputs).wait()


def started_alone(run, outputs, inputs):
    """Start a collective that no process has work beside, several times."""
    start = run.starter((outputs, inputs), overlaps=False)
    for _ in range(3):
        start(outputs, inputs).wait()


def exchange(group, collective, dtype, given, carry_out=at_once):
    """Carry out one collective; the values that each addressable device got, by its place."""
    run = group[0].collective([one.device for one in group], collective, dtype)
    inputs, outputs = [], []
    for place, one in enumerate(group):
        values = given[place]
        assert len(values) == collective.input_size(place)
        inputs.append(Buffer(one.id, len(values), dtype).copy_in(pack(values, dtype)))
        size = collective.output_size(place)
        filled = pack([0] * size, dtype)
        outputs.append(Buffer(one.id, size, dtype).copy_in(filled))
    carry_out(run, [one.handle for one in outputs], [one.handle for one in inputs])
    own = [place for place, one in enumerate(group) if one.capabilities.memory.addressable]
    for place in own:
        sent = unpack(bytes(inputs[place].copy_out()), dtype)
        assert list(sent) == list(given[place]), "a collective does not change what is given"
    return {place: list(unpack(bytes(outputs[place].copy_out()), dtype)) for place in own}


def numbers(place, size, dtype):
    """Small values whose sums and products every dtype holds exactly."""
    if dtype is dtypes.bool:
        return [(place + index) % 3 == 0 for index in range(size)]
    return [(place + index) % 3 + 1 for index in range(size)]


def reduced(op, given, dtype):
    """The elements of all devices reduced, in Python."""
    found = [REDUCTIONS[op](column) for column in zip(*given)]
    return [bool(value) for value in found] if dtype is dtypes.bool else found


def needs_storage(weft_device, dtype):
    if dtype not in weft_device.capabilities.compute.dtypes:
        pytest.skip(f"the device does not compute with {dtype}")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("op", REDUCTIONS, ids=lambda op: op.name)
def test_all_reduce(weft_device, group, op, dtype):
    if dtype is dtypes.bool and op is not Ops.MAX:
        pytest.skip("booleans are reduced by MAX alone")
    needs_storage(weft_device, dtype)
    for size in (1, 7, 1024):
        given = [numbers(place, size, dtype) for place in range(len(group))]
        collective = Collective(CollectiveKind.ALLREDUCE, len(group), (size,), op)
        for found in exchange(group, collective, dtype, given).values():
            assert found == reduced(op, given, dtype)


@pytest.mark.parametrize("carry_out", [started, started_again, started_alone])
@pytest.mark.parametrize("kind", CollectiveKind, ids=str)
def test_a_collective_goes_on_while_kernels_run(group, kind, carry_out):
    count = len(group)
    sizes = {CollectiveKind.ALLREDUCE: 1, CollectiveKind.BROADCAST: 1}
    parts = sizes.get(kind, count * count if kind == CollectiveKind.ALL_TO_ALL else count)
    op = Ops.ADD if "reduce" in kind else None
    collective = Collective(kind, count, (5,) * parts, op)
    run = group[0].collective([one.device for one in group], collective, dtypes.float32)
    if not isinstance(run, AsyncCollective):
        pytest.skip("the device waits for the end of each collective")
    given = [numbers(place, collective.input_size(place), dtypes.float32) for place in range(count)]
    expected = exchange(group, collective, dtypes.float32, given)
    assert exchange(group, collective, dtypes.float32, given, carry_out) == expected


def test_every_device_gets_the_same_bits_of_a_sum(group):
    """Values whose sum depends on the order."""
    given = [[1e8 if place == 0 else 1.0 + place * 0.1] * 33 for place in range(len(group))]
    given = [unpack(pack(values, dtypes.float32), dtypes.float32) for values in given]
    collective = Collective(CollectiveKind.ALLREDUCE, len(group), (33,), Ops.ADD)
    found = list(exchange(group, collective, dtypes.float32, given).values())
    assert all(each == found[0] for each in found)
    assert found[0] == [found[0][0]] * 33


@pytest.mark.parametrize("counts", ["equal", "unequal"])
@pytest.mark.parametrize("op", REDUCTIONS, ids=lambda op: op.name)
def test_reduce_scatter(group, op, counts):
    sizes = part_sizes(len(group), counts)
    given = [numbers(place, sum(sizes), dtypes.int32) for place in range(len(group))]
    collective = Collective(CollectiveKind.REDUCE_SCATTER, len(group), sizes, op)
    whole, bounds = reduced(op, given, dtypes.int32), [0, *accumulate(sizes)]
    for place, found in exchange(group, collective, dtypes.int32, given).items():
        assert found == whole[bounds[place] : bounds[place + 1]]


@pytest.mark.parametrize("counts", ["equal", "unequal"])
@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.float32, dtypes.float64], ids=str)
def test_all_gather(weft_device, group, dtype, counts):
    needs_storage(weft_device, dtype)
    sizes = part_sizes(len(group), counts)
    given = [numbers(place, size, dtype) for place, size in enumerate(sizes)]
    collective = Collective(CollectiveKind.ALLGATHER, len(group), sizes)
    for found in exchange(group, collective, dtype, given).values():
        assert found == [value for part in given for value in part]


@pytest.mark.parametrize("counts", ["equal", "unequal"])
def test_all_to_all(group, counts):
    count = len(group)
    sizes = [
        [5 if counts == "equal" else 1 + a * 2 + b for b in range(count)] for a in range(count)
    ]
    parts = [[[100 * a + 10 * b] * sizes[a][b] for b in range(count)] for a in range(count)]
    given = [[value for part in row for value in part] for row in parts]
    flat = tuple(size for row in sizes for size in row)
    collective = Collective(CollectiveKind.ALL_TO_ALL, count, flat)
    for place, found in exchange(group, collective, dtypes.int32, given).items():
        assert found == [value for row in parts for value in row[place]]


def test_broadcast(group):
    for root in range(len(group)):
        given = [numbers(place, 9, dtypes.int32) for place in range(len(group))]
        collective = Collective(CollectiveKind.BROADCAST, len(group), (9,), root=root)
        for found in exchange(group, collective, dtypes.int32, given).values():
            assert found == given[root]


def test_a_runner_is_used_again(group):
    """The runner of a collective serves every replay of a schedule, with other memory."""
    collective = Collective(CollectiveKind.ALLREDUCE, len(group), (6,), Ops.ADD)
    for start in range(3):
        given = [numbers(place + start, 6, dtypes.int32) for place in range(len(group))]
        for found in exchange(group, collective, dtypes.int32, given).values():
            assert found == reduced(Ops.ADD, given, dtypes.int32)


def test_collectives_of_tensors(group):
    if len(group) == 1:
        pytest.skip("the group has one device")
    names = tuple(one.name for one in group)
    x = Tensor(list(range(24)), dtype=dtypes.int32).reshape(4, 6).shard(names, axis=0)
    try:
        assert x.sum(axis=0).tolist() == [36 + 4 * n for n in range(6)]
        assert (x.shard(names, axis=1) + 1).sum().item() == 300
        assert (x.shard(names) * 2).max().item() == 46
    except ScheduleError as error:
        pytest.fail(f"the group declares collectives that fail: {error}")


def part_sizes(count, kind):
    """The number of elements of each device's part."""
    return tuple(4 if kind == "equal" else 1 + 3 * place for place in range(count))
