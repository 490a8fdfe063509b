"""What signal handlers raise, at any moment, arrives once, and leaves everything usable."""

import gc
import os
import random
import signal
import sys
import threading
from collections import Counter

import numpy as np
import pytest

from weft import Tensor, jit, nn
from weft.engine.capture import recording
from weft.tensor.protocol import grad_enabled

TIMES = int(os.environ.get("WEFT_TEST_EXAMPLES", "60"))

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="a system without timers")


class Alarm(BaseException):
    """What no `except Exception` catches."""


class Signals:
    """Raises from a handler some time after `arm`; counts what arrived, and what Python lost."""

    def __init__(self, kind):
        self.kind, self.raised, self.arrived, self.lost = kind, 0, 0, []
        self.is_armed = False

    def handler(self, number, frame):
        self.raised += 1
        self.is_armed = False
        raise self.kind(f"signal {self.raised}")

    def during(self, work, seconds):
        """Do `work` over and over until the signal comes."""
        try:
            self.is_armed = True
            signal.setitimer(signal.ITIMER_REAL, seconds)
            for _ in range(100_000):
                if not self.is_armed:
                    break
                work()
        except self.kind as error:
            assert str(error) == f"signal {self.raised}"
            self.arrived += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.fixture(params=[Alarm, TimeoutError, RuntimeError])
def signals(request, monkeypatch):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("handlers run in the main thread")
    found = Signals(request.param)
    monkeypatch.setattr(
        sys, "unraisablehook", lambda args: found.lost.append(str(args.object).partition(" at ")[0])
    )
    before = signal.signal(signal.SIGALRM, found.handler)
    yield found
    signal.signal(signal.SIGALRM, before)


def test_each_arrives_once(signals):
    layer = nn.Linear(4, 4)
    optimiser = nn.optim.SGD(nn.state.get_parameters(layer), lr=1e-3, momentum=0.9)

    @jit
    @Tensor.train()
    def step(x):
        optimiser.zero_grad()
        loss = layer(x).square().mean()
        loss.backward()
        optimiser.step()
        return loss

    def work():
        x = Tensor.arange(12).reshape(3, 4).float() + 1
        y = (x * 2).reshape(4, 3).sum(0).log()
        y[0] = 1
        y.cat(y).tolist()
        step(Tensor.ones(2, 4).realize()).item()
        ring = [x + 1]
        ring.append(ring)
        np.from_dlpack(Tensor.from_dlpack(np.ones(1 << 19, np.float32)) + 1)

    draw = random.Random(7)
    for _ in range(3):
        work()
    collects, ctrl_c = gc.isenabled(), signal.getsignal(signal.SIGINT)
    for _ in range(TIMES):
        signals.during(work, draw.uniform(1e-5, 5e-3))
        assert gc.isenabled() is collects and recording() is None
        assert grad_enabled() and not Tensor.training
        assert signal.getsignal(signal.SIGINT) is ctrl_c
        assert signal.getsignal(signal.SIGALRM) == signals.handler
    assert (signals.arrived, Counter(signals.lost)) == (signals.raised, Counter())
    before = step(Tensor.ones(2, 4).realize()).item()
    for _ in range(20):
        after = step(Tensor.ones(2, 4).realize()).item()
    assert 0 <= after <= before
    assert (Tensor([1.0, 2.0]) + 1).tolist() == [2.0, 3.0]


def test_a_write_is_carried_out_once_or_not_at_all(signals):
    count = Tensor([0, 0]).realize()
    done = 0

    def work():
        nonlocal done
        count.assign(count + 1).realize()
        done += 1

    draw = random.Random(11)
    work()
    for _ in range(TIMES):
        signals.during(work, draw.uniform(1e-5, 2e-3))
        found = count.tolist()
        assert found[0] == found[1] and found[0] in (done, done + 1)
        done = found[0]
    assert (signals.arrived, Counter(signals.lost)) == (signals.raised, Counter())
