"""Layers without weights compared with PyTorch's of the same name and arguments."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, WrongKind

CASES = [
    ("Identity", {}), ("Flatten", {}), ("Flatten", {"start_dim": 2}), ("ReLU", {}),
    ("LeakyReLU", {"negative_slope": 0.2}), ("ELU", {"alpha": 0.7}), ("GELU", {}),
    ("GELU", {"approximate": "tanh"}), ("SiLU", {}), ("Sigmoid", {}), ("Tanh", {}),
    ("Softplus", {"beta": 2.0, "threshold": 1.0}), ("Softmax", {"dim": 1}),
    ("LogSoftmax", {"dim": 2}),
    *[(f"{kind}Pad{axes}d", {"padding": 1})
      for kind in ("Zero", "Reflection", "Replication", "Circular") for axes in (1, 2, 3)],
    ("ReplicationPad3d", {"padding": (0, 1, 2, 0, 1, 3)}),
    ("CircularPad2d", {"padding": (1, 2, 0, 3)}), ("ConstantPad1d", {"padding": 2, "value": 1.5}),
    ("ConstantPad2d", {"padding": (1, 0, 0, 2), "value": -1.0}),
    ("ConstantPad3d", {"padding": 1, "value": 0.5}),
    ("ChannelShuffle", {"groups": 3}), ("LocalResponseNorm", {"size": 2, "alpha": 0.5}),
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


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("Upsample", {"scale_factor": 1.3, "recompute_scale_factor": True}),
        ("Upsample", {"scale_factor": 1.3, "mode": "bicubic"}),
        ("UpsamplingNearest2d", {"size": (3, 5)}), ("UpsamplingBilinear2d", {"scale_factor": 2}),
        ("LocalResponseNorm", {"size": 2}), ("ChannelShuffle", {"groups": 2}),
    ],
    ids=str,
)  # fmt: skip
def test_images_and_texts_are_pytorchs(name: str, how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    x = np.random.default_rng(0).standard_normal((2, 4, 4, 6))
    theirs, ours = getattr(torch.nn, name)(**how), getattr(nn, name)(**how)
    assert repr(ours) == repr(theirs)
    expected = theirs(torch.tensor(x)).numpy()
    np.testing.assert_allclose(ours(Tensor(x)).numpy(), expected, rtol=1e-6, atol=1e-9)


def test_dropout_acts_in_training_only() -> None:
    Tensor.manual_seed(0)
    layer, x = nn.Dropout(0.25), Tensor.ones(4000)
    assert layer(x).tolist() == x.tolist()
    with Tensor.train():
        dropped = layer(x).numpy()
    np.testing.assert_allclose(np.unique(dropped), [0, 1 / 0.75], rtol=1e-6)
    assert abs((dropped == 0).mean() - 0.25) < 0.03


@pytest.mark.parametrize("how", [{}, {"p": 1.0, "keepdim": True}], ids=str)
def test_distances_are_pytorchs(how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    x, y = np.random.default_rng(0).standard_normal((2, 3, 4))
    expected = torch.nn.PairwiseDistance(**how)(torch.tensor(x), torch.tensor(y))
    got = nn.PairwiseDistance(**how)(Tensor(x), Tensor(y))
    np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize("kind", ["Zero", "Reflection", "Replication", "Circular"])
def test_docstrings_of_padding_layers(kind: str) -> None:
    for axes in (1, 2, 3):
        said = getattr(nn, f"{kind}Pad{axes}d").__doc__ or ""
        assert f"nn.{kind}Pad{axes}d(" in said and "padding: one number, or (left, right" in said
    with pytest.raises(ArgumentError, match="two per spatial axis"):
        getattr(nn, f"{kind}Pad2d")((1, 2))


def test_invalid_arguments() -> None:
    with pytest.raises(ArgumentError, match="probability"):
        nn.Dropout(1.5)
    for layer in (nn.ReLU(), nn.Flatten(), nn.Dropout(0.5)):
        with pytest.raises(WrongKind, match=f"input of {type(layer).__name__} is a tensor"):
            layer(np.ones((1, 1, 4, 4)))
    assert repr(nn.LeakyReLU(0.5)) == "LeakyReLU(negative_slope=0.5)"


def test_alpha_dropout_of_whole_channels() -> None:
    layer = nn.FeatureAlphaDropout(0.5)
    x = Tensor.ones(8, 16, 3)
    assert layer.eval()(x).tolist() == x.tolist()
    y = layer.train()(x).numpy()
    assert (y == y[..., :1]).all() and len(set(y.ravel().round(4).tolist())) == 2
