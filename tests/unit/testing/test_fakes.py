from weft.base.dtype import dtypes
from weft.device import Buffer, Feature, registry
from weft.testing.fakes import (
    RecordingAllocator,
    fake_capabilities,
    fake_compute,
    fake_plugin,
    fake_target,
    half_and_all,
)


def test_capabilities_are_changed_where_asked():
    compute = fake_compute(max_buffers=4, features=frozenset({Feature.SHARED}), vector_bytes=16)
    assert compute.limits.max_buffers == 4 and compute.has(Feature.SHARED)
    assert compute.vector_bytes == 16
    assert fake_compute(extra_dtypes=frozenset({dtypes.half})).dtypes > fake_compute().dtypes
    assert fake_capabilities(stores_only=True).compute is None
    assert fake_target(max_buffers=2).compute.limits.max_buffers == 2


def test_a_fake_plugin_serves_a_device(fresh_registry):
    allocator = RecordingAllocator()
    registry.register(fake_plugin("MINE", allocator=allocator, priority=3), "MINE")
    Buffer("MINE", 4, dtypes.uint8).copy_in(b"weft")
    assert allocator.log == [("allocate", 4)] and allocator.live == 4


def test_every_dtype_of_a_tensor():
    assert len(half_and_all()) == 15 and dtypes.void not in half_and_all()
