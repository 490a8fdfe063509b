"""One opened GPU."""

from __future__ import annotations

from weft.plugin import Device, DeviceId, DeviceUnavailable
from weft_cuda.allocator import GpuAllocator
from weft_cuda.capabilities import describe, passes_of
from weft_cuda.compiler import NvrtcCompiler
from weft_cuda.driver import Context, driver_of_process


class Gpu(Device):
    """A GPU with its context.

    :param id: which.
    :param context: of the driver.
    :param fingerprint: of the compiler.
    """

    def __init__(self, id: DeviceId, context: Context, fingerprint: str) -> None:
        super().__init__(id, describe(context.chip, fingerprint), passes=passes_of(context.chip))
        self.context = context
        self.chip = context.chip
        self.allocator = GpuAllocator(context)

    def synchronize(self) -> None:
        """Wait until all work so far is done."""
        self.context.synchronize()

    def close(self) -> None:
        """Give back pinned memory and the context."""
        self.context.synchronize()
        self.allocator.staging.close()
        self.context.close()


def open_gpu(id: DeviceId) -> Gpu:
    """A GPU by its number.

    :raises DeviceUnavailable: if there is no driver, no such GPU, or no compiler.
    """
    found = driver_of_process()
    ordinal, count = int(id.locator), found.count()
    if ordinal >= count:
        raise DeviceUnavailable(
            "there is no such GPU",
            asked=str(id),
            because=f"the driver finds {count}, numbered from 0",
        )
    context = found.open(ordinal)
    return Gpu(id, context, NvrtcCompiler(context.chip.arch).fingerprint)
