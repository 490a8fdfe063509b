"""Compiler detection: find a clang, and learn what it can do on this processor.
Also: feature detection.

The order is ``WEFT_CLANG``; clang 17 or newer on PATH; the wheel ``ziglang``, whose ``zig clang``
is a clang. The answers of a compiler are kept on disk, keyed by its file and this processor.

Source: Autoconf manual, "Existing Tests" (features are tested, not versions).
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Set
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from weft.plugin import CompileError, DeviceUnavailable, DiskCache, let_through
from weft_cpu_clang import arm_extensions, elf, packed_dots
from weft_cpu_clang.levels import NATIVE, check_family, check_runs, chosen_level, level_of
from weft_cpu_clang.process import PROBE_SECONDS, Begun, Deadline, TimedOut

Run: TypeAlias = Callable[..., bytes]

VARIABLE = "WEFT_CLANG"
OLDEST = 17
"""Of clang: older ones lack `__builtin_elementwise_sqrt` and `__builtin_elementwise_fma`."""
_MASKED = 22
"""Of clang, from which on it has `__builtin_masked_load`."""
FLAGS = (
    "-O2",
    "-ffreestanding",
    "-nostdlib",
    "-fno-math-errno",
    # the arithmetic of weft: integers wrap, every operation rounds by itself
    "-fwrapv",
    "-ffp-contract=off",
    # No absolute addresses of 32 bits, so that objects load anywhere; nothing to unwind or guard.
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-asynchronous-unwind-tables",
    "-fno-stack-protector",
    # without a frame pointer, clang does not align vectors on the stack
    "-fno-omit-frame-pointer",
    "-w",
)
_PROBE_NARROW = (
    "typedef {t} v __attribute__((ext_vector_type(8)));\n"
    "v f(v a, v b, {t} c) {{ return (a < b ? a * b : a / b) + (v)(c); }}\n"
    "float g({t} a) {{ return (float)(a + a); }}\n"
    "{t} h(float a) {{ return ({t})a; }}\n"
    "v w(float __attribute__((ext_vector_type(8))) a)"
    " {{ return __builtin_convertvector(a, v); }}\n"
)
_PROBE_PLAIN = "int f(int a) { return a + 1; }\n"

_SUMS_OF_BYTES = ("AVX512VNNI", "AVXVNNI", "AVXVNNIINT8")
_CROSS_PAGE = frozenset({"__znver3__", "__znver4__", "__znver5__"})
"""Processors with hardware prefetching across pages: software prefetches make reductions of memory
slower. On the last one they make no difference (`benchmarks/workloads.py`, within 3 %)."""


@dataclass(frozen=True)
class Facts:
    """The features of a compiler, and of the processor that it compiles for.

    :param version: its first line of ``--version``.
    :param half: ``_Float16`` works, each operation rounded.
    :param bfloat16: ``__bf16`` likewise.
    :param vector_bytes: size of the widest vector registers.
    :param vector_registers: how many of those there are.
    :param pairs: of which dtypes it adds several products at once, names of `packed_dots`:
        "uint7" where sums of products of more bits would saturate.
    :param fused: the processor multiplies and adds in one rounding.
    :param flags: for every compilation, after FLAGS.
    :param cross_page_prefetch: hardware prefetching continues beyond a page, so that software
        prefetches of streams only take time.
    :param masked: registers are read under masks, and the compiler has a builtin for that.
    :param level: the highest x86-64 level that kernels use, or an aarch64 target with its
        extensions; "" on other processors.
    :param processor: clang's name of this processor, such as ``znver4``; "" if it says none.
    """

    version: str
    half: bool
    bfloat16: bool
    vector_bytes: int
    vector_registers: int
    fused: bool
    flags: tuple[str, ...]
    pairs: tuple[str, ...] = ()
    cross_page_prefetch: bool = False
    masked: bool = False
    level: str = ""
    processor: str = ""


@dataclass(frozen=True)
class Toolchain:
    """An installed compiler.

    :param command: the command that compiles; it writes objects to standard output.
    :param link: the command that links a shared library.
    :param facts: its features.
    :param fingerprint: changes whenever the same source could compile to other bytes.
    :param arch: the requested target of kernels: ``native`` or a level.
    """

    command: tuple[str, ...]
    link: tuple[str, ...]
    facts: Facts
    fingerprint: str
    arch: str = NATIVE

    @property
    def arguments(self) -> tuple[str, ...]:
        """Command and flags, without source and output."""
        return (*self.command, *FLAGS, *self.facts.flags)


def candidates() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """(compile command, link command) of every compiler that might do, best first."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if chosen:
        command = _words(chosen)
        yield command, command
        return
    for name in ("clang", *(f"clang-{n}" for n in range(30, OLDEST - 1, -1))):
        path = on_path(name)
        if path:
            yield (path,), (path,)
    wheel = importlib.util.find_spec("ziglang")
    for folder in (wheel.submodule_search_locations or ()) if wheel else ():
        zig = Path(folder, "zig.exe" if os.name == "nt" else "zig")
        if zig.exists():
            yield (str(zig), "clang"), (str(zig), "cc")


def _words(chosen: str) -> tuple[str, ...]:
    """:raises CompileError: for a quotation that never ends."""
    if os.name == "nt":
        # Folders are separated by what quotes elsewhere, and their names may have spaces.
        text = chosen.strip('"')
        return (text,) if os.path.isfile(text) else tuple(chosen.split())
    try:
        return tuple(shlex.split(chosen))
    except ValueError as error:
        raise CompileError(f"{VARIABLE} is no command", because=f"{chosen}: {error}") from error


def on_path(name: str) -> str | None:
    """Where a program is that may be run, without what else `shutil` brings."""
    if os.name == "nt":
        import shutil

        return shutil.which(name)
    folders = [""] if os.path.dirname(name) else os.get_exec_path()
    places = (os.path.join(folder, name) for folder in folders)
    return next((one for one in places if os.path.isfile(one) and os.access(one, os.X_OK)), None)


@cache
def find_toolchain() -> Toolchain:
    """The first compiler that works, for the processor level of `WEFT_CPU_ARCH`.

    :raises ArgumentError: if `WEFT_CPU_ARCH` names no level.
    :raises DeviceUnavailable: if there is no compiler, with what was tried; if this processor does
        not execute the level.
    """
    arch = chosen_level()
    reasons: list[str] = []
    slow: list[str] = []
    try:
        for command, link in candidates():
            try:
                found = _examine(command, link, arch)
            except TimedOut as error:
                slow.append(shlex.join(command))
                reasons.append(f"{slow[-1]}: {error.summary}")
            except CompileError as error:
                reasons.append(f"{shlex.join(command)}: {error.because or error.summary}")
            else:
                _warn_of(slow, found)
                return found
    except CompileError as error:
        reasons.append(str(error.because))
    if chosen := os.environ.get(VARIABLE, "").strip():
        raise DeviceUnavailable(
            f"{VARIABLE} is no C compiler for this device",
            asked=f"{VARIABLE}={chosen}",
            because="\n".join(reasons),
            try_=f"{VARIABLE} with the command of a clang of version {OLDEST} or newer, or without "
            f"{VARIABLE}: one is looked for",
        )
    raise DeviceUnavailable(
        "there is no C compiler for this device",
        asked=f"a clang of version {OLDEST} or newer",
        because="\n".join(reasons)
        or "WEFT_CLANG is not set, PATH has none, ziglang is not installed",
        try_="pip install ziglang     (or pip install 'weft[cpu]', which brings it)",
    )


def _warn_of(slow: list[str], found: Toolchain) -> None:
    """Say which compilers were waited for in vain: every process waits for them."""
    if slow:
        chosen = shlex.join(found.command)
        warnings.warn(
            f"{', '.join(slow)} did not answer within {PROBE_SECONDS:.0f} s, so {chosen} compiles; "
            f"{VARIABLE}={chosen!r} avoids the wait",
            RuntimeWarning,
            stacklevel=2,
        )


_hangs: dict[str, TimedOut] = {}
"""Compilers that did not answer, which are asked once in a process."""


def _examine(command: tuple[str, ...], link: tuple[str, ...], arch: str = NATIVE) -> Toolchain:
    key = f"{_identity(command)}\n{arch}"
    if key in _hangs:
        raise _hangs[key]
    kept = DiskCache("cpu_clang_probe", 13)
    known = kept.get(key)
    facts = _decoded(known) if known else None
    if facts is None:
        try:
            facts = _ask(command, arch)
        except TimedOut as error:
            _hangs[key] = error
            raise
        kept.put(key, json.dumps(asdict(facts)).encode())
    # the features that the renderer depends on
    written = f"cross_page={facts.cross_page_prefetch} masked={facts.masked}"
    said = "\n".join((key, facts.version, *FLAGS, *facts.flags, written))
    return Toolchain(command, link, facts, hashlib.sha256(said.encode()).hexdigest()[:24], arch)


def _decoded(text: bytes) -> Facts | None:
    try:
        fields: dict[str, Any] = json.loads(text)
        tuples: dict[str, Any] = {name: tuple(fields[name]) for name in ("flags", "pairs")}
        return Facts(**{**fields, **tuples})
    except (ValueError, TypeError, KeyError):
        return None


def _identity(command: tuple[str, ...]) -> str:
    """Which compiler file, and which processor."""
    path = on_path(command[0]) or command[0]
    try:
        stat = os.stat(path)
    except OSError as error:
        let_through(error)
        raise CompileError("there is no such compiler", because=str(error)) from error
    file = f"{os.path.realpath(path)} {stat.st_size} {stat.st_mtime_ns}"
    system_name = " ".join(_system())
    extensions = " ".join(arm_extensions.of_processor())
    return "\n".join((*command, file, system_name, processor_text(), extensions))


def _system() -> tuple[str, str, str]:
    """Name, release and machine, without what else `platform` brings where the system says it."""
    if hasattr(os, "uname"):
        said = os.uname()
        return said.sysname, said.release, said.machine
    import platform

    known = platform.uname()
    return known.system, known.release, known.machine


# A virtual machine may call all of its processors alike: kernels that were tuned for one of them
# would be taken for those of another. Nothing that changes while the system runs.
_WHICH = (
    r"^(?:vendor_id|cpu family|model|model name|stepping|cache size|flags|Features|CPU \w+)\s*:.*$"
)


@cache
def processor_text() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError as error:
        let_through(error)
        import platform

        return f"{platform.machine()} {platform.processor()}"
    return "\n".join(dict.fromkeys(re.findall(_WHICH, text, re.MULTILINE)))


def _ask(command: tuple[str, ...], arch: str = NATIVE) -> Facts:
    run = Deadline(PROBE_SECONDS).run
    native = Begun(_target, run, command, arch)
    processor = Begun(_processor_name, run, command)
    try:
        said = run((*command, "--version")).decode(errors="replace").strip()
    finally:
        native.join()  # no run outlives this
        processor.join()
    version = said.partition("\n")[0].strip() or "it says no version"
    number = re.search(r"clang version (\d+)", version)
    if number is None or int(number[1]) < OLDEST:
        raise CompileError(
            "this is no clang, or too old", because=f"{version}: need clang {OLDEST}"
        )
    flags, defined, cross_page = native.result()
    if "__AVX512F__" in defined and not cross_page:
        # For some processors clang splits whatever is longer than 256 bits, after their
        # forerunners, whose clock the long registers lowered: half of what the units do. Where it
        # does not, this would prevent vectors of half a register (`renderer`).
        flags.append("-mprefer-vector-width=512")
    if arm_extensions.is_aarch64(defined):
        # Atomic operations are instructions, not calls of a function that no shared library has.
        flags.append("-mno-outline-atomics")
    if "__AVX512BF16__" in defined:
        # The instruction flushes subnormal numbers to zero; the sequence without it is exact.
        flags.append("-mno-avx512bf16")
    # Of a sum of eight products of 8 bits clang 22 gives the first four where it may use these.
    # Kernels that use the instruction itself allow it (`packed_dots`).
    flags += [f"-mno-{name.lower()}" for name in _SUMS_OF_BYTES if f"__{name}__" in defined]
    # Each operation rounds; clang would keep chains of them in float32. Not a driver's option.
    halves = ["-Xclang", "-ffloat16-excess-precision=none"]
    bfloats = ["-Xclang", "-fbfloat16-excess-precision=none"]
    size, count = _vectors(defined)
    # the narrower forms are of extensions of their own
    probes = packed_dots.probes(size, defined)
    apart = [re.sub(r"\b([fsv])\b", rf"\1_{d}", text) for d, text in probes.items()]
    narrow = {name: _PROBE_NARROW.format(t=name) for name in ("_Float16", "__bf16")}
    bfloat16 = Begun(_has_bfloat16, run, command, [*flags, *bfloats], narrow["__bf16"], defined)
    # Mostly there are all of these or none of the pairs: one run says so.
    try:
        all_there = _compiles(
            run, command, [*flags, *halves], "".join((narrow["_Float16"], *apart))
        )
    finally:
        bfloat16.join()
    if not all_there and not bfloat16.result():
        _object(run, command, flags, _PROBE_PLAIN)  # whether it compiles anything
    half = all_there or (
        bool(probes) and _compiles(run, command, [*flags, *halves], narrow["_Float16"])
    )
    flags += halves if half else []
    flags += bfloats if bfloat16.result() else []
    pairs = tuple(
        dtype for dtype, text in probes.items() if all_there or _compiles(run, command, flags, text)
    )
    text = packed_dots.probe_of_bytes(size, defined)
    if text and "uint8" not in pairs and _compiles(run, command, flags, text):
        pairs += ("uint7",)
    fused = bool(defined & {"__FMA__", "__ARM_FEATURE_FMA", "__riscv_zvfh"})
    masked = size == 64 and int(number[1]) >= _MASKED
    halves_work = half, bfloat16.result()
    level = level_of(defined)
    return Facts(
        version, *halves_work, size, count, fused, tuple(flags), pairs, cross_page, masked, level,
        processor.result(),
    )  # fmt: skip


def _target(run: Run, command: tuple[str, ...], arch: str) -> tuple[list[str], set[str], bool]:
    """Flags for the processor level `arch`, the macros that are defined with them, and whether this
    processor is one of `_CROSS_PAGE`, which no level changes.

    :raises CompileError: if the compiler has no such level, or is for another family.
    :raises DeviceUnavailable: if this processor does not execute the level.
    """
    flags, native = _native(run, command)
    cross_page = not native.isdisjoint(_CROSS_PAGE)
    if arch == NATIVE:
        return flags, native, cross_page
    check_family(arch, native)
    tuned = any(flag.endswith("=native") for flag in flags)
    # the instructions of one, the costs of the other
    flags = [f"-march={arch}", *(["-mtune=native"] if tuned else [])]
    wanted = _macros(run, command, flags)
    check_runs(arch, wanted, native)
    return flags, wanted, cross_page


def _native(run: Run, command: tuple[str, ...]) -> tuple[list[str], set[str]]:
    """Flags for the processor that is here, and the macros that are defined with them."""
    spellings = [["-march=native"], ["-mcpu=native"]]  # targets spell it differently
    if extensions := arm_extensions.of_processor():
        # a compiler that runs on another processor than it compiles for knows no "native"
        spellings.append([f"-march={arm_extensions.target_of(extensions)}"])
    for flags in spellings:
        try:
            return flags, _macros(run, command, flags)
        except TimedOut:
            raise
        except CompileError:
            continue
    return [], _macros(run, command, [])


def _processor_name(run: Run, command: tuple[str, ...]) -> str:
    """The name that the compiler has for this processor; "" if it does not say one."""
    for spelling in ("-march=native", "-mcpu=native"):
        arguments = (*command, spelling, "-S", "-emit-llvm", "-x", "c", "-", "-o", "-")
        try:
            said = run(arguments, _PROBE_PLAIN).decode(errors="replace")
        except CompileError:  # a compiler that is too old is refused by its version
            continue
        if found := re.search(r'"target-cpu"="([\w.+-]+)"', said):
            return found[1]
    return ""


def _macros(run: Run, command: tuple[str, ...], flags: list[str]) -> set[str]:
    """What the compiler defines for a target. :raises CompileError: if it is no clang."""
    said = run((*command, *flags, "-Werror", "-dM", "-E", "-x", "c", "-"))
    text = said.decode(errors="replace")
    defined = set(re.findall(r"^#define (\w+)", text, re.MULTILINE))
    if "__clang__" not in defined:
        raise CompileError("this is no clang", because="it does not define the macro __clang__")
    return defined


def _object(run: Run, command: tuple[str, ...], flags: list[str], source: str) -> bytes:
    """An object file. :raises CompileError: if the compiler fails, or gives something else."""
    made = run((*command, *FLAGS, *flags, "-c", "-x", "c", "-", "-o", "-"), source)
    if elf.loads_here():
        elf.check_object(made)
    elif not made:
        raise CompileError("this compiler gives nothing", because="it succeeds, without an object")
    return made


def _has_bfloat16(
    run: Run, command: tuple[str, ...], flags: list[str], source: str, defined: Set[str]
) -> bool:
    """Whether it takes `source`, for a target whose sums of bfloat16 it rounds as it should."""
    if arm_extensions.is_aarch64(defined) and "bf16" not in arm_extensions.of_macros(defined):
        # Without the instruction, clang 22 rounds sums of eight lanes by the bits of an operand.
        return False
    return _compiles(run, command, flags, source)


def _compiles(run: Run, command: tuple[str, ...], flags: list[str], source: str) -> bool:
    """Whether it takes `source`. :raises TimedOut: if it does not say in time."""
    try:
        made = _object(run, command, flags, source)
    except TimedOut:
        raise
    except CompileError:
        return False
    # A conversion that is a call, one number at a time, is none that the processor has.
    return b"__trunc" not in made and b"__extend" not in made


def _vectors(defined: set[str]) -> tuple[int, int]:
    """(bytes, number) of vector registers, by the macros of the target."""
    if "__AVX512F__" in defined:
        return 64, 32
    if "__AVX__" in defined:
        return 32, 16
    if "__SSE2__" in defined:
        return 16, 16
    return (16, 32) if "__ARM_NEON" in defined else (0, 16)
