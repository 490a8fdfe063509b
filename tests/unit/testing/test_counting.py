import pytest

from weft.base.dtype import dtypes
from weft.device import Buffer, registry
from weft.testing.conformance.programs import Builder, run
from weft.testing.counting import counts
from weft.uop import UOp


@pytest.fixture(autouse=True)
def from_nothing():
    registry.open("NULL").pool.drop()
    counts.reset()


def test_kernels_and_launches_are_counted_and_nothing_is_computed():
    b = Builder()
    b.store(b.argument(0, dtypes.int32, 4), 0, UOp.const(dtypes.int32, 1))
    assert run(registry.open("NULL"), b, [(dtypes.int32, 4)], name="mine") == [[0, 0, 0, 0]]
    assert (counts.launches, counts.programs, dict(counts.by_name)) == (1, 1, {"mine": 1})


def test_memory_is_counted_and_not_taken():
    buffer = Buffer("NULL", 1 << 50, dtypes.uint8).allocate()
    assert (counts.allocations, counts.allocated_bytes) == (1, 1 << 50)
    buffer.view(4, dtypes.uint8, 1 << 40).copy_in(b"weft")
    assert bytes(buffer.view(4, dtypes.uint8, 0).copy_out()) == bytes(4)
    assert (counts.bytes_in, counts.bytes_out) == (4, 4)


def test_different_programs_have_different_sources():
    from weft.device import LinearProgram

    sources = set()
    for value in (1, 2):
        b = Builder()
        b.store(b.argument(0, dtypes.int32, 4), 0, UOp.const(dtypes.int32, value))
        sources.add(registry.open("NULL").renderer.render(LinearProgram.of("k", b.nodes)))
    assert len(sources) == 2


def test_it_is_never_the_default_by_itself():
    assert registry.open("NULL").family.priority < 0
