"""The search for cycles, put off and taken up again."""

import gc
import weakref

import pytest

from weft.base import collector
from weft.base.collector import Uncollected, freeze_survivors


@pytest.fixture(autouse=True)
def as_it_was():
    was = gc.isenabled()
    yield
    (gc.enable if was else gc.disable)()


@pytest.mark.parametrize("before", [True, False])
def test_it_is_afterwards_as_it_was(before):
    (gc.enable if before else gc.disable)()
    with Uncollected():
        assert not gc.isenabled()
        with Uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() is before


def test_errors_change_nothing_about_it():
    gc.enable()
    with pytest.raises(KeyError), Uncollected():
        raise KeyError("within")
    assert gc.isenabled()


class Ring:
    pass


def is_old(made):
    return any(one is made for one in gc.get_objects(generation=2))


@pytest.fixture
def searched():
    """A search of everything has just been made, and none comes by itself; nothing is frozen."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    gc.collect()
    gc.disable()
    yield
    if frozen:
        gc.freeze()


def test_frozen_objects_are_old(searched):
    made = [[]]
    assert not is_old(made)
    freeze_survivors()
    assert is_old(made) and not gc.get_freeze_count()


def test_garbage_that_was_set_aside_is_found_by_a_search_of_everything(searched):
    ring = [Ring()]
    ring[0].itself = ring[0]
    watched = weakref.ref(ring.pop())
    freeze_survivors()
    gc.collect(1)
    assert watched() is not None
    gc.collect()
    assert watched() is None


def test_before_more_is_set_aside_there_has_to_be_a_search_of_everything(searched):
    for _ in range(collector._OFTEN):
        freeze_survivors()
    made = [[]]
    freeze_survivors()
    assert not is_old(made)
    gc.collect()
    later = [[]]
    freeze_survivors()
    assert is_old(later)


def test_objects_frozen_by_a_program_stay_frozen(searched):
    gc.freeze()
    try:
        frozen, made = gc.get_freeze_count(), [[]]
        freeze_survivors()
        assert gc.get_freeze_count() == frozen > 0 and not is_old(made)
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("before", [True, False])
def test_a_call_without_a_search(before):
    (gc.enable if before else gc.disable)()

    def work(fails):
        assert not gc.isenabled()
        if fails:
            raise KeyError
        return 3

    assert collector.uncollected(work, False) == 3 and gc.isenabled() is before
    with pytest.raises(KeyError):
        collector.uncollected(work, True)
    assert gc.isenabled() is before
