"""LSTM and GRU over sequences compared with PyTorch's, with its weights and names."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.state import get_parameters, load_state_dict

# layers, both directions, batch first, bias
HOW = [(1, False, False, True), (1, True, True, False), (2, True, False, True)]


def pair(kind: str, **how):
    """(ours, PyTorch's) with the same weights."""
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    theirs, ours = getattr(torch.nn, kind)(3, 4, **how), getattr(nn, kind)(3, 4, **how)
    load_state_dict(ours, {n: Tensor(p.numpy()) for n, p in theirs.state_dict().items()})
    for each in get_parameters(ours):
        each.requires_grad_(True)
    return ours, theirs, torch


def flat(result) -> list:
    return [e for each in result for e in (flat(each) if isinstance(each, tuple) else [each])]


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize(("num_layers", "bidirectional", "batch_first", "bias"), HOW)
def test_values_and_gradients_are_pytorchs(kind, num_layers, bidirectional, batch_first, bias):
    ours, theirs, torch = pair(kind, num_layers=num_layers, bidirectional=bidirectional,
                               batch_first=batch_first, bias=bias)  # fmt: skip
    x = np.random.default_rng(0).standard_normal((3, 2, 3)).astype(np.float32)
    got, expected = flat(ours(Tensor(x))), flat(theirs(torch.tensor(x)))
    sum((e * e).sum() for e in expected).backward()
    total = sum(((g * g).sum() for g in got), Tensor(0.0))
    total.backward()
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-6)
    for name, parameter in theirs.named_parameters():
        slope = getattr(ours, name).grad.numpy()
        np.testing.assert_allclose(slope, parameter.grad.numpy(), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("batched", [True, False])
def test_states_go_in_and_out(kind, batched):
    ours, theirs, torch = pair(kind, num_layers=2)
    source = np.random.default_rng(1)
    x = source.standard_normal((3, 2, 3) if batched else (3, 3)).astype(np.float32)
    h, c = source.standard_normal((2, 2, 2, 4) if batched else (2, 2, 4)).astype(np.float32)
    pack = (lambda wrap: (wrap(h), wrap(c))) if kind == "LSTM" else (lambda wrap: wrap(h))
    got, expected = ours(Tensor(x), pack(Tensor)), theirs(torch.tensor(x), pack(torch.tensor))
    for one, other in zip(flat(got), flat(expected), strict=True):
        assert one.shape == tuple(other.shape)
        np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-6)


def test_dropout_lies_between_layers_in_training_only():
    layer, x = nn.GRU(3, 4, num_layers=2, dropout=1.0), Tensor.ones(2, 1, 3)
    used = layer(x)[0].numpy()
    with Tensor.train():
        dropped = layer(x)[0].numpy()
    alone = nn.GRU(4, 4)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        setattr(alone, f"{name}_l0", getattr(layer, f"{name}_l1"))
    np.testing.assert_allclose(dropped, alone(Tensor.zeros(2, 1, 4))[0].numpy(), atol=1e-6)
    assert abs(used - dropped).max() > 1e-3


def test_invalid_shapes():
    lstm = nn.LSTM(3, 4)
    with pytest.raises(ShapeError, match="reads sequences"):
        lstm(Tensor.ones(5, 2, 4))
    with pytest.raises(ShapeError, match="does not belong"):
        lstm(Tensor.ones(5, 2, 3), (Tensor.ones(2, 4), Tensor.ones(2, 4)))
    with pytest.raises(ArgumentError, match="two tensors"):
        lstm(Tensor.ones(5, 2, 3), Tensor.ones(1, 2, 4))
    with pytest.raises(ShapeError, match="no step"):
        lstm(Tensor.ones(0, 2, 3))


@pytest.mark.parametrize("number", [0, -1, 1 << 63])
def test_a_number_of_layers_that_no_memory_holds_is_refused_at_once(number):
    with pytest.raises(ArgumentError, match="num_layers"):
        nn.LSTM(2, 3, num_layers=number)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_projected_state_is_pytorchs(bidirectional: bool) -> None:
    how = {"num_layers": 2, "proj_size": 2, "bidirectional": bidirectional}
    ours, theirs, torch = pair("LSTM", **how)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    x = np.random.default_rng(0).standard_normal((3, 2, 3)).astype(np.float32)
    got, expected = flat(ours(Tensor(x))), flat(theirs(torch.tensor(x)))
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-6)
    ours.flatten_parameters()
    again = ours(input=Tensor(x), hx=(Tensor(got[1].numpy()), Tensor(got[2].numpy())))
    assert again[0].shape == (3, 2, 4 if bidirectional else 2)
    with pytest.raises(ArgumentError, match="smaller"):
        nn.LSTM(3, 4, proj_size=4)
