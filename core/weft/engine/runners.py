"""Runners: the executable steps of a schedule: a loaded kernel, a copy, a view of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from weft.base.arguments import kind_of
from weft.base.errors import ArgumentError
from weft.base.interrupts import let_through
from weft.device import Buffer, CompiledProgram, OpenDevice, Runner, transfer
from weft.schedule import stored_slots
from weft.uop import Ops, UOp


def concrete(size: tuple[Any, ...] | None, values: Mapping[UOp, int]) -> tuple[int, ...] | None:
    """A launch size with the values of variables."""
    if size is None:
        return None
    return tuple(
        int(s.substitute({v: v.const_like(n) for v, n in values.items()}))
        if isinstance(s, UOp)
        else s
        for s in size
    )


def cost_of(kernel: KernelRunner, values: Mapping[UOp, int]) -> tuple[int, int]:
    """The operations and the bytes of one launch, for the statistics; 0 where they are not
    known."""
    estimates = kernel.p.estimates
    ops, nbytes = estimates.ops, estimates.bytes
    if ops.__class__ is not int or nbytes.__class__ is not int:
        if any(variable not in values for variable in kernel.variables):
            return 0, 0
        ops, nbytes = concrete((ops, nbytes), values) or (0, 0)
    return ops, nbytes  # type: ignore[return-value]


class KernelRunner:
    """A kernel that is loaded on one device. Calling it launches the kernel.

    p: the compiled program (`p.uops`, `p.src`, `p.name`). runner: what the plugin made of it.
    slots: for each handle that the runner takes, the number of the buffer.
    """

    is_kernel = True

    def __init__(self, p: CompiledProgram, device: OpenDevice, runner: Runner) -> None:
        self.p = p
        self.name = p.name
        self.device = device
        self.runner = runner
        self.slots = p.program.globals
        self.variables = p.program.variables

    def __call__(
        self, bufs: Sequence[Buffer], values: Mapping[UOp, int], wait: bool
    ) -> float | None:
        """Run on `bufs` (by slot), with the values of the variables; seconds when waited for."""
        handles = [bufs[slot].handle for slot in self.slots]
        global_size: Any = self.p.program.global_size
        local_size: Any = self.p.program.local_size
        numbers: Sequence[int] = ()
        if self.variables:
            _check_bound(self.variables, values)
            global_size, local_size = concrete(global_size, values), concrete(local_size, values)
            numbers = [values[v] for v in self.variables]
        try:
            seconds = self.runner(
                handles, global_size=global_size, local_size=local_size, values=numbers, wait=wait
            )
        except Exception as error:
            let_through(error)
            self.device.failed(f"kernel {self.name}", error)
        if seconds is not None and not isinstance(seconds, (int, float)):
            self.device.broken(f"kernel {self.name}", f"gave {kind_of(seconds)} as seconds")
        return seconds

    def __repr__(self) -> str:
        return f"<KernelRunner {self.name} on {self.device.name}>"


def _check_bound(variables: Sequence[UOp], values: Mapping[UOp, int]) -> None:
    for variable in variables:
        if variable not in values:
            raise ArgumentError(
                f"variable {variable.arg.name!r} has no value",
                asked="a kernel whose sizes depend on it",
                try_=f"{variable.arg.name}.bind(value) where the shape is made",
            )


class CopyRunner:
    """Copies the second buffer into the first."""

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


class CollectiveStep:
    """An exchange among the devices of a group. The results come first in its buffers.

    ast: the COLLECTIVE node, without sources.
    """

    is_kernel = False
    p = None

    def __init__(self, ast: UOp, devices: Sequence[OpenDevice]) -> None:
        self.ast = ast
        self.name: str = ast.arg.kind
        self.devices = devices
        self.device = devices[0]
        self.runner = self.device.collective([d.device for d in devices], ast.arg, ast.dtype)

    def __call__(
        self, bufs: Sequence[Buffer], values: Mapping[UOp, int], wait: bool
    ) -> float | None:
        """Seconds that the exchange took."""
        started = perf_counter()
        handles = [buffer.handle for buffer in bufs]
        count = self.ast.arg.devices
        try:
            self.runner(handles[:count], handles[count:])
        except Exception as error:
            let_through(error)
            self.device.failed(f"the collective {self.name}", error)
        return perf_counter() - started


class RemoteKernel:
    """A kernel that another process runs. Calling it does nothing."""

    is_kernel = False
    name = "remote kernel"
    p = None

    def __init__(self, ast: UOp) -> None:
        self.ast = ast

    @property
    def places(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The slots that it writes and those that it reads."""
        reads = (u.src[0].base.arg for u in self.ast.toposort() if u.op is Ops.LOAD)
        return tuple(sorted(stored_slots(self.ast))), tuple(sorted(set(reads)))

    def __call__(
        self, bufs: Sequence[Buffer], values: Mapping[UOp, int], wait: bool
    ) -> float | None:
        """Do nothing."""
        return None


class ViewRunner:
    """A view of memory: a step without work."""

    is_kernel = False
    name = "view"
    p = None

    def __call__(
        self, bufs: Sequence[Buffer], values: Mapping[UOp, int], wait: bool
    ) -> float | None:
        """Do nothing."""
        return 0.0
