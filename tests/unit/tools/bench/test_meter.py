from weft import Tensor, jit
from weft.base import trace
from weft.tools.bench.meter import AGAIN, EVENTS, Meter, alone

DEVICE = "REF"


def metered(job):
    meter = Meter()
    stop = trace.subscribe(meter, only=EVENTS)
    try:
        job(meter)
    finally:
        stop()
    return meter


def test_each_kernel_with_its_runs_and_costs():
    x = Tensor([[1.0, 2.0], [3.0, 4.0]], device=DEVICE).realize()

    def job(meter):
        for _ in range(4):
            (x * 2.0 + 1.0).realize()
        x.sum().realize()

    meter = metered(job)
    chain, total = meter.kernels.values()
    assert (chain.launches, total.launches) == (4, 1)
    assert len(chain.seconds) == 4 and all(seconds > 0 for seconds in chain.seconds)
    assert (chain.ops, chain.bytes) == (8, 32)
    assert sorted(chain.seconds)[1] <= chain.each <= sorted(chain.seconds)[2]
    assert chain.total == 4 * chain.each
    assert chain.name.startswith("E_") and chain.device == DEVICE


def test_replays_are_seen_kernel_by_kernel():
    @jit
    def step(x):
        return ((x * 2.0).contiguous() + 1.0).sum().realize()

    x = Tensor([1.0, 2.0, 3.0], device=DEVICE).realize()
    meter = metered(lambda meter: [step(x) for _ in range(6)])
    assert {kernel.launches for kernel in meter.kernels.values()} == {6}


def test_earlier_measurements_can_be_dropped():
    x = Tensor([1.0, 2.0], device=DEVICE).realize()

    def job(meter):
        (x * 3.0).realize()
        meter.forget()
        (x * 3.0).realize()

    (kernel,) = metered(job).kernels.values()
    assert kernel.launches == len(kernel.seconds) == 1


def test_copies_are_no_kernels():
    meter = metered(lambda meter: Tensor([1.0, 2.0]).to(DEVICE).realize())
    assert not meter.kernels and meter.others > 0


def test_kernels_that_ran_once_are_timed_alone():
    x = Tensor([1.0, 2.0], device=DEVICE).realize()

    def job(meter):
        (x * 3.0).realize()
        for _ in range(3):
            (x + 5.0).realize()  # not another product: two factors may be one kernel's argument

    meter = metered(job)
    seldom, often = meter.kernels.values()
    before = list(often.seconds)
    meter.run_again()
    assert seldom.alone and len(seldom.seconds) == AGAIN
    assert not often.alone and often.seconds == before
    assert len(alone(often, 2)) == 2


def test_kernels_that_cannot_be_repeated_keep_their_time(monkeypatch):
    x = Tensor([1.0, 2.0], device=DEVICE).realize()
    meter = metered(lambda meter: (x * 3.0).realize())
    (kernel,) = meter.kernels.values()
    before, told = list(kernel.seconds), []
    kernel.device = "NOSUCHDEVICE"
    meter.run_again(told.append)
    assert kernel.seconds == before and not kernel.alone and len(told) == 1
