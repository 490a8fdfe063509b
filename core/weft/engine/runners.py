"""The three things that can run: a compiled kernel, a copy, a window of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from weft.base.arguments import kind_of
from weft.base.errors import ArgumentError
from weft.base.interrupts import let_through
from weft.device import transfer
from weft.device.buffer import Buffer
from weft.engine.programs import Program
from weft.uop import UOp


def concrete(size: tuple[Any, ...] | None, values: Mapping[UOp, int]) -> tuple[int, ...] | None:
    """A launch size with the variables put in."""
    if size is None:
        return None
    return tuple(
        int(s.substitute({v: v.const_like(n) for v, n in values.items()}))
        if isinstance(s, UOp)
        else s
        for s in size
    )


class KernelRunner:
    """Launches a program."""

    is_kernel = True

    def __init__(self, program: Program) -> None:
        self.program = program
        self.p = program.p
        self.name = program.p.name

    def __call__(
        self, bufs: Sequence[Buffer], values: Mapping[UOp, int], wait: bool
    ) -> float | None:
        """Run on `bufs` (by slot), with the values of the variables; seconds when waited for."""
        program = self.program
        handles = [bufs[slot].handle for slot in program.slots]
        spec = program.p.program
        global_size, local_size = spec.global_size, spec.local_size
        numbers: Sequence[int] = ()
        if program.variables:
            _check_bound(program.variables, values)
            global_size, local_size = concrete(global_size, values), concrete(local_size, values)
            numbers = [values[v] for v in program.variables]
        try:
            seconds = program.runner(
                handles, global_size=global_size, local_size=local_size, values=numbers, wait=wait
            )
        except Exception as error:
            let_through(error)
            program.device.failed(f"kernel {self.name}", error)
        if seconds is not None and not isinstance(seconds, (int, float)):
            program.device.broken(f"kernel {self.name}", f"gave {kind_of(seconds)} as seconds")
        return seconds


def _check_bound(variables: Sequence[UOp], values: Mapping[UOp, int]) -> None:
    for variable in variables:
        if variable not in values:
            raise ArgumentError(
                f"variable {variable.arg.name!r} has no value",
                asked="a kernel whose sizes depend on it",
                try_=f"{variable.arg.name}.bind(value) where the shape is made",
            )


class CopyRunner:
    """Copies the second buffer into the first, by whatever road their devices have."""

    is_kernel = False
    name = "copy"
    p = None

    def __call__(
        self, bufs: Sequence[Buffer], values: Mapping[UOp, int], wait: bool
    ) -> float | None:
        """Seconds that the copy took."""
        started = perf_counter()
        transfer.copy(bufs[0], bufs[1])
        return perf_counter() - started


class ViewRunner:
    """A window of memory: nothing moves, the buffer is a window already."""

    is_kernel = False
    name = "view"
    p = None

    def __call__(
        self, bufs: Sequence[Buffer], values: Mapping[UOp, int], wait: bool
    ) -> float | None:
        """Nothing to do."""
        return 0.0
