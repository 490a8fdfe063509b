"""Devices that lie, each about one thing, and the honest ones that they are made of."""

from __future__ import annotations

import ctypes
import dataclasses
import re

from weft.base.dtype import dtypes
from weft.device.identity import ordinal
from weft.plugin import (
    API_VERSION,
    Allocator,
    Capabilities,
    Device,
    DeviceFamily,
    Feature,
    FileError,
    FragmentLayout,
    MachineModel,
    MemoryCaps,
    OutOfMemory,
    TensorCore,
    hookimpl,
)
from weft.testing.reference import KINDS
from weft.testing.reference.memory import PoisonedAllocator
from weft.testing.reference.renderer import PythonRenderer
from weft.testing.reference.runner import PythonCompiler, PythonRunner

# ---- an honest device ---------------------------------------------------------------------------


class Memory(PoisonedAllocator):
    """Python's memory, by every method."""

    def link_copy(self, dst, src, source, nbytes):
        dst[:] = src
        return True

    def stream_out(self, src, chunk):
        return (src[at : at + chunk] for at in range(0, len(src), chunk))


class Graph:
    """Launches, one after the other."""

    def __init__(self, launches):
        self.launches = launches

    def __call__(self, handles, values, *, wait):
        for launch, given, numbers in zip(self.launches, handles, values):
            sizes = {"global_size": launch.global_size, "local_size": launch.local_size}
            launch.runner(given, **sizes, values=numbers, wait=wait)
        return 0.0 if wait else None


def unit():
    """A matrix unit of 4 x 4 x 4: a lane holds a row of A, a column of B and a row of C."""
    down, right = ((1, 0), (2, 0)), ((0, 1), (0, 2))
    a = c = FragmentLayout(lane=down, element=right)
    b = FragmentLayout(lane=right, element=down)
    return TensorCore("unit", (4, 4, 4), 4, dtypes.float32, dtypes.float32, a, b, c)


class Honest:
    """The parts of the reference device under another name; liars change what they lie about."""

    weft_api = API_VERSION
    compute = dataclasses.replace(
        KINDS["grid"],
        features=frozenset({Feature.BARRIER, Feature.SHARED}),
        tensor_cores=(unit(),),
    )
    memory = MemoryCaps(link_group="here", max_allocation=1 << 22)
    canonical = staticmethod(ordinal)
    device = Device
    allocator: type[Allocator] = Memory
    compiler = PythonCompiler
    runner = PythonRunner
    graph = Graph

    def text(self, source: str) -> str:
        """What becomes of the source of a kernel."""
        return source

    @hookimpl
    def weft_devices(self):
        return [DeviceFamily("LIAR", priority=-1, canonical=self.canonical)]

    @hookimpl
    def weft_open(self, id):
        caps = Capabilities(self.memory, self.compute, fingerprint=type(self).__name__)
        return self.device(id, caps)

    @hookimpl
    def weft_allocator(self, device):
        return self.allocator()

    @hookimpl
    def weft_renderer(self):
        text = self.text

        class Renderer(PythonRenderer):
            def render(self, program):
                return text(super().render(program))

        return Renderer()

    @hookimpl
    def weft_compiler(self):
        return self.compiler()

    @hookimpl
    def weft_runner(self, program):
        return self.runner(program)

    @hookimpl
    def weft_graph(self, launches):
        return self.graph(launches)


# ---- liars --------------------------------------------------------------------------------------


def limits(**fields):
    """What the honest device can do, with other limits."""
    changed = dataclasses.replace(Honest.compute.limits, **fields)
    return dataclasses.replace(Honest.compute, limits=changed)


def instead(old, new, definition=""):
    """Replace every match by another text, after a definition that it may use."""
    return lambda self, source: definition + re.sub(old, new, source)


class RoundsCasts(Honest):
    text = instead(
        r"truncate\(",
        "nearest(",
        "def nearest(v, d):\n"
        "    near = isinstance(v, float) and abs(v) < 2**40 and not dtypes.is_float(d)\n"
        "    return truncate(round(v) if near else v, d)\n",
    )


class CutsCasts(Honest):
    """Narrow floats have their last digits cut off rather than rounded."""

    text = instead(r"truncate\((\w+), dtypes.half\)", r"truncate(\1 * (1 - 2**-12), dtypes.half)")


class Floors(Honest):
    text = instead(
        r"alu\(Ops.IDIV,",
        "floored(",
        "def floored(d, x):\n    return truncate(x[0] // x[1] if x[1] else 0, d)\n",
    )


class LosesTheTail(Honest):
    """Copies whole words only."""

    class allocator(Memory):
        def copy_out(self, dst, src):
            whole = len(src) // 4 * 4
            dst[:whole] = src[:whole]


class IgnoresOffsets(Honest):
    class allocator(Memory):
        def view(self, handle, offset, nbytes):
            return handle[:nbytes]


class IgnoresBarriers(Honest):
    text = instead(r"\n +yield\n", "\n")

    class runner(PythonRunner):
        def __init__(self, program):
            super().__init__(program)
            self.has_barriers = False


class StaleHandles(Honest):
    class graph(Graph):
        def __call__(self, handles, values, *, wait):
            return super().__call__([each.handles for each in self.launches], values, wait=wait)


class StaleValues(Honest):
    class graph(Graph):
        def __call__(self, handles, values, *, wait):
            return super().__call__(handles, [each.values for each in self.launches], wait=wait)


class HalfIsFloat(Honest):
    text = instead(r"round_half\(", "(")


class DoubleIsFloat(Honest):
    text = instead(r"dtypes.double", "dtypes.float")


class HalfIsBrain(Honest):
    """Says that it has float16, and reads its bits as those of bfloat16."""

    text = instead(r"code_half", "code_bfloat16")


class LaunchesLess(Honest):
    """The last groups of the last axis do not run."""

    class runner(PythonRunner):
        def __call__(self, handles, *, global_size=None, **others):
            less = global_size and (*global_size[:2], max(1, global_size[2] - 1))
            return super().__call__(handles, global_size=less, **others)


class WrongTails(Honest):
    text = instead(
        r"alu\(Ops.EXP2,", "tail(", "def tail(d, x):\n"
        "    return alu(Ops.EXP2, d, (min(max(x[0], -100.0), 100.0),))\n",
    )  # fmt: skip


class FreesEarly(Honest):
    """Gives memory a second time while others still use it."""

    class allocator(Memory):
        def __init__(self):
            self.given = {}

        def allocate(self, nbytes, hints):
            given = self.given.setdefault(nbytes, [])
            given.append(given.pop(0) if len(given) > 8 else super().allocate(nbytes, hints))
            return given[-1]


class OneMemoryForTwo(Honest):
    """Every device of the family counts its allocations, and the first of each is one place."""

    def __init__(self):
        self.places = {}

    @hookimpl
    def weft_allocator(self, device):
        return self.allocator(self.places)

    class allocator(Memory):
        def __init__(self, places):
            self.places, self.counts = places, {}

        def allocate(self, nbytes, hints):
            count = self.counts[nbytes] = self.counts.get(nbytes, 0) + 1
            return self.places.setdefault((count, nbytes), super().allocate(nbytes, hints))


class RunsLater(Honest):
    """Launches run at a synchronization, and reading does not synchronize."""

    class device(Device):
        def synchronize(self):
            while RunsLater.queue:
                RunsLater.queue.pop(0)()

    queue: list = []

    class runner(PythonRunner):
        def __call__(self, handles, *, wait=False, **others):
            if wait:
                return super().__call__(handles, wait=True, **others)
            RunsLater.queue.append(
                lambda: super(RunsLater.runner, self).__call__(handles, **others)
            )


class ReadsLater(Honest):
    """Keeps a reference to the source of a copy, and reads it later."""

    class allocator(Memory):
        pending: tuple = ()

        def copy_in(self, dst, src):
            self.pending = (*self.pending, (dst, src))

        def copy_out(self, dst, src):
            for place, what in self.pending:
                place[:] = what
            dst[:] = src
            self.pending = ()


class WindowsAreCopies(Honest):
    class allocator(Memory):
        def map_host(self, handle):
            return memoryview(bytearray(handle))


class LinksNothing(Honest):
    class allocator(Memory):
        def link_copy(self, dst, src, source, nbytes):
            return True


class StreamsBackwards(Honest):
    class allocator(Memory):
        def stream_out(self, src, chunk):
            return reversed(list(super().stream_out(src, chunk)))


class SharesLess(Honest):
    compute = limits(shared_bytes=1 << 16)
    text = instead(r"(shared.setdefault.*\* )(\d+)", r"\1min(\2, 8192)")


class TakesFewerBuffers(Honest):
    compute = limits(max_buffers=24)

    class runner(PythonRunner):
        def __call__(self, handles, **others):
            if len(handles) > 16:
                raise ValueError(f"{len(handles)} arguments are too many")
            return super().__call__(handles, **others)


class AllocatesLess(Honest):
    class allocator(Memory):
        def allocate(self, nbytes, hints):
            if nbytes > 1 << 21:
                raise OutOfMemory("the card is full", because="it has 2 MiB")
            return super().allocate(nbytes, hints)


class CompilesAnything(Honest):
    class compiler(PythonCompiler):
        def compile(self, source, name):
            return source.encode()


class TouchesMasked(Honest):
    """Reads first and looks at the mask afterwards."""

    text = instead(r"= (data.*\]) if (\w+) else (\S+)\n", r"= (\3, \1)[\2]\n")


class MaxForgetsNan(Honest):
    text = instead(
        r"alu\(Ops.MAX,", "greater(", "def greater(d, x):\n"
        "    return x[0] if x[1] != x[1] or x[0] > x[1] else x[1]\n",
    )  # fmt: skip


class SwapsMatrices(Honest):
    text = instead(
        r"= multiplied\(", "= swapped(", "def swapped(core, held, item):\n"
        "    other = {lane: (b, a, c) for lane, (a, b, c) in held.items()}\n"
        "    return multiplied(core, other, item)\n",
    )  # fmt: skip


class PrintsSixDigits(Honest):
    """Constants are written as many would print them."""

    def text(self, source):
        return re.sub(r"\d+\.\d{7,}", lambda found: f"{float(found[0]):.6g}", source)


class AllBitsAreTrue(Honest):
    """True is stored with all bits set."""

    text = instead(r"(data\d+\[.*\] = )(v\d+)\n", r"\1(255 if \2 is True else \2)\n")


class ShortVariables(Honest):
    class runner(PythonRunner):
        def __call__(self, handles, *, values=(), **others):
            return super().__call__(handles, values=[value & 0xFFFF for value in values], **others)


class WordVariables(Honest):
    """Passes every variable as a C int, whatever its dtype."""

    class runner(PythonRunner):
        def __call__(self, handles, *, values=(), **others):
            words = [ctypes.c_int(value).value for value in values]
            return super().__call__(handles, values=words, **others)


class Overtakes(Honest):
    """Launches run at a read; writing does not wait for them."""

    def __init__(self):
        self.queue = []

    @hookimpl
    def weft_runner(self, program):
        runner, queue = PythonRunner(program), self.queue

        def launch(handles, *, wait=False, **others):
            queue.append(lambda: runner(handles, **others))
            return drain(queue) if wait else None

        return launch

    @hookimpl
    def weft_allocator(self, device):
        queue = self.queue

        class Allocator(Memory):
            def copy_out(self, dst, src):
                drain(queue)
                super().copy_out(dst, src)

            def map_host(self, handle):
                return None

        return Allocator()


def drain(queue):
    while queue:
        queue.pop(0)()
    return 0.0


class SpellsTwice(Honest):
    canonical = staticmethod(lambda locator: f"0{locator or 0}")


class UnequalLines(Honest):
    compute = dataclasses.replace(Honest.compute, machine=MachineModel(line_bytes=96))


class Store(Honest):
    """An honest device that stores: bytes by place, for as long as this process lives."""

    compute = None
    memory = MemoryCaps(persistent=True, resident=False)
    canonical = staticmethod(lambda locator: locator or "place")

    def __init__(self):
        self.stored = {}

    @hookimpl
    def weft_devices(self):
        return [DeviceFamily("LIAR", computes=False, canonical=self.canonical)]

    @hookimpl
    def weft_allocator(self, device):
        return self.allocator(self.stored, str(device.id))

    class allocator(Allocator):
        def __init__(self, stored, place):
            self.stored, self.place = stored, place

        def allocate(self, nbytes, hints):
            return 0, nbytes

        def view(self, handle, offset, nbytes):
            return handle[0] + offset, nbytes

        def copy_in(self, dst, src):
            known = self.grown(dst[0])
            self.stored[self.place] = known[: dst[0]] + bytes(src) + known[dst[0] + dst[1] :]

        def grown(self, start):
            return self.stored.get(self.place, b"").ljust(start, b"\0")

        def copy_out(self, dst, src):
            known = self.stored.get(self.place, b"")
            if len(known) < src[0] + src[1]:
                raise FileError("there is less", because=f"{len(known)} bytes are stored")
            dst[:] = known[src[0] : src[0] + src[1]]

        def map_host(self, handle):
            self.copy_out(memoryview(bytearray(handle[1])), handle)
            return None

        def capacity(self):
            return len(self.stored[self.place]) if self.place in self.stored else None


class GrowsWithoutCopying(Store):
    class allocator(Store.allocator):
        def grown(self, start):
            return bytes(start)


class Forgets(Store):
    class device(Device):
        def close(self):
            self.stored.clear()

    @hookimpl
    def weft_open(self, id):
        opened = super().weft_open(id)
        opened.stored = self.stored
        return opened
