"""A device that fails once, at every launch, allocation and copy in turn: what is asked for again
is right, whatever had been written by then, and no memory is left behind."""

import gc
import itertools

import numpy
import pytest

from weft import Tensor, nn
from weft.base.errors import DeviceError, OutOfMemory
from weft.device import transfer
from weft.device.pool import Pool
from weft.engine import stats
from weft.engine.runners import KernelRunner
from weft.testing.reference.memory import PoisonedAllocator
from weft.testing.reference.runner import PythonRunner

TWO = ("REF", "REF:1")
A, B = (numpy.arange(start, start + 16, dtype="float32").reshape(4, 4) / 8 for start in (0, 5))


def memory(value=A):
    return Tensor(value, device="REF").realize()


def parts(value=A, axis=0):
    return Tensor(value, device="REF").shard(TWO, axis=axis).realize()


def several_writes():
    x = memory()
    x += 1
    x[1] = 7
    x[2:4] = x[0:2] * 2
    x[:, 1] += x.sum(1)
    return [x]


def where_a_mask_says():
    x = memory()
    x[x > 1] = 0
    x[0] = x.sum(0)
    return [x]


def taken_in_turn():
    x, y = memory(), memory(B)
    kept = x * 1
    x.assign(y * 1)
    y.assign(kept)
    return [x, y]


def of_the_old_content():
    x = memory()
    old = (x.sum(1).contiguous() * 10).contiguous()
    x *= 2
    x[0] = old
    return [old, x, (x.sum(0) * 3).contiguous()]


def a_window():
    x = memory()
    window = x[1:3]
    twice = (window * 2).contiguous()
    window += 10
    return [x, twice, window]


def two_devices():
    x = memory()
    y = x.to("REF:1").contiguous().realize()
    y += 1
    x.assign(y.to("REF"))
    x *= 2
    return [x, y]


def shards():
    x, y = parts(), parts(B)
    x += y
    y *= x
    return [x, y]


def shards_that_exchange():
    x = parts(axis=1)
    x *= x.sum(1, keepdim=True)
    x[:, 2] = 9
    return [x, x.sum()]


def copies_on_all():
    x, y = parts(axis=None), parts(B)
    x += y.sum(0)
    y -= x
    return [x, y]


def statistics():
    norm, x = nn.BatchNorm(4), memory().reshape(4, 4, 1, 1)
    state = [norm.running_mean, norm.running_var, norm.weight, norm.bias]
    for tensor in state:
        tensor.replace(tensor.to("REF").contiguous().realize())
    with Tensor.train():
        return [norm(x).contiguous(), *state]


def optimiser():
    weight = memory().requires_grad_()
    steps = nn.optim.SGD([weight], lr=0.1, momentum=0.9)
    state = [*nn.state.get_parameters(steps)]
    Tensor.realize(*state)
    with Tensor.train():
        (weight * weight).sum().backward()
        return [*steps.schedule_step(), *state]


PROGRAMS = [
    several_writes, where_a_mask_says, taken_in_turn, of_the_old_content, a_window, two_devices,
    shards, shards_that_exchange, copies_on_all, statistics, optimiser,
]  # fmt: skip


class Faults:
    """Lets the call of this number fail, while it is awaited."""

    def __init__(self, monkeypatch, of, name, error):
        call = getattr(of, name)
        self.left, self.error = 0, error
        self.again, self.repeats = False, name == "allocate"  # the pool tries a second time

        def call_or_fail(*arguments, **named):
            self.left -= 1
            if self.left == 0 or self.again:
                self.again = self.left == 0 and self.repeats
                raise self.error("this one fails")
            return call(*arguments, **named)

        monkeypatch.setattr(of, name, call_or_fail)

    def at(self, number, work):
        """Whether the work failed there."""
        self.left = number + 1
        try:
            work()
        except self.error:
            return True
        finally:
            self.left = 0
        return False


KINDS = {
    "launch": (KernelRunner, "__call__", DeviceError),
    "allocation": (Pool, "acquire", OutOfMemory),
    "copy": (transfer, "copy", DeviceError),
    "memory": (PoisonedAllocator, "allocate", MemoryError),
    "memory of a launch": (PythonRunner, "__call__", MemoryError),
}


def realized(tensors):
    Tensor.realize(*tensors)
    return [t.numpy() for t in tensors]


def after_a_fault(faults, number, program):
    """What the tensors of a program are, looked at from either end; None where nothing failed."""
    tensors = program()
    if not faults.at(number, lambda: Tensor.realize(*tensors)):
        return None
    found = {id(t): t.numpy() for t in (tensors if number % 2 else tensors[::-1])}
    return [found[id(t)] for t in tensors]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_after_a_fault_everything_is_as_if_there_had_been_none(monkeypatch, program, kind):
    expected = realized(program())
    faults = Faults(monkeypatch, *KINDS[kind])
    for number in itertools.count():
        gc.collect()
        before = stats.memory
        found = after_a_fault(faults, number, program)
        if found is None:
            break
        for value, right in zip(found, expected):
            numpy.testing.assert_allclose(value, right, rtol=1e-5, atol=1e-6)
        del found, value
        gc.collect()
        assert stats.memory <= before
