import math

from weft.base.dtype import dtypes
from weft.device import Buffer, registry
from weft.device.parts import NO_HINTS
from weft.testing.reference.memory import PoisonedAllocator


def test_fresh_memory_is_poison():
    assert bytes(PoisonedAllocator().allocate(5, NO_HINTS)) == b"\xff" * 5


def test_poison_shows_in_floats():
    registry.open("REF").pool.drop()  # memory of other tests, waiting for reuse, is no longer fresh
    fresh = Buffer("REF", 3, dtypes.float32)
    assert all(math.isnan(value) for value in fresh.numpy())
