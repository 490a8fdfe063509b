"""What one machine can do at most: multiply-adds a second, and bytes copied a second.

Two loops in C, compiled on demand by gcc or the toolchain wheel's clang: fused multiply-adds
on twelve vectors that never leave their registers, and copies of arrays far larger than the last
cache, as they are written (the cache reads what it is about to overwrite) and past it. The best of
several runs counts, on a given number of threads.

    python benchmarks/ceiling.py [THREADS [ARCH]]

ARCH is a level such as x86-64-v3; without it, what the machine has.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

ROUNDS = 20_000_000
SIZE = 1 << 28  # bytes of each of the two arrays that are copied
LANES = {"avx512f": 16, "avx2": 8}
LANES_OF_ARCH = {"x86-64-v4": 16, "x86-64-v3": 8, "x86-64-v2": 4, "x86-64": 4}

SOURCE = r"""
#if defined(__AVX512F__)
#define VECTOR "+v"
#elif defined(__x86_64__)
#define VECTOR "+x"
#else
#define VECTOR "+w"
#endif
typedef float vec __attribute__((vector_size(LANES * 4)));
typedef long long word __attribute__((vector_size(LANES * 4)));
#define ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define START(i) vec a##i = s * (float)i;
#define STEP(i) a##i = a##i * f + s; __asm__ volatile("" : VECTOR(a##i));
#define ADD(i) s += a##i;
float multiply_add(long rounds, float x) {
  vec f, s; float total = 0;
  for (int l = 0; l < LANES; l++) { f[l] = 1 - x; s[l] = x; }
  ALL(START)
  for (long r = 0; r < rounds; r++) { ALL(STEP) }
  ALL(ADD)
  for (int l = 0; l < LANES; l++) total += s[l];
  return total;
}
void copy(word *to, const word *from, long count) {
  for (long i = 0; i < count; i++) { to[i] = from[i]; __asm__ volatile("" ::: "memory"); }
}
void copy_past(word *to, const word *from, long count) {
  for (long i = 0; i < count; i++) {
#ifdef __x86_64__
    for (int part = 0; part < LANES * 4; part += 8)
      __asm__ volatile("movnti %1, %0" : "=m"(*(long long *)((char *)(to + i) + part))
                       : "r"(from[i][part / 8]));
#else
    to[i] = from[i];
#endif
  }
}
"""


@dataclass(frozen=True)
class Ceiling:
    """flops: multiply-adds count twice. bytes: read and written, a second."""

    flops: float
    bytes: float

    def __str__(self) -> str:
        return (
            f"{self.flops / 1e9:.0f} GFLOP/s of fused multiply-adds, "
            f"{self.bytes / 1e9:.1f} GB/s copied"
        )


def lanes(arch: str | None = None) -> int:
    """Floats in the widest vector of this machine, or of a level of x86-64."""
    if arch in LANES_OF_ARCH:
        return LANES_OF_ARCH[arch]
    try:
        flags = Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split()
    except OSError:
        flags = []
    return next((count for flag, count in LANES.items() if flag in flags), 4)


def compiled(folder: str, arch: str | None) -> ctypes.CDLL | None:
    """The loops as a library; None where nothing compiles them."""
    source, library = Path(folder, "ceiling.c"), Path(folder, "ceiling.so")
    source.write_text(SOURCE)
    facts = ["-O3", f"-march={arch or 'native'}", "-ffast-math", "-fno-builtin"]
    facts += [f"-DLANES={lanes(arch)}", "-shared", "-fPIC"]
    if (
        lanes(arch) == 16
    ):  # of its own accord clang splits them where long ones once lowered the clock
        facts.append("-mprefer-vector-width=512")
    for compiler in ([shutil.which("gcc") or "gcc"], [sys.executable, "-m", "ziglang", "cc"]):
        command = [*compiler, *facts, str(source), "-o", str(library)]
        try:
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                return ctypes.CDLL(str(library))
        except OSError:
            continue
    return None


def best(work: Callable[[int], object], threads: int, times: int) -> float:
    """The least of so many runs, in seconds; each runs on all threads at once."""
    found = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(times):
            began = perf_counter()
            list(pool.map(work, range(threads)))
            found.append(perf_counter() - began)
    return min(found)


def measured(threads: int = 1, arch: str | None = None) -> Ceiling | None:
    """This machine's; None where it has no compiler for C."""
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(folder, arch)
        if library is None:
            return None
        library.multiply_add.argtypes = [ctypes.c_long, ctypes.c_float]
        library.multiply_add.restype = ctypes.c_float
        width = lanes(arch) * 4
        seconds = best(lambda _: library.multiply_add(ROUNDS, 0.5), threads, 4)
        flops = threads * ROUNDS * 12 * 2 * lanes(arch) / seconds
        # ctypes lets go of the interpreter's lock during a call, so that threads run side by side
        memory = [bytearray(SIZE + 2 * width) for _ in range(2)]
        starts = []
        for block in memory:
            address = ctypes.addressof((ctypes.c_char * len(block)).from_buffer(block))
            ctypes.memset(address, 1, len(block))  # pages without a write are all one page
            starts.append(address + -address % width)
        share = SIZE // width // threads
        rates = []
        for name in ("copy", "copy_past"):
            copy = getattr(library, name)
            copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
            copy.restype = None

            def part(number: int, copy: Callable[..., None] = copy) -> None:
                start = number * share * width
                copy(starts[0] + start, starts[1] + start, share)

            rates.append(2 * share * width * threads / best(part, threads, 6))
        return Ceiling(flops, max(rates))


if __name__ == "__main__":
    print(measured(int((sys.argv[1:] or ["1"])[0]), *sys.argv[2:3]))
