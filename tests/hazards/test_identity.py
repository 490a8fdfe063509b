"""Equal trees are one node, yet every leaf that people made is itself."""

import pytest

from weft import Tensor


@pytest.mark.parametrize("make", [lambda: Tensor(2.0, requires_grad=True),
                                  lambda: Tensor([2.0, 2.0], requires_grad=True),
                                  lambda: Tensor.full((2,), 2.0, requires_grad=True),
                                  lambda: Tensor.ones(2, requires_grad=True) * 2])  # fmt: skip
def test_equal_values_have_gradients_of_their_own(make):
    a, b = make(), make()
    if not a.requires_grad or a.grad is not None:
        pytest.fail("the leaf lost what it was made with")
    da, db = (a * b * b).sum().gradient(a, b)
    assert da.tolist() == (b * b).tolist()
    assert db.tolist() == (a * b * 2).tolist()


def test_writing_one_of_two_equal_tensors():
    a, b = Tensor.zeros(3).contiguous(), Tensor.zeros(3).contiguous()
    a[0] = 1.0
    assert (a.tolist(), b.tolist()) == ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0])


def test_random_numbers_differ_at_every_call():
    a, b = Tensor.rand(8), Tensor.rand(8)
    assert a.tolist() != b.tolist()
    assert a.tolist() == a.tolist()
