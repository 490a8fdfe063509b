"""x86-64 micro-architecture levels, and the level that kernels are compiled for (`WEFT_CPU_ARCH`).

Source: System V Application Binary Interface, AMD64 Architecture Processor Supplement, section
3.1.1. A level is named as in clang's ``-march``. Kernels for a level run on every processor that
has its instructions; ``native`` (the default) uses all that this processor has.
"""

from __future__ import annotations

import os
from collections.abc import Set

from weft.plugin import ArgumentError, CompileError, DeviceUnavailable

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
    """What `WEFT_CPU_ARCH` says: ``native`` or one of LEVELS.

    :raises ArgumentError: if it says anything else.
    """
    said = os.environ.get(VARIABLE, "").strip().lower() or NATIVE
    if said != NATIVE and said not in LEVELS:
        raise ArgumentError(
            f"{VARIABLE} names no level of x86-64",
            asked=f"{VARIABLE}={os.environ[VARIABLE]}",
            because=f"the levels are {', '.join(LEVELS)}",
            try_=f"{VARIABLE}={NATIVE}, or one of the levels",
        )
    return said


def level_of(macros: Set[str]) -> str:
    """The highest level whose instructions a target has; "" for other families of processors.

    :param macros: what the compiler defines for the target, with underscores (``__AVX2__``).
    """
    found = ""
    for level, names in _ADDS.items():
        if any(f"__{name}__" not in macros for name in names):
            break
        found = level
    return found


def check_runs(level: str, native: Set[str]) -> None:
    """Refuse a level that this processor cannot execute.

    :param native: the macros that the compiler defines for this processor.
    :raises CompileError: if the compiler is not one for x86-64; another one may be.
    :raises DeviceUnavailable: with the instructions that are missing.
    """
    here = level_of(native)
    if not here:
        raise CompileError(
            "its target is not x86-64",
            asked=f"{VARIABLE}={level}",
            because="for this processor it defines no __SSE2__, which every x86-64 processor has",
        )
    names = [name for each in LEVELS[: LEVELS.index(level) + 1] for name in _ADDS[each]]
    missing = [name for name in names if f"__{name}__" not in native]
    if missing:
        raise DeviceUnavailable(
            f"this processor does not execute {level}",
            asked=f"{VARIABLE}={level}",
            because=f"it lacks {', '.join(missing)}",
            try_=f"{VARIABLE}={here}, or without {VARIABLE}: all that it has is used",
        )
