"""Long reduces in two steps."""

import pytest

from helpers.graph_passes import agree, change, edited, memory
from helpers.graphs import COMPUTES, buffer, kernels, lookup
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.device.capabilities import Capabilities, ComputeCaps, Feature, KernelLimits
from weft.schedule import ScheduleContext
from weft.schedule.split_reduce import split_of, split_reduces
from weft.uop import Ops, UOp

GRID = Capabilities(compute=ComputeCaps(limits=KernelLimits(global_size=(1024, 1024, 64))))
THREADS = Capabilities(compute=ComputeCaps(features=frozenset({Feature.THREADS})))
WIDE = ScheduleContext(lambda name: GRID)


def total(*shape, axes=None, op=Ops.ADD):
    return memory(0, *shape).reduce(op, tuple(range(len(shape))) if axes is None else axes)


def once(uses):
    return split_reduces(uses, WIDE)


def test_a_full_sum_is_two_kernels_where_kernels_run_wide(golden):
    before = total(1 << 16)
    (after,) = edited(once, before)
    assert change(before, after) == golden.file("passes/split_reduce/full_sum.uop")
    assert len(kernels(before, ctx=WIDE)) == 2
    assert len(kernels(total(1 << 20), ctx=lookup(X=THREADS))) == 2
    assert len(kernels(before, ctx=lookup(X=COMPUTES))) == 1


def test_reductions_are_split_on_threads_only_with_few_outputs():
    ctx = lookup(X=THREADS)

    def is_split(sums):
        before = total(sums, 1 << 17, axes=(1,))
        return edited(lambda uses: split_reduces(uses, ctx), before) != (before,)

    assert is_split(8) and not is_split(64)


@settings.override(REDUCEOP_SPLIT_THRESHOLD=32)
@pytest.mark.parametrize("op", [Ops.ADD, Ops.MAX, Ops.MUL])
@pytest.mark.parametrize("shape, axes", [((640,), (0,)), ((3, 96), (1,)), ((96, 3), (0,)),
                                         ((16, 3, 24), (0, 2)), ((2, 48, 40), (1, 2))])  # fmt: skip
def test_two_steps_equal_one_step(op, shape, axes):
    before = total(*shape, axes=axes, op=op)
    (after,) = edited(once, before)
    assert after is not before
    agree(before, after, exactly=op is Ops.MAX)


def test_numbers_of_the_choice():
    assert split_of(total(1 << 16), WIDE) == (0, 256)
    assert split_of(total(32768 * 3 // 3), WIDE) == (0, 256)
    assert split_of(total(32767), WIDE) is None  # too few for its one result
    assert split_of(total(4, 32768, axes=(1,)), WIDE) == (1, 256)
    assert split_of(total(1 << 15, 7, axes=(0,)), WIDE) == (0, 256)
    assert split_of(total(7 * 4691), WIDE) is None  # 7 and 4691 are prime: no parts of 8 to 256
    assert split_of(total(11 * 3001), WIDE) == (0, 11)


@settings.override(REDUCEOP_SPLIT_THRESHOLD=8)
def test_the_first_step_stays_below_its_limit():
    narrow = total(1 << 16, 1 << 8, axes=(1,))
    assert split_of(narrow, WIDE) == (1, 64)  # 2 ** 16 results, 2 ** 22 at most
    with settings.override(REDUCEOP_SPLIT_SIZE=18):
        assert split_of(narrow, WIDE) is None  # 4 parts would be left
    with settings.override(REDUCEOP_SPLIT_SIZE=30):
        assert split_of(narrow, WIDE) == (1, 128)


def test_the_axis_must_move_in_memory():
    repeated = memory(0, 1, 1 << 9).expand((1 << 8, 1 << 9)).reduce(Ops.ADD, (0, 1))
    assert split_of(repeated, WIDE) == (1, 256)
    still = memory(0, 1).expand((1 << 16,)).reduce(Ops.ADD, (0,))
    assert split_of(still, WIDE) is None


def test_one_hot_reductions_are_not_split():
    table, size = memory(0, 1 << 16), 1 << 16
    counter = UOp(Ops.IOTA, dtypes.int, (), size)
    picked = counter.alu(Ops.CMPEQ, UOp.const(dtypes.int, 5)).where(table, table.const_like(0))
    assert split_of(picked.reduce(Ops.ADD, (0,)), WIDE) is None


@settings.override(REDUCEOP_SPLIT_THRESHOLD=8)
def test_the_place_of_a_maximum_is_no_sum_and_is_found_in_parts():
    values, size = memory(0, 96), 96
    counter = UOp(Ops.IOTA, dtypes.int, (), size)
    hit = values.alu(Ops.CMPEQ, values.const_like(1.0))
    before = hit.where(counter, counter.const_like(-1)).reduce(Ops.MAX, (0,))
    assert split_of(before, WIDE) == (0, 48)
    (after,) = edited(once, before)
    agree(before, after, exactly=True)


def test_off_by_its_setting():
    with settings.override(SPLIT_REDUCEOP=0):
        assert len(kernels(buffer(1 << 16).reduce(Ops.ADD, (0,)), ctx=WIDE)) == 1
