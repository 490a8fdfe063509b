"""macOS and Windows: what the compiler makes for them, and their calls by doubles.

Nothing of these systems is executed here. Kernels and the thread pool are compiled for them. The
pool for other POSIX systems is executed on this one.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import struct
import subprocess
import sys

import numpy as np
import pytest

from weft.plugin import CompileError, SourceText, dtypes
from weft_cpu_clang import binary, compiler, graph, pool_source, stack, threads, toolchain
from weft_cpu_clang.process import run
from weft_cpu_clang.toolchain import FLAGS

TARGETS = {
    "aarch64-macos": b"\xcf\xfa\xed\xfe" + struct.pack("<I", 0x0100000C),  # Mach-O 64, arm64
    "x86_64-macos": b"\xcf\xfa\xed\xfe" + struct.pack("<I", 0x01000007),
    "x86_64-windows-gnu": struct.pack("<H", 0x8664),  # COFF, x86-64
    "aarch64-windows-gnu": struct.pack("<H", 0xAA64),
}
"""How objects begin. Source: Apple, <mach-o/loader.h>; Microsoft, PE Format, COFF File Header."""

needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="doubles of Linux")


@pytest.fixture(scope="module")
def compiled_for(bench):
    """Gives the object of a source for a target."""
    command = bench.device.toolchain.command

    def compiled(source, target):
        flags = (*FLAGS, f"--target={target}", "-Werror=implicit-function-declaration")
        return run((*command, *flags, "-c", "-x", "c", "-", "-o", "-"), source)

    try:
        compiled("int f(void) { return 1; }", "aarch64-macos")
    except CompileError as error:
        pytest.skip(f"this clang has no code generator for other systems: {error.summary}")
    return compiled


def system_of(target):
    return pool_source.WINDOWS if "windows" in target else pool_source.POSIX


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_and_the_pool_are_compiled(bench, compiled_for, target):
    bench.elementwise(
        [(dtypes.float32, [1.0, 2.0]), (dtypes.float32, [3.0, 4.0])], lambda a, b: [a * b + a], 4
    )
    pool = pool_source.source(system_of(target))
    replayer = SourceText(graph.source(), entries=["weft_replay"])
    for source in (bench.source, replayer, pool):
        text = compiler.exporting(source, source.entries) if "windows" in target else source
        made = compiled_for(text, target)
        assert made.startswith(TARGETS[target])
        for name in source.entries:
            assert name.encode() in made


@pytest.mark.parametrize("target", ["x86_64-windows-gnu", "aarch64-windows-gnu"])
def test_functions_are_exported_to_windows(compiled_for, target):
    source = "static int g(int a) { return a; }\nint f(int a) { return g(a) + 1; }\n"
    made = compiled_for(compiler.exporting(source, ["f"]), target)
    assert b" -export:f" in made and b"-export:g" not in made and b".drectve" in made


def test_a_library_for_windows_has_the_exports(bench, compiled_for, tmp_path):
    """LLVM's linker for Windows, which the wheel of zig has, reads what the object tells it."""
    source = "void weft_one(void) {}\nint weft_two(int a) { return a + 1; }\n"
    made = tmp_path / "k.obj"
    made.write_bytes(
        compiled_for(compiler.exporting(source, ["weft_one", "weft_two"]), "x86_64-windows-gnu")
    )
    zig = pytest.importorskip("ziglang").__path__[0]
    linker = (os.path.join(zig, "zig"), "lld-link")
    command = (*linker, "/dll", "/noentry", f"/out:{tmp_path / 'k.dll'}", str(made))
    done = subprocess.run(command, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    library = (tmp_path / "k.dll").read_bytes()
    assert library.startswith(b"MZ")
    assert b"weft_one\0" in library and b"weft_two\0" in library


SHARED = """
void shared(const long long* a, long long part, long long parts) {
  for (long long i = 1000 * part / parts; i < 1000 * (part + 1) / parts; i++) ((int*)a[0])[i]++;
}
"""


@needs_linux
@pytest.mark.parametrize("count", [2, 3, 7])
def test_the_pool_of_other_posix_systems_does_every_part_once(bench, count):
    """Mutexes and condition variables in place of futexes, executed here."""
    pool = threads.ThreadPool(bench.device.toolchain, count, pool_source.POSIX)
    code = binary.load(bench.compiler.compile(SHARED, "shared"), "shared")
    done = np.zeros(1000, np.int32)
    words = (ctypes.c_int64 * 1)(done.ctypes.data)
    attend = ctypes.CFUNCTYPE(None, ctypes.c_int64)(pool.attend)
    for turn in range(300):
        if turn % 3 == 0:
            attend(8)
        pool.spread(code.address("shared"), words, 8)
        if turn % 3 == 0:
            attend(0)
    pool.stop()
    np.testing.assert_array_equal(done, 300)


FORKING = """
import ctypes, os
import numpy as np
from weft.plugin import DeviceId
import weft_cpu_clang
from weft_cpu_clang import binary, pool_source, threads
device = weft_cpu_clang.weft_open(DeviceId("CPU"))
pool = threads.ThreadPool(device.toolchain, 3, pool_source.POSIX)
made = weft_cpu_clang.weft_compiler(device).compile({source!r}, "shared")
code = binary.load(made, "shared")
def works():
    done = np.zeros(1000, np.int32)
    words = (ctypes.c_int64 * 1)(done.ctypes.data)
    for _ in range(20):
        pool.spread(code.address("shared"), words, 8)
    return bool((done == 20).all())
assert works()
for _ in range(3):
    child = os.fork()
    if not child:
        os._exit(0 if works() else 1)
    assert os.waitpid(child, 0)[1] == 0
assert works()
print("done")
"""


@needs_linux
def test_a_child_of_fork_has_a_pool_of_its_own():
    command = (sys.executable, "-c", FORKING.format(source=SHARED))
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"


@pytest.mark.parametrize(
    "platform, system", [("win32", "windows"), ("darwin", "posix"), ("freebsd14", "posix")]
)
def test_each_system_has_its_threads(monkeypatch, platform, system):
    monkeypatch.setattr(sys, "platform", platform)
    assert pool_source.this_system() == system


def test_windows_has_no_posix_functions():
    text = pool_source.source(pool_source.WINDOWS)
    assert "pthread" not in text and "syscall" not in text and "CreateThread" in text
    assert "syscall" not in pool_source.source(pool_source.POSIX)


class Kernel32:
    """The calls of Windows that are made."""

    freed: list[int] = []

    def __init__(self, name):
        assert name == "kernel32"

    def FreeLibrary(self, handle):
        self.freed.append(handle.value)

    def GetCurrentThreadStackLimits(self, low, high):
        low._obj.value, high._obj.value = 0x10_0000, 0x30_0000


def test_the_file_of_a_loaded_library_stays_until_the_end_on_windows(monkeypatch, tmp_path):
    at_end, unlink = [], os.unlink

    class Library:
        _handle = 77

    def refuse(path):
        raise PermissionError("it is used by another process")

    monkeypatch.setattr(ctypes, "CDLL", lambda path: Library())
    monkeypatch.setattr(ctypes, "WinDLL", Kernel32, raising=False)
    monkeypatch.setattr(atexit, "register", lambda *call: at_end.append(call))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(os, "unlink", refuse)
    binary.SharedLibrary(b"MZ", "k")
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.setattr(os, "unlink", unlink)
    ((function, *arguments),) = at_end
    function(*arguments)
    assert Kernel32.freed == [77] and not list(tmp_path.iterdir())


def test_sizes_of_stacks(monkeypatch):
    monkeypatch.setattr(ctypes, "WinDLL", Kernel32, raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    assert stack.stack_bytes() == 0x20_0000

    class Libc:
        class Function:
            def __init__(self, value):
                self.value = value

            def __call__(self, *arguments):
                return self.value

        pthread_self, pthread_get_stacksize_np = Function(1), Function(512 << 10)

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Libc)
    assert stack.stack_bytes() == 512 << 10


def test_commands_of_windows_have_backslashes(monkeypatch):
    monkeypatch.setattr(os, "name", "nt")
    assert toolchain._words(r"C:\llvm\clang.exe -m64") == (r"C:\llvm\clang.exe", "-m64")
    monkeypatch.setattr(os.path, "isfile", lambda path: path.endswith("clang.exe"))
    said = r'"C:\Program Files\LLVM\bin\clang.exe"'
    assert toolchain._words(said) == (said.strip('"'),)
