"""UOp: hash-consing, immutability, traversal, constants."""

import gc
import pickle
import sys
import threading
from operator import methodcaller

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, SpecError
from weft.uop import Ops, UOp
from weft.uop.args import Reduce
from weft.uop.node import _Entry, _interned
from weft.uop.node import _interned as interned


def seventeen() -> UOp:
    return UOp.const(dtypes.int, 3) * 5 + 2


def test_equal_trees_are_one_object():
    assert seventeen() is seventeen()


def test_constants_are_held_as_their_dtype_holds_them():
    assert UOp.const(dtypes.float16, 2).arg == 2.0
    assert type(UOp.const(dtypes.float16, 2).arg) is float
    assert UOp.const(dtypes.uint8, -1).arg == 255
    assert UOp.const(dtypes.bool, 3).arg is True


def test_render_int_float_and_bool_of_a_constant_tree():
    assert seventeen().render(simplify=False) == "((3*5)+2)"
    assert int(seventeen()) == 17
    assert float(seventeen()) == 17.0
    assert bool(seventeen() < 18) is True


def test_a_value_that_is_not_constant_has_no_int():
    with pytest.raises(ArgumentError, match="no single value"):
        int(UOp.variable("i", 0, 3) + 1)


def test_replace_leaves_the_original():
    tree = seventeen()
    other = tree.replace(op=Ops.SUB)
    assert (tree.op, other.op) == (Ops.ADD, Ops.SUB)
    assert other.src is tree.src
    with pytest.raises(ArgumentError):
        tree.replace(shape=(1,))


def test_nodes_cannot_be_changed():
    with pytest.raises(SpecError, match="immutable"):
        seventeen().arg = 3


def test_sources_come_before_users():
    tree = seventeen() * seventeen()
    order = list(tree.toposort())
    assert order[-1] is tree and len(order) == len(set(order)) == 6
    for position, node in enumerate(order):
        assert all(order.index(source) < position for source in node.src)


def test_toposort_stops_at_the_gate():
    tree = seventeen()
    assert list(tree.toposort(gate=lambda u: u.op is not Ops.MUL)) == [*tree.src, tree]


def test_signed_zeros_and_nan_are_distinct():
    zero, minus = UOp.const(dtypes.float, 0.0), UOp.const(dtypes.float, -0.0)
    assert zero is not minus
    assert UOp.const(dtypes.float, float("nan")) is UOp.const(dtypes.float, float("nan"))
    vectors = [UOp.const(dtypes.float, (0.0, x)) for x in (0.0, -0.0)]
    assert vectors[0] is not vectors[1]


def test_int_and_bool_constants_are_distinct():
    assert UOp.const(dtypes.int, 1) is not UOp.const(dtypes.bool, True)


def test_unused_nodes_are_gone():
    gc.collect()
    before = len(_interned)
    tree = UOp.variable("only_here", 0, 9) * 123 + 456
    assert len(_interned) > before
    del tree
    assert len(_interned) == before


def test_a_deep_chain_builds_prints_pickles_and_dies():
    before = len(_interned)
    node = UOp.variable("deep", 0, 9)
    for _ in range(100_000):
        node = node + 1
    assert len(node.toposort()) == 100_002
    assert "100001 nodes" in repr(node)
    assert pickle.loads(pickle.dumps(node)) is node
    del node
    assert len(_interned) <= before + 1


def test_substitute_rebuilds_users_and_leaves_replacements_alone():
    i = UOp.variable("i", 0, 3)
    tree = (i + 1) * (i + 2)
    replaced = tree.substitute({i: i + 1})
    assert replaced is ((i + 1) + 1) * ((i + 1) + 2)
    assert tree.substitute({}) is tree


def test_binding_is_checked_against_bounds():
    i = UOp.variable("i", 1, 10)
    assert i.bind(10).unbind() == (i, 10)
    for wrong in (0, 11, 2.0):
        with pytest.raises(ArgumentError, match="bounds"):
            i.bind(wrong)
    with pytest.raises(ArgumentError):
        UOp.variable("i", 3, 1)


def test_pickle_gives_the_same_object():
    tree = seventeen().cast(dtypes.float).reshape((1,)).expand((4,)).reduce(Ops.ADD, (0,))
    assert pickle.loads(pickle.dumps(tree)) is tree


def test_base_is_below_all_movement():
    x = UOp.new_buffer("X", 4, dtypes.int)
    assert x.reshape((2, 2)).permute((1, 0)).base is x
    assert (x + x).base is not x


def test_variables_are_found_in_args_of_movement_too():
    n = UOp.variable("n", 1, 4)
    x = UOp.new_buffer("X", 4, dtypes.int).shrink(((0, n),))
    assert x.variables() == [n]


def test_numbers_of_bound_variables():
    i = UOp.variable("i", 1, 10).bind(4)
    assert (int(i), float(i), i.val, (i * 2 + 1).val, len(range(i))) == (4, 4.0, 4, 9, 4)
    assert bool(i < 5) and not bool(i > 4) and max(i, 7) == 7
    assert (i / 8, 2 / i, i * 0.5, 0.5 + i, i - 1.5, i // 1.5) == (0.5, 0.5, 2.0, 4.5, 2.5, 2.0)
    assert bool(i < 4.5) and not bool(i >= 4.5)
    free = UOp.variable("i", 1, 10)
    for wrong in (int, float, bool, lambda v: v / 2, lambda v: v * 0.5, lambda v: v.val):
        with pytest.raises(ArgumentError, match="no single value"):
            wrong(free)
    assert bool(free < 11) and not bool(free < 1)


def test_variables_have_names_and_take_any_integer():
    import numpy as np

    assert UOp.variable("i", 1, 10).bind(np.int64(4)).val == 4
    for wrong in ("", None, 3):
        with pytest.raises(ArgumentError, match="a name"):
            UOp.variable(wrong, 1, 10)


def test_equal_nodes_of_several_threads_are_one():
    rounds, count = 60, 4
    barrier, made = threading.Barrier(count), [[] for _ in range(count)]

    def make(own):
        for number in range(rounds):
            barrier.wait()
            nodes = [UOp(Ops.CONST, dtypes.int, (), 7_000_000 + number)]
            for _ in range(20):
                nodes.append(UOp(Ops.NEG, dtypes.int, (nodes[-1],)))
            own.append(nodes)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=make, args=(own,)) for own in made]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    for own in made[1:]:
        assert all(a is b for one, other in zip(made[0], own) for a, b in zip(one, other))


def test_a_node_that_another_thread_made_is_not_forgotten():
    """A dead node removes only its own entry, not a newer one."""
    key = (Ops.CONST, dtypes.int, (), 7_100_000)
    made = UOp(*key)
    dead = _Entry(_Dies())
    methodcaller("drop", key)(dead)
    assert interned[key]() is made
    del made
    gc.collect()
    assert key not in interned
    methodcaller("drop", key)(dead)  # nor is it an error where none does


def test_the_entry_of_a_dead_node_is_replaced():
    """Its callback may be under way in another thread."""
    key = (Ops.CONST, dtypes.int, (), 7_200_000)
    interned[key] = _Entry(_Dies())
    made = UOp(*key)
    assert interned[key]() is made
    del made
    gc.collect()
    assert key not in interned


@pytest.mark.parametrize("arg", [Reduce(Ops.ADD, (7_300,)), 7_300.5, ("a", 7_300), None])
def test_no_python_runs_when_a_node_dies(arg):
    """An exception of a signal handler there would be lost."""
    node = UOp(Ops.NOOP, dtypes.int, (UOp(Ops.CONST, dtypes.int, (), 7_300_001),), arg)
    before, called = len(_interned), []
    sys.setprofile(lambda frame, event, _: called.append(event))
    del node
    sys.setprofile(None)
    assert len(_interned) == before - 2
    assert set(called) <= {"c_call", "c_return"}


class _Dies:
    """What a weak reference loses at once."""
