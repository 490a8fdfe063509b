"""Cross entropy of a linear layer compared with PyTorch's."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.nn import linear_cross_entropy

X = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
CASES = [
    ({}, (5,)), ({"bias": True, "reduction": "sum", "label_smoothing": 0.1}, (5,)),
    ({"out_features": (2,), "bias": True}, (5, 2)), ({"ignore_index": 1}, (5,)),
    ({"weight": np.array([0.5, 1.0, 2.0], np.float32), "reduction": "none"}, (5,)),
]  # fmt: skip


@pytest.mark.parametrize(("how", "shape"), CASES)
def test_values_and_gradients_are_pytorchs(how: dict, shape: tuple) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    if not hasattr(torch.nn, "LinearCrossEntropyLoss"):
        pytest.skip("this PyTorch has no such loss")
    target = np.random.default_rng(1).integers(0, 3, shape)
    options = [
        {key: make(value) if key == "weight" else value for key, value in how.items()}
        for make in (Tensor, torch.tensor)
    ]
    ours = linear_cross_entropy.LinearCrossEntropyLoss(4, 3, **options[0])
    theirs = torch.nn.LinearCrossEntropyLoss(4, 3, **options[1])
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict(theirs.state_dict())
    got = ours(Tensor(X), Tensor(target))
    expected = theirs(torch.tensor(X), torch.tensor(target))
    np.testing.assert_allclose(got.numpy(), expected.detach().numpy(), rtol=1e-5)
    got.sum().backward(), expected.sum().backward()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_one_sample_and_options() -> None:
    loss = nn.LinearCrossEntropyLoss(4, 3)
    x, y = Tensor(X[0]), Tensor(2)
    plain = nn.functional.cross_entropy(loss.linear(x), y)
    np.testing.assert_allclose(loss(x, y).item(), plain.item(), rtol=1e-6)
    other = nn.LinearCrossEntropyLoss(4, 3, options=object())
    other.load_state_dict(loss.state_dict())
    assert other(x, y).item() == loss(x, y).item()
