"""Extensions of aarch64, as compilers and Linux name them."""

from __future__ import annotations

import ctypes
import os
import sys

import pytest

from weft.plugin import CompileError
from weft_cpu_clang import arm_extensions
from weft_cpu_clang.process import run


class AuxiliaryVector:
    """A C library whose system says this of its processor."""

    def __init__(self, words):
        self.getauxval = type("Function", (), {"__call__": lambda self, key: words[key]})()


@pytest.fixture
def processor(monkeypatch):
    """Makes the processor of this process an aarch64 with these bits of HWCAP and HWCAP2."""

    def make(first, second, system="linux"):
        name = type("Name", (), {"machine": "aarch64"})
        monkeypatch.setattr(os, "uname", lambda: name, raising=False)
        monkeypatch.setattr(sys, "platform", system)
        library = AuxiliaryVector({16: first, 26: second})
        monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
        arm_extensions.of_processor.cache_clear()
        return arm_extensions.of_processor()

    yield make
    monkeypatch.undo()
    arm_extensions.of_processor.cache_clear()


def test_what_linux_says_of_a_processor(processor):
    assert processor(0, 0) == ()
    graviton2 = sum(1 << bit for bit in (0, 1, 7, 8, 9, 10, 15, 20))
    assert processor(graviton2, 0) == ("lse", "fp16", "dotprod")
    graviton3 = graviton2 | 1 << 22
    assert processor(graviton3, 1 << 13 | 1 << 14) == (
        "lse", "fp16", "dotprod", "sve", "i8mm", "bf16"
    )  # fmt: skip


def test_halves_need_scalars_and_vectors(processor):
    assert processor(1 << 9, 0) == ()
    assert processor(1 << 9 | 1 << 10, 0) == ("fp16",)


def test_other_systems_have_no_auxiliary_vector(processor):
    assert processor(1 << 20, 0, system="darwin") == ()


@pytest.mark.parametrize("name", arm_extensions._EXTENSIONS)
def test_clang_defines_the_macro_of_an_extension(bench, name):
    """The names are those of clang's option, and each defines what is looked for."""
    target = arm_extensions.target_of([name])
    assert arm_extensions.is_target(target)
    flags = ("--target=aarch64-linux-gnu", f"-march={target}", "-dM", "-E", "-x", "c", "-")
    try:
        said = run((*bench.device.toolchain.command, *flags)).decode()
    except CompileError as error:
        pytest.skip(f"this clang has no code generator for aarch64: {error.summary}")
    macros = {line.split()[1] for line in said.splitlines()}
    assert arm_extensions.is_aarch64(macros)
    assert name in arm_extensions.of_macros(macros)
