"""One opened GPU: its command queue, what has been submitted, and waiting for it."""

from __future__ import annotations

import platform
import sys
from typing import Any

from weft.plugin import Device, DeviceError, DeviceId, DeviceUnavailable
from weft_metal.capabilities import ARCHITECTURES, describe


def load_framework() -> Any:
    """The Metal framework's module.

    :raises DeviceUnavailable: where there is none, with what to do about it.
    """
    try:
        import Metal
    except ImportError as error:
        if sys.platform != "darwin":
            raise DeviceUnavailable(
                "Metal is part of macOS, which this is not",
                asked="opening a Metal GPU",
                because=f"this system is {platform.system() or sys.platform}",
                try_='another device; weft.device.registry.offline("METAL", "apple8") still '
                "generates code",
            ) from None
        raise DeviceUnavailable(
            "the Python side of Metal is missing",
            asked="opening a Metal GPU",
            because=str(error),
            try_="pip install pyobjc-framework-Metal",
        ) from None
    return Metal


class Gpu(Device):
    """A GPU with its queue.

    :ivar framework: the module of the framework's names.
    :ivar driver: the framework's device object.
    """

    def __init__(self, id: DeviceId) -> None:
        self.framework = load_framework()
        self.driver = _find(self.framework, int(id.locator))
        size = self.driver.maxThreadsPerThreadgroup()
        arch = self.architecture()
        name = str(self.driver.name())
        caps = describe(
            arch,
            name,
            fingerprint=f"{name};{arch};{platform.mac_ver()[0]}",
            shared_bytes=int(self.driver.maxThreadgroupMemoryLength()),
            local_size=(int(size.width), int(size.height), int(size.depth)),
            max_allocation=int(self.driver.maxBufferLength()),
        )
        super().__init__(id, caps)
        self.queue = self.driver.newCommandQueue()
        self._pending: list[Any] = []

    def architecture(self) -> str:
        """The newest of the known families that the GPU belongs to; Intel Macs count as the
        oldest."""
        for arch in reversed(ARCHITECTURES):
            number = 1000 + int(arch.removeprefix("apple"))  # MTLGPUFamilyApple1 is 1001
            if self.driver.supportsFamily_(number):
                return arch
        return ARCHITECTURES[0]

    def submit(self, command_buffer: Any, wait: bool) -> float | None:
        """Commit recorded commands; the seconds the GPU took if ``wait``.

        :raises DeviceError: if the GPU reports a failure, of these or of earlier commands.
        """
        command_buffer.commit()
        self._pending.append(command_buffer)
        if wait:
            self.synchronize()
            return float(command_buffer.GPUEndTime() - command_buffer.GPUStartTime())
        if len(self._pending) >= 64:
            # The queue itself holds no more; what is done is let go of.
            self._finish(self._pending.pop(0))
        return None

    def synchronize(self) -> None:
        """Wait for everything submitted. :raises DeviceError: if any of it failed."""
        pending, self._pending = self._pending, []
        for command_buffer in pending:
            self._finish(command_buffer)

    def close(self) -> None:
        """Wait, and let go of the queue."""
        self.synchronize()
        self.queue = None

    def _finish(self, command_buffer: Any) -> None:
        command_buffer.waitUntilCompleted()
        error = command_buffer.error()
        if error is not None:
            raise DeviceError(
                "the GPU gave up on a kernel",
                asked=f"commands on {self.id}",
                because=describe_error(error),
                try_="a smaller launch; WEFT_DEBUG=2 shows which kernel ran last",
            )


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
