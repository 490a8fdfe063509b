"""Launching: a compute pipeline per kernel, a command buffer per launch."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import prod
from typing import Any

from weft.plugin import CapabilityError, CompiledProgram, CompileError, Dims, dtypes
from weft_metal.allocator import Slice
from weft_metal.compiler import library
from weft_metal.gpu import Gpu, describe_error

ONE: Dims = (1, 1, 1)


class PipelineRunner:
    """One loaded kernel.

    :param device: where it runs.
    :param program: a kernel; its binary is its source.
    :raises CompileError: if the framework makes no pipeline of it.
    """

    def __init__(self, device: Gpu, program: CompiledProgram) -> None:
        self.device = device
        self.name = program.name
        source = program.binary.decode()
        function = library(device, source, self.name).newFunctionWithName_(self.name)
        if function is None:
            raise CompileError(f"the library has no function {self.name}", source=source)
        descriptor = device.framework.MTLComputePipelineDescriptor.alloc().init()
        descriptor.setComputeFunction_(function)
        descriptor.setSupportIndirectCommandBuffers_(True)
        answer = device.driver.newComputePipelineStateWithDescriptor_options_reflection_error_(
            descriptor, 0, None, None
        )
        made, error = answer[0], answer[-1]
        if made is None:
            raise CompileError(
                f"Metal makes no pipeline of kernel {self.name}",
                asked=f"loading {self.name} on {device.id}",
                because=describe_error(error),
                source=source,
                log=describe_error(error),
            )
        self.pipeline = made
        self.most = int(made.maxTotalThreadsPerThreadgroup())
        # The struct of the variables as the language lays it out: each at its own alignment, the
        # whole a multiple of the largest.
        variables = program.program.variables
        wide = [u.dtype is dtypes.int64 for u in variables]
        self.layout = "@" + "".join("q" if one else "i" for one in wide) + "0q" * any(wide)
        self.values_nbytes = struct.calcsize(self.layout)

    def __call__(
        self,
        handles: Sequence[Slice],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        """Launch it; seconds on the GPU if ``wait``."""

        def record(encoder: Any) -> None:
            self.encode(encoder, handles, global_size, local_size, values)

        return self.device.run(record, wait)

    def encode(
        self,
        encoder: Any,
        handles: Sequence[Slice],
        global_size: Dims | None,
        local_size: Dims | None,
        values: Sequence[int],
    ) -> None:
        """Record one launch.

        :raises CapabilityError: if a group is larger than this kernel's registers allow.
        """
        groups, items = self.sizes(global_size, local_size)
        encoder.setComputePipelineState_(self.pipeline)
        for place, handle in enumerate(handles):
            encoder.setBuffer_offset_atIndex_(handle.buffer, handle.offset, place)
        if values:
            packed = self.packed(values)
            encoder.setBytes_length_atIndex_(packed, len(packed), len(handles))
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(groups, items)

    def packed(self, values: Sequence[int]) -> bytes:
        """The struct of the kernel's variables."""
        return struct.pack(self.layout, *values)

    def sizes(self, global_size: Dims | None, local_size: Dims | None) -> tuple[Any, Any]:
        """The framework's words for both.

        :raises CapabilityError: if a group is larger than this kernel's registers allow.
        """
        groups, items = global_size or ONE, local_size or ONE
        if prod(items) > self.most:
            raise CapabilityError(
                f"kernel {self.name} runs with at most {self.most} work items in a group",
                asked=f"groups of {items}",
                because="the pipeline needs more registers for each than a larger group leaves",
                try_="a smaller local size",
            )
        size = self.device.framework.MTLSizeMake
        return size(*groups), size(*items)
