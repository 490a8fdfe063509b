"""Every rule of the pass `clean`: a graph before and after, as text, and equal values."""

import pytest

from helpers.graph_passes import agree, change, cleaned, memory
from helpers.graphs import STORES, lookup
from weft.base.dtype import dtypes
from weft.base.scalars import is_positive_zero
from weft.schedule.constants import constant_of, full
from weft.uop import Ops, UOp


def row(number=0, dtype=dtypes.float, device="X"):
    return memory(number, 6, dtype=dtype, device=device)


def repeated(count=4, dtype=dtypes.float):
    return memory(0, 3, 1, dtype=dtype).expand((3, count))


CASES = {
    "detach_vanishes": lambda: UOp(Ops.DETACH, dtypes.float, (row(),)) + 1.0,
    "contiguous_backward_vanishes": lambda: (
        UOp(Ops.CONTIGUOUS_BACKWARD, dtypes.float, (row(),)) * 2.0
    ),
    "size_0_is_a_constant": lambda: row().shrink(((2, 2),)) * 3.0,
    "reduce_of_nothing_is_the_identity": lambda: (
        memory(0, 6, 1).shrink(((0, 6), (0, 0))).reduce(Ops.MAX, (1,))
    ),
    "hidden_views_are_0": lambda: (
        row().shrink(((0, 2),)).pad(((3, 0),)).shrink(((0, 3),)) + row(1).shrink(((0, 3),))
    ),
    "padded_zeros_are_0": lambda: (
        full((2,), UOp.const(dtypes.float, 0.0, "X")).pad(((1, 3),)) + row()
    ),
    "sum_of_repeated_multiplies": lambda: repeated().reduce(Ops.ADD, (1,)),
    "product_of_repeated_powers": lambda: repeated(6).reduce(Ops.MUL, (1,)),
    "max_of_repeated_passes": lambda: repeated().reduce(Ops.MAX, (1,)),
    "int_sums_wrap": lambda: repeated(4, dtypes.int).reduce(Ops.ADD, (1,)),
    "int_products_wrap": lambda: repeated(5, dtypes.int).reduce(Ops.MUL, (1,)),
    "any_of_repeated": lambda: (row(0, dtypes.bool).reshape((6, 1)).expand((6, 3))).reduce(
        Ops.ADD, (1,)
    ),
    "sum_of_partly_repeated": lambda: repeated().reduce(Ops.ADD, (0, 1)),
    "sum_of_an_expression_of_repeated": lambda: (
        repeated().sqrt() * memory(1, 1, 1).expand((3, 4)) + 1.0
    ).reduce(Ops.ADD, (1,)),
    "copy_of_a_constant": lambda: (
        full((6,), UOp.const(dtypes.float, 2.0, "X")).copy_to_device("Y") + row(0, device="Y")
    ),
    "copy_to_where_it_is": lambda: row().copy_to_device("X") + 1.0,
    "copy_there_and_back": lambda: (
        row().copy_to_device("Y").reshape((2, 3)).permute((1, 0)).copy_to_device("X")
    ),
    "smaller_view_is_made_contiguous": lambda: (
        memory(0, 4, 6).shrink(((1, 3), (2, 4))).copy_to_device("Y")
    ),
    "larger_view_follows_the_copy": lambda: memory(0, 6, 1).expand((6, 5)).copy_to_device("Y"),
    "permuted_view_follows_the_copy": lambda: memory(0, 2, 3).permute((1, 0)).copy_to_device("Y"),
    "window_is_copied_from_its_memory": lambda: row().shrink(((2, 5),)).copy_to_device("Y"),
    "contiguous_of_memory": lambda: memory(0, 2, 3).contiguous() + 1.0,
    "contiguous_of_contiguous": lambda: (
        memory(0, 2, 3).permute((1, 0)).contiguous().reshape((6,)).contiguous()
    ),
    "contiguous_of_a_window": lambda: row().shrink(((2, 5),)).contiguous() + 1.0,
    "window_of_a_window": lambda: (
        row().shrink(((1, 6),)).contiguous().shrink(((1, 3),)).contiguous() + 1.0
    ),
    "bitcast_of_a_window": lambda: row().shrink(((2, 5),)).bitcast(dtypes.half),
    "double_assign": lambda: _assign(row(), _assign(row(), row(1) + 1.0)),
    "assign_to_what_is_not_stored": lambda: _assign(row() * 2.0, row(1) + 1.0),
}


def _assign(target, value):
    return UOp(Ops.ASSIGN, target.dtype, (target, value))


@pytest.mark.parametrize("name", CASES)
def test_rule(name, golden):
    before = CASES[name]()
    after = cleaned(before)
    assert after is not before
    assert change(before, after) == golden.file(f"passes/clean/{name}.uop")
    agree(before, after, exactly=not name.startswith("sum_of"))


def test_a_clone_stays():
    clone = UOp(Ops.CONTIGUOUS, dtypes.float, (row(),), ("own", 1))
    assert cleaned(clone) is clone


@pytest.mark.parametrize("dtype", [dtypes.half, dtypes.bfloat16, dtypes.fp8e4m3])
def test_a_count_that_the_dtype_cannot_hold_is_not_multiplied(dtype):
    count = 10**40 if dtype is dtypes.bfloat16 else 70_000
    repeated = memory(0, 3, 1, dtype=dtype).expand((3, count)).reduce(Ops.ADD, (1,))
    assert cleaned(repeated) is repeated


def test_a_sum_along_an_axis_that_is_padded_stays():
    padded = memory(0, 3, 1).expand((3, 4)).pad(((0, 0), (1, 1))).reduce(Ops.ADD, (1,))
    assert Ops.REDUCE_AXIS in [node.op for node in cleaned(padded).toposort()]
    agree(padded, cleaned(padded))


def test_a_counter_along_the_axis_is_not_factored_out():
    counter = UOp(Ops.IOTA, dtypes.int, (), 4).reshape((1, 4)).expand((3, 4))
    total = (memory(0, 3, 1, dtype=dtypes.int).expand((3, 4)) * counter).reduce(Ops.ADD, (1,))
    assert cleaned(total) is total


def test_wide_views_are_made_contiguous_for_devices_that_only_store():
    copy = memory(0, 2, 3).permute((1, 0)).copy_to_device("S")
    after = cleaned(copy, lookup(S=STORES))
    assert after.op is Ops.COPY and after.src[0].op is Ops.CONTIGUOUS


def test_minus_zero_is_no_padding():
    assert all(map(is_positive_zero, (0, 0.0, False))) and not is_positive_zero(-0.0)
    padded = full((2,), UOp.const(dtypes.float, -0.0, "X")).pad(((1, 0),))
    assert constant_of(padded) is None
