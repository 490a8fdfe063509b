"""Schedule context: the device properties that passes use, and the settings of the schedule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType, dtypes
from weft.base.promotion import can_safe_cast
from weft.base.settings import settings
from weft.device import Capabilities, Feature, binding
from weft.schedule.buffer_versions import Version, written_versions
from weft.uop import UOp

Lookup = Callable[[str], Capabilities]


@dataclass(frozen=True)
class ScheduleContext:
    """The context of every pass. Tests pass the `__getitem__` of a dict as the lookup."""

    capabilities: Lookup
    graph: UOp | None = None

    @cached_property
    def written(self) -> frozenset[Version]:
        """The versions that the graph overwrites: a buffer view of one would change."""
        return frozenset() if self.graph is None else written_versions(self.graph)

    def for_graph(self, graph: UOp) -> ScheduleContext:
        """The context for rules on one graph."""
        return replace(self, graph=graph)

    def computes(self, device: str) -> bool:
        """Whether a device runs kernels."""
        return self.capabilities(device).compute is not None

    def has_collectives(self, devices: tuple[str, ...]) -> bool:
        """Whether devices exchange values by collectives of their own."""
        groups = {self.capabilities(device).memory.collective_group for device in devices}
        return len(groups) == 1 and None not in groups

    def addressable_place(self, devices: tuple[str, ...]) -> int | None:
        """The number of the first of several devices that this process can read; None where it
        can read all of them."""
        able = [self.capabilities(device).memory.addressable for device in devices]
        return able.index(True) if True in able and False in able else None

    def is_parallel(self, device: str) -> bool:
        """Whether a device spreads one kernel over many work items, or over threads."""
        compute = self.capabilities(device).compute
        return compute is not None and (self.has_grid(device) or compute.has(Feature.THREADS))

    def has_grid(self, device: str) -> bool:
        """Whether a device spreads one kernel over a launch grid."""
        compute = self.capabilities(device).compute
        return compute is not None and compute.limits.global_size is not None

    def prefers_narrow(self, device: str, narrow: DType, wide: DType) -> bool:
        """Whether numbers that a kernel reads repeatedly are better stored in the narrow dtype.

        On a launch grid they are loaded to shared memory or to a matrix unit first, and some
        processors multiply such numbers directly. A wider copy only takes more bandwidth.
        """
        compute = self.capabilities(device).compute
        dots = () if compute is None else compute.pair_dots
        return self.has_grid(device) or any(
            dot.dtype_out is wide
            and (
                narrow is dot.dtype_in
                or (dtypes.is_int(wide) and can_safe_cast(narrow, dot.dtype_in))
            )
            for dot in dots
        )

    def image_size(self, device: str) -> tuple[int, int] | None:
        """(width, height) of a device's largest image; None where it has no images."""
        compute = self.capabilities(device).compute
        return None if compute is None else compute.limits.image_size

    def alignment(self, device: str) -> int | None:
        """The alignment of a device's sub-buffers in bytes; None where it has none."""
        return self.capabilities(device).memory.alignment

    def is_shared(self, buffer: UOp) -> bool:
        """Whether a write to this BUFFER changes the value of other BUFFERs.

        Memory that outlives the process is always shared, and written at once.
        """
        if not binding.is_shared(buffer):
            return False
        return not self.capabilities(buffer.device).memory.persistent

    def max_buffers(self, device: str) -> int | None:
        """The most buffers that one kernel may touch: the setting, else the device's limit."""
        if settings.MAX_KERNEL_BUFFERS:
            return settings.MAX_KERNEL_BUFFERS
        compute = self.capabilities(device).compute
        return compute.limits.max_buffers if compute is not None else None

    def row_bytes(self, device: str) -> int:
        """The most bytes of rows that a kernel may keep in local arrays."""
        compute = self.capabilities(device).compute
        return compute.limits.row_bytes if compute is not None else 0
