"""Tensor and sequence parallelism: the values of whole layers."""

import numpy as np
import pytest

from helpers.parallel_training import DEVICES, data, model
from weft import Tensor, nn
from weft.nn import parallel


def test_tensor_parallel_layers_compute_what_whole_layers_compute():
    net = model()
    x, _ = data()
    expected = net(x).tolist()
    parallel.column_parallel(net.first, DEVICES)
    parallel.row_parallel(net.second, DEVICES)
    got = net(x.shard(DEVICES))
    assert got.layout.axis is None
    for row, wanted in zip(got.tolist(), expected):
        assert row == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_sequence_parallel_layers_cut_the_sequence():
    norm = nn.LayerNorm(4)
    x = Tensor.arange(48).reshape(2, 6, 4).float()
    expected = norm(x).numpy()
    got = parallel.SequenceParallel(norm, DEVICES)(x.shard(DEVICES))
    assert got.layout.axis == 1
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-5, atol=1e-6)
