"""Structures: what a schedule depends on, and nothing else."""

import pytest

from weft.base.dtype import dtypes
from weft.base.provenance import Metadata
from weft.base.settings import settings
from weft.device import binding, registry
from weft.schedule import kernelize_map
from weft.schedule.structural_key import structure_of, traversal
from weft.shape import ShapeTracker
from weft.uop import Ops, UOp, Window
from weft.uop.node import memo_slot


def memory(size=4, dtype=dtypes.float, device="REF"):
    return UOp.new_buffer(device, size, dtype)


def key(*nodes):
    return structure_of(UOp.sink(*nodes)).key


def copied(node, arg):
    return UOp(Ops.CONTIGUOUS, node.dtype, (node,), arg)


# ---- the same ------------------------------------------------------------------------------------


def test_other_memory_has_the_same_structure():
    def graph():
        a, b = memory(), memory()
        return (a + b) * a

    assert key(graph()) == key(graph())


def test_the_running_numbers_of_copies_do_not_show():
    def graph(first, second):
        a = memory()
        return copied(a, ("own", first)) + copied(a, ("own", second))

    assert key(graph(1, 2)) == key(graph(7, 5))
    assert key(graph(1, 2)) != key(graph(3, 3))


def test_the_value_of_a_variable_does_not_show():
    n = UOp.variable("n", 1, 4)

    def graph(value):
        return memory().shrink(((0, n.bind(value)),)).reduce(Ops.ADD, (0,))

    first, second = (structure_of(UOp.sink(graph(v))) for v in (2, 3))
    assert first.key == second.key
    assert (first.values, second.values) == ({n: 2}, {n: 3})


def test_nor_does_it_in_expressions_and_windows_nor_as_an_operand():
    n = UOp.variable("n", 1, 4)

    def graph(value):
        at = n.bind(value)
        window = ShapeTracker.from_shape((8,)).shrink(((at, at + 2),))
        a = memory(8)
        return a.assign(memory(2) + at.cast(dtypes.float), Window(window))

    first, second = (structure_of(UOp.sink(graph(v))) for v in (1, 3))
    assert first.key == second.key and second.values == {n: 3}


def test_lines_do_not_show():
    def graph(line):
        a = memory()
        node = a + a
        memo_slot("meta")(node, Metadata("add", ("f.py", line, "g")))
        return node

    assert key(graph(1)) == key(graph(2))


# ---- not the same --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        lambda a, b: a + a,
        lambda a, b: b + a,
        lambda a, b: a * b,
        lambda a, b: (a + b).reshape((2, 2)),
        lambda a, b: a + b.replace(arg=5).shrink(((0, 4),)),
        lambda a, b: a.cast(dtypes.int) + b.cast(dtypes.int),
        lambda a, b: a + memory(4, device="REF:vector"),
    ],
)
def test_everything_else_shows(other):
    a, b = memory(), memory()
    if other(a, b) is b + a:  # memory is numbered as it is met: which one comes first is no matter
        assert key(a + b) == key(other(a, b))
    else:
        assert key(a + b) != key(other(a, b))


def test_the_sign_of_zero_shows():
    a = memory()
    assert key(a + UOp.const(dtypes.float, 0.0)) != key(a + UOp.const(dtypes.float, -0.0))
    assert key(a + UOp.const(dtypes.int, 1)) != key(a + UOp.const(dtypes.bool, True))


def test_the_key_has_the_results_in_order():
    a = memory()
    one, two = a + 1, (a + 1) * 2
    assert key(one, two) != key(two) and key(one, two) != key(two, one)


def test_names_of_methods_show():
    def graph(name):
        a = memory()
        node = a + a
        memo_slot("meta")(node, Metadata(name))
        return node

    assert key(graph("add")) != key(graph("double"))


def test_settings_show_unless_they_have_no_effect():
    a = memory()
    before = key(a + 1)
    with settings.override(DEBUG=1, MEMORY_PLANNER=0):
        assert key(a + 1) == before
    for changes in ({"NOOPT": 1}, {"MAX_KERNEL_BUFFERS": 3}, {"SPEC": 1}):
        with settings.override(**changes):
            assert key(a + 1) != before


def test_devices_that_were_opened_again_show():
    a = memory()
    before = key(a + 1)
    registry.close("REF")
    assert key(a + 1) != before


def test_shared_memory_shows_where_there_are_writes():
    a, view = memory(), memory(2)
    plain, written = key(a + 1), key(a.assign(a + 1))
    binding.share(view, a)
    assert key(a + 1) == plain
    assert key(a.assign(a + 1)) != written
    del view
    assert key(a.assign(a + 1)) == written


# ---- none ----------------------------------------------------------------------------------------


def test_pending_kernels_have_none():
    sink = UOp.sink((memory() + 1).contiguous())
    assert structure_of(sink.substitute(kernelize_map(sink))) is None


def test_two_values_of_one_variable_have_none():
    n = UOp.variable("n", 1, 4)
    graphs = [memory().shrink(((0, n.bind(v)),)).reduce(Ops.ADD, (0,)) for v in (2, 3)]
    assert structure_of(UOp.sink(*graphs)) is None


# ---- the traversal -------------------------------------------------------------------------------


def test_the_traversal_visits_sources_first_and_each_node_once():
    a, b = memory(), memory()
    node = (a + b) * (a + b).exp2()
    order = list(traversal(UOp.sink(node)))
    place = {n: i for i, n in enumerate(order)}
    assert len(place) == len(order) and order[-1].op is Ops.SINK
    for current in order:
        if current.op is not Ops.BUFFER:
            assert all(place[source] < place[current] for source in current.src)
    assert not any(n.op in (Ops.DEVICE, Ops.UNIQUE) for n in order)


def test_a_structure_names_its_memory_in_order():
    a, b = memory(), memory()
    found = structure_of(UOp.sink(b + a, a))
    assert found.buffers == [b, a] and found.places[found.sink] == len(found.sources) - 1
