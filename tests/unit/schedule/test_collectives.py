"""Collectives: the exchanges of devices that have them, on a family of one process."""

import numpy as np
import pytest

from helpers.collective_family import Gang
from weft import Tensor, nn
from weft.engine.capture import recorded
from weft.engine.runners import KernelRunner
from weft.plugin import Ops, hookimpl, register, unregister

DEVICES = ("GANG", "GANG:1", "GANG:2")


@pytest.fixture
def gang():
    plugin = Gang()
    register(plugin, "GANG")
    yield plugin
    unregister("GANG")


@pytest.fixture
def x():
    return Tensor(np.arange(42, dtype=np.float32).reshape(6, 7)).shard(DEVICES, axis=0)


def test_a_reduce_over_the_cut_axis_is_an_all_reduce(gang, x):
    assert x.sum(axis=0).tolist() == [15.0 * 7 + 6 * n for n in range(7)]
    assert x.max().item() == 41.0
    assert gang.kinds == ["allreduce", "allreduce"]


def test_a_replicated_layout_is_an_all_gather(gang, x):
    assert (x.shard(DEVICES) + 0).tolist() == np.arange(42.0).reshape(6, 7).tolist()
    assert gang.kinds == ["allgather"]


def test_another_cut_axis_is_an_all_to_all(gang, x):
    moved = (x.shard(DEVICES, axis=1) * 2).realize()
    assert gang.kinds == ["all_to_all"]
    assert [part.shape for part in moved.shards()] == [(6, 3), (6, 2), (6, 2)]
    assert moved.tolist() == (np.arange(42.0).reshape(6, 7) * 2).tolist()


def test_a_part_of_a_sum_is_a_reduce_scatter(gang, x):
    part = x.sum(axis=0).shard(DEVICES, axis=0).realize()
    assert gang.kinds == ["reduce_scatter"]
    assert part.tolist() == [15.0 * 7 + 6 * n for n in range(7)]


def test_an_update_of_cut_state_scatters_the_sum(gang, x):
    state = Tensor.zeros(7).contiguous().shard(DEVICES, axis=0).realize()
    state.assign(state + x.sum(axis=0)).realize()
    assert gang.kinds == ["reduce_scatter"]
    assert state.tolist() == [15.0 * 7 + 6 * n for n in range(7)]


def test_sums_are_added_before_they_are_reduced(gang, x):
    y = (x * 2).realize()
    total = (x.sum(axis=0) + y.sum(axis=0) + y.sum(axis=0)).realize()
    assert gang.kinds == ["allreduce"]
    assert total.tolist() == [5 * (15.0 * 7 + 6 * n) for n in range(7)]


def test_parts_without_elements_are_copied(gang):
    x = Tensor([1.0, 2.0]).shard(DEVICES, axis=0)
    assert x.sum().item() == 3.0 and gang.kinds == []


def test_a_plugin_without_the_hook_is_named(gang):
    unregister("GANG")
    register(NoCollectives(), "GANG")
    y = Tensor(np.ones((3, 2), np.float32)).shard(DEVICES, axis=0)
    with pytest.raises(Exception, match="no plugin carries out this collective"):
        y.sum(axis=0).tolist()


class NoCollectives(Gang):
    """A plugin that declares a group and has no hook for it."""

    @hookimpl
    def weft_collective(self, devices, collective, dtype):
        return None


def test_accumulated_gradients_are_reduced_once(gang):
    net = nn.parallel.DataParallel(nn.Linear(7, 1, bias=False), DEVICES)
    whole = Tensor(np.arange(42, dtype=np.float32).reshape(6, 7))
    with net.no_sync():
        net(whole).sum().backward()
    net(whole * 2).sum().backward()
    assert gang.kinds == []
    assert net.module.weight.grad.tolist() == [[3 * (15.0 * 7 + 6 * n) for n in range(7)]]
    assert gang.kinds == ["allreduce"]


def test_a_value_to_exchange_is_stored_in_its_own_shape(gang):
    """Flat loops would divide to find the indices of what they read."""
    x = Tensor(np.ones((6, 3, 5, 7), np.float32)).shard(DEVICES, axis=0).realize()
    with recorded("test") as found:
        x.permute(0, 2, 3, 1).sum(axis=0).realize()
    kernels = [step.prg.p.program for step in found.steps if isinstance(step.prg, KernelRunner)]
    assert kernels and not any(
        u.op in (Ops.IDIV, Ops.MOD) for program in kernels for u in program.uops
    )
