"""The thread pool of Windows: linked by LLVM's linker, executed by Wine where that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from weft.plugin import CompileError
from weft_cpu_clang import compiler, pool_source
from weft_cpu_clang.process import run
from weft_cpu_clang.toolchain import FLAGS

TARGET = "x86_64-windows-gnu"
KERNEL32 = (
    "CreateThread", "WaitForSingleObject", "CloseHandle", "SwitchToThread",
    "AcquireSRWLockExclusive", "ReleaseSRWLockExclusive", "SleepConditionVariableSRW",
    "WakeConditionVariable", "WakeAllConditionVariable", "LoadLibraryA", "GetProcAddress",
    "GetCurrentThreadId", "GetCurrentThreadStackLimits", "ExitProcess", "Sleep",
)  # fmt: skip

PROGRAM = """
typedef long long word;
typedef unsigned int u32;
extern void* LoadLibraryA(const char*);
extern void* GetProcAddress(void*, const char*);
extern u32 GetCurrentThreadId(void);
extern void GetCurrentThreadStackLimits(void*, void*);
extern void ExitProcess(u32);
extern void Sleep(u32);
static int done[1000];
static u32 seen[8];

void kernel(const word* a, word part, word parts) {
  for (word i = 1000 * part / parts; i < 1000 * (part + 1) / parts; i++) ((int*)a[0])[i]++;
  u32 self = GetCurrentThreadId();
  for (int i = 0; i < 8 && seen[i] != self; i++)
    if (!seen[i]) seen[i] = self, i = 8;
  for (volatile int i = 0; i < 20000; i++);
}

/* The exit status: 0, or the number of what failed. */
void start(void) {
  void* library = LoadLibraryA("pool.dll");
  if (!library) ExitProcess(1);
  void (*spread)(void*, const word*, word) = GetProcAddress(library, "weft_spread");
  void (*attend)(word) = GetProcAddress(library, "weft_attend");
  void (*threads)(word) = GetProcAddress(library, "weft_threads");
  void (*stop)(void) = GetProcAddress(library, "weft_stop");
  if (!spread || !attend || !threads || !stop) ExitProcess(2);
  word arguments[1] = {(word)done};
  threads(2);
  for (int i = 0; i < 500; i++) {
    if (i % 3 == 0) attend(8);
    spread(kernel, arguments, 8);
    if (i % 3 == 0) attend(0);
    if (i % 50 == 0) Sleep(20); /* the workers fall asleep */
  }
  stop();
  spread(kernel, arguments, 8); /* by this thread alone */
  for (int i = 0; i < 1000; i++)
    if (done[i] != 501) ExitProcess(3);
  if (!seen[1]) ExitProcess(4); /* no worker took a part */
  word low = 0, high = 0;
  GetCurrentThreadStackLimits(&low, &high);
  ExitProcess(high - low < 65536 ? 5 : 0);
}
"""


@pytest.fixture(scope="module")
def program(bench, tmp_path_factory):
    """The folder of start.exe and pool.dll."""
    zig = Path(pytest.importorskip("ziglang").__path__[0], "zig")
    folder = tmp_path_factory.mktemp("windows")
    flags = (*FLAGS, f"--target={TARGET}", "-c", "-x", "c", "-", "-o", "-")
    pool = compiler.exporting(pool_source.source(pool_source.WINDOWS), pool_source.ENTRIES)
    try:
        for name, source in (("pool", pool), ("start", PROGRAM)):
            made = run((*bench.device.toolchain.command, *flags), source)
            (folder / f"{name}.obj").write_bytes(made)
    except CompileError as error:
        pytest.skip(f"this clang has no code generator for Windows: {error.summary}")
    names = "".join(f"  {name}\n" for name in KERNEL32)
    (folder / "kernel32.def").write_text(f"LIBRARY kernel32.dll\nEXPORTS\n{names}")

    def tool(*arguments):
        done = subprocess.run((zig, *arguments), cwd=folder, capture_output=True, text=True)
        assert not done.returncode, done.stderr

    tool("dlltool", "-m", "i386:x86-64", "-d", "kernel32.def", "-l", "kernel32.lib")
    tool("lld-link", "/dll", "/noentry", "/out:pool.dll", "pool.obj", "kernel32.lib")
    tool("lld-link", "/subsystem:console", "/entry:start", "/out:start.exe", "start.obj",
         "kernel32.lib")  # fmt: skip
    return folder


def wine():
    """The path of Wine; None where it is not installed."""
    places = [shutil.which(name) for name in ("wine64", "wine")] + ["/usr/lib/wine/wine64"]
    return next((place for place in places if place and os.path.exists(place)), None)


def test_the_pool_is_linked_for_windows(program):
    library = (program / "pool.dll").read_bytes()
    assert library.startswith(b"MZ")
    for name in ("weft_spread", "weft_attend", "weft_threads", "weft_stop"):
        assert name.encode() + b"\0" in library


@pytest.mark.skipif(wine() is None, reason="Wine is not installed")
@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.uname().machine != "x86_64",
    reason="Wine executes x86-64 on x86-64 alone",
)
def test_the_pool_does_every_part_once_under_wine(program, tmp_path):
    settings = {"WINEPREFIX": str(tmp_path / "prefix"), "WINEDEBUG": "-all"}
    done = subprocess.run(
        (wine(), "start.exe"), cwd=program, env={**os.environ, **settings}, timeout=300,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
