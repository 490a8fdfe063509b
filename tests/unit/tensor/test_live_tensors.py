"""The tensors that are alive, and what is put under them."""

import gc

from weft import Tensor
from weft.tensor.live_tensors import is_settled, live_tensors, replace_in_graphs, waiting_tensors


def position(tensor):
    return next(i for i, found in enumerate(live_tensors()) if found is tensor)


def known(tensor, tensors):
    return any(found is tensor for found in tensors)


def test_they_come_in_the_order_of_their_making():
    made = [Tensor([float(i)]) for i in range(50)]
    places = [position(t) for t in made]
    assert places == sorted(places)


def test_the_dead_are_gone():
    before = len(live_tensors())
    tensor = Tensor([1.0]) + 1
    assert len(live_tensors()) > before
    del tensor
    gc.collect()
    assert len(live_tensors()) <= before


def test_only_some_are_waiting():
    done = Tensor([1.0, 2.0]).contiguous().realize()
    pending, number, counter = done + 1, Tensor(3.0), Tensor.arange(4)
    assert known(pending, waiting_tensors())
    for tensor in (done, number, counter):
        assert is_settled(tensor.uop) and not known(tensor, waiting_tensors())


def test_replacements_reach_all_pending_graphs():
    done = Tensor([1.0, 2.0]).contiguous().realize()
    one = done + 1
    two = one * 2
    other = Tensor([5.0, 6.0]).contiguous().realize()
    replace_in_graphs({one.uop: other.uop})
    assert one.uop is other.uop and two.tolist() == [10.0, 12.0]


def test_reading_does_not_cut_the_way_back():
    def gradient(read):
        x = Tensor([[1.0, 2.0, 4.0], [3.0, 1.0, 7.0]], requires_grad=True)
        loss = (x.log_softmax() * Tensor([1.0, -2.0, 3.0])).sum()
        if read:
            loss.item()
        loss.backward()
        return x.grad.tolist()

    assert gradient(True) == gradient(False)


def test_a_detached_leaf_stays_detached_once_it_is_computed():
    x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    held = x.detach().realize()
    (held * x).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 3.0]
