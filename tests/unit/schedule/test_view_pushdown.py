"""Movement between reduces and their readers: graphs before and after, kernels, equal values."""

import pytest

from helpers.graph_passes import agree, change, edited, memory
from helpers.graphs import COMPUTES, kernels
from weft.base.dtype import dtypes
from weft.schedule import ScheduleContext
from weft.schedule.expand_hoisting import hoisted_expands
from weft.schedule.use_def import uses_in
from weft.schedule.view_pushdown import (
    merged_reduces,
    pushdown_edits,
    rearranged_reduces,
    shared_copies,
)
from weft.uop import Ops, UOp

X = ScheduleContext(lambda name: COMPUTES)


def only(rule):
    """The edits of one rule alone."""

    def edits(uses):
        return {node: edit for changes, _ in rule(uses) for node, edit in changes.items()}

    return edits


def cube(number=0, dtype=dtypes.float):
    return memory(number, 2, 3, 4, dtype=dtype)


def rows(number=0, op=Ops.ADD):
    """The reduce of the innermost axis of a cube."""
    return cube(number).reduce(op, (2,)).reshape((2, 3))


def relu(x):
    return UOp(Ops.MAX, x.dtype, (x, UOp.const(x.dtype, 0.0)))


CASES = {
    "sum_of_sum": (merged_reduces, lambda: rows().reduce(Ops.ADD, (1,))),
    "sum_of_permuted_sum": (merged_reduces, lambda: rows().permute((1, 0)).reduce(Ops.ADD, (1,))),
    "max_of_reshaped_max": (
        merged_reduces,
        lambda: memory(0, 6, 4).reduce(Ops.MAX, (1,)).reshape((2, 3)).reduce(Ops.MAX, (0,)),
    ),
    "product_of_a_window_of_products": (
        merged_reduces,
        lambda: rows(op=Ops.MUL).shrink(((0, 2), (1, 3))).reduce(Ops.MUL, (1,)),
    ),
    "sum_of_flipped_sum": (
        merged_reduces,
        lambda: rows().flip((True, False)).reduce(Ops.ADD, (0,)),
    ),
    "permuted_sum_plus": (
        rearranged_reduces,
        lambda: rows().permute((1, 0)) + memory(1, 3, 2),
    ),
    "permuted_relu_of_sum_plus": (
        rearranged_reduces,
        lambda: relu(rows() + memory(2, 2, 3)).permute((1, 0)) * memory(1, 3, 2),
    ),
    "permuted_sum_contiguous": (
        rearranged_reduces,
        lambda: rows().permute((1, 0)).contiguous(),
    ),
    "innermost_stays_innermost": (
        rearranged_reduces,
        lambda: (
            memory(0, 5, 2, 3, 4).reduce(Ops.ADD, (0,)).reshape((2, 3, 4)).permute((1, 0, 2))
            + memory(1, 3, 2, 4)
        ),
    ),
    "copy_serves_other_readers": (
        shared_copies,
        lambda: (
            (rows() * 2.0).permute((1, 0)).contiguous().reshape((6,))
            + ((rows() * 2.0) + memory(1, 2, 3)).reshape((6,))
        ),
    ),
    "root_before_expand": (
        hoisted_expands,
        lambda: rows().reshape((2, 3, 1)).expand((2, 3, 4)).sqrt() + cube(1),
    ),
    "a_chain_before_expand": (
        hoisted_expands,
        lambda: (rows().reshape((2, 3, 1)).expand((2, 3, 4)) * 0.25 + 1.0).sqrt() + cube(1),
    ),
    "narrowing_cast_before_expand": (
        hoisted_expands,
        lambda: rows().reshape((2, 3, 1)).expand((2, 3, 4)).cast(dtypes.half),
    ),
    "scaling_before_expand": (
        hoisted_expands,
        lambda: (rows().reshape((2, 3, 1)).expand((2, 3, 4)) * 0.25) + cube(1),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rule(name, golden):
    rule, build = CASES[name]
    before = build()
    (after,) = edited(only(rule), before)
    assert after is not before
    assert change(before, after) == golden.file(f"passes/views/{name}.uop")
    agree(before, after, exactly=False)


@pytest.mark.parametrize("name", CASES)
def test_all_rules_together_keep_the_value(name):
    before = CASES[name][1]()
    (after,) = edited(pushdown_edits, before)
    agree(before, after, exactly=False)


@pytest.mark.parametrize(
    "name", [n for n, (rule, _) in CASES.items() if rule in (merged_reduces, rearranged_reduces)]
)
def test_one_kernel_does_it(name):
    assert len(kernels(CASES[name][1](), ctx=X)) == 1


def unchanged(*nodes):
    return not pushdown_edits(uses_in(UOp.sink(*nodes)))


def test_a_reduce_that_others_read_is_not_merged():
    assert unchanged(rows().reduce(Ops.ADD, (1,)), rows() * 2.0)


def test_reduces_of_two_kinds_are_not_merged():
    assert unchanged(rows(op=Ops.MAX).reduce(Ops.ADD, (1,)))


def test_a_reduce_of_padded_or_repeated_results_is_not_merged():
    assert unchanged(rows().pad(((1, 0), (0, 0))).reduce(Ops.ADD, (0,)))
    repeated = rows().reshape((2, 3, 1)).expand((2, 3, 5)).reduce(Ops.ADD, (1,))
    assert unchanged(repeated)


def test_rows_that_an_index_names_are_added_as_they_are_read():
    shape = (64, 40, 96, 50)
    index = memory(0, 64, 40, 1, 1, dtype=dtypes.int).expand((64, 40, 1, 50))
    counter = UOp(Ops.IOTA, dtypes.int, (UOp(Ops.DEVICE, arg="X"),), 50).reshape((1, 1, 1, 50))
    chosen = index.eq(counter.expand(index.shape)).expand(shape)
    table = memory(1, 50, 96).permute((1, 0)).reshape((1, 1, 96, 50)).expand(shape)
    rows_of_table = chosen.where(table, 0.0).reduce(Ops.ADD, (3,)).reshape((64, 40, 96))
    assert len(kernels(rows_of_table.reduce(Ops.ADD, (1,)), ctx=X)) == 1


def test_a_rounded_sum_is_not_merged_with_the_next():
    inner = cube().reduce(Ops.ADD, (2,)).cast(dtypes.half).cast(dtypes.float)
    assert unchanged(inner.reduce(Ops.ADD, (1,)))


def test_a_result_that_is_asked_for_keeps_its_order():
    assert unchanged(rows(), rows().permute((1, 0)) + memory(1, 3, 2))


def test_readers_in_two_orders_leave_it_in_its_own():
    assert unchanged(rows().permute((1, 0)) + memory(1, 3, 2), rows() + memory(2, 2, 3))


def long_cube():
    """More than the caches hold."""
    return memory(0, 64, 64, 64)


def test_traversal_across_memory_is_not_introduced_for_the_output_order():
    columns = long_cube().reduce(Ops.ADD, (0,)).reshape((64, 64))
    assert unchanged(columns.permute((1, 0)) + memory(1, 64, 64))
    rows = long_cube().reduce(Ops.ADD, (2,)).reshape((64, 64))
    assert unchanged(rows.permute((1, 0)).contiguous())


def test_traversal_across_memory_is_not_introduced_to_merge_reductions():
    rows = long_cube().reduce(Ops.ADD, (2,))
    assert unchanged(rows.reduce(Ops.ADD, (0,)))
    assert unchanged(rows.reshape((64, 64)).permute((1, 0)).reduce(Ops.ADD, (1,)))
    assert not unchanged(rows.reduce(Ops.ADD, (1,)))
    columns = long_cube().reduce(Ops.ADD, (0,))
    assert unchanged(columns.reduce(Ops.ADD, (2,)))
    assert not unchanged(columns.reduce(Ops.ADD, (1,)))


def test_a_reduce_of_everything_goes_through_memory_in_order():
    rows = long_cube().reduce(Ops.ADD, (2,)).reshape((64, 64))
    (after,) = edited(pushdown_edits, rows.permute((1, 0)).reduce(Ops.ADD, (0, 1)))
    assert after.base.op is Ops.REDUCE_AXIS and after.base.src[0] is long_cube()


def product_of_matrices():
    left = memory(0, 64, 1, 64).expand((64, 64, 64))
    right = memory(1, 1, 64, 64).expand((64, 64, 64))
    return (left * right).reduce(Ops.ADD, (2,))


def test_a_product_of_matrices_keeps_its_tiles():
    product = product_of_matrices().reshape((64, 64))
    assert unchanged(product.permute((1, 0)) + memory(2, 64, 64))


def test_a_product_of_matrices_is_stored_in_the_order_of_its_heads():
    heads = product_of_matrices().reshape((64, 4, 16)).permute((1, 0, 2))
    assert not unchanged(heads + memory(2, 4, 64, 16))


def test_steps_that_part_and_meet_are_moved_once():
    value = rows()
    for _ in range(20):
        value = value * (value + 1.0)
    (after,) = edited(pushdown_edits, value.permute((1, 0)) + memory(1, 3, 2))
    assert len(after.toposort()) < 64


def test_long_runs_may_be_anywhere():
    for run, pushed in ((512, True), (256, False)):
        total = memory(0, 3, 8, 8, run).reduce(Ops.ADD, (0,)).reshape((8, 8, run))
        assert unchanged(total.permute((1, 0, 2)) + memory(1, 8, 8, run)) is not pushed


def test_steps_stay_where_memory_is_expanded():
    assert unchanged(memory(0, 3, 1).expand((3, 4)).sqrt() + memory(1, 3, 4))


def test_steps_that_widen_stay_behind_the_expand():
    wide = rows().reshape((2, 3, 1)).expand((2, 3, 4)).cast(dtypes.double)
    assert unchanged(wide + memory(1, 2, 3, 4, dtype=dtypes.double))


def test_steps_do_not_pass_padding():
    padded = rows().reshape((2, 3, 1)).expand((2, 3, 4)).pad(((1, 0), (0, 0), (0, 0)))
    assert unchanged(padded.exp2() + memory(1, 3, 3, 4))
