import pytest

from weft.base.dtype import dtypes
from weft.base.errors import DeviceError, UnknownDevice
from weft.device import Feature, registry
from weft.testing.conformance.programs import Builder, run
from weft.uop import Ops, UOp

INT = dtypes.int32


def test_kinds():
    plain, vector, grid = (
        registry.open(name).compute for name in ("REF", "REF:vector", "REF:GRID")
    )
    assert plain.vector_bytes == 0 and not plain.vector_widths and plain.limits.global_size is None
    assert vector.vector_bytes == 16 and vector.vector_widths[dtypes.half] == (4, 2)
    assert grid.has(Feature.BARRIER) and grid.limits.local_threads
    assert len(plain.dtypes) == 15
    with pytest.raises(UnknownDevice):
        registry.open("REF:fast")


def test_it_is_never_the_default_by_itself():
    assert registry.open("REF").family.priority < 0


@pytest.mark.parametrize("at", [-1, 4, 1 << 20])
def test_reaching_outside_a_buffer_is_an_error(at):
    b = Builder()
    out, data = b.argument(0, INT, 1), b.argument(1, INT, 4)
    place = b.add(b.load(out, 0) + at)
    b.store(out, 0, b.load(data, place))
    with pytest.raises(DeviceError) as caught:
        run(registry.open("REF"), b, [(INT, 1)], [(INT, [1, 2, 3, 4])])
    assert "outside a buffer" in caught.value.summary


def test_work_items_that_part_at_a_barrier_are_an_error():
    b = Builder()
    out = b.argument(0, INT, 4)
    me = b.special("lidx0", 4)
    condition = b.add(UOp(Ops.IF, dtypes.void, (me < 2,)))
    b.add(UOp(Ops.BARRIER, dtypes.void))
    b.add(UOp(Ops.ENDIF, dtypes.void, (condition,)))
    b.store(out, me, me)
    with pytest.raises(DeviceError) as caught:
        run(registry.open("REF:grid"), b, [(INT, 4)])
    assert "part at a barrier" in caught.value.summary


def test_shared_memory_is_not_kept_from_group_to_group():
    b = Builder()
    out = b.argument(0, INT, 2)
    group, me = b.special("gidx0", 2), b.special("lidx0", 1)
    memory = b.shared("memory", INT, 2)
    b.store(memory, me, group, gate=b.add(group < 1))
    b.store(out, group, b.load(memory, me))
    with pytest.raises(TypeError):  # the second group reads what it never wrote
        run(registry.open("REF:grid"), b, [(INT, 2)])
