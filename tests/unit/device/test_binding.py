import gc
import weakref

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.device import Buffer, binding
from weft.testing.fakes import fake_plugin
from weft.uop import Shard, UOp
from weft.uop.sharding import stacked


@pytest.fixture(autouse=True)
def fake(fresh_registry):
    fresh_registry.register(fake_plugin(), "FAKE")


def node():
    return UOp.new_buffer("FAKE", 4, dtypes.float32)


def test_a_buffer_is_made_once_and_not_allocated():
    uop = node()
    assert not binding.is_bound(uop)
    buffer = binding.buffer_of(uop)
    assert binding.buffer_of(uop) is buffer and binding.is_bound(uop)
    assert (buffer.device, buffer.size, buffer.dtype) == ("FAKE", 4, dtypes.float32)
    assert not buffer.is_allocated


def test_binding_an_existing_buffer():
    uop, buffer = node(), Buffer("FAKE", 4, dtypes.float32)
    binding.bind(uop, buffer)
    assert uop.buffer is buffer


@pytest.mark.parametrize(
    "buffer",
    [("FAKE", 5, dtypes.float32), ("FAKE", 4, dtypes.int32), ("FAKE:1", 4, dtypes.float32)],
)
def test_mismatched_buffers_are_refused(buffer):
    with pytest.raises(ArgumentError):
        binding.bind(node(), Buffer(*buffer))


def test_memory_goes_with_the_node():
    uop = node()
    alive = weakref.ref(binding.buffer_of(uop).allocate())
    gc.collect()
    assert alive() is not None
    del uop
    gc.collect()
    assert alive() is None


def test_the_memory_behind_views_and_assignments():
    uop = node()
    written = uop.assign(UOp.const(dtypes.float32, 1.0))
    assert written.reshape((2, 2)).buffer is binding.buffer_of(uop)
    assert binding.storage(uop.reshape((2, 2)).permute((1, 0))) is uop
    assert binding.storage(UOp.const(dtypes.float32, 1.0)) is None


def test_realized_means_allocated():
    uop = node()
    assert uop.realized is None and not uop.is_realized
    binding.buffer_of(uop)
    assert uop.realized is None
    binding.buffer_of(uop).allocate()
    assert uop.reshape((2, 2)).realized is binding.buffer_of(uop)
    assert uop.assign(uop).realized is None, "it has not been written yet"


def test_only_buffer_nodes_have_memory():
    with pytest.raises(ArgumentError):
        binding.buffer_of(UOp.const(dtypes.float32, 1.0))
    with pytest.raises(ArgumentError):
        UOp.const(dtypes.float32, 1.0).buffer
    with pytest.raises(ArgumentError):
        binding.buffer_of(UOp.new_buffer(("FAKE", "FAKE:1"), 4, dtypes.float32))


def test_memory_is_shared_while_both_sides_live():
    whole, window, other = node(), node(), node()
    assert not binding.is_shared(whole)
    binding.share(window, whole)
    binding.share(other, window)
    assert binding.is_shared(whole) and binding.is_shared(window) and binding.is_shared(other)
    del whole
    gc.collect()
    assert binding.is_shared(window) and binding.is_shared(other)
    del other
    gc.collect()
    assert not binding.is_shared(window)


def test_parts_are_realized_when_all_of_them_are():
    parts = [node(), UOp.new_buffer("FAKE:1", 4, dtypes.float32)]
    both = stacked(parts, Shard(0, (0, 4, 8)))
    assert both.realized is None
    first = binding.buffer_of(parts[0]).allocate()
    assert both.realized is None and not both.is_realized
    second = binding.buffer_of(parts[1]).allocate()
    assert both.realized == (first, second) and both.is_realized


def test_the_buffers_of_several():
    nodes = [node() for _ in range(3)]
    first = binding.buffer_of(nodes[0])
    found = binding.buffers_of(nodes)  # two of them are made now
    assert found[0] is first and found == [binding.buffer_of(each) for each in nodes]
    assert binding.buffers_of(nodes) == found and binding.buffers_of([]) == []
