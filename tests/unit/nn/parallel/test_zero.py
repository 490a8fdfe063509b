"""ZeRO: equal to training on one device, with parts of state and parameters on each."""

import pytest

from helpers.parallel_training import DEVICES, losses, model
from weft.nn import parallel


def test_sharded_optimizer_state_gives_the_same_losses():
    net = parallel.DataParallel(model(), DEVICES)
    got = losses(net, lambda optimizer: parallel.shard_optimizer(optimizer, DEVICES))
    assert got == pytest.approx(losses(model()), rel=1e-5)


def test_fully_sharded_training_gives_the_same_losses():
    net = parallel.FullySharded(model(), DEVICES)
    assert losses(net) == pytest.approx(losses(model()), rel=1e-5)
    assert net.module.first.weight.layout.axis == 0
