"""Architecture extensions: which of them an aarch64 target has, and this processor executes.

A target is named as in clang's ``-march``: an architecture version, then its extensions, such as
``armv8.2-a+fp16+dotprod``. Linux says in the auxiliary vector what a processor executes.

Source: Linux kernel documentation, arch/arm64, "ARM64 ELF hwcaps"; Arm C Language Extensions,
feature test macros.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Set
from functools import cache
from typing import NamedTuple

from weft.plugin import let_through

BASE = "armv8-a"
"""What every processor of aarch64 executes; NEON is part of it."""

_VERSIONS = frozenset(
    (
        BASE,
        *(f"armv8.{n}-a" for n in range(1, 10)),
        "armv9-a",
        *(f"armv9.{n}-a" for n in range(1, 8)),
    )
)
_HWCAP, _HWCAP2 = 16, 26  # keys of the auxiliary vector


class _Extension(NamedTuple):
    """One extension that kernels may use.

    :param macro: what a compiler defines for targets that have it, without ``__ARM_FEATURE_``.
    :param bits: of HWCAP, or of HWCAP2 from 64 on: Linux sets all of them where it is executed.
    """

    macro: str
    bits: tuple[int, ...]


_EXTENSIONS = {
    "lse": _Extension("ATOMICS", (8,)),
    "fp16": _Extension("FP16_VECTOR_ARITHMETIC", (9, 10)),
    "dotprod": _Extension("DOTPROD", (20,)),
    "fp16fml": _Extension("FP16_FML", (23,)),
    "sve": _Extension("SVE", (22,)),
    "sve2": _Extension("SVE2", (64 + 1,)),
    "i8mm": _Extension("MATMUL_INT8", (64 + 13,)),
    "bf16": _Extension("BF16_VECTOR_ARITHMETIC", (64 + 14,)),
}


def is_target(name: str) -> bool:
    """Whether a name has the form of an aarch64 target."""
    version, *extensions = name.split("+")
    return version in _VERSIONS and all(each.replace("-", "").isalnum() for each in extensions)


def is_aarch64(macros: Set[str]) -> bool:
    """Whether a compiler that defines these macros compiles for aarch64."""
    return "__aarch64__" in macros or "__arm64__" in macros


def of_macros(macros: Set[str]) -> tuple[str, ...]:
    """The extensions of a target, by what the compiler defines for it."""
    return tuple(n for n, e in _EXTENSIONS.items() if f"__ARM_FEATURE_{e.macro}" in macros)


@cache
def of_processor() -> tuple[str, ...]:
    """The extensions that Linux says this processor executes; () on other systems."""
    words = _hardware_capabilities()
    has = {bit + 64 * i for i, word in enumerate(words) for bit in range(64) if word >> bit & 1}
    return tuple(name for name, each in _EXTENSIONS.items() if has.issuperset(each.bits))


def _hardware_capabilities() -> tuple[int, int]:
    """HWCAP and HWCAP2 of the auxiliary vector; zeros where there are none."""
    if not sys.platform.startswith("linux") or os.uname().machine != "aarch64":
        return 0, 0
    try:
        ask = ctypes.CDLL(None).getauxval
    except (AttributeError, OSError) as error:
        let_through(error)
        return 0, 0
    ask.restype, ask.argtypes = ctypes.c_uint64, [ctypes.c_uint64]
    return ask(_HWCAP), ask(_HWCAP2)


def target_of(extensions: Iterable[str]) -> str:
    """The name of a target with these extensions."""
    return "+".join((BASE, *extensions))
