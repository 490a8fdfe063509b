"""Kernel launch: one call of the loaded function, pointers first, then the variables.

A launch is a foreign call with conversions that are built once. It releases the lock of the
interpreter. The threads of the pool share a kernel with a launch grid if it is long enough.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from operator import attrgetter
from time import perf_counter

from weft.plugin import CompiledProgram, Dims, LinearProgram, UOp, dtypes
from weft_cpu_clang.allocator import Memory
from weft_cpu_clang.binary import load
from weft_cpu_clang.stack import elsewhere, has_enough_stack, this_thread
from weft_cpu_clang.threads import ThreadPool

PARTS_PER_THREAD = 4
"""So that threads that are held up leave something to the others."""
SHARED_FROM = 25_000
"""Nanoseconds by estimate: waking a thread takes a third of that."""
IN_ROW_FROM = 12_000
"""The same among launches in a row, during which threads stay awake: handing a kernel over and
waiting for its last part takes half a microsecond."""
PART = 6_000
"""Nanoseconds that one part should take at least; half of that in a row."""
OPERATIONS, BYTES = 64, 20
"""In a nanosecond, of one thread, on a good day."""

_address_of = attrgetter("address")


class FunctionRunner:
    """One loaded kernel.

    :param program: a kernel and what the compiler made of it.
    :param pool: the threads that may share it.
    :ivar address: of the function; of the one that takes words and does a part, if it has parts.
    :ivar parts: how many a launch has; 0 where the kernel has no launch grid.
    :ivar parts_in_row: likewise where it is one of several launches in a row.
    :ivar pool: the threads that share it; None if it has no or one part.
    :raises CompileError: if the object is damaged.
    """

    def __init__(self, program: CompiledProgram, pool: ThreadPool | None = None) -> None:
        linear = program.program
        self.name = program.name
        self._loaded = load(program.binary, program.name)
        self.parts = self.parts_in_row = 0
        self.pool: ThreadPool | None = None
        if linear.global_size is not None:
            self.address = self._loaded.address(f"{program.name}_part")
            count = 1 if pool is None else pool.count
            self.parts = parts_of(linear, count)
            self.parts_in_row = parts_of(linear, count, in_row=True)
            self.pool = pool if self.parts_in_row > 1 else None
            self._words = ctypes.c_int64 * (len(linear.globals) + len(linear.variables))
            kinds = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        else:
            self.address = self._loaded.address(program.name)
            kinds = [ctypes.c_void_p] * len(linear.globals)
            kinds += [
                ctypes.c_int64 if u.dtype is dtypes.int64 else ctypes.c_int
                for u in linear.variables
            ]
        self._call = ctypes.CFUNCTYPE(None, *kinds)(self.address)

    def __call__(
        self,
        handles: Sequence[Memory],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        """Run it; it is done when this returns. Seconds if `wait`."""
        arguments = [*map(_address_of, handles), *values]
        started = perf_counter() if wait else 0.0
        if this_thread.stack_is_large or has_enough_stack():
            self._launch(arguments)
        else:
            elsewhere(self._launch, arguments, handles)  # they live as long as it runs
        return perf_counter() - started if wait else None

    def _launch(self, arguments: Sequence[int], _owners: Sequence[Memory] = ()) -> None:
        if not self.parts:
            self._call(*arguments)
        elif self.pool is None or self.parts == 1:
            self._call(self._words(*arguments), 0, 1)
        else:
            self.pool.spread(self.address, self._words(*arguments), self.parts)


def parts_of(program: LinearProgram, threads: int, in_row: bool = False) -> int:
    """How many parts of a kernel are worth having for so many threads: 1 if it is too short, or
    has no launch grid. in_row: where it is one of several launches in a row."""
    if program.global_size is None:
        return 1
    costs = program.estimates
    nanoseconds = _most(costs.ops) / OPERATIONS + _most(costs.bytes) / BYTES
    least, part = (IN_ROW_FROM, PART // 2) if in_row else (SHARED_FROM, PART)
    if threads < 2 or nanoseconds < least:
        return 1
    iterations = _most(program.global_size[0])
    return max(1, min(iterations, PARTS_PER_THREAD * threads, int(nanoseconds / part)))


def _most(number: int | UOp) -> int:
    return number if isinstance(number, int) else int(number.vmax)
