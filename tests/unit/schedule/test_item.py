"""ScheduleItem: which of its buffers are written."""

from helpers.graphs import buffer, kernels
from weft.base.dtype import dtypes
from weft.device import Buffer
from weft.schedule import ScheduleItem
from weft.uop import Ops, UOp


def memory(count):
    return tuple(Buffer("REF", 4, dtypes.float) for _ in range(count))


def test_outputs_are_the_targets_of_stores():
    (ast,) = kernels(buffer(4) * buffer(4))
    bufs = memory(3)
    item = ScheduleItem(ast, bufs)
    assert item.outputs == bufs[:1] and item.inputs == bufs[1:]


def test_a_copy_writes_its_first_buffer():
    bufs = memory(2)
    item = ScheduleItem(UOp(Ops.COPY, dtypes.float), bufs)
    assert item.outputs == bufs[:1] and item.inputs == bufs[1:]
