"""A loop that trains: no new pages after the first steps, and no more memory than is alive."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from weft import Device, Tensor, jit, nn
from weft.base.dtype import dtypes
from weft.device import pool as pool_module
from weft.device.buffer import Buffer
from weft.device.usage import usage

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="pages are counted by Linux's files"
)
WARM, STEPS = 100, 1000
NOISE = 400
"""Pages in a thousand steps: arenas of the interpreter that come and go. One value of a step alone
has 64; were it mapped again in each, there would be a hundred times as many."""


class Net:
    """Two layers, as large as allocations that are mapped by themselves."""

    def __init__(self) -> None:
        draw = np.random.default_rng(1)
        shapes = (64, 512), (512, 10)
        self.weights = [
            Tensor(draw.standard_normal(shape).astype(np.float32) / 8, "CPU", requires_grad=True)
            for shape in shapes
        ]
        self.x = Tensor(draw.standard_normal((128, 64)).astype(np.float32), "CPU")
        self.labels = Tensor(draw.integers(0, 10, 128).astype(np.int32), "CPU")
        self.optimiser = nn.optim.SGD(self.weights, lr=0.01, momentum=0.9)

    def step(self) -> Tensor:
        self.optimiser.zero_grad()
        hidden = (self.x @ self.weights[0]).relu()
        loss = (hidden @ self.weights[1]).sparse_categorical_crossentropy(self.labels)
        loss.backward()
        return loss.realize(*self.optimiser.schedule_step())


def pages() -> tuple[int, int]:
    """(minor faults of this process so far, resident pages)"""
    faults = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[7])
    return faults, int(Path("/proc/self/statm").read_text().split()[1])


def measure(steps: int, captured: bool) -> tuple[int, int]:
    """(faults, growth in pages) of so many steps of training, after the first ones."""
    net = Net()
    step = jit(net.step) if captured else net.step
    with Tensor.train():
        first = step().item()
        for _ in range(WARM):
            step().item()
        gc.collect()
        before, resident = pages()
        for _ in range(steps):
            last = step().item()
        after, still = pages()
    assert last < first
    return after - before, still - resident


@pytest.mark.parametrize("steps,captured", [(STEPS, True), (STEPS // 10, False)])
def test_a_training_loop_takes_no_new_pages(steps, captured):
    """In a process of its own, whose interpreter has little else to do."""
    done = subprocess.run(
        [sys.executable, __file__, str(steps), str(int(captured))],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    faults, growth = map(int, done.stdout.split())
    assert faults < NOISE and growth < NOISE


def test_peak_memory_is_that_of_live_values():
    """A chain in which two values are alive at a time, and the first of all to its end."""
    elements, links = 1 << 18, 12
    x = Tensor(np.ones(elements, np.float32), "CPU").realize()
    gc.collect()
    before = usage.resident
    usage.reset_peak()
    y = x
    for _ in range(links):
        y = (y + x).contiguous()
    y.realize()
    assert usage.peak - before <= 2 * x.nbytes()
    assert y.tolist()[0] == links + 1


class Chain:
    """Many values after one another, of which two are alive at a time; and a table from Python."""

    links, elements = 12, 1 << 18

    def __init__(self) -> None:
        self.x = Tensor(np.ones(self.elements, np.float32), "CPU").realize()

    def step(self, factor: Tensor) -> Tensor:
        table = (Tensor([1.0, 2.0, 3.0, 4.0], "CPU").reshape(4, 1).contiguous() - 1).contiguous()
        y = self.x * factor
        for link in range(self.links):
            y = (y.contiguous() + self.x).contiguous()
            if link == self.links // 2:
                y = y.sum().reshape(1).expand(self.elements).contiguous()
        return (y.reshape(4, -1)[:, :2] * table).realize()


def test_recording_takes_hardly_more_than_running():
    """Values that are no longer needed are freed, also while a recording runs."""
    chain, factor = Chain(), Tensor([2.0], "CPU").realize()
    gc.collect()
    before = usage.resident
    usage.reset_peak()
    expected = chain.step(factor).numpy()
    plain, one = usage.peak - before, chain.x.nbytes()
    assert plain <= 3 * one
    step = jit(chain.step)
    for _ in range(5):
        gc.collect()
        usage.reset_peak()
        again = step(factor)
        assert usage.peak - before <= 2 * plain
        np.testing.assert_array_equal(again.numpy(), expected)
    assert step.reason is None
    np.testing.assert_array_equal(step(factor + 1).numpy()[1:], chain.step(factor + 1).numpy()[1:])
    del again
    gc.collect()
    assert usage.resident - before <= 3 * one


def test_freed_memory_is_used_again_or_given_back(monkeypatch):
    monkeypatch.setattr(pool_module, "KEEP_AT_LEAST", 0)
    pool = Device["CPU"].pool
    gc.collect()
    Device.release("CPU")
    _, resident = pages()
    pool.peak_bytes = pool.used_bytes
    size = 1 << 20
    for step in range(60):  # every size is a new one
        buffer = Buffer("CPU", size + 20000 * step, dtypes.uint8).allocate()
        buffer.copy_in(bytes(buffer.nbytes))
    assert pool.used_bytes + pool.kept_bytes <= pool.peak_bytes * 5 // 4
    Device.release("CPU")
    assert pool.kept_bytes == 0
    assert pages()[1] - resident < 4 * (size >> 12)


if __name__ == "__main__":
    print(*measure(int(sys.argv[1]), sys.argv[2] == "1"))
