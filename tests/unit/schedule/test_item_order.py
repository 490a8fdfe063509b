"""The order of a KERNEL/ASSIGN graph."""

import pytest

from helpers.graphs import buffer, lookup, writes
from weft.base.dtype import dtypes
from weft.base.errors import ScheduleError
from weft.base.settings import settings
from weft.schedule import create_schedule_with_vars, kernel_writes, kernelize_map, sorted_writes
from weft.shape import ShapeTracker
from weft.uop import Kernel, Ops, UOp


def test_cycles_are_reported_with_their_kernels():
    a, b = buffer(), buffer()
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4), (), 0)
    store = pointer.view(ShapeTracker.from_shape((4,))).store(UOp.const(dtypes.float, 1.0))
    kernel = Kernel(UOp.sink(store))
    one = UOp(Ops.ASSIGN, a.dtype, (a, UOp(Ops.KERNEL, src=(a, b), arg=kernel)))
    two = UOp(Ops.ASSIGN, b.dtype, (b, UOp(Ops.KERNEL, src=(b, a), arg=kernel)))
    with pytest.raises(ScheduleError, match="wait for each other") as caught:
        sorted_writes([one, two])
    assert caught.value.asked.count("Kernel") == 2


def test_kernels_that_are_ready_first_run_first():
    a, b = buffer(), buffer()
    left, right = (a + 1).contiguous(), (b * 2).contiguous()
    last = (left + right).contiguous()
    with settings.override(GROUP_KERNELS=0):
        order = writes(last)
    assert order[-1].src[1].src[1:] == (order[0], order[1])


def test_one_variable_has_one_value_in_a_schedule():
    n = UOp.variable("n", 1, 4)

    def graph(*values):
        x = buffer(4)
        sums = [x.shrink(((0, n.bind(v)),)).reduce(Ops.ADD, (0,)) for v in values]
        sink = UOp.sink(*sums)
        return sink.substitute(kernelize_map(sink, lookup()))

    values = [w.src[1].src[-1].unbind() for w in kernel_writes(graph(2))]
    assert values == [(n, 2)]
    with pytest.raises(ScheduleError, match="two values"):
        create_schedule_with_vars(_on_reference(graph(2, 3)))


def _on_reference(graph):
    """The same graph on a device that opens here."""
    return graph.substitute({UOp(Ops.DEVICE, arg="X"): UOp(Ops.DEVICE, arg="REF")})


def test_items_hold_the_memory_of_their_kernel():
    x = UOp.new_buffer("REF", 4, dtypes.float)
    sink = UOp.sink(x + 1)
    items, values = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))
    assert values == {} and len(items) == 1
    assert items[0].inputs[0] is x.buffer and items[0].outputs[0] is not x.buffer


def test_a_kernel_with_two_outputs_is_run_once_and_writes_both():
    x = UOp.new_buffer("REF", 4, dtypes.float)
    one, two = x + 1, x * 2
    sink = UOp.sink(one, two)
    becomes = kernelize_map(sink)
    assert becomes[one] is not becomes[two] and becomes[one].src[1] is becomes[two].src[1]
    only_one = UOp.sink(becomes[one])
    assert set(kernel_writes(only_one)) == {becomes[one], becomes[two]}
    items, _ = create_schedule_with_vars(only_one)
    assert len(items) == 1 and len(items[0].outputs) == 2 and len(items[0].inputs) == 1


def test_a_reader_of_an_overwritten_second_output_comes_first():
    a, b = buffer(), buffer()
    first, second = a.assign(b + 1), b.assign(b * 2)
    reader = (b.flip((True,)) + 3).contiguous()
    order = writes(first, second, reader)
    kernels = list(dict.fromkeys(write.src[1] for write in order))
    assert len(kernels) == 2 and kernels[0].src[0] not in (a, b)
    assert {write.src[0] for write in order[1:]} == {a, b}
