"""Activations as layers compared with PyTorch's of the same name and arguments."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import UnknownChoice
from weft.nn import activations

CASES = [
    *[(name, {}) for name in (
        "ReLU", "ReLU6", "SELU", "SiLU", "Mish", "Hardsigmoid", "Hardswish", "Sigmoid",
        "LogSigmoid", "Tanh", "Tanhshrink", "Softsign", "LeakyReLU", "ELU", "CELU", "GELU",
        "Softplus", "Hardtanh", "Softshrink", "Hardshrink", "GLU", "PReLU", "Softmax2d",
    )],
    ("RReLU", {"lower": 0.2, "upper": 0.25}),
    ("Threshold", {"threshold": 0.2, "value": 5.0}), ("Hardtanh", {"min_val": -0.2}),
    ("CELU", {"alpha": 0.5, "inplace": True}), ("Softmin", {"dim": 1}), ("GLU", {"dim": 1}),
    ("PReLU", {"num_parameters": 4, "init": 0.3}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "how"), CASES, ids=str)
def test_values_are_pytorchs(name: str, how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    x = np.random.default_rng(0).standard_normal((2, 4, 3, 6), dtype=np.float32)
    ours, theirs = getattr(nn, name)(**how), getattr(torch.nn, name)(**how).eval()
    assert repr(ours) == repr(theirs)
    expected = theirs(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(ours(Tensor(x)).numpy(), expected, rtol=1e-5, atol=1e-6)


def test_slopes_are_drawn_in_training() -> None:
    layer = activations.RReLU(0.25, 0.75).train()
    slopes = -layer(Tensor.full((1000,), -1.0)).numpy()
    assert slopes.min() >= 0.25 and slopes.max() <= 0.75 and slopes.std() > 0.1


def test_a_learnt_slope_is_a_parameter() -> None:
    layer = activations.PReLU(3)
    layer(Tensor(-np.ones((2, 3), np.float32))).sum().backward()
    assert list(layer.state_dict()) == ["weight"]
    assert layer.weight.grad is not None and layer.weight.grad.tolist() == [-2.0] * 3


@pytest.mark.parametrize("approximate", ["Tanh", None, True, np.array([1.0, 2.0])])
def test_gelu_has_two_forms(approximate) -> None:
    x = Tensor([1.0])
    for call in (x.gelu, nn.GELU(approximate), lambda how: nn.functional.gelu(x, how)):
        with pytest.raises(UnknownChoice, match="there is no approximation") as caught:
            call(x if isinstance(call, nn.GELU) else approximate)
        assert caught.value.try_ == "'none' or 'tanh'"
