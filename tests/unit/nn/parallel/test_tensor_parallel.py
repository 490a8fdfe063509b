"""Tensor and sequence parallelism: the values of whole layers."""

import numpy as np
import pytest

from helpers.parallel_training import DEVICES, data, model
from weft import Device, Tensor, nn
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


def test_data_and_tensor_parallelism_on_two_axes_of_a_mesh():
    mesh = Device.mesh(("data", 2), ("model", 2), devices=[f"REF:{n}" for n in range(4)])
    net, whole = model(), model()
    nn.state.load_state_dict(whole, nn.state.get_state_dict(net), verbose=False)
    x, target = data()
    parallel.column_parallel(net.first, mesh, "model")
    parallel.row_parallel(net.second, mesh, "model")
    both = parallel.DataParallel(net, mesh, "data")
    assert [part.shape for part in net.first.weight.shards()] == [
        (extent // 2, *whole.first.weight.shape[1:]) for extent in [whole.first.weight.shape[0]] * 4
    ]
    got = both(x)
    loss = (got - target.shard(mesh, data=0)).square().mean()
    expected = (whole(x) - target).square().mean()
    loss.backward()
    expected.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    for name, wanted in nn.state.get_state_dict(whole).items():
        found = nn.state.get_state_dict(net)[name]
        np.testing.assert_allclose(found.grad.numpy(), wanted.grad.numpy(), rtol=1e-4, atol=1e-6)
