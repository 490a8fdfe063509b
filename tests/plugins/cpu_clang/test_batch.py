"""Several sources in one run of the compiler, and no run at all where all is known."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from weft import Tensor
from weft.base.settings import settings
from weft.engine import forget_programs
from weft.plugin import CompileError
from weft_cpu_clang import batch
from weft_cpu_clang.compiler import ClangCompiler
from weft_cpu_clang.toolchain import find_toolchain

SOURCES = [
    ("typedef float v __attribute__((ext_vector_type(4)));\n"
     f"void f{n}(float* restrict a) {{ *(v*)a = *(v*)(a + 4) * (v)({n}.0f); }}\n", f"f{n}")
    for n in range(3)
]  # fmt: skip


@pytest.fixture
def started(monkeypatch):
    """The processes that are started, by their command lines."""
    found, start = [], subprocess.Popen.__init__

    def counted(self, arguments, *rest, **named):
        found.append(arguments)
        start(self, arguments, *rest, **named)

    monkeypatch.setattr(subprocess.Popen, "__init__", counted)
    return found


def test_one_run_gives_what_each_source_gives_by_itself(started):
    compiler = ClangCompiler(find_toolchain())
    if compiler.shared or not batch.compiler_proper(compiler.toolchain):
        pytest.skip("this compiler takes one source at a time")
    started.clear()
    together = compiler.compile_many(SOURCES)
    assert len(started) == 1
    assert together == [compiler.compile(*one) for one in SOURCES]


def test_libraries_are_linked_one_by_one(started):
    compiler = ClangCompiler(find_toolchain(), shared=True)
    assert all(compiler.compile_many(SOURCES[:2]))
    assert len(started) == 2


def test_what_one_source_does_wrong_fails_the_run():
    compiler = ClangCompiler(find_toolchain())
    with pytest.raises(CompileError) as caught:
        compiler.compile_many([*SOURCES, ("void g( {", "g")])
    assert "error:" in caught.value.log


@pytest.mark.parametrize("command", [("true",), ("false",), ("no such program",)])
def test_a_compiler_that_takes_one_source_at_a_time_is_found_out(command, started, monkeypatch):
    """Whatever it does with several: it writes nothing, it refuses, or it cannot be run."""
    compiler = ClangCompiler(find_toolchain(), shared=False)
    monkeypatch.setattr(batch, "_known_or_asked", lambda toolchain: command)
    try:
        given = compiler.compile_many(SOURCES)
        assert given == [compiler.compile(*one) for one in SOURCES]
        started.clear()
        assert compiler.compile_many(SOURCES) == given
        assert len(started) == len(SOURCES)
    finally:
        batch._given_up.clear()


def test_a_command_without_its_files_takes_others():
    command = ("cc", "-cc1", "-O2", "-fdebug-compilation-dir=/x", "-o", "-", "-x", "c", "-")
    assert batch._without_files(command) == ("cc", "-cc1", "-O2", "-x", "c")
    assert batch._without_files(("cc", "-cc1", "-x", "c", "file.c")) == ()


def test_threads_that_want_the_command_at_once_have_it_asked_once(monkeypatch):
    asked, toolchain = [], find_toolchain()
    monkeypatch.setattr(batch, "DiskCache", lambda *name: SimpleNamespace(
        get=lambda key: None, put=lambda key, value: None))  # fmt: skip
    monkeypatch.setattr(batch, "_said", lambda command: asked.append(command) or ("cc", "-cc1"))
    monkeypatch.setattr(batch, "_without_files", lambda command: command)
    batch._known_or_asked.cache_clear()
    try:
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(batch.compiler_proper, [toolchain] * 8))
    finally:
        batch._known_or_asked.cache_clear()
    assert found == [("cc", "-cc1")] * 8 and len(asked) == 1


def test_a_second_start_runs_no_compiler(started, tmp_path):
    """Programs forgotten stand for a process begun anew: what is on disk serves it."""

    def results():
        x = Tensor.arange(12, device="CPU").reshape(3, 4).float()
        outs = [x.sum(1), (x * 2 + 1).exp(), x.permute(1, 0).contiguous(), x.cumsum(0)]
        outs[0].realize(*outs[1:])
        return [out.tolist() for out in outs]

    with settings.override(CACHE_DIR=str(tmp_path), BEAM=0):
        Tensor([1.0], device="CPU").realize()
        find_toolchain()
        batch.compiler_proper(find_toolchain())
        forget_programs()
        started.clear()
        first, cold = results(), len(started)
        forget_programs()
        started.clear()
        assert results() == first and not started
    assert cold >= 1
    forget_programs()
