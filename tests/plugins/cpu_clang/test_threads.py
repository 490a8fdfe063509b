"""Kernels that threads share: all parts once, the same bits, fork, several launches at once."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from weft import Tensor
from weft.engine import lower_schedule_item
from weft.plugin import ArgumentError, CompiledProgram, Estimates, LinearProgram, dtypes
from weft.schedule import create_schedule_with_vars, kernelize_map
from weft.uop import Ops, UOp
from weft_cpu_clang import threads
from weft_cpu_clang.binary import load
from weft_cpu_clang.runner import IN_ROW_FROM, FunctionRunner, parts_of

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="kernels are shared by threads on Linux only"
)
COUNTS = (2, 3, 7)

NESTED = """
typedef long long word;
typedef void kernel(const word*, word, word);
typedef void pool(kernel*, const word*, word);
static void inner(const word* a, word part, word parts) {
  _Atomic int* turns = (_Atomic int*)a[1];
  for (word i = 100 * part / parts; i < 100 * (part + 1) / parts; i++) ++*turns;
}
void outer(const word* a, word part, word parts) {
  pool* spread = (pool*)a[0];
  for (word i = 8 * part / parts; i < 8 * (part + 1) / parts; i++) spread(inner, a, 5);
}
"""

TAKEN = """
void taken(const long long* a, long long part, long long parts) {
  for (volatile int turn = 0; turn < 2000; turn++) {}
  ++((_Atomic int*)a[0])[part];
}
"""


@pytest.fixture(scope="module")
def pools(bench):
    """Pools of several sizes in addition to that of the process."""
    found = {count: threads.ThreadPool(bench.device.toolchain, count) for count in COUNTS}
    yield found
    for pool in found.values():
        pool.stop()


def counting(end):
    """data0[i] += i + 1 for every i of a grid."""
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(1000), (), 0)
    index = UOp(Ops.SPECIAL, dtypes.int, (end,), "gidx0")
    place = out.index(index)
    store = place.store(place.load() + index + 1)
    return [u for u in UOp.sink(store).toposort() if u.op is not Ops.SINK]


def compiled(bench, name, nodes, ops=10**9):
    program = LinearProgram.of(name, nodes, estimates=Estimates(ops=ops))
    source = bench.renderer.render(program)
    return CompiledProgram(name, bench.compiler.compile(source, name), source, program)


@pytest.mark.parametrize("count", [1, *COUNTS])
def test_every_turn_is_done_once(bench, pools, count):
    program = compiled(bench, "counting", counting(UOp.variable("n", 1, 1000)))
    run = FunctionRunner(program, pools.get(count))
    assert run.parts == (1 if count == 1 else 4 * count)
    for n in (1, 3, 1000):
        out = bench.memory(bytes(4000))
        for _ in range(3):
            run([out], values=(n,))
        found = np.frombuffer(out.window, np.int32)
        np.testing.assert_array_equal(found[:n], 3 * np.arange(1, n + 1))
        assert not found[n:].any()


def test_short_kernels_have_one_part():
    uops = counting(UOp.const(dtypes.int, 1000))
    short = LinearProgram.of("k", uops, estimates=Estimates(ops=1000, bytes=4000))
    assert parts_of(short, 8) == 1
    long = LinearProgram.of("k", uops, estimates=Estimates(ops=10**9))
    assert parts_of(long, 8) == 32 and parts_of(long, 1) == 1
    few = LinearProgram.of("k", counting(UOp.const(dtypes.int, 3)), estimates=Estimates(ops=10**9))
    assert parts_of(few, 8) == 3


def test_kernels_in_a_row_are_shared_sooner():
    uops = counting(UOp.const(dtypes.int, 1000))
    between = LinearProgram.of("k", uops, estimates=Estimates(ops=64 * (IN_ROW_FROM + 1)))
    assert parts_of(between, 2) == 1 and parts_of(between, 2, in_row=True) == 4
    short = LinearProgram.of("k", uops, estimates=Estimates(ops=64 * (IN_ROW_FROM - 1)))
    assert parts_of(short, 2, in_row=True) == 1


@pytest.mark.parametrize("parts", [2, 3, 5, 8, 100])
def test_threads_begin_with_parts_that_follow_one_another(bench, pools, parts):
    """Every part is done once, by any thread, in sequences of launches too."""
    code = load(bench.compiler.compile(TAKEN, "taken"), "taken")
    attend = ctypes.CFUNCTYPE(None, ctypes.c_int64)
    for pool in pools.values():
        done = (ctypes.c_int32 * parts)()
        words = (ctypes.c_int64 * 1)(ctypes.addressof(done))
        row = attend(pool.attend)
        for turn in range(3):
            row(parts)
            pool.spread(code.address("taken"), words, parts)
            row(0)
            assert list(done) == [turn + 1] * parts


def cases():
    """(name, operand, function)"""
    x = Tensor(np.random.default_rng(4).standard_normal((257, 1024)).astype(np.float32), "CPU")
    yield "softmax", x, lambda t: t.softmax(-1)
    yield "columns", x, lambda t: t.sum(0)
    yield "matmul", x, lambda t: t @ t.T
    yield "turned", x, lambda t: (t.T + 0.5).contiguous()
    yield "total", x, lambda t: (t * t).sum()


@pytest.mark.parametrize(
    "name,x,function", list(cases()), ids=lambda v: v if isinstance(v, str) else ""
)
def test_any_number_of_threads_gives_the_same_bits(pools, name, x, function):
    x.realize()
    sink = UOp.sink(function(x).uop)
    items, _ = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))
    shared, found = False, set()
    for pool in (None, *pools.values()):
        for item in items:
            step = lower_schedule_item(item)
            own = FunctionRunner(step.prg.p, pool)
            shared |= own.parts > 1
            own([step.bufs[slot].handle for slot in step.prg.slots])
        last = step.bufs[0]
        found.add(bytes(last.as_memoryview()))
    assert shared, "no kernel of it is long enough to be shared"
    assert len(found) == 1


def test_launches_from_several_threads_of_python(bench, pools):
    program = compiled(bench, "counting", counting(UOp.const(dtypes.int, 1000)))
    run = FunctionRunner(program, pools[3])
    outs = [bench.memory(bytes(4000)) for _ in range(4)]

    def work(out):
        for _ in range(300):
            run([out])

    several = [threading.Thread(target=work, args=(out,)) for out in outs]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    for out in outs:
        np.testing.assert_array_equal(np.frombuffer(out.window, np.int32), 300 * np.arange(1, 1001))


def test_a_launch_inside_of_a_shared_kernel(bench, pools):
    code = load(bench.compiler.compile(NESTED, "outer"), "outer")
    turns = ctypes.c_int(0)
    words = (ctypes.c_int64 * 2)(pools[3].address, ctypes.addressof(turns))
    for _ in range(50):
        pools[3].spread(code.address("outer"), words, 8)
    assert turns.value == 50 * 8 * 100


def test_after_the_pool_has_ended_launches_go_on_alone(bench):
    pool = threads.ThreadPool(bench.device.toolchain, 3)
    run = FunctionRunner(compiled(bench, "counting", counting(UOp.const(dtypes.int, 1000))), pool)
    out = bench.memory(bytes(4000))
    run([out])
    pool.stop()
    run([out])
    pool.stop()
    np.testing.assert_array_equal(np.frombuffer(out.window, np.int32), 2 * np.arange(1, 1001))


FORKING = """
import multiprocessing, os, sys, threading, time
import numpy as np
from weft import Tensor, jit
x = Tensor(np.ones((512, 1024), np.float32), "CPU").realize()

def total(_=None):
    return float((x * 2).exp().sum().item())

def threads():
    return len(os.listdir("/proc/self/task"))

def come_to(number):
    # a thread that Python has joined, one that compiled, may not have left the system's list yet
    until = time.monotonic() + 20
    while threads() != number and time.monotonic() < until:
        time.sleep(0.01)
    return threads() == number

def child_threads():
    # those of a child that does nothing: one, and an emulator's own
    child = os.fork()
    if not child:
        os._exit(threads())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

idle = child_threads()
before = threads()  # NumPy may have some
first = total()
assert come_to(before + 2), (before, threads())
child = os.fork()
if not child:
    alone = threads()
    os._exit(0 if alone == idle and total() == first and come_to(idle + 2) else 1)
assert os.waitpid(child, 0)[1] == 0
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(total, range(4)) == [first] * 4
assert total() == first

# threads that compute while the process forks, and still when the interpreter ends
captured = jit(lambda a: (a * 2).exp().sum().realize())
assert [captured(x).item() for _ in range(3)] == [first] * 3

def always(function):
    for _ in range(10**6):
        function()

for function in (total, lambda: captured(x).item()):
    threading.Thread(target=always, args=(function,), daemon=True).start()
for _ in range(4):
    child = os.fork()
    if not child:
        os._exit(0 if [total(), captured(x).item()] == [first] * 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
total()
print("done")
"""


def test_fork_and_the_end_of_the_interpreter():
    done = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=120,
        env={**os.environ, threads.VARIABLE: "3"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"


def test_the_number_of_threads(monkeypatch):
    monkeypatch.delenv(threads.VARIABLE, raising=False)
    assert threads.wanted() == threads.available() >= 1
    monkeypatch.setenv(threads.VARIABLE, "5")
    assert threads.wanted() == 5
    for wrong in ("0", "-1", "many", "1000", "2.5", "\N{SUPERSCRIPT TWO}"):
        monkeypatch.setenv(threads.VARIABLE, wrong)
        with pytest.raises(ArgumentError, match=threads.VARIABLE):
            threads.wanted()


def test_workers_keep_to_the_processors_of_the_process(bench):
    before = set(os.listdir("/proc/self/task"))
    pool = threads.ThreadPool(bench.device.toolchain, 3)
    program = compiled(bench, "counting", counting(UOp.const(dtypes.int, 999)))
    run, out = FunctionRunner(program, pool), bench.memory(bytes(4000))
    try:
        for _ in range(300):
            run([out])
        workers = set(os.listdir("/proc/self/task")) - before
        assert len(workers) >= 2
        allowed = os.sched_getaffinity(0)
        for worker in workers:
            # one that shared the processor of this thread keeps off that processor
            kept = os.sched_getaffinity(int(worker))
            assert kept <= allowed and len(kept) >= max(len(allowed) - 1, 1)
    finally:
        pool.stop()
    found = np.frombuffer(out.window, np.int32)[:999]
    np.testing.assert_array_equal(found, 300 * np.arange(1, 1000))
