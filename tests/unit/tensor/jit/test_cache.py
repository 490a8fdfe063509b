"""The specialization cache: keys, reuse for an equal state, eviction."""

from types import SimpleNamespace

from weft import Tensor, Variable, settings
from weft.tensor.jit.cache import SpecializationCache
from weft.tensor.jit.signature import Signature
from weft.tensor.jit.specialization import Specialization, aliased_state_of
from weft.tensor.jit.state import State


def argument(size):
    return Signature((Tensor([1.0] * size).realize(),), {})


def add(cache, arguments, root=None):
    state = State([root or SimpleNamespace()], lambda value: False)
    entry = Specialization(state, aliased_state_of(arguments.nodes, state))
    cache.add(cache.entry_key(arguments, state), entry)
    return entry


def test_a_call_is_found_by_signature_and_mode():
    cache = SpecializationCache(4)
    two, three = add(cache, argument(2)), add(cache, argument(3))
    assert cache.find(argument(2)) is two and cache.find(argument(3)) is three
    assert cache.find(argument(4)) is None
    with settings.override(NOOPT=1):
        assert cache.find(argument(2)) is None
    with settings.override(DEBUG=0):
        assert cache.find(argument(2)) is two


def test_a_changed_state_is_no_match_and_an_equal_one_is():
    cache = SpecializationCache(4)
    root = SimpleNamespace(scale=2.0)
    entry = add(cache, argument(2), root)
    assert cache.find(argument(2)) is entry
    root.scale = 3.0
    assert cache.find(argument(2)) is None
    other = State([SimpleNamespace(scale=3.0)], lambda value: False)
    assert cache.reuse(cache.entry_key(argument(2), other), other) is None


def test_the_least_recently_used_is_evicted():
    cache = SpecializationCache(2)
    entries = [add(cache, argument(size)) for size in (2, 3, 4)]
    assert len(cache) == 2 and cache.find(argument(2)) is None
    assert cache.find(argument(3)) is entries[1] and cache.find(argument(4)) is entries[2]


def test_values_that_python_reads_become_part_of_the_key():
    cache = SpecializationCache(4)
    n = Variable("n", 1, 4)

    def call(value):
        return Signature((n.bind(value),), {})

    entry = add(cache, call(2))
    assert cache.find(call(3)) is entry
    assert cache.specialize_on_values(call(2), frozenset([n]))
    assert not cache.specialize_on_values(call(3), frozenset([n]))
    assert cache.find(call(2)) is None
    entry = add(cache, call(2))
    assert cache.find(call(2)) is entry and cache.find(call(3)) is None
