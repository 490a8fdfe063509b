"""Compiling and running the Python text of kernels."""

from __future__ import annotations

import inspect
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from time import perf_counter
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.errors import CompileError, DeviceError
from weft.base.scalars import from_bits, pack, to_bits, truncate, unpack
from weft.device import CompiledProgram, Dims, FragmentLayout, TensorCore
from weft.uop import Ops, exec_alu

Place = dict[str, int]
"""What the work items of a group come to together."""


class PythonCompiler:
    """Python text is its own binary, once its syntax is known to be right."""

    fingerprint = "python-1"

    def compile(self, source: str, name: str) -> bytes:
        """:raises CompileError: if the text is not Python."""
        try:
            compile(source, name, "exec")
        except (SyntaxError, ValueError) as error:
            raise CompileError(
                f"kernel {name} is not valid Python",
                asked=f"compiling {name}",
                because=str(error),
                source=source,
                log=str(error),
            ) from error
        return source.encode()


def _outside(index: int) -> int:
    raise IndexError(f"index {index} is before the start")


def _arrived(flying: list[list[Any]], newer: int) -> list[list[Any]]:
    """Carry out the copies of all batches that are committed but the last `newer` ones."""
    committed, left = flying[:-1], flying[-1]
    there = len(committed) - newer
    for batch in committed[: max(there, 0)]:
        for array, start, values in batch:
            for lane, value in enumerate(values):
                array[start + lane] = value
    return [*committed[max(there, 0) :], left]


def _runtime() -> dict[str, Any]:
    """The names that the text of a kernel may use."""
    names: dict[str, Any] = {
        "Ops": Ops, "dtypes": dtypes, "alu": exec_alu, "truncate": truncate, "pack": pack,
        "unpack": unpack, "inf": math.inf, "nan": math.nan, "outside": _outside,
        "arrived": _arrived, "paired": _paired, "multiplied": _multiplied,
        "TensorCore": TensorCore, "FragmentLayout": FragmentLayout,
    }  # fmt: skip
    for dtype in dtypes.floats:
        names[f"round_{dtype.name}"] = _rounding(dtype)
        names[f"encode_{dtype.name}"] = partial(to_bits, dtype=dtype)
        names[f"decode_{dtype.name}"] = partial(from_bits, dtype=dtype)
    return names


def _multiplied(core: TensorCore, held: dict[int, Any], item: int) -> tuple[Any, ...]:
    """What one lane has of A * B + C, from what all lanes of its warp hold of the three.

    Products are added to C one after the other, each sum rounded to the dtype of the result.
    """
    first = item - item % core.threads
    parts: list[dict[tuple[int, int], Any]] = [{}, {}, {}]
    for lane in range(core.threads):
        for matrix, layout, values in zip(parts, (core.a, core.b, core.c), held[first + lane]):
            for element, value in enumerate(values):
                matrix[layout.coordinate(lane, element)] = value
    a, b, c = parts
    result = []
    for element in range(1 << len(core.c.element)):
        row, column = core.c.coordinate(item % core.threads, element)
        total = c[row, column]
        for k in range(core.dims[2]):
            total = truncate(total + a[row, k] * b[k, column], core.dtype_out)
        result.append(total)
    return tuple(result)


def _paired(
    words: DType, given: tuple[DType, DType], wanted: DType, a: Sequence[Any], b: Sequence[Any],
    sums: Sequence[Any] = (),
) -> tuple[Any, ...]:  # fmt: skip
    """DOT: to each lane of the sums the products of what its words hold."""
    left, right = (list(unpack(pack(f, words), d)) for f, d in zip((a, b), given))
    totals = list(sums) or [0] * len(a)
    terms = len(left) // len(totals)
    for number, (x, y) in enumerate(zip(left, right)):
        totals[number // terms] = truncate(totals[number // terms] + x * y, wanted)
    return tuple(totals)


def _rounding(dtype: DType) -> Callable[[float], float]:
    if dtype is not dtypes.float32:
        return partial(truncate, dtype=dtype)
    # Nearly all kernels round to this dtype at every step, so it gets a short cut.
    both = struct.Struct("<f")

    def rounded(value: float, write: Any = both.pack, read: Any = both.unpack) -> float:
        try:
            return read(write(value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)

    return rounded


class PythonRunner:
    """Runs one kernel: work item by work item, those of a group in step from barrier to barrier."""

    def __init__(self, program: CompiledProgram) -> None:
        self.name = program.name
        names = _runtime()
        exec(compile(program.binary.decode(), f"<kernel {program.name}>", "exec"), names)
        self.function: Callable[..., Any] = names[program.name]
        # a kernel with barriers is a generator
        self.has_barriers = inspect.isgeneratorfunction(self.function)

    def __call__(
        self,
        handles: Sequence[memoryview],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        """Run it now; see ``Runner``.

        :raises DeviceError: if it reads or writes outside a buffer, or if some work items of a
            group reach a barrier that others do not.
        """
        started = perf_counter()
        try:
            for group in _places("gidx", global_size):
                self._run_group(handles, values, group, list(_places("lidx", local_size)))
        except IndexError as error:
            raise DeviceError(
                f"kernel {self.name} reached outside a buffer",
                asked=f"running {self.name} on buffers of {[h.nbytes for h in handles]} bytes",
                because=str(error),
                try_="this is a fault of the compiler: report it with WEFT_DEBUG=4 output",
            ) from error
        return perf_counter() - started if wait else None

    def _run_group(
        self,
        handles: Sequence[memoryview],
        values: Sequence[int],
        group: Place,
        items: Sequence[Place],
    ) -> None:
        shared: dict[str, list[Any]] = {}
        if not self.has_barriers:
            for item in items:
                self.function(handles, values, {**group, **item}, shared)
            return
        running = [self.function(handles, values, {**group, **item}, shared) for item in items]
        while running:
            waiting = [item for item in running if _reaches_barrier(item)]
            if waiting and len(waiting) < len(running):
                raise DeviceError(
                    f"the work items of one group of kernel {self.name} part at a barrier",
                    asked=f"{len(running)} work items of group {group}",
                    because=f"only {len(waiting)} of them reached it",
                )
            # reverse the order of work items: a missing barrier then shows in one of the two orders
            running = waiting[::-1]


def _reaches_barrier(item: Iterator[None]) -> bool:
    """Run until the next barrier (True) or the end (False)."""
    return next(item, item) is None


def _places(prefix: str, size: Dims | None) -> Iterator[Place]:
    """Every index of a launch dimension space, by name; one empty place where there is none."""
    if size is None:
        yield {}
        return
    for indices in product(*(range(extent) for extent in reversed(size))):
        yield {f"{prefix}{axis}": index for axis, index in enumerate(reversed(indices))}
