"""A compiler that crashes, hangs or is cut off, for one kernel or for all."""

from __future__ import annotations

import dataclasses
import os
import time

import pytest

from weft import Tensor
from weft.base.settings import settings
from weft.device import registry
from weft.engine.programs import forget_programs
from weft.plugin import CompileError
from weft_cpu_clang import compiler, process
from weft_cpu_clang.compiler import ClangCompiler
from weft_cpu_clang.process import TimedOut

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fake compiler is a shell script")


@pytest.fixture
def wrapped(tmp_path, bench):
    """``wrapped(script)``: the real compiler behind a script; `$real` in it is its command."""

    def make(script):
        tools = bench.device.toolchain
        path = tmp_path / "wrapped"
        real = " ".join(f"'{word}'" for word in tools.command)
        path.write_text("#!/bin/sh\n" + script.replace("$real", f'{real} "$@"') + "\n")
        path.chmod(0o755)
        return dataclasses.replace(tools, command=(str(path),), link=(str(path),))

    return make


SOURCE = "void f(int *a) { a[0] += 1; }\n"


def test_warnings_do_not_matter(wrapped):
    tools = wrapped("echo 'warning: what a day' >&2\n$real")
    assert ClangCompiler(tools).compile(SOURCE, "f")


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "script,words",
    [
        ("kill -SEGV $$", "SIGSEGV"),
        ("kill -KILL $$", "SIGKILL"),
        ("exit 7", "status 7"),
        ("echo 'error: no' >&2; exit 1", "error: no"),
    ],
)
def test_a_failure_says_how_it_ended(wrapped, script, words, shared):
    with pytest.raises(CompileError) as caught:
        ClangCompiler(wrapped(script), shared).compile(SOURCE, "f")
    error = caught.value
    assert words in f"{error.summary} {error.because}" and error.asked == "kernel f"
    assert error.source == SOURCE


@pytest.mark.parametrize("script", [":", "$real | head -c 300", "echo text", "$real; echo more"])
def test_invalid_object_files_are_refused(wrapped, script):
    tools = wrapped(script)
    try:
        made = ClangCompiler(tools, shared=False).compile(SOURCE, "f")
    except CompileError as error:
        assert error.asked == "kernel f" and error.try_
    else:
        assert "more" in script and made  # bytes after an object are ignored


def test_one_that_hangs_is_ended_with_its_children(wrapped, monkeypatch, tmp_path):
    child = tmp_path / "child"
    tools = wrapped(f"cat > /dev/null; sleep 1000 & echo $! > {child}; wait")
    with pytest.raises(TimedOut) as caught:
        process.run(tools.command, SOURCE, 1.0)
    error = caught.value
    assert "1 s" in error.summary and error.because and error.try_ and error.source == SOURCE
    if child.exists():  # it may have been ended before
        assert ends(child.read_text().strip())


def ends(process_id):
    """Whether a process ends; a busy system may take a while."""
    for _ in range(600):
        try:
            with open(f"/proc/{process_id}/stat") as stat:
                state = stat.read().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.1)
    return False


def test_patience_ends_where_it_hangs_again_and_again(wrapped, monkeypatch):
    limits = []

    def hangs(command, source="", seconds=0):
        limits.append(seconds)
        raise TimedOut("it hangs")

    monkeypatch.setattr(compiler, "run", hangs)
    made = ClangCompiler(wrapped("exit 0"), shared=False)
    for _ in range(4):
        with pytest.raises(CompileError):
            made.compile(SOURCE, "f")
    assert limits == [process.SECONDS] * 2 + [process.PROBE_SECONDS] * 2


def test_a_crash_at_one_kernel_leaves_the_others(wrapped, monkeypatch, tmp_path, bench):
    tools = wrapped(
        'text=$(cat)\ncase "$text" in *7.0f*) kill -SEGV $$ ;; esac\n'
        "printf '%s\\n' \"$text\" | $real"
    )
    monkeypatch.setitem(registry.open("CPU").__dict__, "compiler", ClangCompiler(tools))
    x = Tensor([1.0, 2.0, 3.0], device="CPU").realize()
    with settings.override(CACHE_DIR=str(tmp_path / "cache")):
        forget_programs()
        good, bad, other = x + 5, x * 7, x.sum()
        with pytest.raises(CompileError, match="SIGSEGV"):
            Tensor.realize(good, bad, other)
        assert good.tolist() == [6, 7, 8] and other.item() == 6
        with pytest.raises(CompileError, match="SIGSEGV"):
            bad.tolist()
        monkeypatch.undo()
        forget_programs()
        assert bad.tolist() == [7, 14, 21]
    forget_programs()
