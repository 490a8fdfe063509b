"""Windows as columns and the reverse as layers, compared with PyTorch's."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.nn import folding

CASES = [
    ("Unfold", {"kernel_size": (2, 3), "padding": 1, "stride": 2}, (2, 3, 6, 5)),
    ("Fold", {"output_size": (6, 5), "kernel_size": 2, "dilation": 2}, (2, 8, 12)),
]


@pytest.mark.parametrize(("name", "how", "shape"), CASES, ids=str)
def test_values_and_gradients_are_pytorchs(name: str, how: dict, shape: tuple) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    x = np.random.default_rng(0).standard_normal(shape)
    theirs, ours = torch.tensor(x, requires_grad=True), Tensor(x, requires_grad=True)
    layers = getattr(torch.nn, name)(**how), getattr(folding, name)(**how)
    assert repr(layers[0]) == repr(layers[1])
    expected, got = layers[0](theirs), layers[1](ours)
    np.testing.assert_allclose(got.numpy(), expected.detach().numpy(), rtol=1e-6)
    expected.square().sum().backward()
    got.square().sum().backward()
    assert ours.grad is not None
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-6)


def test_windows_that_do_not_overlap_come_back() -> None:
    x = np.arange(32.0).reshape(1, 2, 4, 4)
    columns = nn.Unfold(2, stride=2)(Tensor(x))
    np.testing.assert_array_equal(nn.Fold(4, 2, stride=2)(columns).numpy(), x)
