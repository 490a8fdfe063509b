"""Data parallelism: equal to training on one device."""

import pytest

from helpers.parallel_training import DEVICES, losses, model
from weft.nn import parallel


def test_data_parallel_training_is_training_on_one_device():
    net = parallel.DataParallel(model(), DEVICES)
    assert losses(net) == pytest.approx(losses(model()), rel=1e-5)
