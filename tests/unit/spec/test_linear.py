import pytest

from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.spec import linear
from weft.testing.conformance.programs import Builder
from weft.uop import Ops, UOp

INT = dtypes.int32


def doubled():
    b = Builder()
    out, data = b.argument(0, INT, 4), b.argument(1, INT, 4)
    at = b.loop(4, 0)
    b.store(out, at, b.load(data, at) * 2)
    b.end(at)
    return b.nodes


def refused(nodes):
    with pytest.raises(SpecError) as caught:
        linear.verify(nodes)
    return caught.value.because


def test_a_sound_program():
    linear.verify(doubled())


def test_sources_come_first():
    assert "is not visible here" in refused(doubled()[::-1][1:])


def test_no_node_occurs_twice():
    nodes = doubled()
    assert refused([nodes[0], *nodes]) == "it occurs twice in the list"


def test_loops_and_conditions_are_closed():
    assert refused(doubled()[:-1]) == "it is never closed"


def test_loops_close_in_the_order_in_which_they_opened():
    b = Builder()
    outer, inner = b.loop(2, 0), b.loop(3, 1)
    b.end(outer), b.end(inner)
    assert refused(b.nodes) == "it does not close the innermost loop or condition"


def test_a_value_of_a_loop_is_not_used_after_it():
    b = Builder()
    out, data = b.argument(0, INT, 4), b.argument(1, INT, 4)
    at = b.loop(4, 0)
    value = b.load(data, at)
    b.end(at)
    b.store(out, 0, value)
    assert "is not visible here" in refused(b.nodes)


def test_views_and_reduces_are_gone():
    node = UOp(Ops.REDUCE, INT, (UOp.const(INT, 1),))
    assert refused(list(node.toposort())) == "a linear program has no such node"


def test_a_shuffle_is_not_in_divergent_code():
    b = Builder()
    out, item = b.argument(0, INT, 4), b.special("lidx0", 4)
    inside = b.add(UOp(Ops.IF, dtypes.void, (item < 2,)))
    b.store(out, item, UOp(Ops.SHUFFLE, INT, (item,), 1))
    b.add(UOp(Ops.ENDIF, dtypes.void, (inside,)))
    assert refused(b.nodes) == "lanes may diverge at an IF"


def test_a_shuffle_needs_another_lane():
    node = UOp(Ops.SHUFFLE, INT, (Builder().special("lidx0", 4),), 0)
    assert "positive" in refused(list(node.toposort()))
