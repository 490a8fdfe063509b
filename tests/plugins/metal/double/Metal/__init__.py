"""A double of the Metal framework's Python side, for machines without one.

It answers only the selectors defined here: any other is an AttributeError, a wrong number of
arguments a TypeError, as PyObjC has them, and misuse an AssertionError. Kernels are compiled from
the same source, over a header that says Metal's words in C++ (`_library`), and run when the
commands that hold them do (`_commands`).
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

from Metal._base import Descriptor, MTLSize, NSError, NSObject, NSRange
from Metal._commands import (
    ARGUMENTS,
    Buffer,
    CommandBuffer,
    Encoder,
    IndirectCommandBuffer,
    Pipeline,
    Queue,
    large,
    plain,
)
from Metal._library import INCLUDE, compiled

__all__ = ["ARGUMENTS", "INCLUDE", "CommandBuffer", "Encoder", "NSError", "Pipeline", "Queue"]

MTLResourceStorageModeShared = 0
MTLMathModeSafe, MTLMathModeRelaxed, MTLMathModeFast = range(3)
MTLResourceUsageRead, MTLResourceUsageWrite = 1, 2
MTLIndirectCommandTypeConcurrentDispatch = 32
MTLCommandBufferStatusCompleted, MTLCommandBufferStatusError = 4, 5
EXACT = True
"""Whether it is an error to compile with anything but exact arithmetic."""


def MTLSizeMake(width: int, height: int, depth: int) -> MTLSize:
    return MTLSize(width, height, depth)


def NSMakeRange(location: int, length: int) -> NSRange:
    return NSRange(location, length)


class MTLCompileOptions(Descriptor):
    _properties = {"mathMode": MTLMathModeFast}  # as the system has it


class MTLComputePipelineDescriptor(Descriptor):
    _properties = {"computeFunction": NSObject(), "supportIndirectCommandBuffers": False}


class MTLIndirectCommandBufferDescriptor(Descriptor):
    _properties = {
        "commandTypes": 0, "inheritBuffers": True, "inheritPipelineState": True,
        "maxKernelBufferBindCount": 0,
    }  # fmt: skip


class Function(NSObject):
    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel


class Library(NSObject):
    def __init__(self, name: str, kernel: Any) -> None:
        self._name = name
        self._kernel = kernel

    def newFunctionWithName_(self, name: str) -> Function | None:
        return Function(self._kernel) if name == self._name else None


class Gpu(NSObject):
    """Two of them: an M2 and an M3."""

    def __init__(self, number: int) -> None:
        self._number = number

    def name(self) -> str:
        return f"Double M{self._number + 2}"

    def registryID(self) -> int:
        return 100 + self._number

    def supportsFamily_(self, family: int) -> bool:
        return family <= 1008 + self._number

    def maxThreadsPerThreadgroup(self) -> MTLSize:
        return MTLSize(1024, 1024, 1024)

    def maxThreadgroupMemoryLength(self) -> int:
        return 32768

    def maxBufferLength(self) -> int:
        return 1 << 30

    def recommendedMaxWorkingSetSize(self) -> int:
        return 1 << 32

    def currentAllocatedSize(self) -> int:
        return 0

    def newCommandQueue(self) -> Queue:
        return Queue(self)

    def newBufferWithLength_options_(self, length: int, options: int) -> Buffer | None:
        assert options == MTLResourceStorageModeShared and length > 0
        if length > self.maxBufferLength():
            return None
        return plain(b"\xa5" * length) if length < 1 << 20 else large(length)

    def newBufferWithBytesNoCopy_length_options_deallocator_(
        self, memory: memoryview, length: int, options: int, deallocator: None
    ) -> Buffer | None:
        assert options == MTLResourceStorageModeShared and not memory.readonly
        own = (ctypes.c_char * len(memory)).from_buffer(memory)
        assert ctypes.addressof(own) % mmap.PAGESIZE == 0, "memory begins at a page"
        assert length % mmap.PAGESIZE == 0, "memory is whole pages"
        whole = (ctypes.c_char * length).from_address(ctypes.addressof(own))
        whole._owner = own
        return Buffer(whole)

    def newLibraryWithSource_options_error_(
        self, source: str, options: MTLCompileOptions, error: None
    ) -> tuple[Library | None, NSError | None]:
        assert options._said["mathMode"] == MTLMathModeSafe or not EXACT, "kernels are exact"
        try:
            return Library(*compiled(source)), None
        except SyntaxError as said:
            return None, NSError(str(said))

    def newComputePipelineStateWithDescriptor_options_reflection_error_(
        self, descriptor: MTLComputePipelineDescriptor, options: int, reflection: None, error: None
    ) -> tuple[Pipeline | None, None, NSError | None]:
        function = descriptor._said["computeFunction"]
        assert isinstance(function, Function), "a pipeline has a function"
        indirect = descriptor._said["supportIndirectCommandBuffers"]
        return Pipeline(function._kernel, indirect), None, None

    def newIndirectCommandBufferWithDescriptor_maxCommandCount_options_(
        self, descriptor: MTLIndirectCommandBufferDescriptor, count: int, options: int
    ) -> IndirectCommandBuffer | None:
        said = descriptor._said
        assert said["commandTypes"] == MTLIndirectCommandTypeConcurrentDispatch
        assert not said["inheritBuffers"] and not said["inheritPipelineState"]
        assert 0 < said["maxKernelBufferBindCount"] <= ARGUMENTS and 0 < count <= 1 << 14
        return IndirectCommandBuffer(
            said["maxKernelBufferBindCount"], count, fussy=not self.supportsFamily_(1009)
        )


_GPUS = [Gpu(0), Gpu(1)]


def MTLCreateSystemDefaultDevice() -> Gpu:
    return _GPUS[0]


def MTLCopyAllDevices() -> list[Gpu]:
    return list(_GPUS)
