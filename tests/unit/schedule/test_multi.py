"""SPMD partitioning: one graph per device, with copies between them.

Before and after as text in tests/golden/sharding; here what they have in common.
"""

import pytest

from helpers.graphs import STORES, buffer, lookup, writes
from weft.base.dtype import dtypes
from weft.base.errors import DeviceError, ScheduleError
from weft.base.settings import settings
from weft.schedule import kernelize_map
from weft.schedule.multi import layout_of, partition
from weft.schedule.use_def import is_stored
from weft.uop import Ops, Shard, UOp, Window, to_text
from weft.uop.sharding import laid_out, parts_of, stacked

X, Y = DEVICES = ("X", "Y")


def spread(shape, shard, dtype=dtypes.float):
    """A value in memory on X and Y."""
    parts = []
    for place, device in enumerate(DEVICES):
        local = shard.local_shape(shape, place)
        size = 1
        for extent in local:
            size *= extent
        parts.append(buffer(size, dtype, device).reshape(local))
    return stacked(parts, shard)


def halves(*shape, axis=0):
    size = shape[axis]
    return spread(shape, Shard(axis, (0, (size + 1) // 2, size)))


def copied(expansion):
    """The sizes of all copies in a partitioned graph."""
    return [n.size for n in expansion.sink.toposort() if n.op is Ops.COPY]


def taken(*nodes):
    found = partition(UOp.sink(*nodes), lookup())
    for node in found.sink.toposort(gate=lambda u: not is_stored(u)):
        assert node.op not in (Ops.MULTI, Ops.MSTACK)
        assert node is found.sink or not isinstance(node.device, tuple)
    return found


def test_graphs_on_one_device_are_left_alone():
    assert partition(UOp.sink(buffer() + 1), lookup()) is None
    assert layout_of(buffer() + 1, lookup()) is None


def test_equal_cuts_compute_side_by_side():
    found = taken(halves(4, 3) + halves(4, 3))
    assert copied(found) == []
    assert [(n.op, n.shape, n.device) for n in found.sink.src] == [
        (Ops.ADD, (2, 3), "X"),
        (Ops.ADD, (2, 3), "Y"),
    ]


def test_a_replicated_operand_is_sharded_without_copies():
    found = taken(halves(5, 3) * spread((5, 3), Shard()))
    assert copied(found) == []
    assert [n.shape for n in found.sink.src] == [(3, 3), (2, 3)]


def test_different_shards_are_redistributed():
    found = taken(halves(4, 4) + halves(4, 4, axis=1))
    assert copied(found) == [4, 4]


def test_the_more_even_cut_decides():
    lopsided = spread((4, 2), Shard(0, (0, 4, 4)))
    node = lopsided + halves(4, 2)
    assert layout_of(node, lookup()) == Shard(0, (0, 2, 4))


def test_a_reduce_along_the_cut_ends_in_copies_and_adds():
    found = taken(halves(4, 3).reduce(Ops.ADD, (0,)))
    assert copied(found) == [3, 3]
    assert [n.op for n in found.sink.src] == [Ops.ADD, Ops.ADD]
    assert layout_of(halves(4, 3).reduce(Ops.ADD, (0,)), lookup()) == Shard()
    assert copied(taken(halves(4, 3).reduce(Ops.ADD, (1,)))) == []


@pytest.mark.parametrize("op", [Ops.MAX, Ops.MUL, Ops.ADD])
def test_parts_without_elements_take_no_part_in_a_reduce(op):
    lopsided = spread((2, 3), Shard(0, (0, 2, 2)))
    found = taken(lopsided.reduce(op, (0,)))
    assert copied(found) == [3]
    first, second = found.sink.src
    assert first.op is Ops.REDUCE_AXIS and second.op is Ops.COPY
    assert second.src[0] is first


def test_a_matrix_product_is_carried_out_by_parts():
    def product(a, b):
        rows, inner, columns = a.shape[0], a.shape[1], b.shape[1]
        left = a.reshape((rows, inner, 1)).expand((rows, inner, columns))
        right = b.reshape((1, inner, columns)).expand((rows, inner, columns))
        return (left * right).reduce(Ops.ADD, (1,))

    whole = spread((4, 6), Shard())
    assert copied(taken(product(halves(4, 4), whole))) == []  # by rows
    assert copied(taken(product(whole, halves(6, 4, axis=1)))) == []  # by columns
    # inside: partial sums of 4 by 4 from each to the other
    assert copied(taken(product(halves(4, 6, axis=1), halves(6, 4)))) == [16, 16]
    # rows by columns: the factor itself goes round, not its repetition
    assert sorted(copied(taken(product(halves(4, 6), halves(6, 4, axis=1))))) == [12, 12]


def test_a_movement_that_the_cut_does_not_survive_gathers_first():
    assert copied(taken(halves(4, 6, axis=1).reshape((24,)) + 1)) == [12, 12]
    assert copied(taken(halves(4, 6).reshape((24,)) + 1)) == []


def test_a_copy_to_one_device_concatenates_the_shards():
    x = halves(4, 2)
    found = taken(x.copy_to_device(X))
    assert copied(found) == [4] and found.sink.src[0].device == X
    whole = spread((4, 2), Shard())
    assert taken(whole.copy_to_device(Y)).sink.src[0] is parts_of(whole)[1]


def test_a_storage_device_gets_the_whole_value():
    context = lookup(S=STORES)
    found = partition(UOp.sink(halves(4).copy_to_device("S")), context)
    last = found.sink.src[0]
    assert last.op is Ops.COPY and last.src[0].op is Ops.CONTIGUOUS and last.src[0].device == X


def test_sharding_allocates_memory_of_the_shard_size():
    x = buffer(4, device=X)
    found = taken(laid_out(x, DEVICES, Shard(0, (0, 2, 4))))
    assert [n.op for n in found.sink.src] == [Ops.CONTIGUOUS, Ops.COPY]
    assert [n.shape for n in found.sink.src] == [(2,), (2,)]


def test_constants_and_counters_take_no_copies():
    count = UOp(Ops.IOTA, dtypes.int, (UOp(Ops.DEVICE, arg=DEVICES),), 4)
    single = UOp(Ops.IOTA, dtypes.int, (UOp(Ops.DEVICE, arg="Z"),), 4)
    ints = spread((4,), Shard(0, (0, 2, 4)), dtypes.int)
    assert copied(taken(ints + count)) == []
    assert copied(taken(ints + single)) == []


def test_parts_can_be_selected():
    x = halves(5)
    found = taken(UOp(Ops.MSELECT, x.dtype, (x + 1,), 1))
    assert [(n.op, n.shape, n.device) for n in found.sink.src] == [(Ops.ADD, (2,), "Y")]


def test_a_write_runs_on_every_device_for_any_reader():
    x = spread((4,), Shard())
    written = x.assign(x + 1)
    found = taken(written.copy_to_device(X))
    assert sum(n.op is Ops.ASSIGN for n in found.sink.toposort()) == 2
    found = taken(written.shrink(((0, 1),)))
    assert sum(n.op is Ops.ASSIGN for n in found.sink.toposort()) == 2


def test_a_write_lays_its_value_out_as_its_memory():
    x = halves(4, 4)
    found = taken(x.assign(halves(4, 4, axis=1)))
    assert copied(found) == [4, 4]
    assert [n.base.op for n in found.sink.src] == [Ops.ASSIGN, Ops.ASSIGN]


def test_the_old_value_is_read_before_it_is_overwritten():
    x = halves(4)
    before = x.reduce(Ops.ADD, (0,))
    found = writes(before, x.assign(x * 2))
    touched = {part.base: place for place, part in enumerate(parts_of(x))}
    overwritten: set[UOp] = set()
    for write in found:
        for source in write.src[1].src:
            if source is not write.src[0] and source in touched:
                assert source not in overwritten
        overwritten.add(write.src[0])
    assert overwritten >= set(touched)


def test_every_value_is_replaced_by_its_parts_in_memory():
    node = halves(4, 3) + 1
    sink = UOp.sink(node.reshape((12,)))
    becomes = kernelize_map(sink, lookup())
    final = becomes[node]
    assert final.op is Ops.MULTI and final.arg == Shard(0, (0, 2, 4)) and final.shape == (4, 3)
    assert all(is_stored(part.base) for part in parts_of(final))
    again = sink.substitute(becomes)
    assert not kernelize_map(again, lookup())


def test_operands_elsewhere_are_an_error_that_names_them():
    other = stacked([buffer(2, device="X"), buffer(2, device="Z")], Shard(0, (0, 2, 4)))
    with pytest.raises(DeviceError, match=r"\('X', 'Y'\).*\('X', 'Z'\)"):
        taken(halves(4) + other)
    with pytest.raises(DeviceError, match=r"shard\(\('X', 'Y'\)\)"):
        taken(halves(4) + buffer(4, device="Z"))


def test_only_whole_parts_can_be_written():
    x = halves(4)
    window = Window(x.shrink(((0, 2),)).st)
    with pytest.raises(ScheduleError, match="whole of a sharded value"):
        taken(x.assign(UOp.const(x.dtype, 1.0), window))


def test_an_unknown_operation_is_refused():
    with pytest.raises(ScheduleError, match="BUFFER_VIEW"):
        taken(UOp(Ops.BUFFER_VIEW, dtypes.float, (halves(4),), None))


def product():
    a, b = halves(4, 6, axis=1), halves(6, 2)
    left = a.reshape((4, 6, 1)).expand((4, 6, 2))
    right = b.reshape((1, 6, 2)).expand((4, 6, 2))
    return (left * right).reduce(Ops.ADD, (1,))


CASES = {
    "elementwise_of_two_cuts": lambda: (halves(5, 3) * spread((5, 3), Shard()) + 1,),
    "inner_product": lambda: (product(),),
    "sum_of_all": lambda: (halves(4, 3).reduce(Ops.ADD, (0, 1)),),
    "write": lambda: ((x := halves(4)).assign(x + 1),),
    "gather": lambda: (halves(4).copy_to_device("X"),),
}


@pytest.mark.parametrize("case", CASES)
def test_before_and_after(case, golden):
    sink = UOp.sink(*CASES[case]())
    after = partition(sink, lookup()).sink
    text = f"# before\n{_text(sink)}\n# after\n{_text(after)}"
    assert text == golden.file(f"sharding/{case}.uop")


def test_before_and_after_in_a_ring(golden):
    sink = UOp.sink(halves(4, 6).reduce(Ops.ADD, (0,)))
    with settings.override(RING=2):
        after = partition(sink, lookup()).sink
    text = f"# before\n{_text(sink)}\n# after\n{_text(after)}"
    assert text == golden.file("sharding/ring.uop")


def _text(sink):
    """As text in which buffers are numbered from 0."""
    numbers = [n for n in sink.toposort() if n.op is Ops.UNIQUE]
    return to_text(sink.substitute({n: n.replace(arg=i) for i, n in enumerate(numbers)}))
