"""A double of the Metal framework's Python side, for machines without one.

It answers only the selectors that stand here: any other is an AttributeError, a wrong number of
arguments a TypeError, as PyObjC has them. Libraries are made by a C++ compiler, from the same
source, over a header that says Metal's words in C++. Committed commands run when somebody waits for
them and not before, so that memory which is read too early holds what it held.
"""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

MTLResourceStorageModeShared = 0
MTLMathModeSafe = 0
ARGUMENTS = 31
INCLUDE = Path(__file__).parent.parent / "include"
FLAGS = (
    "-std=c++17 -O1 -w -shared -fPIC -fsigned-char -fwrapv -ffp-contract=off -fno-math-errno "
    "-Xclang -ffloat16-excess-precision=none -fno-exceptions -fno-rtti -nostdlib++"
).split()


class MTLSize(NamedTuple):
    width: int
    height: int
    depth: int


def MTLSizeMake(width: int, height: int, depth: int) -> MTLSize:
    return MTLSize(width, height, depth)


class NSObject:
    """What the framework's objects have in common: selectors with as many arguments as colons."""

    def __init_subclass__(cls) -> None:
        for name, method in vars(cls).items():
            if inspect.isfunction(method) and not name.startswith("_"):
                arguments = len(inspect.signature(method).parameters) - 1
                assert name.count("_") == arguments, f"{cls.__name__}.{name} takes {arguments}"

    def respondsToSelector_(self, selector: str) -> bool:
        return hasattr(self, selector.replace(":", "_"))


class NSError(NSObject):
    def __init__(self, text: str) -> None:
        self._text = text

    def localizedDescription(self) -> str:
        return self._text


class MTLCompileOptions(NSObject):
    def __init__(self) -> None:
        self._exact = False

    @classmethod
    def alloc(cls) -> MTLCompileOptions:
        return cls()

    def init(self) -> MTLCompileOptions:
        return self

    def setMathMode_(self, mode: int) -> None:
        self._exact = mode == MTLMathModeSafe


class Varlist:
    """A pointer, as PyObjC gives it."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def as_buffer(self, count: int) -> memoryview:
        return memoryview(self._memory).cast("B")[:count]


class Buffer(NSObject):
    def __init__(self, length: int) -> None:
        self._memory = (ctypes.c_char * length).from_buffer(bytearray(b"\xa5" * length))

    def contents(self) -> Varlist:
        return Varlist(self._memory)

    def length(self) -> int:
        return len(self._memory)

    def _address(self) -> int:
        return ctypes.addressof(self._memory)


class Function(NSObject):
    def __init__(self, call: Any) -> None:
        self._call = call


class Pipeline(NSObject):
    def __init__(self, call: Any) -> None:
        self._call = call

    def maxTotalThreadsPerThreadgroup(self) -> int:
        return 1024


class Library(NSObject):
    def __init__(self, handle: Any, name: str) -> None:
        self._handle = handle
        self._name = name

    def newFunctionWithName_(self, name: str) -> Function | None:
        return Function(self._handle.launch) if name == self._name else None


class Encoder(NSObject):
    def __init__(self, commands: CommandBuffer) -> None:
        self._commands = commands
        self._pipeline: Any = None
        self._arguments: dict[int, Any] = {}
        self._open = True

    def setComputePipelineState_(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def setBuffer_offset_atIndex_(self, buffer: Buffer, offset: int, index: int) -> None:
        assert 0 <= index < ARGUMENTS, f"the argument table has no entry {index}"
        assert 0 <= offset < buffer.length(), f"offset {offset} of {buffer.length()}"
        self._arguments[index] = (buffer, offset)

    def setBytes_length_atIndex_(self, data: bytes, length: int, index: int) -> None:
        assert 0 <= index < ARGUMENTS and len(data) == length <= 4096
        kept = Buffer(length)
        kept.contents().as_buffer(length)[:] = data
        self._arguments[index] = (kept, 0)

    def dispatchThreadgroups_threadsPerThreadgroup_(self, groups: MTLSize, size: MTLSize) -> None:
        assert min(*groups, *size) > 0, "a launch has at least one of everything"
        assert size[0] * size[1] * size[2] <= 1024, f"groups of {size}"
        given = dict(self._arguments)
        call = self._pipeline._call

        def run() -> str:
            addresses = (ctypes.c_void_p * ARGUMENTS)()
            for index, (buffer, offset) in given.items():
                addresses[index] = buffer._address() + offset
            three = ctypes.c_uint * 3
            return (
                "a barrier parts a group" if call(addresses, three(*groups), three(*size)) else ""
            )

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

        def run() -> str:
            ctypes.memmove(target._address() + place, source._address() + start, size)
            return ""

        self._commands._record(run)

    def endEncoding(self) -> None:
        self._commands._encoding = False


class CommandBuffer(NSObject):
    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._work: list[Any] = []
        self._encoding = self._committed = self._done = False
        self._error: NSError | None = None

    def computeCommandEncoder(self) -> Encoder:
        assert not self._encoding and not self._committed
        self._encoding = True
        return Encoder(self)

    def blitCommandEncoder(self) -> BlitEncoder:
        assert not self._encoding and not self._committed
        self._encoding = True
        return BlitEncoder(self)

    def commit(self) -> None:
        assert not self._encoding, "an encoder is still open"
        assert not self._committed, "commands are committed once"
        self._committed = True
        self._queue._committed.append(self)

    def waitUntilCompleted(self) -> None:
        assert self._committed, "nothing to wait for"
        while not self._done:
            self._queue._committed.pop(0)._run()

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
            if said := work():
                self._error = NSError(said)
        self._done = True


class Queue(NSObject):
    def __init__(self) -> None:
        self._committed: list[CommandBuffer] = []

    def commandBuffer(self) -> CommandBuffer:
        assert len(self._committed) < 64, "a queue holds 64 command buffers; this would block"
        return CommandBuffer(self)


class Gpu(NSObject):
    def __init__(self, number: int) -> None:
        self._number = number

    def name(self) -> str:
        return f"Double M{self._number + 2}"

    def registryID(self) -> int:
        return 100 + self._number

    def supportsFamily_(self, family: int) -> bool:
        return family <= 1008

    def maxThreadsPerThreadgroup(self) -> MTLSize:
        return MTLSize(1024, 1024, 1024)

    def maxThreadgroupMemoryLength(self) -> int:
        return 32768

    def maxBufferLength(self) -> int:
        return 1 << 30

    def currentAllocatedSize(self) -> int:
        return 0

    def newCommandQueue(self) -> Queue:
        return Queue()

    def newBufferWithLength_options_(self, length: int, options: int) -> Buffer | None:
        assert options == MTLResourceStorageModeShared and length > 0
        return Buffer(length) if length <= self.maxBufferLength() else None

    def newLibraryWithSource_options_error_(
        self, source: str, options: MTLCompileOptions, error: None
    ) -> tuple[Library | None, NSError | None]:
        assert options._exact, "kernels are compiled with exact arithmetic"
        try:
            name, library = _build(source)
        except SyntaxError as said:
            return None, NSError(str(said))
        return Library(library, name), None

    def newComputePipelineStateWithFunction_error_(
        self, function: Function, error: None
    ) -> tuple[Pipeline | None, NSError | None]:
        return Pipeline(function._call), None


_GPUS = [Gpu(0), Gpu(1)]


def MTLCreateSystemDefaultDevice() -> Gpu:
    return _GPUS[0]


def MTLCopyAllDevices() -> list[Gpu]:
    return list(_GPUS)


# ---- source to a library ------------------------------------------------------------------------

_KERNEL = re.compile(r"^kernel void (\w+)\((.*?)\) \{$", re.S | re.M)
_SHARED = re.compile(r"\bthreadgroup (\w+ \w+\[)")
_BUILTIN = {
    "threadgroup_position_in_grid": "executor::group",
    "thread_position_in_threadgroup": "executor::current->place",
}
_folder = tempfile.TemporaryDirectory(prefix="weft-metal-double-")


def compiler() -> list[str]:
    """The C++ compiler of the wheel ziglang."""
    import ziglang

    return [str(Path(ziglang.__file__).parent / "zig"), "c++"]


def hosted(source: str) -> tuple[str, str]:
    """The kernel's name, and its source with a function that launches it."""
    found = _KERNEL.search(source)
    if found is None:
        raise SyntaxError(f"there is no kernel in this:\n{source[:200]}")
    name, parameters = found.groups()
    words = []
    for parameter in re.split(r",(?![^\[]*\])", parameters):
        kind, attribute = re.fullmatch(r"\s*(.*?)\w+ \[\[(.*?)\]\]\s*", parameter, re.S).groups()
        if attribute in _BUILTIN:
            words.append(_BUILTIN[attribute])
            continue
        index = int(attribute.removeprefix("buffer(").removesuffix(")"))
        pointer = kind.strip().replace("&", "*")
        star = "*" if "&" in kind else ""
        words.append(f"{star}({pointer})executor_arguments[{index}]")
    text = _SHARED.sub(r"static \1", source)
    text = re.sub(r"\bthreadgroup ", "", text)
    barriers = "true" if "threadgroup_barrier" in text else "false"
    return name, (
        f"{text}\nstatic void** executor_arguments;\n"
        f"static void executor_body() {{ {name}({', '.join(words)}); }}\n"
        'extern "C" int launch(void** arguments, const uint* groups, const uint* size) {\n'
        "  executor_arguments = arguments;\n  executor::body = executor_body;\n"
        f"  return executor::run(groups, size, {barriers});\n}}\n"
    )


def _build(source: str) -> tuple[str, Any]:
    name, text = hosted(source)
    digest = hashlib.sha256(text.encode()).hexdigest()[:24]
    path = Path(_folder.name, f"{digest}.so")
    if not path.exists():
        command = [*compiler(), *FLAGS, f"-I{INCLUDE}", "-x", "c++", "-", "-o", str(path)]
        done = subprocess.run(
            command, input=text.encode(), capture_output=True, env={**os.environ, "LC_ALL": "C"}
        )
        if done.returncode:
            raise SyntaxError(done.stderr.decode())
    return name, ctypes.CDLL(str(path))
