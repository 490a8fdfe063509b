"""Target levels: the instructions that kernels are compiled for (`WEFT_CPU_ARCH`).

On x86-64 these are its micro-architecture levels; on aarch64 architecture versions with extensions.
A level is named as in clang's ``-march``. Kernels for a level run on every processor that has its
instructions; ``native`` (the default) uses all that this processor has.

Source: System V Application Binary Interface, AMD64 Architecture Processor Supplement, section
3.1.1; Clang manual, option -march.
"""

from __future__ import annotations

import os
from collections.abc import Set

from weft.plugin import ArgumentError, CompileError, DeviceUnavailable
from weft_cpu_clang import arm_extensions

VARIABLE = "WEFT_CPU_ARCH"
NATIVE = "native"

_ADDS = {
    "x86-64": ("SSE2",),
    "x86-64-v2": ("LAHF_SAHF", "POPCNT", "SSE3", "SSE4_1", "SSE4_2", "SSSE3"),
    "x86-64-v3": ("AVX", "AVX2", "BMI", "BMI2", "F16C", "FMA", "LZCNT", "MOVBE", "XSAVE"),
    "x86-64-v4": ("AVX512F", "AVX512BW", "AVX512CD", "AVX512DQ", "AVX512VL"),
}
"""What each level adds to the one before, as the macros that a compiler defines."""

LEVELS = tuple(_ADDS)
"""Lowest first."""


def chosen_level() -> str:
    """What `WEFT_CPU_ARCH` says: ``native``, one of LEVELS, or a target of aarch64.

    :raises ArgumentError: if it says anything else.
    """
    said = os.environ.get(VARIABLE, "").strip().lower() or NATIVE
    if said != NATIVE and said not in LEVELS and not arm_extensions.is_target(said):
        raise ArgumentError(
            f"{VARIABLE} names no level of x86-64 and no architecture of aarch64",
            asked=f"{VARIABLE}={os.environ[VARIABLE]}",
            because=f"the levels are {', '.join(LEVELS)}; on aarch64 an architecture and its "
            "extensions are named as in armv8.2-a+fp16+dotprod",
            try_=f"{VARIABLE}={NATIVE}, or one of these",
        )
    return said


def level_of(macros: Set[str]) -> str:
    """The highest x86-64 level whose instructions a target has, or the aarch64 target with all of
    its extensions; "" for other families of processors.

    :param macros: what the compiler defines for the target, with underscores (``__AVX2__``).
    """
    if arm_extensions.is_aarch64(macros):
        return arm_extensions.target_of(arm_extensions.of_macros(macros))
    found = ""
    for level, names in _ADDS.items():
        if any(f"__{name}__" not in macros for name in names):
            break
        found = level
    return found


def check_runs(level: str, wanted: Set[str], native: Set[str]) -> None:
    """Refuse a level that this processor cannot execute.

    :param wanted: the macros that the compiler defines for the level.
    :param native: the macros that the compiler defines for this processor.
    :raises DeviceUnavailable: with the instructions that are missing.
    """
    if arm_extensions.is_aarch64(native):
        has = {*arm_extensions.of_macros(native), *arm_extensions.of_processor()}
        missing = [name for name in arm_extensions.of_macros(wanted) if name not in has]
        here = arm_extensions.target_of(sorted(has))
    else:
        names = [name for each in LEVELS[: LEVELS.index(level) + 1] for name in _ADDS[each]]
        missing = [name for name in names if f"__{name}__" not in native]
        here = level_of(native)
    if missing:
        raise DeviceUnavailable(
            f"this processor does not execute {level}",
            asked=f"{VARIABLE}={level}",
            because=f"it lacks {', '.join(missing)}",
            try_=f"{VARIABLE}={here}, or without {VARIABLE}: all that it has is used",
        )


def check_family(level: str, native: Set[str]) -> None:
    """Refuse a level of another family of processors than the compiler's.

    :param native: the macros that the compiler defines for this processor.
    :raises CompileError: because another compiler may be for that family.
    """
    here = level_of(native)
    if arm_extensions.is_target(level) != arm_extensions.is_aarch64(native) or not here:
        family = "aarch64" if arm_extensions.is_target(level) else "x86-64"
        raise CompileError(
            f"its target is not {family}",
            asked=f"{VARIABLE}={level}",
            because=f"{level} is of {family}; the compiler's target is {here or 'neither'}",
        )
