"""Exchanges of a replay that go on while kernels run, on a family of one process."""

import random

import numpy as np
import pytest

from helpers.collective_family import Gang
from weft import Tensor, jit, nn, settings
from weft.plugin import register, unregister
from weft.schedule import exchange_order

DEVICES = ("GANG", "GANG:1")


@pytest.fixture
def gang():
    plugin = Gang()
    register(plugin, "GANG")
    yield plugin
    unregister("GANG")


def sharded(*shape):
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 7
    return Tensor(values).shard(DEVICES, axis=0).realize()


def replayed(gang, function, *given):
    """The result of a replay, and what happened in it."""
    run = jit(function)
    for _ in range(3):
        gang.events.clear()
        found = run(*given)
    found = found[0] if isinstance(found, tuple) else found
    return found.numpy(), list(gang.events)


def test_an_exchange_goes_on_while_kernels_run_that_do_not_need_it(gang, monkeypatch):
    monkeypatch.setattr(exchange_order, "BUCKET_BYTES", 64)
    with settings.override(GROUP_KERNELS=0):
        found, events = replayed(
            gang,
            lambda x, y: x.sum(axis=0) * 2 + (((y + 1).contiguous() * 3).contiguous() - 1).sum(0),
            sharded(4, 38), sharded(4, 38),
        )  # fmt: skip
    x = np.arange(4 * 38, dtype=np.float32).reshape(4, -1) % 7
    assert np.allclose(found, x.sum(0) * 2 + ((x + 1) * 3 - 1).sum(0))
    assert events.count("start") == events.count("wait")
    meanwhile = events[events.index("start") : events.index("wait")]
    assert "kernel" in meanwhile and "progress" in meanwhile


@pytest.mark.parametrize("has_work", [False, True])
def test_the_plugin_is_told_whether_kernels_run_beside_an_exchange(gang, monkeypatch, has_work):
    monkeypatch.setattr(exchange_order, "BUCKET_BYTES", 64)

    def function(x, y):
        other = ((y + 1).contiguous() * 3).contiguous() - 1
        return (x.sum(axis=0) * 2, other) if has_work else x.sum(axis=0) * 2

    with settings.override(GROUP_KERNELS=0):
        replayed(gang, function, sharded(4, 38), sharded(4, 38))
    assert gang.overlaps == [has_work]


def test_memory_of_an_exchange_is_used_again_after_its_end_only(gang):
    def long(x):
        total = x.sum(axis=0)
        for number in range(4):
            x = (x * 2 + number).contiguous()
            total = total + x.sum(axis=0)
        return total

    x = np.arange(1024, dtype=np.float32).reshape(4, -1) % 7
    expected = 0
    each = x
    for number in range(-1, 4):
        each = each if number < 0 else each * 2 + number
        expected = expected + each.sum(0)
    with settings.override(GROUP_KERNELS=0):
        assert np.allclose(replayed(gang, long, sharded(4, 256))[0], expected)


def training_step(events):
    Tensor.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    net = nn.parallel.DataParallel(model, DEVICES)
    optimizer = nn.optim.Adam(nn.state.get_parameters(model), lr=0.01)

    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    run = jit(step)
    losses = []
    with Tensor.train():
        for _ in range(4):
            events.clear()
            losses.append(run(sharded(4, 6)).item())
    return losses


def test_gradients_are_reduced_in_one_bucket_and_have_the_same_values(gang):
    losses = training_step(gang.events)
    assert gang.events.count("start") == gang.events.count("wait") == 1
    with settings.override(MEMORY_PLANNER=0):
        assert training_step(gang.events) == losses
    assert gang.events.count("start") == 5  # the loss and the gradients of four parameters


def test_small_all_reduces_of_different_kinds_stay_apart(gang):
    _, events = replayed(gang, lambda x: x.sum(axis=0) + x.max(axis=0), sharded(4, 8))
    assert events.count("start") == 2


def steps_of(draw):
    """A random function of two tensors: sums, maxima and copies between elementwise steps."""
    drawn = [(draw.randrange(5), draw.randrange(64), draw.randrange(64)) for _ in range(8)]

    def function(*given):
        values = list(given)
        for kind, one, other in drawn:
            x, y = values[one % len(values)], values[other % len(values)]
            axis = other % 2
            values.append(
                (x + y * 0.5, x.sum(axis, keepdim=True) * 0.125 + y, (x * 0.5).contiguous(),
                 x.max(axis, keepdim=True) - y, (x.sum() * 0.01 + y).contiguous())[kind]
            )  # fmt: skip
        return values[-1].contiguous(), values[-2].contiguous()

    return function


@pytest.mark.parametrize("seed", range(6))
def test_random_functions_have_the_values_of_one_device(gang, monkeypatch, seed):
    draw = random.Random(seed)
    monkeypatch.setattr(exchange_order, "BUCKET_BYTES", draw.choice((1, 64, 1 << 20)))
    function, cuts = steps_of(draw), [draw.choice((0, 1)) for _ in range(2)]
    run = jit(function)
    for call in range(4):
        numbers = np.random.default_rng(seed * 10 + call)
        given = [numbers.integers(-4, 5, (4, 5 + seed)).astype(np.float32) for _ in cuts]
        expected = [each.numpy() for each in function(*map(Tensor, given))]
        parts = [Tensor(x).shard(DEVICES, cut).realize() for x, cut in zip(given, cuts)]
        for found, value in zip(run(*parts), expected):
            assert np.allclose(found.numpy(), value, rtol=1e-4, atol=1e-4)
    assert gang.events.count("start") == gang.events.count("wait")
