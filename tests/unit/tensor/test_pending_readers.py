"""Live tensors that read what is about to be overwritten."""

import pytest

from weft import Tensor
from weft.schedule.assigns import preserved_copy
from weft.tensor.alias import break_alias
from weft.tensor.pending_readers import protect_readers


def own(*values):
    return Tensor(list(values)).contiguous().realize()


def test_without_writes_no_reader_changes():
    x = own(1.0, 2.0)
    y = x + 1
    before = y.uop
    assert protect_readers([y]) == [] and y.uop is before


def test_readers_of_the_old_value_are_computed():
    x = own(1.0, 2.0)
    reader, bystander = x + 1, own(3.0) + 1
    before = bystander.uop
    x.assign(x * 2)
    (found,) = protect_readers([x])
    assert found is reader and bystander.uop is before
    x.realize()
    assert (x.tolist(), reader.tolist()) == ([2.0, 4.0], [2.0, 3.0])


def test_views_of_the_old_value_become_copies():
    x = own(1.0, 2.0, 3.0)
    view, other = x[1:], x.reshape(3, 1)
    break_alias(view), break_alias(other)
    x.assign(x * 2)
    found = protect_readers([x])
    assert {id(t) for t in found} == {id(view), id(other)}
    assert view.uop.base is other.uop.base  # of one copy
    x.realize()
    assert view.tolist() == [2.0, 3.0] and other.tolist() == [[1.0], [2.0], [3.0]]


def test_readers_of_the_new_value_are_unchanged():
    x = own(1.0, 2.0)
    x.assign(x * 2)
    reader = x + 1
    before = reader.uop
    assert protect_readers([x]) == [] and reader.uop is before
    assert reader.tolist() == [3.0, 5.0]


def test_protected_readers_may_write_and_have_readers():
    x, y = own(1.0), own(10.0)
    old = y + 1
    y.assign(y + x)  # reads x before it is written
    x.assign(x * 5)
    found = protect_readers([x])
    assert {id(y), id(old)} <= {id(t) for t in found}
    x.realize()
    assert (x.item(), y.item(), old.item()) == (5.0, 11.0, 11.0)


def test_pending_kernels_run_before_the_write():
    x = own(1.0, 2.0)
    waiting = (x + 1).kernelize()
    x.assign(x * 2).realize()
    assert (x.tolist(), waiting.tolist()) == ([2.0, 4.0], [2.0, 3.0])


def test_a_copy_for_a_reader_is_not_taken_for_one_for_a_writer():
    """Two copies of one value are one node if they have one number: the writer would write into
    what the reader reads."""
    x = own(1.0, 2.0)
    before = preserved_copy(x.uop).arg[1]
    reader = x + 1
    x.assign(x * 2)
    protect_readers([x])
    between = reader.uop.arg[1]
    assert before < between < preserved_copy(x.uop).arg[1]


def _leaf_with_a_step_that_waits():
    """A leaf whose update is a kernel that waits, what it was multiplied with, and the loss of
    before."""
    leaf, other = (Tensor([n, n + 1.0, n + 2.0]).requires_grad_() for n in (1.0, 4.0))
    product = (leaf * other).sum()
    leaf.kernelize()
    with Tensor.no_grad():
        leaf -= 0.5 * leaf
    leaf.kernelize()
    return leaf, other, product


def test_a_gradient_after_a_kernel_reads_the_old_value():
    leaf, other, product = _leaf_with_a_step_that_waits()
    product.square().backward()
    leaf.realize()
    assert other.grad.tolist() == [64.0, 128.0, 192.0]
    assert leaf.tolist() == [0.5, 1.0, 1.5]


def test_a_gradient_equal_to_the_old_value():
    leaf, other, product = _leaf_with_a_step_that_waits()
    product.backward()
    leaf.realize()
    assert other.grad.tolist() == [1.0, 2.0, 3.0]


def test_a_value_of_the_old_and_the_new_content():
    leaf, other, product = _leaf_with_a_step_that_waits()
    product.backward()
    assert (other.grad + leaf.detach() * 10).tolist() == [6.0, 12.0, 18.0]
    assert other.grad.tolist() == [1.0, 2.0, 3.0]
    assert leaf.tolist() == [0.5, 1.0, 1.5]


@pytest.mark.parametrize("cancelled", [lambda x: x ^ x, lambda x: x * 0, lambda x: x - x])
@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
def test_a_write_that_simplification_removes_reads_the_old_value(cancelled, again):
    """The second write needs no value of the first, which reads what the second overwrites."""
    base = Tensor([[4, 4], [6, 8]]).realize()
    row = base[1:]
    copy = row.clone().realize()
    copy *= row
    if again:
        copy += 1
        row -= 1
    base[:] = cancelled(copy)
    assert base.tolist() == [[0, 0], [0, 0]]
    assert copy.tolist() == [[36 + again, 64 + again]]
