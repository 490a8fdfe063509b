"""Readers of memory that is about to be written, and how their absence is detected."""

from types import SimpleNamespace

from weft import Tensor
from weft.tensor.jit.in_place_writes import ReaderCounts, copy_hidden_readers
from weft.tensor.jit.state import State


def state_of(tensor):
    return State([SimpleNamespace(value=tensor)], lambda value: False)


def watched(tensor):
    state = state_of(tensor)
    return state, ReaderCounts(state, {tensor.uop.base})


def test_readers_are_seen_and_their_end_too():
    tensor = Tensor([[1.0, 2.0]]).realize()
    _, watch = watched(tensor)
    assert watch.has_no_readers()
    for make in (
        lambda: tensor[0],
        lambda: tensor + 1,
        lambda: tensor.detach(),
        lambda: tensor.uop,
    ):
        reader = make()
        assert not watch.has_no_readers()
        del reader
        assert watch.has_no_readers()


def test_a_graph_from_before_counts_as_a_reader():
    tensor = Tensor([[1.0, 2.0]]).realize()
    graph = (tensor * 2).uop
    _, watch = watched(tensor)
    assert not watch.has_no_readers()
    del graph
    assert watch.has_no_readers()


def test_states_that_come_and_go_say_that_it_was_of_another_time():
    tensor = Tensor([[1.0, 2.0]]).realize()
    first, watch = watched(tensor)
    assert not watch.is_stale()
    second, later = watched(tensor)
    assert watch.is_stale() and not watch.has_no_readers() and later.has_no_readers()
    watch = ReaderCounts(first, {tensor.uop.base})  # no further references
    assert watch.has_no_readers() and later.has_no_readers()
    del second, later
    assert watch.is_stale() and not watch.has_no_readers()
    watch = ReaderCounts(first, {tensor.uop.base})
    assert watch.has_no_readers()


def test_readers_out_of_sight_get_memory_of_their_own():
    """Not the views and the base of what is known, which see the write."""
    tensor = Tensor([1.0, 2.0]).realize()
    twin, pending, known, other = (
        tensor[1:].contiguous(),
        tensor * 2,
        tensor.reshape(2, 1),
        Tensor([3.0]).realize(),
    )
    memory, kept = tensor.uop.base, other.uop
    copy_hidden_readers({memory}, [known])
    assert memory not in twin.uop.toposort() and memory not in pending.uop.toposort()
    assert known.uop.base is tensor.uop is memory and other.uop is kept
    assert twin.tolist() == [2.0] and pending.tolist() == [2.0, 4.0]
