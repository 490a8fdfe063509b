"""Pooling layers compared with PyTorch's of the same name and arguments."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, WrongKind
from weft.nn import pooling

CASES = [
    ("MaxPool1d", {"kernel_size": 3, "stride": 2, "padding": 1}),
    ("MaxPool2d", {"kernel_size": 2, "dilation": 2, "stride": 1}),
    ("MaxPool2d", {"kernel_size": (3, 2), "ceil_mode": True}),
    ("MaxPool3d", {"kernel_size": 2, "stride": 1}), ("AvgPool1d", {"kernel_size": 3}),
    ("AvgPool2d", {"kernel_size": 3, "padding": 1, "count_include_pad": False}),
    ("AvgPool2d", {"kernel_size": (2, 3), "ceil_mode": True}),
    ("AvgPool3d", {"kernel_size": 2}),
    ("AvgPool2d", {"kernel_size": 2, "divisor_override": 3}),
    ("LPPool1d", {"norm_type": 2, "kernel_size": 3, "stride": 2}),
    ("LPPool2d", {"norm_type": 4.0, "kernel_size": (2, 3)}),
    ("LPPool3d", {"norm_type": 2, "kernel_size": 2}),
    *[(f"Adaptive{kind}Pool{axes}d", {"output_size": size}) for kind in ("Avg", "Max")
      for axes, size in ((1, 3), (2, 4), (2, (None, 2)), (3, 1), (3, (3, None, 4)))],
]  # fmt: skip
SPACE = {"1": (5,), "2": (5, 6), "3": (4, 5, 6)}


@pytest.mark.parametrize(("name", "how"), CASES, ids=str)
def test_values_and_gradients_are_pytorchs(name: str, how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    x = np.random.default_rng(0).standard_normal((2, 3, *SPACE[name[-2]]))
    theirs, ours = torch.tensor(x, requires_grad=True), Tensor(x, requires_grad=True)
    expected, got = getattr(torch.nn, name)(**how)(theirs), getattr(pooling, name)(**how)(ours)
    assert got.shape == tuple(expected.shape)
    expected.square().sum().backward()
    got.square().sum().backward()
    np.testing.assert_allclose(got.numpy(), expected.detach().numpy(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-6, atol=1e-9)


def test_the_places_of_the_largest() -> None:
    values, places = nn.MaxPool1d(2, return_indices=True)(Tensor([[[1.0, 4.0, 3.0, 2.0]]]))
    assert (values.tolist(), places.tolist()) == ([[[4.0, 3.0]]], [[[1, 2]]])


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_unpooling_is_pytorchs(axes: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    x = np.random.default_rng(0).standard_normal((2, 3, *(5, 4, 6)[:axes]))

    def computed(library, make):
        pool = getattr(library, f"MaxPool{axes}d")(2, return_indices=True)
        unpool = getattr(library, f"MaxUnpool{axes}d")(2)
        given = make(x)
        return unpool(*pool(given), output_size=given.shape)

    expected = computed(torch.nn, torch.tensor)
    np.testing.assert_array_equal(computed(nn, Tensor).numpy(), expected.numpy())


def test_places_of_maxima_of_parts() -> None:
    values, places = nn.AdaptiveMaxPool1d(2, return_indices=True)(Tensor([[[3.0, 1.0, 2.0]]]))
    assert (values.tolist(), places.tolist()) == ([[[3.0, 2.0]]], [[[0, 2]]])


def test_invalid_arguments() -> None:
    with pytest.raises(ArgumentError, match="spatial axis"):
        nn.MaxPool2d((2, 2, 2))
    with pytest.raises(ArgumentError, match="output_size needs one number, or 2"):
        nn.AdaptiveAvgPool2d((1, 1, 1))(Tensor.ones(1, 1, 4, 4))
    with pytest.raises(WrongKind, match="input of AvgPool2d is a tensor"):
        nn.AvgPool2d(2)(np.ones((1, 1, 4, 4)))
