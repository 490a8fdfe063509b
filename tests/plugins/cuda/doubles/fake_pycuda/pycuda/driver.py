"""What the plugin uses of ``pycuda.driver``, over libcuda's C interface, with pycuda's own rules.

A stack of contexts per thread, of which nothing may be left when the process ends; things that are
made in the context on top of it, and that can be given back in that context only, or in the thread
that took it; errors that tell the text of a result and not its number. What goes against the rules
is said on stderr.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
import threading
from enum import IntEnum
from typing import Any

import numpy

_cuda = ctypes.CDLL("libcuda.so.1")
_stacks = threading.local()


class Error(Exception):
    pass


class MemoryError(Error):
    pass


class LogicError(Error):
    pass


class LaunchError(Error):
    pass


class RuntimeError(Error):
    pass


class device_attribute(IntEnum):
    MAX_THREADS_PER_BLOCK = 1
    MAX_BLOCK_DIM_X = 2
    MAX_BLOCK_DIM_Y = 3
    MAX_BLOCK_DIM_Z = 4
    MAX_GRID_DIM_X = 5
    MAX_GRID_DIM_Y = 6
    MAX_GRID_DIM_Z = 7
    MAX_SHARED_MEMORY_PER_BLOCK = 8
    WARP_SIZE = 10
    MAX_REGISTERS_PER_BLOCK = 12
    MULTIPROCESSOR_COUNT = 16
    MAX_THREADS_PER_MULTIPROCESSOR = 39
    COMPUTE_CAPABILITY_MAJOR = 75
    COMPUTE_CAPABILITY_MINOR = 76
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
    MEMORY_POOLS_SUPPORTED = 115


class function_attribute(IntEnum):
    MAX_THREADS_PER_BLOCK = 0
    SHARED_SIZE_BYTES = 1
    LOCAL_SIZE_BYTES = 3
    NUM_REGS = 4
    MAX_DYNAMIC_SHARED_SIZE_BYTES = 8


class host_alloc_flags:
    PORTABLE = 1


def _call(name: str, *arguments: Any) -> None:
    code = getattr(_cuda, name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        _cuda.cuGetErrorString(code, ctypes.byref(text))
        kind = {2: MemoryError, 701: LaunchError, 719: LaunchError}.get(code, LogicError)
        raise kind(f"{name} failed: {(text.value or b'?').decode()}")


def _pointer(value: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(int(value))


def _stack() -> list[Context]:
    if not hasattr(_stacks, "contexts"):
        _stacks.contexts = []
    found: list[Context] = _stacks.contexts
    return found


def init(flags: int = 0) -> None:
    _call("cuInit", flags)


class Device:
    def __init__(self, ordinal: int) -> None:
        found = ctypes.c_int()
        _call("cuDeviceGet", ctypes.byref(found), ordinal)
        self._number = found.value

    @staticmethod
    def count() -> int:
        found = ctypes.c_int()
        _call("cuDeviceGetCount", ctypes.byref(found))
        return found.value

    def name(self) -> str:
        text = ctypes.create_string_buffer(1024)
        _call("cuDeviceGetName", text, 1024, self._number)
        return text.value.decode()

    def total_memory(self) -> int:
        found = ctypes.c_size_t()
        _call("cuDeviceTotalMem_v2", ctypes.byref(found), self._number)
        return found.value

    def get_attribute(self, attribute: device_attribute) -> int:
        found = ctypes.c_int()
        _call("cuDeviceGetAttribute", ctypes.byref(found), int(attribute), self._number)
        return found.value

    def retain_primary_context(self) -> Context:
        return Context(self._number)


class Context:
    """A primary one. As pycuda's, it must be given back by `detach` and not by dying."""

    def __init__(self, number: int) -> None:
        found = ctypes.c_void_p()
        _call("cuDevicePrimaryCtxRetain", ctypes.byref(found), number)
        self.handle, self._number, self._thread = found.value, number, threading.get_ident()
        self._valid = True

    def push(self) -> None:
        _call("cuCtxPushCurrent_v2", _pointer(self.handle))
        _stack().append(self)

    @staticmethod
    def pop() -> None:
        if not _stack():
            raise LogicError("context::pop failed: cannot pop non-current context")
        _stack().pop()
        _call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def detach(self) -> None:
        _call("cuDevicePrimaryCtxRelease_v2", self._number)
        self._valid = False
        _stacks.contexts = [context for context in _stack() if context is not self]

    def __del__(self) -> None:
        if self._valid:
            print("a context died that was not detached", file=sys.stderr)


class _Owned:
    """Made in the context on top."""

    _release: tuple[Any, ...] = ()

    def __init__(self) -> None:
        if not _stack():
            raise LogicError("explicit_context_dependent failed: no currently active context?")
        self._context = _stack()[-1]

    def free(self) -> None:
        release, self._release = self._release, ()
        if not release or not self._context._valid:
            return
        here = bool(_stack()) and _stack()[-1] is self._context
        if not here and threading.get_ident() != self._context._thread:
            print(f"{type(self).__name__} dies out of its thread", file=sys.stderr)
            return
        if not here:
            self._context.push()
        _call(*release)
        if not here:
            Context.pop()

    def __del__(self) -> None:
        self.free()


class Stream(_Owned):
    def __init__(self, flags: int = 0) -> None:
        super().__init__()
        found = ctypes.c_void_p()
        _call("cuStreamCreate", ctypes.byref(found), flags)
        self.handle = found.value
        self._release = "cuStreamDestroy_v2", _pointer(self.handle)

    def synchronize(self) -> None:
        _call("cuStreamSynchronize", _pointer(self.handle))

    def wait_for_event(self, event: Event) -> None:
        _call("cuStreamWaitEvent", _pointer(self.handle), event._event, 0)


class Event(_Owned):
    def __init__(self, flags: int = 0) -> None:
        super().__init__()
        self._event = ctypes.c_void_p()
        _call("cuEventCreate", ctypes.byref(self._event), flags)
        self._release = "cuEventDestroy_v2", self._event

    def record(self, stream: Stream | None = None) -> Event:
        _call("cuEventRecord", self._event, _pointer(stream.handle if stream else 0))
        return self

    def synchronize(self) -> Event:
        _call("cuEventSynchronize", self._event)
        return self

    def time_till(self, event: Event) -> float:
        found = ctypes.c_float()
        _call("cuEventElapsedTime", ctypes.byref(found), self._event, event._event)
        return found.value


class Module(_Owned):
    def __init__(self, buffer: bytes) -> None:
        super().__init__()
        self._module = ctypes.c_void_p()
        none = ctypes.c_void_p()
        _call("cuModuleLoadDataEx", ctypes.byref(self._module), buffer, 0, none, none)
        self._release = "cuModuleUnload", self._module

    def get_function(self, name: str) -> Function:
        return Function(self, name)


def module_from_buffer(
    buffer: bytes, options: list[Any] | None = None, message_handler: Any = None
) -> Module:
    return Module(buffer)


class Function:
    def __init__(self, module: Module, name: str) -> None:
        self._module, self._function = module, ctypes.c_void_p()
        _call("cuModuleGetFunction", ctypes.byref(self._function), module._module, name.encode())

    def get_attribute(self, attribute: function_attribute) -> int:
        found = ctypes.c_int()
        _call("cuFuncGetAttribute", ctypes.byref(found), int(attribute), self._function)
        return found.value

    def set_attribute(self, attribute: function_attribute, value: int) -> None:
        _call("cuFuncSetAttribute", self._function, int(attribute), value)

    def _launch_kernel(
        self, grid: tuple[int, ...], block: tuple[int, ...], parameters: Any, shared: int,
        stream: Stream | None,
    ) -> None:  # fmt: skip
        packed = (ctypes.c_char * len(parameters)).from_buffer(parameters)
        size = ctypes.c_size_t(len(parameters))
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(packed), 2, ctypes.addressof(size), 0)
        handle = _pointer(stream.handle if stream else 0)
        none = ctypes.c_void_p()
        _call("cuLaunchKernel", self._function, *grid, *block, shared, handle, none, extra)


class DeviceAllocation(_Owned):
    def __init__(self, nbytes: int) -> None:
        super().__init__()
        found = ctypes.c_uint64()
        _call("cuMemAlloc_v2", ctypes.byref(found), ctypes.c_size_t(nbytes))
        self._address = found.value
        self._release = "cuMemFree_v2", ctypes.c_uint64(self._address)

    def __int__(self) -> int:
        return self._address


def mem_alloc(nbytes: int) -> DeviceAllocation:
    return DeviceAllocation(nbytes)


class PagelockedHostAllocation(_Owned):
    def __init__(self, nbytes: int, flags: int) -> None:
        super().__init__()
        found = ctypes.c_void_p()
        _call("cuMemHostAlloc", ctypes.byref(found), ctypes.c_size_t(nbytes), flags)
        self._release = "cuMemFreeHost", found
        self.__array_interface__ = {
            "shape": (nbytes,), "typestr": "|u1", "data": (found.value, False), "version": 3,
        }  # fmt: skip


def pagelocked_empty(shape: int, dtype: Any, order: str = "C", mem_flags: int = 0) -> Any:
    return numpy.asarray(PagelockedHostAllocation(shape, mem_flags))


def _place(buffer: Any) -> tuple[int, ctypes.c_size_t]:
    view = memoryview(buffer).cast("B")
    return ctypes.addressof(ctypes.c_char.from_buffer(view)), ctypes.c_size_t(view.nbytes)


def memcpy_htod_async(dest: int, src: Any, stream: Stream | None = None) -> None:
    address, nbytes = _place(src)
    handle = _pointer(stream.handle if stream else 0)
    _call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(dest), _pointer(address), nbytes, handle)


def memcpy_dtoh_async(dest: Any, src: int, stream: Stream | None = None) -> None:
    address, nbytes = _place(dest)
    handle = _pointer(stream.handle if stream else 0)
    _call("cuMemcpyDtoHAsync_v2", _pointer(address), ctypes.c_uint64(src), nbytes, handle)


def memcpy_dtod_async(dest: int, src: int, size: int, stream: Stream | None = None) -> None:
    handle = _pointer(stream.handle if stream else 0)
    places = ctypes.c_uint64(dest), ctypes.c_uint64(src)
    _call("cuMemcpyDtoDAsync_v2", *places, ctypes.c_size_t(size), handle)


@atexit.register
def _look_at_the_stack() -> None:
    if _stack():
        print("the context stack was not empty at the end", file=sys.stderr)
