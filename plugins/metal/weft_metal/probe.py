"""Asks a GPU which elements of a matrix its lanes hold, before matrix units are declared.

The language leaves it open, so what is not as `matrix_units.LAYOUT` has it is not used.
"""

from __future__ import annotations

import struct
from typing import Any

from weft_metal.matrix_units import EXPECTED, LANES, PROBE, PROBE_SOURCE


def lanes_hold_what_is_expected(framework: Any, driver: Any, queue: Any, options: Any) -> bool:
    """Runs a kernel of one simdgroup. Whatever goes wrong in it is a no."""
    made, _ = driver.newLibraryWithSource_options_error_(PROBE_SOURCE, options, None)
    function = made and made.newFunctionWithName_(PROBE)
    if not function:
        return False
    descriptor = framework.MTLComputePipelineDescriptor.alloc().init()
    descriptor.setComputeFunction_(function)
    answer = driver.newComputePipelineStateWithDescriptor_options_reflection_error_(
        descriptor, 0, None, None
    )
    pipeline, length = answer[0], 4 * len(EXPECTED)
    if pipeline is None or int(pipeline.threadExecutionWidth()) != LANES:
        return False
    buffer = driver.newBufferWithLength_options_(length, framework.MTLResourceStorageModeShared)
    commands = queue.commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline)
    encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
    size = framework.MTLSizeMake
    encoder.dispatchThreadgroups_threadsPerThreadgroup_(size(1, 1, 1), size(LANES, 1, 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    if commands.error() is not None:
        return False
    return struct.unpack(f"{len(EXPECTED)}f", buffer.contents().as_buffer(length)) == EXPECTED
