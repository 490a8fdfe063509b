"""Adaptive softmax compared with PyTorch's."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, ShapeError
from weft.nn import adaptive_softmax

X = np.random.default_rng(0).standard_normal((6, 8)).astype(np.float32)
TARGETS = np.array([0, 2, 3, 7, 9, 11])


@pytest.mark.parametrize("head_bias", [False, True])
def test_values_and_gradients_are_pytorchs(head_bias: bool) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    given = (8, 12, [3, 6, 9], 2.0, head_bias)
    theirs = torch.nn.AdaptiveLogSoftmaxWithLoss(*given)
    ours = adaptive_softmax.AdaptiveLogSoftmaxWithLoss(*given)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict(theirs.state_dict())
    got, expected = ours(Tensor(X), Tensor(TARGETS)), theirs(torch.tensor(X), torch.tensor(TARGETS))
    np.testing.assert_allclose(got.output.numpy(), expected.output.detach().numpy(), rtol=1e-5)
    got.loss.backward(), expected.loss.backward()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(one.grad.numpy(), other.grad.numpy(), rtol=1e-4, atol=1e-6)
    x = Tensor(X)
    logs = theirs.log_prob(torch.tensor(X)).detach().numpy()
    np.testing.assert_allclose(ours.log_prob(x).numpy(), logs, rtol=1e-5)
    assert ours.predict(x).tolist() == theirs.predict(torch.tensor(X)).tolist()


def test_one_sample_and_invalid_arguments() -> None:
    softmax = nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 6])
    output, loss = softmax(Tensor(X[0]), Tensor(7))
    assert output.shape == () and loss.item() == pytest.approx(-output.item())
    with pytest.raises(ShapeError, match="class number"):
        softmax(Tensor(X), Tensor([1]))
    for cutoffs in ([], [3, 3], [0, 3], [3, 12]):
        with pytest.raises(ArgumentError, match="rising"):
            nn.AdaptiveLogSoftmaxWithLoss(8, 12, cutoffs)
