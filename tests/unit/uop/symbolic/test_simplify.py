"""The simplifier as a whole."""

from weft.base.dtype import dtypes
from weft.uop import Ops, UOp, Variable, graph_rewrite
from weft.uop.node import _interned
from weft.uop.symbolic import simplify, symbolic

a = Variable("a", 0, 9)


def test_results_are_remembered_and_stable():
    node = (a + 1) * 2 - a
    assert node.simplify() is node.simplify() is simplify(node).simplify()
    assert node.simplify() is graph_rewrite(node, symbolic)


def test_parts_inside_other_nodes_are_simplified():
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), (), 0)
    node = pointer.index(a * 4 + 0, (a < 100).simplify()).load() * 1.0
    simple = node.simplify()
    assert simple.op is Ops.LOAD and simple.src[0].src[1] is a * 4


def test_shifts_and_casts_of_indices():
    assert (a << 3).simplify() is a * 8
    wide = (a * 4 + 1).cast(dtypes.long).simplify()
    assert wide is (a.cast(dtypes.long) * 4 + 1)
    assert a.cast(dtypes.long).cast(dtypes.int).simplify() is a


def test_a_cast_of_a_sum_that_may_wrap_is_not_distributed():
    big = Variable("big", 0, dtypes.int.max)
    node = (big + 1).cast(dtypes.long)
    assert node.simplify() is node


def test_quotients_of_data_join():
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(64), (), 0)
    value = pointer.index(a).load()
    assert (value // 3 // 4).simplify() is value // 12


def test_bounds_decide_data_too():
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.uchar.ptr(64), (), 0)
    value = pointer.index(a).load().cast(dtypes.int)
    assert (value < 256).simplify() is UOp.const(dtypes.bool, True)


def test_simplifying_keeps_no_node_alive():
    before = len(_interned)
    node = UOp.range(321, 77) * 8 + UOp.range(5, 78) - 3
    node = (node // 8) % 17 + (node < 5).where(node, node * 2)
    node.simplify()
    del node
    # the constants of the laws are found at first use and kept
    assert len(_interned) <= before + 2


def test_deep_graphs():
    node = a
    for number in range(20000):
        node = node.maximum(number % 7).cast(dtypes.long).cast(dtypes.int)
    assert node.simplify().vmax == 9


def test_a_fill_is_not_duplicated():
    # a FILL that were simplified in one place and not in another would be carried out twice
    array = UOp(Ops.DEFINE_REG, dtypes.int.ptr(4), (), 0)
    turn = UOp.range(4, 0)
    gate = UOp(Ops.AND, dtypes.bool, (turn < 4, turn.ne(5)))
    store = UOp(Ops.STORE, dtypes.void, (array.index(turn + 0, gate), turn * 1))
    fill = UOp(Ops.FILL, dtypes.void, (store, turn))
    assert fill.simplify() is fill
    read = UOp(Ops.LOAD, dtypes.int, (array.index(UOp.const(dtypes.int, 0)), fill))
    assert (read + 0).simplify() is read
