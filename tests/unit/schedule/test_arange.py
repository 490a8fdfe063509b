"""Index arithmetic stays where it is read; counters take no memory."""

from helpers.graphs import buffer, kernels
from helpers.graphs import lookup as devices
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.device.capabilities import Capabilities, ComputeCaps, KernelLimits
from weft.schedule.arange import is_counted, is_counter, one_hot_selections
from weft.schedule.realize_map import must_realize
from weft.schedule.use_def import uses_in
from weft.uop import Ops, UOp

ROWS, COLUMNS, PICKED = 9, 4, 5


def counter(count=ROWS, device="X"):
    return UOp(Ops.IOTA, dtypes.int, (UOp(Ops.DEVICE, arg=device),), count)


def lookup(index, table):
    """table (ROWS, COLUMNS) at index (PICKED,)."""
    shape = (PICKED, COLUMNS, ROWS)
    index = index.reshape((PICKED, 1, 1)).expand(shape)
    places = counter().reshape((1, 1, ROWS)).expand(shape)
    seen = table.permute((1, 0)).reshape((1, COLUMNS, ROWS)).expand(shape)
    return index.eq(places).where(seen, 0.0).reduce(Ops.ADD, (2,))


def numbers():
    return buffer(PICKED, dtypes.int)


def table():
    return buffer(ROWS * COLUMNS).reshape((ROWS, COLUMNS))


def test_a_lookup_is_one_kernel():
    i = numbers()
    from_the_end = (i < 0).where(i + ROWS, i)
    with settings.override(GROUP_KERNELS=0):
        assert len(kernels(lookup(from_the_end, table()))) == 1


def test_switched_off_nothing_is_known_of_counters():
    uses = uses_in(UOp.sink(lookup(numbers() * 3, table())))
    assert one_hot_selections(uses).inline
    with settings.override(FUSE_ARANGE=0):
        assert not one_hot_selections(uses).inline and not one_hot_selections(uses).picked


def test_a_gathered_table_is_computed_for_selected_elements():
    few = lookup(numbers(), (table() + 1.0))
    with settings.override(GROUP_KERNELS=0):
        assert len(kernels(few)) == 1


def test_a_gathered_table_is_stored_if_more_elements_are_selected_than_it_has():
    shape = (PICKED * 9, COLUMNS, ROWS)
    index = buffer(PICKED * 9, dtypes.int).reshape((PICKED * 9, 1, 1)).expand(shape)
    places = counter().reshape((1, 1, ROWS)).expand(shape)
    dear = (table() + 1.0).permute((1, 0)).reshape((1, COLUMNS, ROWS)).expand(shape)
    picked = index.eq(places).where(dear, 0.0).reduce(Ops.ADD, (2,))
    assert len(kernels(picked)) == 2


def test_reduced_indices_are_stored():
    counted = buffer(PICKED * 3, dtypes.int).reshape((PICKED, 3)).reduce(Ops.ADD, (1,))
    found = uses_in(UOp.sink(lookup(counted.reshape((PICKED,)), table())))
    reduces = {n for n in found.order if n.op is Ops.REDUCE_AXIS}
    assert not one_hot_selections(found).inline & reduces


def test_long_index_arithmetic_is_stored():
    i = numbers()
    for _ in range(40):
        i = (i * 3 + 1) % ROWS
    assert len(kernels(lookup(i, table()))) == 2


def test_a_sum_that_picks_reads_once_per_result():
    graph = lookup(numbers(), table())
    picked = one_hot_selections(uses_in(UOp.sink(graph))).picked
    assert list(picked.values()) == [PICKED * COLUMNS]


def test_a_graph_without_counters_has_no_picks():
    found = one_hot_selections(uses_in(UOp.sink(buffer(4) + 1)))
    assert not found.inline and not found.picked


def test_counters_and_cheap_functions_of_counters():
    i = counter()
    assert is_counter(i) and is_counter((i * 2 + 1).cast(dtypes.float).reshape((3, 3)))
    assert not is_counter(i + numbers()) and not is_counter(buffer(4))
    assert is_counted(i.reshape((1, ROWS)).expand((ROWS, ROWS)) < 3)
    assert not is_counted(buffer(4)) and not is_counted(i.reduce(Ops.ADD, (0,)))


def test_nothing_is_stored_for_a_counter():
    for node in (counter(), counter() * 2 + 1, counter().reshape((3, 3)).permute((1, 0))):
        assert not must_realize(uses_in(UOp.sink(node)))
        assert not kernels(node)


def test_contiguous_counters_are_stored():
    assert len(kernels(counter().contiguous())) == 1
    assert [ast.op for ast in kernels(counter().copy_to_device("Y"))] == [Ops.SINK, Ops.COPY]


def test_a_sum_that_picks_is_not_cut_in_two_steps():
    rows = 1 << 20
    wide = KernelLimits(global_size=(65535, 65535, 64), local_size=(256, 1, 1), local_threads=256)
    ctx = devices(X=Capabilities(compute=ComputeCaps(limits=wide)))
    seen = buffer(rows).reshape((1, rows))
    index = buffer(1, dtypes.int).reshape((1, 1)).expand((1, rows))
    picked = index.eq(counter(rows).reshape((1, rows))).where(seen, 0.0)
    assert len(kernels(picked.reduce(Ops.ADD, (1,)), ctx=ctx)) == 1
    assert len(kernels((seen * 2.0).reduce(Ops.ADD, (1,)), ctx=ctx)) == 2
