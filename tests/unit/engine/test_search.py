"""WEFT_BEAM: what is found by trying, kept on disk, and never slower than the heuristic's."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

from weft import Tensor, Variable, jit
from weft.base import trace
from weft.base.settings import settings
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import Plan, by_heuristic
from weft.codegen.pipeline import loops_for
from weft.device import Device, DeviceFamily, Registry, registry
from weft.device.hookspecs import hookimpl
from weft.engine import (
    forget_programs,
    measurement_workers,
    program_for,
    search,
    stats,
    worker_main,
)
from weft.engine import tuning_database as database
from weft.engine.candidate_measurement import UNOPTIMIZED, Outcome
from weft.engine.search_budget import Budget
from weft.engine.worker_processes import Helper, HelperFailed, Helpers
from weft.testing import reference
from weft.uop import Ops

DEVICE = "REF"
BEST = Opt(OptKind.UNROLL, 1, 4)


def kernel_of(tensor):
    items, _ = tensor.schedule_with_vars()
    return [item for item in items if item.ast.op is Ops.SINK][-1].ast


def sums(rows=6, columns=32):
    return kernel_of(Tensor.empty(rows, columns, device=DEVICE).sum(1))


class Scripted:
    """Workers whose times and failures are made up; a built plan is the plan itself."""

    most_plain = 1e9

    def __init__(self, seconds, refused=(), wrong=(), crashes=()):
        self.seconds, self.refused = seconds, refused
        self.wrong, self.crashes = wrong, crashes
        self.timed, self.ended = [], False

    def built(self, plans):
        for plan in plans:
            yield "CompileError: no" if plan in self.refused else (repr(plan).encode(), plan)

    def expect(self, built, seconds):
        return ""

    def time(self, built, good):
        self.timed.append(built)
        if built in self.crashes:
            return "the process died by signal 11"
        if built in self.wrong:
            return Outcome((1e-9,), False, "element 0 is wrong")
        return Outcome((self.seconds(built),), True)

    def time_interleaved(self, several, seconds):
        return [self.seconds(built) for built in several]

    def end(self):
        self.ended = True


@pytest.fixture
def scripted(monkeypatch, tmp_path):
    """Search with a script in the place of a device, with a cache of its own."""

    def go(ast, width=1, kind=Scripted, **script):
        workers = kind(**script)
        monkeypatch.setattr(search, "workers_for", lambda *_: workers)
        return search.search(ast, registry.open(DEVICE), width), workers

    with settings.override(CACHE_DIR=str(tmp_path)):
        yield go


def by_length(plan):
    """The more is done, the faster, as long as the best is among it."""
    return 1.0 / (1 + len(plan.opts)) if BEST in plan.opts else 1.0


def test_it_goes_where_it_is_faster(scripted):
    found, workers = scripted(sums(), seconds=by_length)
    assert BEST in found.best.opts and len(found.best.opts) > 1
    assert found.best != found.heuristic and workers.ended
    assert found.ranked()[0].plan == found.best
    assert found.ranked()[0].seconds == by_length(found.best)


def test_equally_fast_plans_do_not_replace_the_heuristic(scripted):
    found, _ = scripted(sums(), seconds=lambda plan: 1.0)
    assert found.best == found.heuristic
    found, _ = scripted(sums(7), seconds=lambda plan: 0.98 if BEST in plan.opts else 1.0)
    assert found.best == found.heuristic


def test_failed_plans_are_noted_and_never_chosen(scripted):
    first, _ = scripted(sums(), seconds=by_length)
    shortest = first.best
    for script in ({"refused": (shortest,)}, {"wrong": (shortest,)}, {"crashes": (shortest,)}):
        database.cache.clear()
        found, _ = scripted(sums(), seconds=by_length, **script)
        assert found.best != shortest and found.best != found.heuristic
        (failed,) = (one for one in found.tries if one.plan == shortest)
        assert failed.seconds is None and failed.because


def test_without_anything_to_compare_with_the_heuristic_stays(scripted):
    loops = sums(11)
    heuristic = scripted(loops, seconds=by_length)[0].heuristic
    database.cache.clear()
    for script in ({"refused": (heuristic,)}, {"crashes": (heuristic,)}):
        found, workers = scripted(loops, seconds=by_length, **script)
        assert found.best == heuristic and found.notes and workers.ended
        database.cache.clear()


def test_a_workshop_that_breaks_down_ends_the_search(scripted):
    def broken(plan):
        if BEST in plan.opts:
            raise HelperFailed("nobody is left", lost=True)
        return 1.0

    found, workers = scripted(sums(), seconds=broken)
    assert found.best == found.heuristic and workers.ended
    assert any("nobody is left" in note for note in found.notes)


def test_the_last_word_is_that_of_runs_in_turn(scripted):
    first, _ = scripted(sums(), seconds=by_length)

    class Last(Scripted):
        answer = None

        def time_interleaved(self, several, seconds):
            assert several[0] == first.heuristic and first.best in several
            return self.answer(several)

    outcomes = []
    for answer in (
        lambda several: [1.0] * len(several),
        lambda several: [float("inf") if one == first.best else 1.0 for one in several],
        lambda several: "no answer within 10.0 s",
    ):
        Last.answer = staticmethod(answer)
        database.cache.clear()
        found, _ = scripted(sums(), kind=Last, seconds=by_length)
        assert found.best == found.heuristic
        outcomes.append([one.because for one in found.tries if one.seconds is None])
    assert outcomes == [[], ["it gives other results in some runs"], []]
    assert "no answer" in found.notes[-1]


def test_an_unconfirmed_plan_does_not_replace_the_heuristic(scripted):
    class Lucky(Scripted):
        turns = 0

        def time_interleaved(self, several, seconds):
            self.turns += 1
            if self.turns > 1:
                return [1.0] * len(several)
            return super().time_interleaved(several, seconds)

    found, workers = scripted(sums(), kind=Lucky, seconds=by_length)
    assert found.best == found.heuristic and workers.turns == 2


def test_plans_are_timed_in_alternation_or_a_reason_is_given(monkeypatch):
    plans = [Plan(), Plan((BEST,))]
    workers = Scripted(seconds=by_length)
    monkeypatch.setattr(search, "workers_for", lambda *_: workers)
    device = registry.open(DEVICE)
    assert search.time_interleaved(sums(), device, plans, 1.0) == [1.0, 0.5] and workers.ended
    workers.refused = (plans[1],)
    assert search.time_interleaved(sums(), device, plans, 1.0) == "CompileError: no"
    monkeypatch.setattr(workers, "expect", lambda *_: "no answer within 10.0 s")
    workers.refused, workers.ended = (), False
    why = search.time_interleaved(sums(), device, plans, 1.0)
    assert why == "no answer within 10.0 s" and workers.ended

    def nowhere(*_):
        raise HelperFailed("OutOfMemory: no room for it")

    monkeypatch.setattr(search, "workers_for", nowhere)
    assert "no room" in search.time_interleaved(sums(), device, plans, 1.0)


def test_results_are_stored_on_disk(scripted):
    found, workers = scripted(sums(), seconds=by_length)
    assert workers.timed
    again, workers = scripted(sums(), seconds=by_length)
    assert not workers.timed
    assert (again.best, again.heuristic, again.notes) == (found.best, found.heuristic, found.notes)
    assert again.tries == found.tries
    _, workers = scripted(sums(), width=2, seconds=by_length)  # another width is another search
    assert workers.timed
    with settings.override(CACHE=0):
        _, workers = scripted(sums(), seconds=by_length)
        assert workers.timed


def test_illegal_stored_plans_are_searched_again(scripted):
    ast, device = sums(), registry.open(DEVICE)
    scripted(ast, seconds=by_length)
    wrong = Plan((Opt(OptKind.LOCAL, 0, 4),))
    chosen = by_heuristic(loops_for(ast, device.target, True))
    stored = database.SearchResult(wrong, chosen, [database.Try(wrong, 1.0)])
    database.cache.put(database.key_of(ast, device, 1), database.encoded(stored))
    found, workers = scripted(ast, seconds=by_length)
    assert workers.timed and found.best != wrong
    other = dataclasses.replace(found, heuristic=Plan((BEST, BEST)))  # as it chose once
    database.store(database.key_of(ast, device, 1), other)
    assert scripted(ast, seconds=by_length)[1].timed


def test_a_line_says_why_a_stored_plan_is_invalid(scripted, capsys):
    ast, device = sums(), registry.open(DEVICE)
    chosen = by_heuristic(loops_for(ast, device.target, True))
    for plan, heuristic, why in (
        (Plan((Opt(OptKind.LOCAL, 0, 4),)), chosen, "is not legal any more"),
        (Plan((Opt(OptKind.UPCAST, "one", None),)), chosen, "is "),
        (chosen, Plan((BEST, BEST)), "the heuristic chooses otherwise"),
    ):
        known = database.SearchResult(plan, heuristic, [database.Try(plan, 1.0)])
        database.store("a key", known)
        with settings.override(DEBUG=1):
            assert database.lookup("a key", ast, device) is None
        (line,) = capsys.readouterr().err.splitlines()
        assert "searched for again" in line and why in line
        assert database.lookup("a key", ast, device) is None
        assert capsys.readouterr().err == ""


def test_an_interrupt_keeps_results_and_the_next_search_continues(scripted, monkeypatch):
    ended = []
    monkeypatch.setattr(search, "stop_helpers", lambda: ended.append(True))
    longest = scripted(sums(), seconds=by_length)[0].best
    database.cache.clear()

    class Interrupted(Scripted):
        def time(self, built, good):
            if len(built.opts) == 3:
                raise KeyboardInterrupt
            return super().time(built, good)

    with pytest.raises(KeyboardInterrupt):
        scripted(sums(), kind=Interrupted, seconds=by_length)
    assert ended
    ast, device = sums(), registry.open(DEVICE)
    known = database.lookup(database.key_of(ast, device, 1), ast, device)
    assert not known.complete and BEST in known.best.opts and len(known.best.opts) == 2
    found, workers = scripted(sums(), seconds=by_length)
    assert known.best in workers.timed[:3] and found.complete
    assert len(found.best.opts) >= len(longest.opts)
    _, workers = scripted(sums(), seconds=by_length)
    assert not workers.timed


def test_the_budget_ends_a_search(scripted):
    class Slow(Scripted):
        def time(self, built, good):
            if len(self.timed) == 20:
                budget.seconds = 1e-9
            return super().time(built, good)

    budget = Budget(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Budget, "of_settings", classmethod(lambda _: budget))
        found, workers = scripted(sums(), kind=Slow, seconds=by_length)
    assert len(workers.timed) == 21 and found.complete
    assert found.best != found.heuristic
    assert any("the budget ended the search" in note for note in found.notes)
    _, workers = scripted(sums(), seconds=by_length)
    assert not workers.timed  # the result is stored


def test_a_spent_budget_leaves_the_heuristic(scripted):
    with settings.override(BEAM_SECONDS=1), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Budget, "elapsed", property(lambda self: 2.0))
        found, workers = scripted(sums(), seconds=by_length)
    assert found.best == found.heuristic and workers.timed == [found.heuristic]


def test_requests_get_what_is_left_of_the_budget(monkeypatch):
    monkeypatch.setattr(measurement_workers, "time_limit_factor", lambda: 2.0)
    monkeypatch.setattr(Budget, "elapsed", property(lambda self: 4.0))
    limits = []

    class Asked:
        life = 1

        def ask(self, verb, *arguments, seconds):
            limits.append((verb, seconds))

    class All:
        first = Asked()

        @staticmethod
        def spread(work, things):
            return [work(All.first, thing) for thing in things]

    budget = Budget(10)
    workers = measurement_workers.Workers(sums(), All, budget=budget)
    workers.built([Plan()])
    workers.time("a kernel", 1e-3)
    workers.time("a kernel", None)
    assert limits == [("begin", 3.0), ("build", 3.0), ("time", 3.0), ("time", 3.0)]
    budget.seconds = 3.0
    assert workers.built([Plan()]) == ["the budget of the search is spent"]
    workers.time_interleaved(["a kernel"], 1.0)
    assert limits[4:] == [("time_interleaved", 1.0)]


def test_a_fault_of_ours_leaves_the_heuristic(scripted, monkeypatch):
    def faulty(kernel, plan):
        raise KeyError("an axis")

    monkeypatch.setattr(search, "near", faulty)
    found, workers = scripted(sums(), seconds=by_length)
    assert found.best == found.heuristic and workers.ended
    assert any("fault: " in note for note in found.notes)


def test_an_unwritable_cache_is_ignored(scripted, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with settings.override(CACHE_DIR=str(blocked / "below")):
        found, workers = scripted(sums(), seconds=by_length)
    assert BEST in found.best.opts and workers.timed


def test_another_machine_searches_for_itself(scripted, monkeypatch):
    _, workers = scripted(sums(), seconds=by_length)
    assert workers.timed
    device = registry.open(DEVICE)
    faster = dataclasses.replace(device.capabilities, speed="of another model")
    monkeypatch.setattr(device, "capabilities", faster)
    _, workers = scripted(sums(), seconds=by_length)
    assert workers.timed
    _, workers = scripted(sums(), seconds=by_length)
    assert not workers.timed
    larger = dataclasses.replace(device.capabilities.compute, cache_bytes=1 << 20)
    monkeypatch.setattr(device, "capabilities", dataclasses.replace(faster, compute=larger))
    _, workers = scripted(sums(), seconds=by_length)
    assert workers.timed


@pytest.mark.parametrize("data", [b"", b"[]", b"nonsense", b'[[true,[["old",0,1]]],1,2,3]'])
def test_entries_of_other_versions_are_misses(data):
    assert database.decoded(data) is None


def test_equal_sources_are_run_once(scripted, monkeypatch):
    monkeypatch.setattr(Scripted, "built", lambda self, plans: [(b"one", plan) for plan in plans])
    found, workers = scripted(sums(), seconds=lambda plan: 1.0)
    assert set(workers.timed) == {found.heuristic}


def test_nothing_is_tried_twice(scripted):
    """Neither what failed nor what came to the same source as something else."""
    found, _ = scripted(sums(), seconds=by_length, wrong=(Plan((BEST,)),))
    plans = [one.plan for one in found.tries]
    assert len(plans) == len(set(plans))


def test_far_slower_plans_do_not_start_a_search(scripted):
    first = Plan((Opt(OptKind.UPCAST, 0, 2),))
    quick, _ = scripted(sums(), seconds=lambda plan: 1.0 if plan.opts else 2.0)
    assert quick.heuristic.opts and first in [one.plan for one in quick.tries]
    database.cache.clear()
    slow, _ = scripted(sums(), seconds=lambda plan: 1.0 if plan.opts else 20.0)
    assert first not in [one.plan for one in slow.tries]


def test_progress_is_printed_on_request(scripted, capsys):
    with settings.override(DEBUG=1):
        scripted(sums(), seconds=by_length)
    told = capsys.readouterr().err
    assert "tried in" in told and "times as fast" in told
    scripted(sums(8), seconds=by_length)
    assert capsys.readouterr().err == ""


# ---- helpers that get lost -----------------------------------------------------------------------

# it imports nothing of ours, so that it starts at once: of a question it looks for the verb
LOST = """
import os, pickle, re, struct, sys
log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
body = pickle.dumps(("ok", "bad"))
while True:
    (length,) = struct.unpack("<Q", sys.stdin.buffer.read(8))
    question = sys.stdin.buffer.read(length)
    verb = re.search(b"open|begin|expect|build|time|end", question).group()
    os.write(log, verb + b" ")
    if verb == b"time":
        os.kill(os.getpid(), 11)
    os.write(1, struct.pack("<Q", len(body)) + body)
"""


def test_a_replacement_worker_gets_the_whole_state(monkeypatch, tmp_path):
    log = tmp_path / "log"
    helpers = Helpers("X", "bad", parallel=False)
    helpers.all = [Helper("X", "bad", [sys.executable, "-c", LOST, str(log)])]
    try:
        workers = measurement_workers.Workers(sums(), helpers)
        assert workers.expect("what is right", 20.0) == ""
        assert "signal 11" in workers.time("what crashes", None)
        assert workers.expect("more of it", 20.0) == ""
        list(workers.built([Plan()]))
        helpers.stop()  # as if it had been lost while it built something
        assert "signal 11" in workers.time("what crashes", None)
        workers.end()
    finally:
        helpers.stop()
    assert log.read_text().split("open ")[1:] == [
        "begin expect time ", "begin expect expect build ", "begin expect expect time ",
    ]  # fmt: skip


def test_a_kernel_that_exceeds_memory_of_workers_is_not_tried(monkeypatch):
    """What ends a helper for want of memory would end the program."""

    class NoHelper:
        def __init__(self, ast, helpers, budget):
            raise HelperFailed("OutOfMemory: no room for it")

    class Opens:
        @staticmethod
        def ready():
            return None

    monkeypatch.setattr(
        measurement_workers, "helpers_of", lambda device: type("All", (), {"first": Opens})
    )
    monkeypatch.setattr(measurement_workers, "Workers", NoHelper)
    monkeypatch.setattr(measurement_workers, "LocalHelpers", lambda *_: pytest.fail("tried here"))
    with settings.override(CACHE=0):
        found = search.search(sums(), registry.open(DEVICE), 1)
    assert found.best == found.heuristic and not found.tries
    assert "OutOfMemory" in found.notes[-1]


def test_here_a_fault_in_one_plan_leaves_the_others(monkeypatch):
    ast, device = sums(), registry.open(DEVICE)
    build = worker_main.build

    def faulty(ast, plan, device):
        if plan.opts:
            raise KeyError("an axis")
        return build(ast, plan, device)

    monkeypatch.setattr(worker_main, "build", faulty)
    workers = measurement_workers.Workers(ast, measurement_workers.LocalHelpers(device))
    bad, good = workers.built([Plan((BEST,)), Plan()])
    assert bad.startswith("fault: KeyError")
    assert workers.expect(good[1], 1.0) == "" and workers.time(good[1], None).equal


# ---- with the reference device -------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch, tmp_path):
    """Real helper processes, and few plans for them."""
    monkeypatch.setattr(search, "MOST_ROUNDS", 1)
    monkeypatch.setattr(search, "MOST_IN_A_ROUND", 4)
    monkeypatch.setattr(measurement_workers, "_SPENT", 0.0)
    monkeypatch.setattr(search, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(search, "_LAST_ROUNDS", 0)
    forget_programs()
    with settings.override(CACHE_DIR=str(tmp_path), BEAM=1):
        yield
    forget_programs()


def test_programs_are_searched_for_and_give_the_same(few):
    x = Tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]], device=DEVICE).realize()
    before = stats.kernels
    spans = []
    stop = trace.subscribe(spans.append, only=("search",))
    try:
        assert x.sum(1).tolist() == [10.0, 26.0]
    finally:
        stop()
    assert len(spans) == 1 and spans[0].facts["tries"] > 3
    assert stats.kernels == before + 1  # what was tried does not count
    with settings.override(BEAM=0):
        ast = kernel_of(Tensor.empty(2, 4, device=DEVICE).sum(1))
        heuristic = program_for(ast, DEVICE)
    assert program_for(ast, DEVICE) is not heuristic
    found = search.search(ast, registry.open(DEVICE), 1)
    assert {one.because for one in found.tries if one.seconds is not None} == {""}
    assert program_for(ast, DEVICE).p.program.applied == found.best.opts


def test_in_place_under_jit_and_with_variables(few):
    @jit
    def step(x):
        x.assign(x * 2.0 + 1.0)
        return x.sum()

    x = Tensor([1.0, 2.0, 3.0], device=DEVICE).realize()
    assert [step(x).item() for _ in range(4)] == [15.0, 33.0, 69.0, 141.0]
    rows = Tensor(np.arange(12, dtype=np.float32).reshape(6, 2), device=DEVICE).realize()
    n = Variable("n", 1, 6)
    for count in (2, 5):
        total = rows[: n.bind(count)].sum(0)
        assert total.tolist() == np.arange(2 * count).reshape(-1, 2).sum(0).tolist()


def test_devices_that_are_alike_search_once(few):
    devices = (DEVICE, f"{DEVICE}:1")
    x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device=DEVICE).shard(devices, axis=0)
    spans = []
    stop = trace.subscribe(spans.append, only=("search", "kernel"))
    try:
        assert (x * 2.0).sum(1).tolist() == [12.0, 30.0]
    finally:
        stop()
    made = [span.facts["name"] for span in spans if span.name == "kernel"]
    assert len(made) > len(set(made))
    assert sum(span.name == "search" for span in spans) == len(set(made))


def test_noopt_searches_for_nothing(few, monkeypatch):
    monkeypatch.setattr(search, "plan_for", lambda *_: pytest.fail("a search"))
    with settings.override(NOOPT=1):
        assert (Tensor([1.0, 2.0], device=DEVICE) + 1.0).tolist() == [2.0, 3.0]


def test_a_device_registered_by_hand_is_tried_here(few):
    class ByHand:
        weft_api = (1, 0)

        @hookimpl
        def weft_devices(self):
            return [DeviceFamily("MINE")]

        @hookimpl
        def weft_open(self, id):
            return Device(id, registry.capabilities(DEVICE))

    for hook in ("allocator", "renderer", "compiler", "runner"):
        name = f"weft_{hook}"
        setattr(ByHand, name, staticmethod(getattr(reference, name)))
    with registry.use(Registry()) as own:
        own.register(ByHand(), "MINE")
        found = search.search(sums(), own.open("MINE"), 1)
    assert any("registered by hand" in note for note in found.notes)
    assert [one for one in found.tries if one.seconds is not None]
    assert UNOPTIMIZED.opts == () and isinstance(found.best, Plan)
