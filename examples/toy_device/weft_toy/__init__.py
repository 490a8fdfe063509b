"""TOY: a complete weft device: host memory, C source, a C compiler, ctypes."""

import ctypes
import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

from weft import plugin

weft_api = (1, 0)


class HostAllocator(plugin.Allocator[memoryview]):
    def allocate(self, nbytes, hints):
        return memoryview(bytearray(nbytes))

    def copy_in(self, dst, src):
        dst[:] = src

    def copy_out(self, dst, src):
        dst[:] = src

    def view(self, handle, offset, nbytes):
        return handle[offset : offset + nbytes]

    def map_host(self, handle):
        return handle


def c_compiler():
    wheel = importlib.util.find_spec("ziglang")
    if wheel is not None:
        return [str(Path(wheel.origin).with_name("zig")), "cc"]
    return [found] if (found := shutil.which("cc")) else None


class SystemCompiler:
    fingerprint = "-O1 -shared"

    def compile(self, source, name):
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder, "kernel.so")
            flags = ["-O1", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library), "-lm"]
            command = c_compiler() + flags
            done = subprocess.run(command, input=source, capture_output=True, text=True)
            if done.returncode:
                raise plugin.CompileError(f"{name} does not compile", log=done.stderr)
            return library.read_bytes()


class SharedLibraryRunner:
    def __init__(self, program):
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(program.binary)
            file.flush()
            self.function = ctypes.CDLL(file.name)[program.name]

    def __call__(self, handles, *, global_size, local_size, values, wait):
        began = perf_counter()
        pointers = [(ctypes.c_char * len(handle)).from_buffer(handle) for handle in handles]
        self.function(*pointers, *map(ctypes.c_int, values))
        return perf_counter() - began if wait else None


@plugin.hookimpl
def weft_devices():
    return [plugin.DeviceFamily("TOY", priority=-100, about="C through a shared library")]


@plugin.hookimpl
def weft_open(id):
    if c_compiler() is None:
        raise plugin.DeviceUnavailable("no C compiler", try_="pip install ziglang")
    caps = plugin.Capabilities(compute=plugin.ComputeCaps(), fingerprint="toy-1")
    return plugin.Device(id, caps)


@plugin.hookimpl
def weft_allocator():
    return HostAllocator()


@plugin.hookimpl
def weft_renderer():
    return plugin.CStyleRenderer()


@plugin.hookimpl
def weft_compiler():
    return SystemCompiler()


@plugin.hookimpl
def weft_runner(program):
    return SharedLibraryRunner(program)
