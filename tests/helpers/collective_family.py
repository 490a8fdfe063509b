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
    """The plugin: exchanges by lists of numbers, and notes which.

    Under `jit` the results are written when the exchange is awaited. Until then their memory has
    other values, and what is given has to stay as it is.
    """

    weft_api = (1, 1)

    def __init__(self):
        self.kinds = []
        self.events = []
        self.overlaps = []

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
        run = device.below.runner(program)

        def noted(*handles, **how):
            self.events.append("kernel")
            return run(*handles, **how)

        return noted

    @hookimpl
    def weft_collective(self, devices, collective, dtype):
        self.kinds.append(collective.kind)
        return GangExchange(self, devices, collective, dtype)


class GangExchange:
    """One collective. It is also an exchange that has started."""

    def __init__(self, gang, devices, collective, dtype):
        self.gang, self.collective, self.dtype = gang, collective, dtype
        self.memory = [device.below.allocator for device in devices]

    def __call__(self, outputs, inputs):
        given = self.read(inputs)
        for place, (memory, handle) in enumerate(zip(self.memory, outputs)):
            values = result(self.collective, given, place)
            memory.copy_in(handle, memoryview(pack(values, self.dtype)))

    def read(self, handles):
        sizes = map(self.collective.input_size, range(len(handles)))
        return [
            unpack(bytes(memory.map_host(handle)), self.dtype)[:size]
            for memory, handle, size in zip(self.memory, handles, sizes)
        ]

    def sent(self):
        return [bytes(memory.map_host(h)) for memory, h in zip(self.memory, self.inputs)]

    def starter(self, handles, overlaps=True):
        self.gang.overlaps.append(overlaps)
        return self.start

    def start(self, outputs, inputs):
        self.gang.events.append("start")
        self.outputs, self.inputs = outputs, inputs
        self.given = self.sent()
        for place, (memory, handle) in enumerate(zip(self.memory, outputs)):
            values = [113] * self.collective.output_size(place)
            memory.copy_in(handle, memoryview(pack(values, self.dtype)))
        return self

    def progress(self):
        self.gang.events.append("progress")

    def wait(self):
        self.gang.events.append("wait")
        assert self.sent() == self.given, "what is given changed meanwhile"
        self(self.outputs, self.inputs)


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
