"""Machine measurement: clock, multiply-adds, and the bandwidth and latency of each cache.

Every value is the best of many short runs, because other work on the machine only makes runs
slower. The clock counts the time in which this thread has the processor. A cycle is the time of a
dependent addition.

in:  a `Toolchain`    out: `MachineFact`s, one after the other
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import partial
from time import thread_time

from weft.plugin import BufferHints, MachineFact, MachineModel
from weft_cpu_clang import measurement_source
from weft_cpu_clang.allocator import ProcessAllocator
from weft_cpu_clang.binary import load
from weft_cpu_clang.compiler import ClangCompiler
from weft_cpu_clang.measurement_source import ACCUMULATORS, UNROLLED
from weft_cpu_clang.toolchain import Toolchain

RUNS = 40
"""Of each loop: one of them is not interrupted."""
SECONDS = 0.002
"""Of one run: far longer than the clock of the system can resolve, shorter than a time slice."""
_LONG = 0.25
"""Seconds of all runs, where one pass over memory takes longer than a run should."""
_FAR = 4
"""Times the last-level cache: of what is read, next to nothing is left there."""
_LEAST_FAR, _MOST_FAR = 1 << 26, 1 << 28


class Loops:
    """The compiled loops, and memory for them.

    :raises CompileError: if the compiler fails.
    """

    def __init__(self, toolchain: Toolchain, nbytes: int) -> None:
        text = measurement_source.source(toolchain.facts.vector_bytes)
        self._loaded = load(ClangCompiler(toolchain).compile(text, "weft_clock"), "weft_clock")
        self._memory = ProcessAllocator().allocate(nbytes, BufferHints())  # with large pages
        self.memory = self._memory.address
        ctypes.memset(self.memory, 1, nbytes)  # until it is written, all pages are one

    def function(self, name: str) -> Callable[..., int]:
        """One of them; its arguments are whole numbers."""
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)
        call = kind(self._loaded.address(f"weft_{name}"))
        return lambda *arguments: call(*arguments, *[0] * (3 - len(arguments)))

    def seconds(self, work: Callable[[int], object]) -> float:
        """The seconds of one of the n iterations of `work(n)`, by the best of several runs."""
        count = 1
        while (took := _seconds(work, count)) < SECONDS / 2:
            count = min(8 * count, int(count * SECONDS / max(took, 1e-9)) + 1)
        runs = max(3, min(RUNS, int(_LONG / took)))
        return min(_seconds(work, count) for _ in range(runs)) / count


def _seconds(work: Callable[[int], object], count: int) -> float:
    began = thread_time()
    work(count)
    return thread_time() - began


def facts_of(toolchain: Toolchain, machine: MachineModel) -> Iterator[MachineFact]:
    """Measure this machine. machine: its caches.

    :raises CompileError: if the compiler fails.
    """
    last = machine.last_level_bytes or machine.l2_bytes
    far = min(_MOST_FAR, max(_LEAST_FAR, _FAR * last))
    loops = Loops(toolchain, far)
    clock = loops.function("clock")
    cycle = loops.seconds(clock) / UNROLLED
    yield MachineFact("clock", 1e-9 / cycle, "GHz")
    vector_bytes = toolchain.facts.vector_bytes
    if toolchain.facts.fused:
        yield from _arithmetic(loops, cycle, vector_bytes)
    levels = [("L1", machine.l1_bytes // 2, ""), ("L2", machine.l2_bytes // 2, "l2")]
    if last > machine.l2_bytes:
        levels.append(("last-level cache", max(last // 4, 2 * machine.l2_bytes), "last_level"))
    levels.append(("memory", far, "memory"))
    for name, nbytes, field in levels:
        nbytes -= nbytes % (UNROLLED * vector_bytes)
        yield from _level(loops, cycle, name, nbytes, field)


def _arithmetic(loops: Loops, cycle: float, vector_bytes: int) -> Iterator[MachineFact]:
    for dtype, itemsize in (("float32", 4), ("float64", 8)):
        one = loops.seconds(loops.function(f"throughput_{dtype}")) / ACCUMULATORS
        name = f"multiply-adds of {dtype}"
        yield MachineFact(name, 2e-9 * vector_bytes / itemsize / one, "GFLOP/s")
        if dtype == "float32":
            yield MachineFact("vector multiply-adds", cycle / one, "per cycle", "pipes")
    one = loops.seconds(loops.function("latency_float32")) / UNROLLED
    yield MachineFact("latency of a multiply-add", one / cycle, "cycles", "multiply_add_latency")


def _level(loops: Loops, cycle: float, name: str, nbytes: int, field: str) -> Iterator[MachineFact]:
    """The bandwidth and the latency of the cache, or memory, that holds so many bytes."""
    stores_count = field in ("last_level", "memory")
    for verb in ("load", "store"):
        suffix = f"_{verb}" if field == "memory" or verb == "store" else ""
        one = loops.seconds(partial(loops.function(verb), loops.memory, nbytes))
        rate = nbytes * cycle / one
        counts = field and (verb == "load" or stores_count)
        set_field = f"{field}{suffix}_bytes_per_cycle" if counts else ""
        yield MachineFact(f"{name}: {verb}s", rate, "bytes per cycle", set_field)
    loops.function("link")(loops.memory, nbytes)
    call = loops.function("follow")
    at = 0

    def follow(count: int) -> None:
        nonlocal at
        at = call(loops.memory, count, at)

    one = loops.seconds(follow) / UNROLLED
    counts = "memory_latency" if field == "memory" else ""
    yield MachineFact(f"{name}: latency", one / cycle, "cycles", counts)
