"""Quantisation of a model's weights: which layers, their errors, and that they stay usable."""

import numpy as np
import pytest

from weft import Tensor, jit, nn
from weft.base.errors import ArgumentError
from weft.nn.state import get_state_dict, gguf_load, gguf_save, load_state_dict
from weft.quantization import storage_of


def model() -> nn.Sequential:
    Tensor.manual_seed(0)
    return nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 48), nn.Linear(48, 3))


def test_layers_and_errors():
    net, x = model(), Tensor.randn(5, 256)
    before = net(x).numpy()
    errors = nn.quantize(net, "q4_k")
    assert errors.keys() == {"0", "2"}
    assert errors["0"] < 0.08 and errors["2"] < 0.006
    assert storage_of(net[0].weight).format.name == "q4_k"
    assert storage_of(net[2].weight).format.name == "q8_0"
    assert storage_of(net[3].weight) is None
    after = net(x).numpy()
    assert np.abs(after - before).max() < 0.15 * np.abs(before).max()


def test_under_jit_the_blocks_stay():
    net = model()
    nn.quantize(net, "q4_k")
    run = jit(net)
    for seed in range(3):
        x = np.random.default_rng(seed).standard_normal((2, 256)).astype(np.float32)
        np.testing.assert_allclose(run(Tensor(x)).numpy(), net(Tensor(x)).numpy(), atol=1e-5)
    assert storage_of(net[0].weight) is not None


def test_quantised_weights_are_not_trained():
    net = model()
    nn.quantize(net)
    names = [name for name, _ in net.named_parameters()]
    assert names == ["0.bias", "2.bias", "3.weight", "3.bias"]


def test_a_file(tmp_path):
    net, x = model(), Tensor.randn(2, 256)
    nn.quantize(net, "q6_k")
    gguf_save(get_state_dict(net), tmp_path / "m.gguf")
    other = model()
    nn.quantize(other, "q6_k")
    load_state_dict(other, gguf_load(tmp_path / "m.gguf")[1])
    np.testing.assert_allclose(other(x).numpy(), net(x).numpy(), atol=1e-5)


def test_unknown_formats():
    with pytest.raises(ArgumentError, match="q3"):
        nn.quantize(model(), "q3")
