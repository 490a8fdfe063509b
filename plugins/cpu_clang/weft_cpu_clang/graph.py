"""Launch batching: run many launches as one foreign call, from a table that a loop in C reads.
Also: command list.

Pointers and integers are passed as words, so one call for each number of arguments serves kernels
of every signature. A kernel that several threads share takes the words and the number of its part.
The loop is compiled once and kept on disk.

Source: Vulkan specification, command buffers.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from time import perf_counter

from weft.plugin import DiskCache, Launch
from weft_cpu_clang.allocator import Memory
from weft_cpu_clang.binary import load
from weft_cpu_clang.compiler import ClangCompiler
from weft_cpu_clang.runner import FunctionRunner
from weft_cpu_clang.stack import elsewhere, has_enough_stack, this_thread
from weft_cpu_clang.threads import ThreadPool
from weft_cpu_clang.toolchain import Toolchain

MOST_ARGUMENTS = 24
"""Of one kernel; a graph with more of them is launched one by one."""
WORDS_ALIKE = 8 if sys.platform == "darwin" else MOST_ARGUMENTS
"""The number of arguments up to which an integer is passed like a pointer."""

_cache = DiskCache("cpu_graph", 2)


def source() -> str:
    """The C that goes through a table."""
    cases = []
    for count in range(MOST_ARGUMENTS + 1):
        kinds = ", ".join(["word"] * count) or "void"
        values = ", ".join(f"a[{i}]" for i in range(count))
        cases.append(f"      case {count}: ((void (*)({kinds}))s->f)({values}); break;")
    return "\n".join(
        [
            "typedef long long word;",
            "typedef void kernel(const word*, word, word);",
            "typedef struct { void* f; word count; const word* arguments; word parts; } step;",
            "typedef void pool(kernel*, const word*, word);",
            "typedef void attendant(word);",
            "typedef struct {",
            "  const step* first; word count; pool* spread; attendant* attend; word most;",
            "} row;",
            "void weft_replay(const row* r) {",
            "  if (r->attend) r->attend(r->most);",
            "  for (const step *s = r->first, *end = s + r->count; s < end; s++) {",
            "    const word* a = s->arguments;",
            "    if (s->parts > 1) r->spread((kernel*)s->f, a, s->parts);",
            "    else if (s->parts) ((kernel*)s->f)(a, 0, 1);",
            "    else",
            "    switch (s->count) {",
            *cases,
            "    }",
            "  }",
            "  if (r->attend) r->attend(0);",
            "}",
            "",
        ]
    )


class _Step(ctypes.Structure):
    _fields_ = [
        ("function", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("arguments", ctypes.c_void_p),
        ("parts", ctypes.c_int64),
    ]


class _Row(ctypes.Structure):
    _fields_ = [
        ("first", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("spread", ctypes.c_void_p),
        ("attend", ctypes.c_void_p),
        ("most", ctypes.c_int64),
    ]


@cache
def replayer(toolchain: Toolchain) -> tuple[object, Callable[..., None]]:
    """What holds the code, and the function of one reference to a row; loaded once.

    It declares no argument: what is not converted is passed more quickly.

    :raises CompileError: if the compiler fails, or what it gives cannot be loaded.
    """
    compiler, text = ClangCompiler(toolchain), source()
    key = f"{compiler.fingerprint}\n{text}"
    binary = _cache.get(key)
    if binary is None:
        binary = compiler.compile(text, "weft_replay")
        _cache.put(key, binary)
    loaded = load(binary, "weft_replay")
    return loaded, ctypes.CFUNCTYPE(None)(loaded.address("weft_replay"))


class LaunchTable:
    """Launches bound together, or one that is bound.

    :param launches: in order; of kernels of this processor.
    :param code: the result of `replayer`.
    :param pool: the threads that share kernels.
    """

    def __init__(
        self,
        launches: Sequence[Launch],
        code: tuple[object, Callable[..., None]],
        pool: ThreadPool | None = None,
    ) -> None:
        self._code, self._run = code
        self._runners = [launch.runner for launch in launches]
        counts = [len(launch.handles) + len(launch.values) for launch in launches]
        self._table = (ctypes.c_int64 * sum(counts))()
        self._words = [0] * sum(counts)  # a copy of the table, which is faster to compare
        self._steps = (_Step * len(launches))()
        self._starts: list[int] = []
        self._values_from: list[int] = []
        start, in_row = 0, len(launches) > 1
        for step, launch, count in zip(self._steps, launches, counts):
            self._starts.append(start)
            self._values_from.append(start + len(launch.handles))
            assert isinstance(launch.runner, FunctionRunner)
            step.function = launch.runner.address
            step.count = count
            step.arguments = ctypes.addressof(self._table) + start * ctypes.sizeof(ctypes.c_int64)
            step.parts = launch.runner.parts_in_row if in_row else launch.runner.parts
            self._fill(start, launch.handles, launch.values)
            start += count
        most = max((step.parts for step in self._steps), default=0)
        row = _Row(ctypes.addressof(self._steps), len(launches))
        if pool is not None and most > 1:
            row.spread = pool.address
            if in_row:
                row.attend, row.most = pool.attend, most
        self._row = ctypes.byref(row)

    @classmethod
    def of(cls, launches: Sequence[Launch], toolchain: Toolchain) -> LaunchTable | None:
        """A table of these; None where some are of another device or have too many arguments: then
        they are launched one by one."""
        for launch in launches:
            count = len(launch.handles) + len(launch.values)
            if not isinstance(launch.runner, FunctionRunner):
                return None
            if count > WORDS_ALIKE and not launch.runner.parts:
                return None
        pools = [launch.runner.pool for launch in launches]  # type: ignore[attr-defined]
        pool = next((pool for pool in pools if pool is not None), None)
        return cls(launches, replayer(toolchain), pool)

    def _fill(self, start: int, handles: Sequence[Memory], values: Sequence[int]) -> None:
        # a handle that is not known yet is set before the first replay
        addresses = (0 if handle is None else handle.address for handle in handles)
        for place, word in enumerate((*addresses, *values), start):
            self._table[place] = self._words[place] = word

    def setter(self, places: Sequence[tuple[int, int]]) -> Callable[[Memory], None]:
        """A function that sets a handle at these places: (number of launch, number of argument)."""
        table, words = self._table, self._words
        spots = [self._starts[launch] + argument for launch, argument in places]

        def set_handle(handle: Memory) -> None:
            address = handle.address
            for spot in spots:
                if words[spot] != address:
                    table[spot] = words[spot] = address

        return set_handle

    def value_setter(self, places: Sequence[tuple[int, int]]) -> Callable[[int], None]:
        """A function that sets a value at these places: (number of launch, number of value)."""
        table, words = self._table, self._words
        spots = [self._values_from[launch] + value for launch, value in places]

        def set_value(value: int) -> None:
            for spot in spots:
                table[spot] = words[spot] = value

        return set_value

    def launch(self) -> None:
        """Run all launches with the current arguments."""
        if this_thread.stack_is_large or has_enough_stack():
            self._run(self._row)
        else:
            elsewhere(self._run, self._row)

    def __call__(
        self, handles: Sequence[Sequence[Memory]], values: Sequence[Sequence[int]], *, wait: bool
    ) -> float | None:
        """Run all of them with other arguments; seconds if `wait`."""
        for start, own, given in zip(self._starts, handles, values):
            self._fill(start, own, given)
        started = perf_counter()
        self.launch()
        return perf_counter() - started if wait else None
