"""Worker processes: they answer, or are ended and replaced."""

from __future__ import annotations

import io
import os
import sys
import threading

import pytest

from weft import Tensor
from weft.base.settings import settings
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import Plan
from weft.device import registry
from weft.engine import worker_processes
from weft.engine.candidate_measurement import UNOPTIMIZED
from weft.engine.worker_main import Server, read_message, serve, write_message
from weft.engine.worker_processes import Helper, HelperFailed, Helpers, helpers_for, stop_helpers
from weft.uop import Ops

DEVICE = "REF"
# it imports nothing of ours, so that it starts at once
BAD = """
import os, pickle, struct, sys, time

def answer(value):
    body = pickle.dumps(("ok", value))
    os.write(1, struct.pack("<Q", len(body)) + body)

while True:
    (length,) = struct.unpack("<Q", sys.stdin.buffer.read(8))
    question = pickle.loads(sys.stdin.buffer.read(length))
    if question[0] == "open":
        answer("bad")
    elif question[0] == "hang":
        time.sleep(600)
    elif question[0] == "die":
        os.kill(os.getpid(), 9)
    elif question[0] == "garble":
        os.write(1, b"not a message at all")
        os._exit(3)
    else:
        answer(os.getpid())
"""


def ast():
    items, _ = (Tensor.empty(3, 4, device=DEVICE) + 1.0).schedule_with_vars()
    return next(item.ast for item in items if item.ast.op is Ops.SINK)


@pytest.fixture
def bad():
    helper = Helper("X", "bad", [sys.executable, "-c", BAD])
    yield helper
    helper.stop()


@pytest.mark.parametrize(
    "what, seconds, why",
    [("hang", 0.3, "no answer within"), ("die", 20.0, "died"), ("garble", 20.0, "ended with")],
)
def test_one_that_is_lost_is_replaced(bad, what, seconds, why):
    first = bad.ask("who", seconds=20.0)
    with pytest.raises(HelperFailed, match=why) as caught:
        bad.ask(what, seconds=seconds)
    assert caught.value.lost
    second = bad.ask("who", seconds=20.0)
    assert first != second != os.getpid()


def test_an_interrupt_leaves_no_answer_behind(bad, monkeypatch):
    first = bad.ask("who", seconds=20.0)

    def interrupted(timeout):
        raise KeyboardInterrupt

    monkeypatch.setattr(bad._answers, "get", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bad.ask("who", seconds=20.0)
    assert bad.ask("who", seconds=20.0) != first


def test_an_interrupt_ends_remaining_work():
    helpers = Helpers("X", "bad", parallel=True)
    done = []

    def work(helper, number):
        if number == 0:
            raise KeyboardInterrupt
        done.append(number)

    with pytest.raises(KeyboardInterrupt):
        list(helpers.spread(work, range(2000)))
    assert len(done) < 1999


def test_an_interrupt_leaves_no_process_behind():
    """Nor one that was started while the others were ended."""
    helpers = Helpers("X", "bad", parallel=False)
    helpers.all = [Helper("X", "bad", [sys.executable, "-c", BAD]) for _ in range(2)]
    busy = threading.Event()

    def work(helper, number):
        if number == 0:
            busy.wait(20.0)
            raise KeyboardInterrupt
        for _ in range(3):
            busy.set()
            try:
                helper.ask("hang" if number == 1 else "who", seconds=20.0)
            except HelperFailed:
                pass  # ended: the next question starts another

    with pytest.raises(KeyboardInterrupt):
        list(helpers.spread(work, range(2)))
    assert [helper.life for helper in helpers.all] == [None, None]


@pytest.mark.parametrize(
    "load, times", [(0.0, 1.0), (0.5, 1.0), (3.0, 3.0), (1000.0, 8.0), (None, 1.0)]
)
def test_a_busy_machine_may_take_longer(monkeypatch, load, times):
    def loads():
        if load is None:
            raise OSError
        return (load * (os.cpu_count() or 1), 0.0, 0.0)

    monkeypatch.setattr(worker_processes.os, "getloadavg", loads, raising=False)
    assert worker_processes.time_limit_factor() == times


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), 1e300, -1.0])
def test_a_limit_that_is_none_is_a_long_one(bad, seconds):
    assert bad.ask("who", seconds=seconds) != os.getpid()


def test_a_module_of_the_user_is_not_taken_for_ours(tmp_path, monkeypatch):
    (tmp_path / "queue.py").write_text("raise SystemExit('taken')")
    (tmp_path / "weft.py").write_text("raise SystemExit('taken')")
    monkeypatch.chdir(tmp_path)
    helper = Helper(DEVICE, registry.open(DEVICE).capabilities.fingerprint)
    try:
        helper.ready()
        assert helper.life == 1
    finally:
        helper.stop()


def test_another_device_is_not_taken():
    helper = Helper("X", "good", [sys.executable, "-c", BAD])
    with pytest.raises(HelperFailed, match="another device"):
        helper.ask("who", seconds=20.0)


def test_start_failures_are_reported():
    with pytest.raises(HelperFailed, match="no process"):
        Helper("X", "", ["/no/such/program"]).ask("who", seconds=1.0)


def test_a_helper_builds_and_tries():
    helper = Helper(DEVICE, registry.open(DEVICE).capabilities.fingerprint)
    with settings.override(DEBUG=2):  # what it prints goes nowhere
        try:
            kernel = ast()
            digest, packed = helper.ask("build", kernel, UNOPTIMIZED, seconds=60)
            assert isinstance(digest, bytes)
            helper.ask("begin", kernel, seconds=60)
            helper.ask("expect", packed, seconds=60)
            assert helper.ask("time", packed, 0.0, None, seconds=60).equal
            with pytest.raises(HelperFailed, match="OptError") as caught:
                wrong = Plan((Opt(OptKind.LOCAL, 0, 2),))
                helper.ask("build", kernel, wrong, seconds=60)
            assert not caught.value.lost
            helper.ask("end", seconds=60)
        finally:
            helper.stop()


def test_a_server_answers_until_there_is_nothing():
    questions, answers = io.BytesIO(), io.BytesIO()
    write_message(questions, ("open", DEVICE))
    write_message(questions, ("no_such_thing",))
    write_message(questions, ("open", "NOSUCHDEVICE"))
    questions.write(b"half a message")
    questions.seek(0)
    serve(questions, answers)
    answers.seek(0)
    opened, unknown, none = (read_message(answers) for _ in range(3))
    assert opened == ("ok", registry.open(DEVICE).capabilities.fingerprint)
    assert unknown[0] == "failed" and none[0] == "failed"
    with pytest.raises(EOFError):
        read_message(answers)


def test_a_server_serializes_built_kernels():
    server = Server()
    server.answer(("open", DEVICE))
    verdict, (digest, packed) = server.answer(("build", ast(), UNOPTIMIZED))
    assert verdict == "ok" and len(digest) == 16 and isinstance(packed, bytes)


def test_answers_come_in_order_from_as_many_as_there_are():
    helpers = Helpers(DEVICE, "", parallel=True)
    assert list(helpers.spread(lambda helper, n: (helper in helpers.all, n), range(9))) == [
        (True, n) for n in range(9)
    ]
    assert len(Helpers(DEVICE, "", parallel=False).all) == 1


def test_helpers_stay_for_the_next_kernel():
    one = helpers_for(DEVICE, "", parallel=False)
    assert helpers_for(DEVICE, "", parallel=False) is one
    stop_helpers()
    assert helpers_for(DEVICE, "", parallel=False) is not one
    stop_helpers()
