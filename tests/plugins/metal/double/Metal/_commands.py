"""Command buffers, encoders, indirect command buffers: what is recorded, and when it runs.

Committed commands run when a caller waits for them and not before, so that memory which is read too
early holds what it held. Commands of an indirect command buffer between which there is no barrier
run in the opposite order. They hold their buffers by weak references, and find them only if the
encoder was told of them, as the hardware has it.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref
from collections.abc import Iterable
from typing import Any

import objc

from Metal._base import MTLSize, NSError, NSObject, NSRange, Varlist
from Metal._library import Entry

ARGUMENTS = 31
NOT_ENQUEUED, ENQUEUED, COMMITTED, SCHEDULED, COMPLETED, ERROR = range(6)
PAGE_FAULT, INVALID_RESOURCE = 3, 9
READ, WRITE = 1, 2


class Buffer(NSObject):
    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def contents(self) -> Varlist:
        return Varlist(self._memory)

    def length(self) -> int:
        return len(self._memory)

    def _address(self) -> int:
        return ctypes.addressof(self._memory)


def plain(data: bytes | bytearray) -> Buffer:
    """A buffer of its own that holds this."""
    return Buffer((ctypes.c_char * len(data)).from_buffer(bytearray(data)))


def large(length: int) -> Buffer:
    """A buffer whose pages are there once they are touched."""
    return Buffer((ctypes.c_char * length).from_buffer(mmap.mmap(-1, length)))


class Pipeline(NSObject):
    def __init__(self, kernel: Any, indirect: bool) -> None:
        self._kernel = kernel
        self._indirect = indirect

    def maxTotalThreadsPerThreadgroup(self) -> int:
        return self._kernel.most

    def threadExecutionWidth(self) -> int:
        return 32


class _Table:
    """The pipeline and the argument table that a launch is recorded with."""

    def __init__(self) -> None:
        self._pipeline: Any = None
        self._arguments: dict[int, Any] = {}

    def _put(self, buffer: Buffer, offset: int, index: int) -> None:
        assert 0 <= index < ARGUMENTS, f"the argument table has no entry {index}"
        assert isinstance(buffer, Buffer) and 0 <= offset < buffer.length()
        self._arguments[index] = (buffer, offset)


def _launch(
    pipeline: Pipeline, given: dict[int, tuple[Buffer, int]], groups: MTLSize, size: MTLSize
) -> str:
    entries = (Entry * ARGUMENTS)()
    for index, (buffer, offset) in given.items():
        entries[index] = Entry(buffer._address() + offset, buffer.length() - offset)
    return pipeline._kernel.run(entries, groups, size)


def _check(pipeline: Any, arguments: Iterable[int], groups: MTLSize, size: MTLSize) -> None:
    assert pipeline is not None, "no pipeline was set"
    missing = pipeline._kernel.uses - set(arguments)
    assert not missing, f"the kernel reads arguments that are not set: {sorted(missing)}"
    assert min(*groups, *size) > 0, "a launch has at least one of everything"
    most = pipeline.maxTotalThreadsPerThreadgroup()
    assert size[0] * size[1] * size[2] <= most, f"groups of {size}"


class Encoder(NSObject, _Table):
    def __init__(self, commands: CommandBuffer) -> None:
        _Table.__init__(self)
        self._commands = commands
        self._open = True
        self._resident: set[Any] = set()
        self._pipelines: set[Any] = set()

    def __del__(self) -> None:
        if self._open:
            objc.crashes.append("an encoder is let go of before it has ended")

    def setComputePipelineState_(self, pipeline: Pipeline) -> None:
        assert self._open, "the encoder has ended"
        self._pipeline = pipeline
        self._pipelines.add(pipeline)

    def setBuffer_offset_atIndex_(self, buffer: Buffer, offset: int, index: int) -> None:
        self._put(buffer, offset, index)

    def setBytes_length_atIndex_(self, data: bytes, length: int, index: int) -> None:
        assert len(data) == length <= 4096
        self._put(plain(data), 0, index)

    def dispatchThreadgroups_threadsPerThreadgroup_(self, groups: MTLSize, size: MTLSize) -> None:
        assert self._open, "the encoder has ended"
        if not min(groups):
            return
        _check(self._pipeline, self._arguments, groups, size)
        given, pipeline = dict(self._arguments), self._pipeline
        self._commands._record(lambda: _failure(_launch(pipeline, given, groups, size)))

    def useResource_usage_(self, buffer: Buffer, usage: int) -> None:
        assert self._open and isinstance(buffer, Buffer) and usage == READ | WRITE
        self._resident.add(buffer)

    def executeCommandsInBuffer_withRange_(
        self, commands: IndirectCommandBuffer, span: NSRange
    ) -> None:
        assert self._open, "the encoder has ended"
        assert 0 < span.length <= 1 << 14 and span.location + span.length <= commands.size()
        own = commands._commands[span.location : span.location + span.length]
        for command in own:
            assert command._groups is not None, "a command launches nothing"
            _check(command._pipeline, command._given, command._groups, command._size)
        commands._flying += 1
        resident, pipelines = set(self._resident), set(self._pipelines)

        def run() -> NSError | None:
            commands._flying -= 1
            return commands._run(own, resident, pipelines)

        self._commands._record(run)

    def endEncoding(self) -> None:
        assert self._open, "an encoder ends once"
        self._open = False
        self._commands._encoding = False


class BlitEncoder(NSObject):
    def __init__(self, commands: CommandBuffer) -> None:
        self._commands = commands

    def copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
        self, source: Buffer, start: int, target: Buffer, place: int, size: int
    ) -> None:
        assert start + size <= source.length() and place + size <= target.length()
        assert not (start % 4 or place % 4 or size % 4), "copies are of words"

        def run() -> None:
            ctypes.memmove(target._address() + place, source._address() + start, size)

        self._commands._record(run)

    def endEncoding(self) -> None:
        self._commands._encoding = False


def _failure(said: str) -> NSError | None:
    return NSError(said, PAGE_FAULT) if said else None


class CommandBuffer(NSObject):
    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._work: list[Any] = []
        self._encoding = self._committed = self._done = False
        self._handlers: list[Any] = []
        self._error: NSError | None = None

    def computeCommandEncoder(self) -> Encoder:
        assert not self._encoding and not self._committed
        self._encoding = True
        return Encoder(self)

    def blitCommandEncoder(self) -> BlitEncoder:
        assert not self._encoding and not self._committed
        self._encoding = True
        return BlitEncoder(self)

    def addCompletedHandler_(self, handler: Any) -> None:
        assert not self._committed, "a handler is added before the commit"
        self._handlers.append(handler)

    def commit(self) -> None:
        assert not self._encoding, "an encoder is still open"
        assert not self._committed, "commands are committed once"
        self._committed = True
        self._queue._committed.append(self)

    def waitUntilCompleted(self) -> None:
        assert self._committed, "nothing to wait for"
        while not self._done:
            self._queue._committed.pop(0)._run()

    def status(self) -> int:
        if self._done:
            return ERROR if self.error() is not None else COMPLETED
        return COMMITTED if self._committed else NOT_ENQUEUED

    def error(self) -> NSError | None:
        return self._error

    def GPUStartTime(self) -> float:
        assert self._done
        return 1.0

    def GPUEndTime(self) -> float:
        assert self._done
        return 1.0 + 1e-6 * len(self._work)

    def _record(self, work: Any) -> None:
        assert not self._committed, "commands are recorded before they are committed"
        self._work.append(work)

    def _run(self) -> None:
        for work in self._work:
            self._error = work() or self._error
        self._work = [None] * len(self._work)  # what it retained is let go of
        self._done = True
        for handler in self._handlers:
            handler(self)


class Queue(NSObject):
    def __init__(self, device: Any) -> None:
        self._device = device
        self._committed: list[CommandBuffer] = []

    def commandBuffer(self) -> CommandBuffer:
        assert objc.depth, "outside of a pool nobody lets go of a command buffer"
        assert len(self._committed) < 64, "a queue holds 64 command buffers; this would block"
        return CommandBuffer(self)


class IndirectCommand(NSObject):
    def __init__(self, owner: IndirectCommandBuffer) -> None:
        self._owner = owner
        self._pipeline: Any = None
        self._given: dict[int, tuple[Any, int]] = {}
        self._groups: MTLSize | None = None
        self._size: MTLSize | None = None
        self._barrier = False

    def _touch(self) -> None:
        assert not self._owner._flying, "commands are changed while they are being executed"

    def setComputePipelineState_(self, pipeline: Pipeline) -> None:
        self._touch()
        assert pipeline._indirect, "this pipeline was not made for indirect command buffers"
        self._pipeline = pipeline

    def setKernelBuffer_offset_atIndex_(self, buffer: Buffer, offset: int, index: int) -> None:
        self._touch()
        assert 0 <= index < self._owner._most, f"commands have no argument {index}"
        assert isinstance(buffer, Buffer) and 0 <= offset < buffer.length()
        self._given[index] = (weakref.ref(buffer), offset)

    def concurrentDispatchThreadgroups_threadsPerThreadgroup_(
        self, groups: MTLSize, size: MTLSize
    ) -> None:
        self._touch()
        self._groups, self._size = groups, size

    def setBarrier(self) -> None:
        self._touch()
        self._barrier = True


class IndirectCommandBuffer(NSObject):
    def __init__(self, most: int, count: int, fussy: bool) -> None:
        self._most = most
        self._fussy = fussy
        self._flying = 0
        self._commands = [IndirectCommand(self) for _ in range(count)]

    def size(self) -> int:
        return len(self._commands)

    def indirectComputeCommandAtIndex_(self, index: int) -> IndirectCommand:
        assert 0 <= index < len(self._commands)
        return self._commands[index]

    def _run(
        self, commands: list[IndirectCommand], resident: set[Any], pipelines: set[Any]
    ) -> NSError | None:
        at_once: list[IndirectCommand] = []
        for command in [*commands, None]:
            if command is not None and not command._barrier:
                at_once.append(command)
                continue
            for one in reversed(at_once):
                if found := self._one(one, resident, pipelines):
                    return found
            at_once = [command] if command is not None else []
        return None

    def _one(
        self, command: IndirectCommand, resident: set[Any], pipelines: set[Any]
    ) -> NSError | None:
        if self._fussy and command._pipeline not in pipelines:
            return NSError("a pipeline is not resident", INVALID_RESOURCE)
        given = {}
        for index, (held, offset) in command._given.items():
            buffer = held()
            if buffer is None:
                return NSError(f"argument {index} was released", INVALID_RESOURCE)
            if buffer not in resident:
                return NSError(f"argument {index} is not resident", PAGE_FAULT)
            given[index] = (buffer, offset)
        return _failure(_launch(command._pipeline, given, command._groups, command._size))
