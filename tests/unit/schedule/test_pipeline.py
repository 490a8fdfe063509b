"""kernelize_map on graphs, with fake capabilities: what becomes a kernel, and what it computes."""

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError, DeviceError
from weft.device.capabilities import Capabilities, ComputeCaps, KernelLimits, MemoryCaps
from weft.schedule import ScheduleContext, kernel_writes, kernelize_map
from weft.schedule.simplify import full
from weft.uop import Ops, UOp
from weft.uop.args import BufferView

COMPUTES = Capabilities(compute=ComputeCaps())
STORES = Capabilities(memory=MemoryCaps(persistent=True, resident=False))


def lookup(**devices):
    return ScheduleContext(lambda name: devices.get(name, COMPUTES))


def buffer(size, dtype=dtypes.float, device="X"):
    return UOp.new_buffer(device, size, dtype)


def kernels(*nodes, ctx=None):
    """The ASTs of the kernels that compute `nodes`, in the order of the graph."""
    sink = UOp.sink(*nodes)
    final = sink.substitute(kernelize_map(sink, ctx or lookup()))
    return [write.src[1].arg.ast for write in kernel_writes(final)]


def ops_of(ast):
    return [u.op for u in ast.toposort()]


def test_constants_fold_into_one_store():
    ten = UOp.const(dtypes.int, 1, "X"), UOp.const(dtypes.int, 2, "X")
    total = full((10, 10), ten[0]) + full((10, 10), ten[1])
    (ast,) = kernels(total.contiguous())
    assert ast.src[0].src[1] is UOp.const(dtypes.int, 3)
    assert ast.src[0].src[0].arg.shape == (10, 10)


def test_constants_alone_need_no_kernel():
    assert kernels(full((10,), UOp.const(dtypes.int, 1, "X")) + 2) == []


def test_a_chain_of_elementwise_is_one_kernel():
    a, b, c = buffer(4), buffer(4), buffer(4)
    (ast,) = kernels(a * b + c)
    assert ops_of(ast).count(Ops.LOAD) == 3
    assert [s.op for s in ast.src] == [Ops.STORE]


def test_what_was_fused_away_stays_as_it_was():
    a, b, c = buffer(1), buffer(1), buffer(1)
    product = a * b
    out = product + c
    becomes = kernelize_map(UOp.sink(out), lookup())
    assert product not in becomes
    write = becomes[out]
    assert write.op is Ops.ASSIGN and write.src[0].op is Ops.BUFFER
    assert write.src[1].op is Ops.KERNEL and write.src[1].src[1:] == (a, b, c)


def test_children_of_what_is_kernelized_load_its_buffer():
    a, b = buffer(1), buffer(1)
    out = a * b
    first = out.substitute(kernelize_map(UOp.sink(out), lookup()))
    second = kernelize_map(UOp.sink(first + 2), lookup())[first + 2]
    assert second.src[1].src[1] is first
    assert ops_of(second.src[1].arg.ast).count(Ops.LOAD) == 1


def test_a_reduce_takes_its_producers_and_its_contiguous_children():
    x = buffer(12).reshape((3, 4))
    total = (x * 2).reduce(Ops.ADD, (1,))
    (ast,) = kernels(total.reshape((3,)).sqrt() + 1)
    assert ops_of(ast).count(Ops.REDUCE_AXIS) == 1


def test_a_reduce_is_stored_before_it_is_expanded():
    x = buffer(12).reshape((3, 4))
    centred = x - x.reduce(Ops.MAX, (1,)).expand((3, 4))
    assert len(kernels(centred)) == 2


def test_a_reduce_with_two_readers_is_stored():
    x = buffer(12).reshape((3, 4))
    total = x.reduce(Ops.ADD, (1,))
    assert len(kernels(total.sqrt(), total.exp2())) == 3


def test_reduces_that_meet_share_a_kernel():
    x = buffer(12).reshape((3, 4))
    assert len(kernels(x.reduce(Ops.ADD, (1,)) + x.reduce(Ops.MAX, (1,)))) == 1


def test_a_reduce_of_one_element_axes_vanishes():
    x = buffer(3).reshape((3, 1))
    (ast,) = kernels(x.reduce(Ops.ADD, (1,)).sqrt())
    assert Ops.REDUCE_AXIS not in ops_of(ast)


@pytest.mark.parametrize("op, value", [(Ops.ADD, 12), (Ops.MUL, 81), (Ops.MAX, 3)])
def test_a_reduce_of_a_constant_is_a_constant(op, value):
    x = full((4, 2), UOp.const(dtypes.int, 3, "X"))
    (ast,) = kernels(x.reduce(op, (0,)).contiguous())
    assert ast.src[0].src[1].arg == value


def test_a_reduce_of_nothing_is_the_identity_element():
    empty = full((0, 2), UOp.const(dtypes.int, 3, "X"))
    (ast,) = kernels(empty.reduce(Ops.MUL, (0,)).contiguous())
    assert ast.src[0].src[1].arg == 1


def test_padding_of_what_does_not_keep_zero_is_masked():
    x = buffer(4)
    (safe,) = kernels((x * 2).pad(((1, 1),)).contiguous())
    (unsafe,) = kernels((x + 1).pad(((1, 1),)).contiguous())
    assert Ops.VALID not in ops_of(safe) and Ops.VALID in ops_of(unsafe)


def test_the_buffer_limit_is_kept_and_exactly_reached():
    limited = Capabilities(compute=ComputeCaps(limits=KernelLimits(max_buffers=4)))
    ctx = lookup(X=limited)

    def summed(count):
        total = buffer(4)
        for _ in range(count - 1):
            total = total + buffer(4)
        return kernels(total, ctx=ctx)

    def loads(ast):
        return len({u.arg for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL})

    assert len(summed(3)) == 1
    for count in (4, 9, 20):
        asts = summed(count)
        assert len(asts) > 1
        assert max(map(loads, asts)) <= 4


def test_copies_to_where_it_is_vanish_and_constants_are_not_copied():
    x = buffer(4)
    assert kernels(x.copy_to_device("X") + 1)[0].op is Ops.SINK
    one = UOp.const(dtypes.float, 1.0, "Y").reshape((1,)).expand((4,))
    assert [a.op for a in kernels(x + one.copy_to_device("X"))] == [Ops.SINK]


def test_a_copy_reads_memory():
    x = buffer(4)
    moved = (x + 1).copy_to_device("Y")
    assert [a.op for a in kernels(moved)] == [Ops.SINK, Ops.COPY]


def test_windows_of_what_only_stores_are_buffer_views():
    ctx = lookup(S=STORES)
    file = buffer(64, dtypes.uint8, "S")
    window = file.shrink(((8, 24),)).bitcast(dtypes.float)
    asts = kernels(window.copy_to_device("X"), ctx=ctx)
    assert [a.op for a in asts] == [Ops.BUFFER_VIEW, Ops.COPY]
    assert asts[0].arg == BufferView(4, 2)


def test_an_unaligned_window_is_copied_as_bytes_first():
    ctx = lookup(S=STORES)
    window = buffer(64, dtypes.uint8, "S").shrink(((3, 19),)).bitcast(dtypes.float)
    asts = kernels(window.copy_to_device("X") + 1, ctx=ctx)
    assert [a.op for a in asts][:2] == [Ops.BUFFER_VIEW, Ops.COPY]
    assert asts[0].dtype is dtypes.uint8


def test_computing_on_what_only_stores_is_refused():
    with pytest.raises(CapabilityError) as caught:
        kernels(buffer(4, device="S") + 1, ctx=lookup(S=STORES))
    assert "ADD" in caught.value.asked and "S declares" in caught.value.because


def test_a_kernel_over_two_devices_is_refused():
    with pytest.raises(DeviceError):
        kernels(buffer(4) + buffer(4, device="Y"))


def test_a_very_deep_chain_is_cut_into_kernels():
    x = buffer(4)
    node = x
    for number in range(2000):
        node = node * (number + 2.0)
    asts = kernels(node)
    assert 2 < len(asts) < 20
    assert max(len(a.toposort()) for a in asts) < 1500
