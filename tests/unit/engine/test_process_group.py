"""Programs of several processes: each runs its own items, and schedules are compared."""

from dataclasses import replace

import pytest

from weft import Tensor
from weft.engine import stats
from weft.plugin import (
    Device,
    DeviceError,
    DeviceFamily,
    hookimpl,
    open_device,
    register,
    unregister,
)

DEVICES = ("TEAM", "TEAM:1")


class Member(Device):
    """A device on the reference device; only the first one is of this process."""

    def __init__(self, id):
        self.below = open_device("REF")
        own = self.below.capabilities
        memory = replace(
            own.memory, collective_group="team", link_group=None, addressable=id.locator == "0"
        )
        super().__init__(id, replace(own, memory=memory))


class Team:
    """The plugin: the other process gives zeros, and has equal schedules unless told otherwise."""

    weft_api = (1, 1)

    def __init__(self):
        self.schedules, self.loaded, self.differs = [], [], False

    @hookimpl
    def weft_devices(self):
        return [DeviceFamily("TEAM", priority=-1)]

    @hookimpl
    def weft_open(self, id):
        return Member(id)

    @hookimpl
    def weft_allocator(self, device):
        return device.below.allocator

    @hookimpl
    def weft_renderer(self, device):
        return device.below.renderer

    @hookimpl
    def weft_runner(self, device, program):
        self.loaded.append(str(device.id))
        return device.below.runner(program)

    @hookimpl
    def weft_collective(self, devices, collective, dtype):
        memory = devices[0].below.allocator
        return lambda outputs, inputs: memory.copy_in(outputs[0], memory.map_host(inputs[0]))

    @hookimpl
    def weft_schedule(self, devices, items):
        self.schedules.append(items)
        if self.differs:
            raise DeviceError("the schedules differ", asked="a schedule")


@pytest.fixture
def team():
    plugin = Team()
    register(plugin, "TEAM")
    yield plugin
    unregister("TEAM")


@pytest.fixture
def x():
    return Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]).shard(DEVICES, axis=0).realize()


def test_a_process_runs_the_kernels_of_its_own_device(team, x):
    before = stats.kernels
    total = (x * 2).sum(axis=0).realize()
    assert set(team.loaded) == {"TEAM"}
    assert stats.kernels == before + 1
    assert total.local().tolist() == [8.0, 12.0]  # the other process gives zeros


def test_a_process_reads_its_own_part(team, x):
    assert x.local().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert x.sum(axis=0).tolist() == [4.0, 6.0]


def test_the_items_of_all_processes_are_compared(team, x):
    team.schedules.clear()
    x.sum(axis=0).realize()
    (lines,) = team.schedules
    assert [line.split()[1] for line in lines] == ["COLLECTIVE", "SINK", "SINK"]
    assert lines[0].split()[3] == "TEAM" and lines[1] == lines[2]


def test_schedules_that_differ_are_not_run(team, x):
    team.differs = True
    with pytest.raises(DeviceError, match="the schedules differ"):
        x.sum(axis=0).realize()


def test_schedules_of_one_device_are_not_compared(team):
    team.differs = True
    assert (Tensor([1.0]).to("TEAM") + 1).tolist() == [2.0]


def test_repeated_values_of_another_process_are_not_run_here(team, x):
    """A stored launch plan is of a device of this process."""
    elsewhere = Tensor([1.0, 2.0]).to("TEAM:1").realize()
    before = stats.kernels
    for _ in range(3):
        (elsewhere + 1).realize()
    assert stats.kernels == before and "TEAM:1" not in team.loaded
