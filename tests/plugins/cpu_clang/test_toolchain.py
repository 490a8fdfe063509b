"""Which compiler is taken, what is said where there is none, what it is asked."""

from __future__ import annotations

import json
import os
import stat
import warnings
from dataclasses import asdict, replace

import pytest

from weft.base.settings import settings
from weft.plugin import PREFETCH_STREAM, DeviceUnavailable, dtypes
from weft_cpu_clang import elf, process, toolchain
from weft_cpu_clang.capabilities import describe
from weft_cpu_clang.elf_writer import ObjectWriter
from weft_cpu_clang.process import run
from weft_cpu_clang.renderer import clang_renderer


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """No memory of earlier answers, in the process or on disk."""
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))
    toolchain.find_toolchain.cache_clear()
    yield
    toolchain.find_toolchain.cache_clear()


def fake_compiler(tmp_path, says):
    path = tmp_path / "clang"
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_chosen_by_the_environment(monkeypatch, tmp_path, bench):
    known = bench.device.toolchain.command
    monkeypatch.setenv("WEFT_CLANG", " ".join(known))
    assert toolchain.find_toolchain().command == known
    monkeypatch.setenv("WEFT_CLANG", str(tmp_path / "absent"))
    toolchain.find_toolchain.cache_clear()
    with pytest.raises(DeviceUnavailable) as caught:
        toolchain.find_toolchain()
    assert "absent" in caught.value.because
    assert caught.value.asked == f"WEFT_CLANG={tmp_path / 'absent'}"
    assert "without WEFT_CLANG" in caught.value.try_, "another one that is installed has no say"


def test_an_invalid_compiler_command(monkeypatch):
    monkeypatch.setenv("WEFT_CLANG", 'clang "')
    toolchain.find_toolchain.cache_clear()
    with pytest.raises(DeviceUnavailable, match="No closing quotation"):
        toolchain.find_toolchain()
    monkeypatch.setenv("WEFT_CLANG", "  ")
    assert list(toolchain.candidates()) == list(_without(monkeypatch))


def _without(monkeypatch):
    monkeypatch.delenv("WEFT_CLANG")
    return toolchain.candidates()


@pytest.mark.skipif(os.name == "nt", reason="the fake compiler is a shell script")
def test_too_old_or_no_clang_at_all(monkeypatch, tmp_path):
    for says in ("Debian clang version 16.0.6 (1)", "gcc (Debian) 14.2.0"):
        monkeypatch.setenv("WEFT_CLANG", str(fake_compiler(tmp_path, says)))
        toolchain.find_toolchain.cache_clear()
        with pytest.raises(DeviceUnavailable) as caught:
            toolchain.find_toolchain()
        assert says in caught.value.because


ANSWERS = """
case "$*" in
  *--version*) echo 'clang version 22.1.0' ;;
  *-dM*) echo '#define __clang__ 1' ;;
  *) {rest} ;;
esac
"""
BROKEN = {
    "says nothing at all": ("exit 0", "it says no version"),
    "knows no macros": (ANSWERS.replace("#define __clang__ 1", "").format(rest=":"), "__clang__"),
    "gives no object": (ANSWERS.format(rest=":"), ""),
    "gives garbage": (ANSWERS.format(rest="head -c 3000 /dev/urandom"), ""),
    "gives half an object": (ANSWERS.format(rest="printf '\\177ELF\\002\\001\\001'"), ""),
    "crashes": (ANSWERS.format(rest="kill -SEGV $$"), "SIGSEGV"),
    "fails without a word": (ANSWERS.format(rest="exit 3"), "status 3"),
    "hangs at once": ("sleep 1000", "did not end"),
    "hangs with a child": ("sleep 1000 & wait", "did not end"),
    "hangs when it compiles": (ANSWERS.format(rest="sleep 1000"), "did not end"),
}


class ShortOfTime(process.Deadline):
    """Compilers of this test that hang are not waited for long."""

    def run(self, command, source=""):
        return process.run(command, source, 0.5 if "broken" in command[0] else 60)


@pytest.mark.skipif(os.name == "nt", reason="the fake compiler is a shell script")
@pytest.mark.parametrize("fault", BROKEN)
def test_one_that_is_broken_is_passed_over(monkeypatch, tmp_path, bench, fault):
    """If a compiler fails its query, the next one compiles; alone, the error says why."""
    script, words = BROKEN[fault]
    broken = tmp_path / "broken"
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(0o755)
    good = (bench.device.toolchain.command, bench.device.toolchain.link)
    both = [((str(broken),), (str(broken),)), good]
    monkeypatch.setattr(toolchain, "Deadline", ShortOfTime)
    monkeypatch.setattr(toolchain, "candidates", lambda: iter(both))
    monkeypatch.delenv("WEFT_CLANG", raising=False)
    monkeypatch.delenv("WEFT_CPU_ARCH", raising=False)  # the broken one knows no level
    with settings.override(CACHE=0), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert toolchain.find_toolchain().command == good[0]
        assert [str(broken) in str(one.message) for one in said] == [True] * ("hangs" in fault)
        del both[1]
        toolchain.find_toolchain.cache_clear()
        with pytest.raises(DeviceUnavailable) as caught:
            toolchain.find_toolchain()
    assert str(broken) in caught.value.because and words in caught.value.because


def test_a_folder_is_no_compiler(monkeypatch, tmp_path):
    (tmp_path / "clang").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("WEFT_CLANG", raising=False)
    assert str(tmp_path) not in str(list(toolchain.candidates()))
    monkeypatch.setenv("WEFT_CLANG", str(tmp_path / "clang"))
    with pytest.raises(DeviceUnavailable) as caught:
        toolchain.find_toolchain()
    assert "ermission" in caught.value.because


def test_a_missing_compiler_names_the_package_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("WEFT_CLANG", raising=False)
    monkeypatch.setattr(toolchain.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DeviceUnavailable) as caught:
        toolchain.find_toolchain()
    assert "pip install" in caught.value.try_


def test_answers_are_kept(monkeypatch, bench):
    chosen = " ".join(bench.device.toolchain.command)
    monkeypatch.setenv("WEFT_CLANG", chosen)
    first = toolchain.find_toolchain()
    toolchain.find_toolchain.cache_clear()
    monkeypatch.setattr(toolchain, "_ask", lambda *_: pytest.fail("asked twice"))
    assert toolchain.find_toolchain() == first


def test_capabilities_follow_the_facts(bench):
    facts = toolchain.Facts("clang version 99", True, False, 32, 16, True, ())
    compute = describe(toolchain.Toolchain(("c",), ("c",), facts, "print")).compute
    assert dtypes.float16 in compute.dtypes
    assert dtypes.bfloat16 not in compute.dtypes
    assert compute.vector_widths[dtypes.float32] == (8, 4, 2)
    assert compute.vector_widths[dtypes.uint8][0] == 32
    assert (compute.vector_bytes, compute.vector_registers) == (32, 16)


def test_facts_of_other_processors():
    assert toolchain._vectors({"__AVX512F__", "__AVX__", "__SSE2__"}) == (64, 32)
    assert toolchain._vectors({"__SSE2__"}) == (16, 16)
    assert toolchain._vectors({"__ARM_NEON"}) == (16, 32)
    assert toolchain._vectors(set()) == (0, 16)


def test_tuning_results_are_keyed_by_processor(monkeypatch):
    """A virtual machine may say the same name and flags of all of them."""
    here = """\
vendor_id : AuthenticAMD
cpu family : 25
model : 17
model name : EPYC
stepping : 1
cpu MHz : 2596.1
cache size : 1024 KB
flags : fma avx512f
"""
    again = here.replace("2596.1", "3000.0")
    others = [here.replace("family : 25", "family : 26"), here.replace("model : 17", "model : 2"),
              here.replace("1024 KB", "512 KB"), here.replace(" fma", "")]  # fmt: skip
    said = []
    for text in (here, again, *others):
        monkeypatch.setattr(toolchain.Path, "read_text", lambda self, text=text: text)
        said.append(toolchain.processor_text.__wrapped__())
    assert said[0] == said[1] and len(set(said)) == 1 + len(others)


def test_processors_that_look_far_are_not_asked_to(bench):
    facts = bench.device.toolchain.facts
    for far in (False, True):
        statement = clang_renderer(replace(facts, cross_page_prefetch=far)).prefetch(
            PREFETCH_STREAM, "data0"
        )
        assert ("prefetch" in statement) is not far
    assert toolchain._decoded(
        json.dumps(asdict(replace(facts, cross_page_prefetch=True))).encode()
    ).cross_page_prefetch


def empty_object():
    """An object without a section, for the processor of this process."""
    own = elf.own_architecture()
    return ObjectWriter(own.machine if own else 0).finished()


@pytest.mark.parametrize("lacks", ["_Float16", "__bf16", "vpdpwssd512", "nothing"])
def test_combined_compiler_queries_have_separate_answers(monkeypatch, lacks):
    """One run makes most queries; where it fails, each is run alone."""

    def answered(command, source="", seconds=0):
        if "--version" in command:
            return b"clang version 22.1.8"
        if "-dM" in command:
            names = ("clang", "AVX512F", "AVX", "SSE2", "FMA", "AVX512BF16", "AVX512VNNI")
            return "".join(f"#define __{name}__ 1\n" for name in names).encode()
        if lacks in source:
            raise toolchain.CompileError("no such thing")
        return empty_object()

    monkeypatch.setattr(process, "run", answered)
    facts = toolchain._ask(("clang",))
    assert facts.half == (lacks != "_Float16")
    assert facts.bfloat16 == (lacks != "__bf16")
    without = {"vpdpwssd512": "int16", "__bf16": "bfloat16"}.get(lacks)  # its probe says __bf16
    assert facts.pairs == tuple(kind for kind in ("bfloat16", "int16", "uint8") if kind != without)
    assert ("-ffloat16-excess-precision=none" in facts.flags) == facts.half
    assert ("-fbfloat16-excess-precision=none" in facts.flags) == facts.bfloat16


def test_the_longest_vectors_are_not_split(bench):
    """As clang does for some processors of its own accord, which leaves half of the units idle."""
    tools = bench.device.toolchain
    if tools.facts.vector_bytes != 64:
        pytest.skip("this processor has no vectors of 512 bits")
    source = (
        "typedef float v __attribute__((ext_vector_type(16)));\nvoid f(v *a, v *b) { *a += *b; }\n"
    )
    text = run((*tools.arguments, "-S", "-x", "c", "-", "-o", "-"), source).decode()
    assert "%zmm" in text and "%ymm" not in text


@pytest.mark.parametrize(
    ("names", "told"), [(("AVX512F",), True), (("AVX512F", "znver4"), False), (("AVX",), False)]
)
def test_vector_width_flag_where_clang_may_split_vectors(names, told, monkeypatch):
    """A flag for all functions would override the attribute of one of them."""

    def answered(command, source="", seconds=0):
        if "--version" in command:
            return b"clang version 22.1.8"
        if "-dM" in command:
            return "".join(f"#define __{name}__ 1\n" for name in ("clang", *names)).encode()
        return empty_object()

    monkeypatch.setattr(process, "run", answered)
    assert ("-mprefer-vector-width=512" in toolchain._ask(("clang",)).flags) == told


def test_vectors_that_are_put_on_the_stack_are_aligned(bench):
    """More are alive than registers hold: each is kept where no two lines share it."""
    tools = bench.device.toolchain
    lanes = 16
    names = [f"v{i}" for i in range(40)]
    loads = "".join(f"v {name} = p[{i}];" for i, name in enumerate(names))
    steps = "".join(f"{name} = {name} * {other} + 1;" for name, other in zip(names, names[1:]))
    stores = "".join(f"p[{i}] = {name};" for i, name in enumerate(names))
    source = (
        f"typedef float v __attribute__((ext_vector_type({lanes}), aligned(4)));\n"
        f"void f(v *p, int n) {{ {loads} for (int i = 0; i < n; i++) {{ {steps} }} {stores} }}\n"
    )
    said = run((*tools.arguments, "-S", "-x", "c", "-", "-o", "-"), source).decode()
    if "zmm" not in said and "ymm" not in said:
        pytest.skip("vectors are no wider than what a stack is aligned to")
    assert "-byte Spill" in said
    loose = [line for line in said.splitlines() if "vmovup" in line and "Spill" in line]
    assert not loose
