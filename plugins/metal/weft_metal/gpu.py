"""One opened GPU: its command queue, what has been submitted, and waiting for it."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from weft.plugin import Device, DeviceError, DeviceId, DeviceUnavailable, OutOfMemory
from weft_metal.capabilities import ARCHITECTURES, describe
from weft_metal.framework import load_framework
from weft_metal.matrix_units import LANES
from weft_metal.probe import lanes_hold_what_is_expected

FAST_MATH = "WEFT_METAL_FAST_MATH"
"""Set to 1, the compiler may reorder sums, and take it that nothing is infinite or NaN."""

FAILED = 5
"""MTLCommandBufferStatusError."""
OUT_OF_MEMORY = 8
REASONS = {
    1: "an internal error of the driver",
    2: "it ran for longer than the system lets a kernel run",
    3: "it reached memory that is not its own",
    4: "this process may not use the GPU any more",
    7: "this process may not use the GPU",
    OUT_OF_MEMORY: "there is not enough memory for it",
    9: "it uses a resource that is not there",
    10: "it uses a resource that has no memory",
    11: "the GPU was removed",
    12: "its stack is too small",
}
"""By the codes of the command buffer error domain."""


def autorelease_pool() -> AbstractContextManager[Any]:
    """An autorelease pool: temporary objects of the framework are released at its end; a program
    without a run loop has no other pool."""
    import objc

    return objc.autorelease_pool()


class Gpu(Device):
    """A GPU with its queue.

    :ivar framework: the module of the framework's names.
    :ivar driver: the framework's device object.
    :ivar arch: the GPU family, of `ARCHITECTURES`.
    :ivar fast_math: whether kernels may be inexact.
    :raises DeviceUnavailable: without the framework, or without such a GPU.
    """

    def __init__(self, id: DeviceId) -> None:
        self.framework = load_framework()
        self.driver = _find(self.framework, int(id.locator))
        size = self.driver.maxThreadsPerThreadgroup()
        self.arch = arch = self.architecture()
        self.fast_math = os.environ.get(FAST_MATH, "0") not in ("", "0")
        self.queue: Any = self.driver.newCommandQueue()
        name = str(self.driver.name())
        with autorelease_pool():
            alike = lanes_hold_what_is_expected(
                self.framework, self.driver, self.queue, self.compile_options()
            )
        caps = describe(
            arch,
            name,
            fingerprint=f"{name};{arch};{platform.mac_ver()[0]}{';fast' * self.fast_math}",
            shared_bytes=int(self.driver.maxThreadgroupMemoryLength()),
            local_size=(int(size.width), int(size.height), int(size.depth)),
            max_allocation=int(self.driver.maxBufferLength()),
            matrices=alike,
            bfloat=has_bfloat(platform.mac_ver()[0]),
            lanes=LANES if alike else 0,
        )
        super().__init__(id, caps)
        self._pending: list[tuple[Any, Any]] = []

    def architecture(self) -> str:
        """The newest of the known families that the GPU belongs to; Intel Macs count as the
        oldest."""
        for arch in reversed(ARCHITECTURES):
            number = 1000 + int(arch.removeprefix("apple"))  # MTLGPUFamilyApple1 is 1001
            if self.driver.supportsFamily_(number):
                return arch
        return ARCHITECTURES[0]

    def compile_options(self) -> Any:
        """How sources are compiled: exactly, unless fast math is on, under either of the
        names that systems have for it."""
        framework = self.framework
        options = framework.MTLCompileOptions.alloc().init()
        if hasattr(framework, "MTLMathModeSafe") and options.respondsToSelector_("setMathMode:"):
            exact, fast = framework.MTLMathModeSafe, framework.MTLMathModeFast
            options.setMathMode_(fast if self.fast_math else exact)
        else:
            options.setFastMathEnabled_(self.fast_math)
        return options

    def run(
        self, encode: Callable[[Any], None], wait: bool, keep: Any = None, copies: bool = False
    ) -> float | None:
        """Commit what ``encode`` records with an encoder; the seconds the GPU took if ``wait``.

        keep: what the commands need and do not keep alive by themselves, held until they are done;
        copies: the encoder is one for copies.

        :raises DeviceError: if the GPU reports a failure, of these or of earlier commands. Raises
            what ``encode`` raises, and commits nothing then.
        """
        with autorelease_pool():
            commands = self.queue.commandBuffer()
            encoder = commands.blitCommandEncoder() if copies else commands.computeCommandEncoder()
            try:
                encode(encoder)
            finally:
                encoder.endEncoding()  # releasing an encoder that is open ends the process
            return self._submit(commands, wait, keep)

    def _submit(self, command_buffer: Any, wait: bool, keep: Any) -> float | None:
        command_buffer.commit()
        self._pending.append((command_buffer, keep))
        if wait:
            self.synchronize()
            return float(command_buffer.GPUEndTime() - command_buffer.GPUStartTime())
        if len(self._pending) >= 64:
            # The queue itself holds no more: release the oldest.
            self._finish(self._pending.pop(0)[0])
        return None

    def synchronize(self) -> None:
        """Wait for everything submitted. :raises DeviceError: the first failure; nothing is left
        that waits."""
        pending, self._pending = self._pending, []
        failure: DeviceError | None = None
        for command_buffer, _ in pending:
            try:
                self._finish(command_buffer)
            except DeviceError as error:
                failure = failure or error
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Wait, and release the queue."""
        self.synchronize()
        self.queue = None

    def _finish(self, command_buffer: Any) -> None:
        command_buffer.waitUntilCompleted()
        if command_buffer.status() != FAILED:
            return
        error = command_buffer.error()
        code = int(error.code()) if error is not None else 0
        kind = OutOfMemory if code == OUT_OF_MEMORY else DeviceError
        said = describe_error(error)
        raise kind(
            "the GPU gave up on a kernel",
            asked=f"commands on {self.id}",
            because=f"{REASONS[code]}: {said}" if code in REASONS else said,
            try_="a smaller launch; WEFT_DEBUG=2 shows which kernel ran last",
        )


def has_bfloat(system: str) -> bool:
    """Whether a version of macOS has version 3.1 of the language, or a later one."""
    first = system.partition(".")[0]
    return not first.isdigit() or int(first) >= 14


def describe_error(error: Any) -> str:
    """What an NSError says."""
    return str(error.localizedDescription()) if error is not None else "it does not say why"


def _find(framework: Any, number: int) -> Any:
    first = framework.MTLCreateSystemDefaultDevice()
    if number == 0 and first is not None:
        return first
    others = [
        one
        for one in framework.MTLCopyAllDevices() or ()
        if first is None or one.registryID() != first.registryID()
    ]
    found = ([first] if first is not None else []) + others
    if number < len(found):
        return found[number]
    raise DeviceUnavailable(
        "there is no such Metal GPU",
        asked=f"METAL:{number}",
        because=f"the system lists {len(found)}",
        try_="a smaller number" if found else "a session that may use the GPU",
    )
