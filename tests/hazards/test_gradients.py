"""Gradients in low precision, of ties, and of what does not take part."""

import numpy as np
import pytest

from weft import Tensor, dtypes


def test_the_largest_of_more_equal_elements_than_a_half_can_count():
    x = Tensor.ones(70_000, dtype=dtypes.half).contiguous()
    x.requires_grad = True
    x.max().backward()
    share = np.float16(1 / 70_000)
    assert np.unique(x.grad.numpy()).tolist() == [float(share)]


def test_the_mean_of_more_halves_than_a_half_can_count():
    x = Tensor.ones(70_000, dtype=dtypes.half).contiguous()
    x.requires_grad = True
    mean = x.mean()
    mean.backward()
    assert mean.item() == 1.0
    assert np.unique(x.grad.numpy()).tolist() == [float(np.float16(1 / 70_000))]


@pytest.mark.parametrize("name", ["half", "bfloat16", "float", "double"])
def test_ties_share_their_gradient(name):
    x = Tensor([[3.0, 1.0, 3.0], [2.0, 2.0, 2.0]], dtype=getattr(dtypes, name))
    x.requires_grad = True
    x.max(1).sum().backward()
    got = x.grad.float().numpy()
    np.testing.assert_allclose(got, [[0.5, 0, 0.5], [1 / 3] * 3], rtol=5e-3)


def test_unused_tensors_have_no_gradient():
    x, unused = Tensor([1.0], requires_grad=True), Tensor([1.0], requires_grad=True)
    (x * 2).sum().backward()
    assert unused.grad is None
    assert x.grad.tolist() == [2.0]


def test_a_gradient_through_where_stays_clear_of_the_other_branch():
    x = Tensor([0.0, 4.0], requires_grad=True)
    (x > 0).where(x.sqrt(), 0.0).sum().backward()
    assert x.grad.tolist()[1] == 0.25
