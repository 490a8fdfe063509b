"""Recurrent cells against their equations in NumPy, and against PyTorch where it is installed."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ShapeError


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def linear(x, weight, bias):
    return x @ weight.numpy().T + (0 if bias is None else bias.numpy())


@pytest.mark.parametrize("bias", [True, False])
def test_lstm(bias):
    cell = nn.LSTMCell(3, 4, bias)
    h = c = np.zeros((2, 4))
    state = None
    for x in np.random.default_rng(0).standard_normal((3, 2, 3)).astype(np.float32):
        state = cell(Tensor(x), state)
        i, f, g, o = np.split(
            linear(x, cell.weight_ih, cell.bias_ih) + linear(h, cell.weight_hh, cell.bias_hh), 4, 1
        )
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    np.testing.assert_allclose(state[0].numpy(), h, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state[1].numpy(), c, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_gru(bias):
    cell = nn.GRUCell(3, 4, bias)
    h, state = np.zeros((2, 4)), None
    for x in np.random.default_rng(0).standard_normal((3, 2, 3)).astype(np.float32):
        state = cell(Tensor(x), state)
        xr, xz, xn = np.split(linear(x, cell.weight_ih, cell.bias_ih), 3, 1)
        hr, hz, hn = np.split(linear(h, cell.weight_hh, cell.bias_hh), 3, 1)
        z = sigmoid(xz + hz)
        h = (1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h
    np.testing.assert_allclose(state.numpy(), h, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["LSTMCell", "GRUCell"])
def test_gradients_are_pytorchs(name):
    torch = pytest.importorskip("torch", reason="PyTorch says what the gradients are")
    ours, theirs = getattr(nn, name)(3, 4), getattr(torch.nn, name)(3, 4)
    state = {n: Tensor(p.detach().numpy()) for n, p in theirs.named_parameters()}
    nn.state.load_state_dict(ours, state)
    for each in nn.state.get_parameters(ours):
        each.requires_grad_(True)
    steps = np.random.default_rng(1).standard_normal((3, 2, 3)).astype(np.float32)
    a = b = None
    for x in steps:
        a, b = ours(Tensor(x), a), theirs(torch.tensor(x), b)
    (a[0] if isinstance(a, tuple) else a).square().sum().backward()
    (b[0] if isinstance(b, tuple) else b).square().sum().backward()
    for each, parameter in theirs.named_parameters():
        got = getattr(ours, each).grad.numpy()
        np.testing.assert_allclose(got, parameter.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_a_whole_sequence_is_refused():
    with pytest.raises(ShapeError, match="one step"):
        nn.LSTMCell(3, 4)(Tensor.zeros(5, 2, 3))
