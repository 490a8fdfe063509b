"""A device family of one process with collectives, on the reference device.

As a plugin of pytest (``-p helpers.collective_family``) it registers the family ``GANG``.
"""

from dataclasses import replace

from weft.base.scalars import pack, unpack
from weft.plugin import (
    CollectiveKind,
    Device,
    DeviceFamily,
    Ops,
    hookimpl,
    open_device,
    register,
)


def pytest_configure(config):
    """Register the family for a run of the conformance kit."""
    register(Gang(), "GANG")


class Member(Device):
    """A device on the reference device, of a group with collectives."""

    def __init__(self, id):
        self.below = open_device("REF")
        own = self.below.capabilities
        memory = replace(own.memory, collective_group="gang", link_group=None)
        super().__init__(id, replace(own, memory=memory))


class Gang:
    """The plugin: exchanges by lists of numbers, and notes which."""

    weft_api = (1, 1)

    def __init__(self):
        self.kinds = []

    @hookimpl
    def weft_devices(self):
        return [DeviceFamily("GANG", priority=-1)]

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
    def weft_compiler(self, device):
        return device.below.compiler

    @hookimpl
    def weft_runner(self, device, program):
        return device.below.runner(program)

    @hookimpl
    def weft_collective(self, devices, collective, dtype):
        self.kinds.append(collective.kind)
        memory = [device.below.allocator for device in devices]

        def exchange(outputs, inputs):
            given = [
                unpack(bytes(each.map_host(handle)), dtype)[: collective.input_size(place)]
                for place, (each, handle) in enumerate(zip(memory, inputs))
            ]
            for place, (each, handle) in enumerate(zip(memory, outputs)):
                each.copy_in(handle, memoryview(pack(result(collective, given, place), dtype)))

        return exchange


COMBINE = {Ops.ADD: lambda a, b: a + b, Ops.MUL: lambda a, b: a * b, Ops.MAX: max}


def result(collective, given, place):
    """What one device gets."""
    if collective.kind == CollectiveKind.BROADCAST:
        return given[collective.root]
    if collective.kind in (CollectiveKind.ALLREDUCE, CollectiveKind.REDUCE_SCATTER):
        total = given[0]
        for other in given[1:]:
            total = [COMBINE[collective.op](a, b) for a, b in zip(total, other)]
        start = sum(collective.counts[:place])
        whole = collective.kind == CollectiveKind.ALLREDUCE
        return total if whole else total[start : start + collective.counts[place]]
    if collective.kind == CollectiveKind.ALLGATHER:
        return [value for part in given for value in part]
    starts = [sum(collective.sent(giver)[:place]) for giver in range(len(given))]
    sizes = collective.received(place)
    return [v for x, s, n in zip(given, starts, sizes) for v in x[s : s + n]]
