"""The search for cycles, put off and taken up again."""

import gc

import pytest

from weft.base.collector import Uncollected


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
