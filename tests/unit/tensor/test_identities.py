"""A loss that was recorded before a leaf is written still reaches the leaf."""

import pytest

from weft import Tensor
from weft.base.errors import GradientError


def assigned(w):
    w.assign(w - 0.5)


def subtracted(w):
    w -= 0.5


def at_an_index(w):
    w[0] = 5.0


def through_a_view(w):
    w.reshape(2, 1)[1:] *= 3


LEAVES = {
    "memory": lambda: Tensor([1.0, 1.0], requires_grad=True),
    "pending": lambda: Tensor.ones(2, requires_grad=True),
    "reshaped": lambda: Tensor([[1.0, 1.0]]).reshape(2).requires_grad_(),
}


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("write", [assigned, subtracted, at_an_index, through_a_view])
@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("realised", [False, True])
def test_a_leaf_that_is_written_after_the_loss_was_recorded(leaf, write, read, realised):
    w, v = LEAVES[leaf](), Tensor([5.0, 6.0], requires_grad=True)
    loss = (w * 2).sum() + (v * 3).sum()
    alone = (w * 4).sum()
    if read:
        loss.item(), alone.item()
    with Tensor.no_grad():
        write(w)
    if realised:
        w.realize()
    loss.backward()
    assert w.grad.tolist() == [2.0, 2.0] and v.grad.tolist() == [3.0, 3.0]
    w.grad = None
    alone.backward()
    (w * 7).sum().backward()
    assert w.grad.tolist() == [11.0, 11.0]


def test_a_value_that_is_needed_and_still_there_is_used():
    w = Tensor([3.0, 4.0], requires_grad=True)
    loss = (w * w).sum()
    with Tensor.no_grad():
        w *= 0
    loss.backward()
    assert w.grad.tolist() == [6.0, 8.0] and w.tolist() == [0.0, 0.0]
    assert (w * w).sum().gradient(w)[0].tolist() == [0.0, 0.0]


def test_a_value_that_is_needed_and_was_overwritten():
    w = Tensor([3.0, 4.0], requires_grad=True)
    loss = (w * w).sum().realize()
    with Tensor.no_grad():
        w *= 0
    w.realize()
    with pytest.raises(GradientError, match="overwritten"):
        loss.backward()


def test_several_writes_add_no_gradient_twice():
    w = Tensor([[1.0, 2.0]]).reshape(2).requires_grad_()
    for step in range(4):
        w.grad = None
        (w * 2).sum().backward()
        assert w.grad.tolist() == [2.0, 2.0]
        with Tensor.no_grad():
            w -= w.grad
        if step % 2:
            w.realize()
    assert w.tolist() == [-7.0, -6.0]
