"""TOY: a complete weft device. Python's memory, plain C, the system's compiler, ctypes."""

import ctypes
import os
import shlex
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from subprocess import run
from time import perf_counter

from weft.plugin import (
    Allocator,
    Capabilities,
    CompileError,
    ComputeCaps,
    CStyleRenderer,
    Device,
    DeviceFamily,
    DeviceUnavailable,
    KernelLimits,
    hookimpl,
)

weft_api = (1, 0)
FLAGS = "-O2 -fwrapv -ffp-contract=off -fno-math-errno -w -shared -fPIC -x c - -lm -o".split()


def find_compiler():
    if chosen := os.environ.get("WEFT_TOY_CC") or shutil.which("cc"):
        return shlex.split(chosen)
    if find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise DeviceUnavailable("there is no C compiler", try_="install cc, or: pip install ziglang")


class PythonMemory(Allocator[memoryview]):
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


class SystemCompiler:
    def __init__(self):
        self.command = [*find_compiler(), *FLAGS]
        self.fingerprint = " ".join(self.command)

    def compile(self, source, name):
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder, "kernel.so")
            done = run([*self.command, library], input=source.encode(), capture_output=True)
            if done.returncode:
                raise CompileError(f"cc refuses {name}", source=source, log=done.stderr.decode())
            return library.read_bytes()


class LibraryRunner:
    def __init__(self, program):
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder, "kernel.so")
            library.write_bytes(program.binary)
            self.function = ctypes.CDLL(str(library))[program.name]
        self.words = [getattr(ctypes, f"c_int{u.dtype.bitsize}") for u in program.program.variables]

    def __call__(self, handles, *, global_size, local_size, values, wait):
        started = perf_counter()
        pointers = [(ctypes.c_char * len(handle)).from_buffer(handle) for handle in handles]
        self.function(*pointers, *map(lambda word, n: word(n), self.words, values))
        return perf_counter() - started if wait else None


@hookimpl
def weft_devices():
    return [DeviceFamily("TOY", priority=-100, about="the example: C by the system's compiler")]


@hookimpl
def weft_open(id):
    compute = ComputeCaps(limits=KernelLimits(max_buffers=31))
    return Device(id, Capabilities(compute=compute, fingerprint=" ".join(find_compiler())))


weft_allocator = hookimpl(lambda: PythonMemory(), specname="weft_allocator")
weft_renderer = hookimpl(lambda: CStyleRenderer(), specname="weft_renderer")
weft_compiler = hookimpl(lambda: SystemCompiler(), specname="weft_compiler")
weft_runner = hookimpl(lambda program: LibraryRunner(program), specname="weft_runner")
