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


# ---- leaves that move to other memory ------------------------------------------------------------


def replaced(w):
    w.replace(Tensor([7.0, 8.0]))


def replaced_by_memory(w):
    w.replace(Tensor([7.0, 8.0]).realize())


def moved_to_a_device(w):
    w.to_("REF:1")


def sharded(w):
    w.shard_(("REF:1", "REF:2"), axis=0)


def given_a_node(w):
    w.uop = (w.detach() * 0).uop


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize(
    "move", [replaced, replaced_by_memory, moved_to_a_device, sharded, given_a_node]
)
@pytest.mark.parametrize("read", ["never", "at once", "afterwards"])
@pytest.mark.parametrize("written", ["never", "before", "after"])
def test_a_leaf_moved_to_another_device(leaf, move, read, written):
    w = LEAVES[leaf]().realize()
    if written == "before":
        with Tensor.no_grad():
            w -= 1.0
    before = (w * 2).sum()
    if read == "at once":
        before.item()
    if written == "after":
        with Tensor.no_grad():
            w -= 1.0
    move(w)
    if read == "afterwards":
        before.item()
    before.backward()
    assert w.grad.tolist() == [2.0, 2.0] and w.grad.device == w.device
    w.grad = None
    (w * 5).sum().backward()
    before.backward()
    assert w.grad.tolist() == [7.0, 7.0]


def test_a_value_that_was_replaced_is_still_there():
    w = Tensor([3.0, 4.0], requires_grad=True).realize()
    loss = (w * w).sum()
    loss.item()
    w.replace(Tensor([0.0, 0.0]))
    loss.backward()
    assert w.grad.tolist() == [6.0, 8.0]


def test_a_leaf_that_has_another_size_afterwards():
    w = Tensor([3.0, 4.0], requires_grad=True)
    loss = (w * 2).sum()
    w.replace(Tensor([1.0, 2.0, 3.0]), allow_shape_mismatch=True)
    with pytest.raises(GradientError, match="does not have the shape of its leaf"):
        loss.backward()


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("first", ["the leaf", "the other"])
def test_memory_that_a_leaf_shares_with_another_tensor(read, first):
    """Both are written: one of them has other memory afterwards."""
    w = Tensor([1.0, 2.0], device="REF").contiguous().realize()
    other = w.contiguous()  # of the same memory, until one is written
    w.requires_grad_()
    linear, square = (w * 3).sum(), (w * w).sum()
    if read:
        linear.item(), square.item()
    with Tensor.no_grad():
        other += 1
        w -= 1
    Tensor.realize(*((w, other) if first == "the leaf" else (other, w)))
    linear.backward()
    assert w.grad.tolist() == [3.0, 3.0]
    with pytest.raises(GradientError, match="overwritten"):
        square.backward()
    with pytest.raises(GradientError, match="no leaf to reach"):
        (other * 2).sum().backward()
    (w * 2).sum().backward()
    assert w.grad.tolist() == [5.0, 5.0] and other.tolist() == [2.0, 3.0]


def test_a_leaf_that_is_written_again_after_a_read():
    w = Tensor([[1.0, 2.0]], device="REF").contiguous().realize().requires_grad_()
    loss = (w * 2 + w).sum()
    with Tensor.no_grad():
        w.copy_(Tensor([[5.0, 5.0]], device="REF"))
        w.realize()
        w -= 1
    loss.backward()
    assert w.grad.tolist() == [[3.0, 3.0]]


def test_a_written_leaf_to_which_no_name_refers_any_more():
    w, v = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)
    with Tensor.no_grad():
        w -= 1
    alone, loss = (w * 2).sum(), (w * v).sum()
    del w
    alone.backward()
    loss.backward()
    assert v.grad.tolist() == [0.0, 1.0]
