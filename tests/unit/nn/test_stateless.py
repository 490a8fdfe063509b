"""Layers without weights beside PyTorch's of the same name and arguments."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, WrongKind

CASES = [
    ("Identity", {}), ("Flatten", {}), ("Flatten", {"start_dim": 2}), ("ReLU", {}),
    ("LeakyReLU", {"negative_slope": 0.2}), ("ELU", {"alpha": 0.7}), ("GELU", {}),
    ("GELU", {"approximate": "tanh"}), ("SiLU", {}), ("Sigmoid", {}), ("Tanh", {}),
    ("Softplus", {"beta": 2.0, "threshold": 1.0}), ("Softmax", {"dim": 1}),
    ("LogSoftmax", {"dim": 2}), ("MaxPool1d", {"kernel_size": 3, "stride": 2, "padding": 1}),
    ("MaxPool2d", {"kernel_size": 2, "dilation": 2, "stride": 1}),
    ("MaxPool2d", {"kernel_size": (3, 2), "ceil_mode": True}),
    ("MaxPool3d", {"kernel_size": 2, "stride": 1}), ("AvgPool1d", {"kernel_size": 3}),
    ("AvgPool2d", {"kernel_size": 3, "padding": 1, "count_include_pad": False}),
    ("AvgPool2d", {"kernel_size": (2, 3), "ceil_mode": True}),
    ("AvgPool3d", {"kernel_size": 2}),
]  # fmt: skip
SPACE = {"1": (5,), "2": (5, 6), "3": (4, 5, 6)}


@pytest.mark.parametrize(("name", "how"), CASES, ids=str)
def test_values_and_gradients_are_pytorchs(name: str, how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    shape = (2, 3, *SPACE.get(name[-2], (5, 4)))
    x = np.random.default_rng(0).standard_normal(shape)
    theirs, ours = torch.tensor(x, requires_grad=True), Tensor(x, requires_grad=True)
    expected, got = getattr(torch.nn, name)(**how)(theirs), getattr(nn, name)(**how)(ours)
    assert got.shape == tuple(expected.shape)
    expected.square().sum().backward()
    got.square().sum().backward()
    np.testing.assert_allclose(got.numpy(), expected.detach().numpy(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-6, atol=1e-9)


def test_dropout_acts_in_training_only() -> None:
    Tensor.manual_seed(0)
    layer, x = nn.Dropout(0.25), Tensor.ones(4000)
    assert layer(x).tolist() == x.tolist()
    with Tensor.train():
        dropped = layer(x).numpy()
    np.testing.assert_allclose(np.unique(dropped), [0, 1 / 0.75], rtol=1e-6)
    assert abs((dropped == 0).mean() - 0.25) < 0.03


def test_the_places_of_the_largest() -> None:
    values, places = nn.MaxPool1d(2, return_indices=True)(Tensor([[[1.0, 4.0, 3.0, 2.0]]]))
    assert (values.tolist(), places.tolist()) == ([[[4.0, 3.0]]], [[[1, 2]]])


def test_what_makes_no_sense() -> None:
    with pytest.raises(ArgumentError, match="spatial axis"):
        nn.MaxPool2d((2, 2, 2))
    with pytest.raises(ArgumentError, match="probability"):
        nn.Dropout(1.5)
    for layer in (nn.ReLU(), nn.Flatten(), nn.Dropout(0.5), nn.AvgPool2d(2)):
        with pytest.raises(WrongKind, match=f"input of {type(layer).__name__} is a tensor"):
            layer(np.ones((1, 1, 4, 4)))
    assert repr(nn.LeakyReLU(0.5)) == "LeakyReLU(negative_slope=0.5)"
