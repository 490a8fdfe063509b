"""Several sources in one run of the compiler, and no run at all where all is known."""

from __future__ import annotations

import ctypes
import subprocess

import pytest

from weft import Tensor
from weft.base.settings import settings
from weft.engine import forget_programs
from weft.plugin import CompileError, LinearProgram, Ops, SourceText, UOp, dtypes
from weft_cpu_clang import elf, translation_units
from weft_cpu_clang.compile_server import CompileServers
from weft_cpu_clang.compiler import ClangCompiler
from weft_cpu_clang.renderer import ClangRenderer, clang_dialect
from weft_cpu_clang.toolchain import find_toolchain

_TYPES = "typedef float v __attribute__((ext_vector_type(4), aligned(4)));\n"
_HELPER = "static inline v twice(v a) { return a * (v)(%d.5f); }\n"
_KERNEL = """\
void f(float* restrict a) {
  *(v*)a = twice(*(v*)(a + 4)) * (v)(%d.0f) + (v){0.25f, 1.0f, %d.0f, 9.0f};
  a[8] *= 3.0f;
}
void f_part(const long long* words,
    const long long part) {
  f((float*)words[part]);
}
"""
SOURCES = [
    (SourceText(_TYPES + _HELPER % n + _KERNEL % (n + 1, n), ["twice"], ["f", "f_part"]), "f")
    for n in range(3)
]
"""Kernels that are called alike, as are their helpers, which differ."""

needs_objects = pytest.mark.skipif(
    not elf.loads_here(),
    reason="objects load on Linux only: libraries are linked alone",
)


@pytest.fixture
def started(monkeypatch):
    """The processes that are started, by their command lines: one for each translation unit."""
    found, start = [], subprocess.Popen.__init__

    def counted(self, arguments, *rest, **named):
        found.append(arguments)
        start(self, arguments, *rest, **named)

    monkeypatch.setattr(subprocess.Popen, "__init__", counted)
    monkeypatch.setattr(CompileServers, "compile", lambda self, source, run: run())
    return found


@needs_objects
def test_combined_compilation_equals_separate_compilation(started):
    compiler = ClangCompiler(find_toolchain())
    started.clear()
    together = compiler.compile_many(SOURCES)
    assert len(started) == 1
    assert together == [compiler.compile(*one) for one in SOURCES]


@needs_objects
def test_each_has_its_own_function_and_helper():
    binaries = ClangCompiler(find_toolchain()).compile_many(SOURCES)
    for n, binary in enumerate(binaries):
        loaded = elf.LoadedObject(binary)
        memory = (ctypes.c_float * 12)(*range(12))
        words = (ctypes.c_int64 * 2)(0, ctypes.addressof(memory))
        kinds = (ctypes.c_void_p, ctypes.c_int64)
        ctypes.CFUNCTYPE(None, *kinds)(loaded.address("f_part"))(ctypes.addressof(words), 1)
        lanes = zip((4, 5, 6, 7), (0.25, 1.0, n, 9.0), strict=True)
        assert memory[:4] == [x * (n + 0.5) * (n + 1) + more for x, more in lanes]
        assert memory[8] == 24.0
        assert b"_of_source_" not in binary


@needs_objects
def test_constants_of_others_are_left_out():
    text = "void f(float* a) {{ *a = *a * {0}.125f + {0}.75f; }}"
    many = [(SourceText(text.format(n), entries=["f"]), "f") for n in range(1, 40)]
    compiler = ClangCompiler(find_toolchain())
    found = compiler.compile_many(many)
    assert found == [compiler.compile(*one) for one in many]
    lengths = [len(binary) for binary in found]
    assert max(lengths) - min(lengths) <= 16, "a few instructions: some constants are immediate"


@needs_objects
def test_tables_of_jumps_and_functions_of_the_library_come_along():
    source = """
extern double cbrt(double);
static const int table[5] = {3, 1, 4, 1, 5};
static __attribute__((noinline)) int g(int i) { return table[i % 5]; }
double f(int i) {
  switch (i) { case 0: return cbrt(27.0 + i); case 1: return g(i + 1); case 2: return cbrt(i + 6);
               case 3: return 5.5; case 4: return g(i) * 2.5; case 5: return -1.0; }
  return g(i);
}
"""
    texts = (source.replace("3, 1, 4", "2, 7, 1"), source)
    both = [(SourceText(text, ["g"], ["f"]), "f") for text in texts]
    compiler = ClangCompiler(find_toolchain())
    found = compiler.compile_many(both)
    assert found == [compiler.compile(*one) for one in both]
    loaded = [elf.LoadedObject(one) for one in found]
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int)
    f = [kind(one.address("f")) for one in loaded]
    assert [f[0](i) for i in range(8)] == pytest.approx([3, 1, 2, 5.5, 12.5, -1, 7, 1])
    assert [f[1](i) for i in range(8)] == pytest.approx([3, 4, 2, 5.5, 12.5, -1, 1, 4])


@needs_objects
def test_sources_that_do_not_go_together_are_compiled_one_by_one(started):
    """A variable of a file is given no ending: the two are one name twice."""
    text = "static int kept = {}; int f(void) {{ return kept++; }}"
    both = [(SourceText(text.format(n), entries=["f"]), "f") for n in (3, 4)]
    compiler = ClangCompiler(find_toolchain())
    started.clear()
    found = [elf.LoadedObject(one) for one in compiler.compile_many(both)]
    assert len(started) == 3
    calls = [ctypes.CFUNCTYPE(ctypes.c_int)(one.address("f")) for one in found]
    assert [call() for call in calls for _ in range(2)] == [3, 4, 4, 5]


def test_functions_and_entries_are_given_an_ending():
    source = SOURCES[0][0]
    lines = translation_units.joined([source, source]).splitlines()
    defined = [line.split()[1] for line in lines if line.startswith("#define")]
    assert defined == ["twice", "f", "f_part"] * 2
    assert [line.split()[1] for line in lines if line.startswith("#undef")] == defined


def test_kernels_state_their_functions():
    """Of a division among threads: its helper, the kernel and the entry point."""
    index = UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 8),), "gidx0")
    a, b = (UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(8), (), slot) for slot in (1, 2))
    quotient = UOp(Ops.IDIV, dtypes.int, (a.index(index).load(), b.index(index).load()))
    target = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(8), (), 0)
    nodes = list(target.index(index).store(quotient).toposort())
    source = ClangRenderer(clang_dialect()).render(LinearProgram.of("k", nodes))
    assert source.functions == ("div_i32",)
    assert source.entries == ("k", "k_part")


@needs_objects
def test_sources_without_names_are_compiled_one_by_one(started):
    compiler = ClangCompiler(find_toolchain())
    started.clear()
    assert all(compiler.compile_many([(str(source), name) for source, name in SOURCES]))
    assert len(started) == 3


@needs_objects
def test_an_object_without_the_functions_is_refused():
    binary = ClangCompiler(find_toolchain()).compile(*SOURCES[0])
    with pytest.raises(CompileError) as caught:
        translation_units.separated(binary, ["_of_source_7"])
    assert "_of_source_7" in (caught.value.because or "")


@needs_objects
def test_damage_is_refused_or_harmless(damaged_copies_of):
    """Any bytes of what the compiler wrote may be wrong."""
    binary = ClangCompiler(find_toolchain()).compile(*SOURCES[0])
    refused = 0
    for damaged in damaged_copies_of(binary, 5):
        try:
            translation_units.separated(damaged)
        except CompileError:
            refused += 1
    assert refused > 20


@needs_objects
def test_separating_a_single_object_changes_nothing():
    binary = ClangCompiler(find_toolchain()).compile(*SOURCES[1])
    assert translation_units.separated(binary) == [binary]


def test_libraries_are_linked_one_by_one(started):
    compiler = ClangCompiler(find_toolchain(), shared=True)
    assert all(compiler.compile_many(SOURCES[:2]))
    assert ["-shared" in command for command in started] == [False, True] * 2


def test_an_error_in_one_source_fails_the_run():
    compiler = ClangCompiler(find_toolchain())
    with pytest.raises(CompileError) as caught:
        compiler.compile_many([*SOURCES, ("void g( {", "g")])
    assert "error:" in caught.value.log


def test_a_second_start_runs_no_compiler(started, tmp_path):
    """Dropping the loaded programs simulates a new process, which reads the disk cache."""

    def results():
        x = Tensor.arange(12, device="CPU").reshape(3, 4).float()
        outs = [x.sum(1), (x * 2 + 1).exp(), x.permute(1, 0).contiguous(), x.cumsum(0)]
        outs[0].realize(*outs[1:])
        return [out.tolist() for out in outs]

    with settings.override(CACHE_DIR=str(tmp_path), BEAM=0):
        Tensor([1.0], device="CPU").realize()
        find_toolchain()
        forget_programs()
        started.clear()
        first, cold = results(), len(started)
        forget_programs()
        started.clear()
        assert results() == first and not started
    assert cold >= 1
    forget_programs()
