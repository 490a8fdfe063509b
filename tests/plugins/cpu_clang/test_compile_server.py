"""A process of clang that compiles many sources: the objects of single runs, faults, forks."""

from __future__ import annotations

import dataclasses
import gc
import os
import select
import signal
import subprocess
import sys
import threading

import pytest

from weft.plugin import CompileError
from weft_cpu_clang import compile_server
from weft_cpu_clang.compile_server import CompileServers
from weft_cpu_clang.compiler import ClangCompiler
from weft_cpu_clang.process import run
from weft_cpu_clang.translation_units import FLAGS, separated

SOURCE = "void f(int *a) { for (int i = 0; i < 64; i++) a[i] = a[i] * %d + 1; }\n"
TABLE = "static const float t[4] = {1, 2, 3, 4};\nvoid f(float *a, int i) { a[i] = t[i]; }\n"
LONG = f"/* {'more than a pipe holds' * 10_000} */\n{SOURCE % 7}"


def one_run(toolchain, source):
    return run((*toolchain.arguments, *FLAGS, "-c", "-x", "c", "-", "-o", "-"), source)


@pytest.fixture
def toolchain(bench):
    found = bench.device.toolchain
    if bench.compiler.shared or not compile_server._front_end(found, FLAGS):
        pytest.skip("no servers for this compiler")
    return found


POLL = select.poll


class LatePoll:
    """Polls when all has happened that may happen."""

    def __init__(self):
        self._poll = POLL()
        self.register, self.unregister = self._poll.register, self._poll.unregister

    def poll(self, milliseconds):
        threading.Event().wait(0.2)
        return self._poll.poll(milliseconds)


def by_run():
    """What is given where a run of the compiler is used."""
    return b"by a run"


def refused():
    raise CompileError("no")


class Servers(CompileServers):
    """`by_server` is what a server gives, None where there is a run."""

    def by_server(self, source, run=by_run):
        answer = self.compile(source, run)
        return None if answer == by_run() else answer


@pytest.fixture
def servers(toolchain):
    made = Servers(toolchain, FLAGS)
    assert made.by_server(SOURCE % 0) is None  # the first one of a process starts none
    yield made
    compile_server._end_all(made._idle)


def test_objects_are_those_of_single_runs(servers, toolchain):
    first = compile_server._SOURCES - 3
    used = set()
    for number in range(first):
        assert servers.by_server(SOURCE % number)
        used |= {server._process.pid for server in servers._idle}
    for source in (SOURCE % 1, TABLE, LONG, SOURCE % 2, TABLE):
        made = servers.by_server(source)
        used |= {server._process.pid for server in servers._idle}
        assert made is not None and separated(made) == separated(one_run(toolchain, source))
    assert len(used) == 2  # the first one until its inputs were used


def test_a_server_may_end_before_its_last_object_is_read(servers, monkeypatch):
    for number in range(compile_server._SOURCES - 1):
        assert servers.by_server(SOURCE % number)
    monkeypatch.setattr(compile_server.select, "poll", LatePoll)
    assert servers.by_server(SOURCE % 99) and not servers._idle


@pytest.mark.parametrize("source", ["void f(", "#error no\n", "#include <none.h>\n", ""])
def test_an_error_is_that_of_a_run(toolchain, source):
    compiler = ClangCompiler(toolchain, shared=False)
    compiler.compile(SOURCE % 1, "f")
    with pytest.raises(CompileError) as caught:
        compiler.compile(source, "f")
    assert caught.value.asked == "kernel f" or not source
    assert compiler.compile(SOURCE % 2, "f")


def test_a_server_that_was_killed_is_replaced(servers):
    assert servers.by_server(SOURCE % 1)
    servers._idle[0]._process.kill()
    servers._idle[0]._process.wait()
    assert servers.by_server(SOURCE % 2) is None and not servers._idle
    assert servers.by_server(SOURCE % 2)


def test_a_server_that_does_not_answer_is_ended(servers, monkeypatch):
    assert servers.by_server(SOURCE % 1)
    process = servers._idle[0]._process
    os.kill(process.pid, signal.SIGSTOP)
    monkeypatch.setattr(compile_server, "_PATIENCE", 0.05)
    assert servers.by_server(SOURCE % 2) is None
    assert process.returncode == -signal.SIGKILL


def test_few_failures_end_the_use_of_servers(servers):
    for _ in range(compile_server._FAILURES):
        with pytest.raises(CompileError):
            servers.by_server("void f(", refused)
    assert servers.by_server(SOURCE % 1)  # the sources were wrong
    for _ in range(compile_server._FAILURES):
        assert servers.by_server("void f(") is None
    assert servers.by_server(SOURCE % 1) is None and not servers._idle


def test_no_files_stay_open(servers, toolchain):
    gc.collect()  # what other tests left
    assert servers.by_server(SOURCE % 1)
    compile_server._end_all(servers._idle)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        assert servers.by_server(SOURCE % 1)
        compile_server._end_all(servers._idle)
    assert len(os.listdir("/proc/self/fd")) == before
    other = Servers(toolchain, FLAGS)
    assert other.by_server(SOURCE % 1) is None and other.by_server(SOURCE % 1)
    del other
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_where_no_file_can_be_opened_none_starts(servers, monkeypatch):
    pipe, made = os.pipe, []

    def few():
        if len(made) == 4:
            raise OSError(24, "Too many open files")
        made.append(pipe())
        return made[-1]

    monkeypatch.setattr(compile_server.os, "pipe", few)
    assert servers.by_server(SOURCE % 1) is None
    for file in sum(made, ()):
        with pytest.raises(OSError):
            os.fstat(file)


def test_threads_have_a_server_each(servers, toolchain):
    expected = [separated(one_run(toolchain, SOURCE % i)) for i in range(4)]
    made = {}

    def work(number):
        made[number] = [servers.by_server(SOURCE % number) for _ in range(3)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, objects in made.items():
        assert all(separated(one) == expected[number] for one in objects)
    assert len(servers._idle) <= compile_server._IDLE


def test_a_forked_child_leaves_the_servers_to_its_parent(servers):
    assert servers.by_server(SOURCE % 1)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(writer)
            os.read(reader, 1)  # until the parent has used its server
        finally:
            os._exit(int(bool(compile_server._running)))
    os.close(reader)
    assert servers.by_server(SOURCE % 2) and servers._idle
    os.close(writer)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


PROGRAM = """
import os, signal
from weft_cpu_clang.compile_server import CompileServers
from weft_cpu_clang.toolchain import find_toolchain
servers = CompileServers(find_toolchain())
for _ in range(2):
    servers.compile("void f(void) {}", lambda: b"")
print(servers._idle[0]._process.pid, flush=True)

"""


@pytest.mark.parametrize("end", ["", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_servers_end_with_their_process(toolchain, end):
    said = subprocess.run([sys.executable, "-c", PROGRAM + end], capture_output=True)
    pid = int(said.stdout)
    for _ in range(1000):
        if not is_running(pid):
            return
        threading.Event().wait(0.01)
    raise AssertionError("it runs")


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_command_that_is_no_clang_has_none(toolchain, tmp_path, monkeypatch):
    script = tmp_path / "wrapped"
    words = " ".join(toolchain.command)
    script.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    script.chmod(0o755)
    wrapped = dataclasses.replace(toolchain, command=(str(script),))
    servers = Servers(wrapped, FLAGS)
    assert [servers.by_server(SOURCE % 1) for _ in range(3)] == [None] * 3
