"""Loops, registers, masks, vectors, variables, work groups: the shapes that kernels come in."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.base.scalars import truncate
from weft.device import Feature
from weft.testing.conformance.programs import Builder, interesting, run, same
from weft.uop import Ops, UOp
from weft.uop.args import ASYNC

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")

FLOAT, INT = dtypes.float32, dtypes.int32


def const(value, dtype=INT):
    return UOp.const(dtype, value)


def test_sum_of_rows(weft_device):
    rows, columns = 5, 7
    b = Builder()
    out, data = b.argument(0, FLOAT, rows), b.argument(1, FLOAT, rows * columns)
    total = b.register(0, FLOAT)
    row = b.loop(rows, 0)
    b.store(total, 0, const(0.0, FLOAT))
    column = b.loop(columns, 1)
    item = b.load(data, row * columns + column)
    b.store(total, 0, b.load(total, 0) + item)
    b.end(column)
    # After the loop the register is read anew: the arg tells this load from the one inside.
    result = b.add(UOp(Ops.LOAD, FLOAT, (total.index(const(0)),), "after"))
    b.store(out, row, result)
    b.end(row)
    given = [float(n % 11) for n in range(rows * columns)]
    (found,) = run(weft_device, b, [(FLOAT, rows)], [(FLOAT, given)])
    assert found == [sum(given[r * columns : (r + 1) * columns]) for r in range(rows)]


@pytest.mark.parametrize("length", [3, 16, 1000])
def test_a_local_array_is_read_anywhere(weft_device, length):
    """Each row is written once from left to right and read backwards."""
    rows = 3
    b = Builder()
    out, data = (b.argument(slot, INT, rows * length) for slot in (0, 1))
    kept = b.register(0, INT, length)
    row = b.loop(rows, 0)
    start = b.add(row * length)
    first = b.loop(length, 1)
    item = b.load(data, start + first)
    b.store(kept, first, item + item)
    b.end(first)
    then = b.loop(length, 2)
    b.store(out, start + then, b.load(kept, then * -1 + (length - 1)))
    b.end(then)
    b.end(row)
    given = list(range(rows * length))
    (found,) = run(weft_device, b, [(INT, rows * length)], [(INT, given)])
    whole = [given[r * length : (r + 1) * length] for r in range(rows)]
    assert found == [2 * item for part in whole for item in reversed(part)]


def test_a_masked_load_does_not_touch_memory(weft_device):
    count, size = 16, 4
    b = Builder()
    out, data = b.argument(0, FLOAT, count), b.argument(1, FLOAT, size)
    at = b.loop(count, 0)
    inside = at < size
    b.store(out, at, b.load(data, at * 100_000_000 // 100_000_000, inside, const(-1.0, FLOAT)))
    b.end(at)
    (found,) = run(weft_device, b, [(FLOAT, count)], [(FLOAT, [1.0, 2.0, 3.0, 4.0])])
    assert found == [1.0, 2.0, 3.0, 4.0] + [-1.0] * (count - size)


def test_a_masked_store(weft_device):
    b = Builder()
    out = b.argument(0, INT, 8)
    at = b.loop(8, 0)
    b.store(out, at, at + 10, gate=b.add((at % 2).ne(0)))
    b.end(at)
    (found,) = run(weft_device, b, [(INT, 8)])
    assert found == [0, 11, 0, 13, 0, 15, 0, 17]


def test_a_condition(weft_device):
    b = Builder()
    out = b.argument(0, INT, 8)
    at = b.loop(8, 0)
    condition = b.add(UOp(Ops.IF, dtypes.void, (at < 3,)))
    b.store(out, at, at + 1)
    b.add(UOp(Ops.ENDIF, dtypes.void, (condition,)))
    b.end(at)
    (found,) = run(weft_device, b, [(INT, 8)])
    assert found == [1, 2, 3, 0, 0, 0, 0, 0]


def test_several_outputs(weft_device):
    b = Builder()
    first, second, data = b.argument(0, INT, 4), b.argument(1, INT, 4), b.argument(2, INT, 4)
    at = b.loop(4, 0)
    item = b.load(data, at)
    b.store(first, at, item + 1)
    b.store(second, at, item * item)
    b.end(at)
    found = run(weft_device, b, [(INT, 4), (INT, 4)], [(INT, [1, 2, 3, -4])])
    assert found == [[2, 3, 4, -3], [1, 4, 9, 16]]


def test_several_outputs_of_local_rows(weft_device):
    """Each row is read once; its sum and what it has over its first number are both written."""
    rows, columns = 3, 5
    b = Builder()
    sums, over = b.argument(0, INT, rows), b.argument(1, INT, rows * columns)
    data = b.argument(2, INT, rows * columns)
    total, kept = b.register(0, INT), b.register(1, INT, columns)
    row = b.loop(rows, 0)
    base = b.add(row * columns)
    b.store(total, 0, const(0))
    first = b.loop(columns, 1)
    item = b.load(data, base + first)
    b.store(kept, first, item)
    b.store(total, 0, b.load(total, 0) + item)
    b.end(first)
    b.store(sums, row, b.add(UOp(Ops.LOAD, INT, (total.index(const(0)),), "after")))
    then = b.loop(columns, 2)
    start = b.add(UOp(Ops.LOAD, INT, (kept.index(const(0)),), "after"))
    b.store(over, base + then, b.load(kept, then) - start)
    b.end(then)
    b.end(row)
    given = [n * n for n in range(rows * columns)]
    found = run(weft_device, b, [(INT, rows), (INT, rows * columns)], [(INT, given)])
    lines = [given[r * columns : (r + 1) * columns] for r in range(rows)]
    assert found[0] == [sum(line) for line in lines]
    assert found[1] == [n - line[0] for line in lines for n in line]


def test_in_place(weft_device):
    b = Builder()
    data = b.argument(0, INT, 4)
    at = b.loop(4, 0)
    b.store(data, at, b.load(data, at) + at)
    b.end(at)
    (found,) = run(weft_device, b, [(INT, 4)])
    assert found == [0, 1, 2, 3]


@pytest.mark.parametrize("length", [1, 3, 8])
def test_variables(weft_device, length):
    b = Builder()
    count, step = UOp.variable("count", 1, 8), UOp.variable("a_step", 0, 100)
    out = b.argument(0, INT, 8)
    b.add(count)
    b.add(step)
    at = b.loop(count, 0)
    b.store(out, at, at * step)
    b.end(at)
    # by name: a_step before count
    (found,) = run(weft_device, b, [(INT, 8)], values=[5, length])
    assert found == [5 * n if n < length else 0 for n in range(8)]


def test_variables_have_all_the_digits_of_an_integer(weft_device):
    b = Builder()
    low, high = UOp.variable("a_low", -(2**31), 0), UOp.variable("b_high", 0, 2**31 - 1)
    out = b.argument(0, INT, 2)
    b.store(out, 0, b.add(low))
    b.store(out, 1, b.add(high))
    wanted = [-(2**31) + 1, 2**31 - 3]
    (found,) = run(weft_device, b, [(INT, 2)], values=wanted)
    assert found == wanted


def test_variables_of_64_bits_among_others(weft_device, weft_compute):
    long = dtypes.int64
    if long not in weft_compute.dtypes:
        pytest.skip(f"{long} is not declared")
    b = Builder()
    names = ("a", "b", "c", "d")
    out = b.argument(0, long, len(names))
    for place, name in enumerate(names):
        kind, most = (long, 2**62) if name in "bd" else (INT, 2**31 - 1)
        b.store(out, place, b.add(b.add(UOp.variable(name, -most, most, kind)).cast(long)))
    wanted = [-3, 5 * 10**9, 2**31 - 2, -(2**61)]
    (found,) = run(weft_device, b, [(long, len(names))], values=wanted)
    assert found == wanted


@pytest.mark.parametrize("dtype", [d for d in dtypes.all if d is not dtypes.void], ids=str)
def test_constants(weft_device, weft_compute, dtype):
    """A number in the source is that number, to the last digit."""
    if dtype not in weft_compute.dtypes:
        pytest.skip(f"{dtype} is not declared")
    values = interesting(dtype)
    if dtypes.is_float(dtype):
        facts = dtypes.finfo(dtype)
        numbers = [1 / 3, 0.1, 16777217.0, 1e20, 123456.789, float(dtype.max), -float(dtype.max)]
        numbers += [facts.smallest_normal, 1 + 2.0**-facts.mantissa_bits]
        values += [truncate(number, dtype) for number in numbers]
    b = Builder()
    out = b.argument(0, dtype, len(values))
    for at, value in enumerate(values):
        b.store(out, at, const(value, dtype))
    (found,) = run(weft_device, b, [(dtype, len(values))])
    wrong = [(got, wanted) for got, wanted in zip(found, values) if not same(got, wanted, dtype)]
    assert not wrong, f"(found, wanted): {wrong[:5]}"


@pytest.mark.parametrize("dtype", [d for d in dtypes.all if d is not dtypes.void], ids=str)
def test_each_declared_vector_width(weft_device, weft_compute, dtype):
    widths = weft_compute.vector_widths.get(dtype, ())
    if dtype not in weft_compute.dtypes or not widths:
        pytest.skip(f"no vector widths are declared for {dtype}")
    for width in widths:
        b = Builder()
        out, data = b.argument(0, dtype, 2 * width), b.argument(1, dtype, 3 * width)
        at = b.loop(2, 0)
        # One element on: vectors need not be aligned.
        value = b.load(data, at * width + 1, dtype=dtype.vec(width))
        b.store(out, at * width, value)
        b.end(at)
        given = [n % 2 for n in range(3 * width)]
        if dtype is not dtypes.bool:
            given = [truncate(n % 13, dtype) for n in range(3 * width)]
        (found,) = run(weft_device, b, [(dtype, 2 * width)], [(dtype, given)])
        assert found == given[1 : 1 + 2 * width], f"width {width}"


def test_lanes_of_vectors(weft_device, weft_compute):
    if 4 not in weft_compute.vector_widths.get(FLOAT, ()):
        pytest.skip("float32 has no vectors of 4")
    b = Builder()
    out, data = b.argument(0, FLOAT, 4), b.argument(1, FLOAT, 4)
    value = b.load(data, 0, dtype=FLOAT.vec(4))
    lanes = [b.add(value.gep(lane)) for lane in (3, 2, 1, 0)]
    b.store(out, 0, b.add(UOp(Ops.VECTORIZE, FLOAT.vec(4), tuple(lanes))))
    (found,) = run(weft_device, b, [(FLOAT, 4)], [(FLOAT, [1.0, 2.0, 3.0, 4.0])])
    assert found == [4.0, 3.0, 2.0, 1.0]


def test_vector_arithmetic(weft_device, weft_compute):
    if weft_compute.vector_bytes < 16 or 4 not in weft_compute.vector_widths.get(FLOAT, ()):
        pytest.skip("no vector arithmetic on 4 float32 is declared")
    b = Builder()
    wide = FLOAT.vec(4)
    out, x, y = b.argument(0, FLOAT, 4), b.argument(1, FLOAT, 4), b.argument(2, FLOAT, 4)
    a, c = b.load(x, 0, dtype=wide), b.load(y, 0, dtype=wide)
    less = a.alu(Ops.CMPLT, c)
    b.store(out, 0, b.add(less.alu(Ops.WHERE, a.alu(Ops.ADD, c), a.alu(Ops.MUL, c))))
    given = [(FLOAT, [1.0, 5.0, 3.0, float("nan")]), (FLOAT, [2.0, 4.0, 3.0, 1.0])]
    (found,) = run(weft_device, b, [(FLOAT, 4)], given)
    assert found[:3] == [3.0, 20.0, 9.0] and found[3] != found[3]


def test_a_launch_grid(weft_device, weft_compute):
    if weft_compute.limits.global_size is None:
        pytest.skip("this device has no launch grid")
    b = Builder()
    out = b.argument(0, INT, 3 * 4 * 5)
    x, y, z = (b.special(f"gidx{n}", extent) for n, extent in enumerate((3, 4, 5)))
    at = b.add((z * 4 + y) * 3 + x)
    b.store(out, at, at + 7)
    (found,) = run(weft_device, b, [(INT, 60)])
    assert found == [n + 7 for n in range(60)]


def test_shared_memory_and_a_barrier(weft_device, weft_compute, weft_needs):
    weft_needs(Feature.SHARED)
    weft_needs(Feature.BARRIER)
    threads = min(weft_compute.limits.local_threads or 1, 32)
    b = Builder()
    out, data = b.argument(0, INT, threads), b.argument(1, INT, threads)
    exchange = b.shared("exchange", INT, threads)
    me = b.special("lidx0", threads)
    b.store(exchange, me, b.load(data, me))
    b.add(UOp(Ops.BARRIER, dtypes.void))
    b.store(out, me, b.load(exchange, const(threads - 1) - me))
    given = [n * n for n in range(threads)]
    (found,) = run(weft_device, b, [(INT, threads)], [(INT, given)])
    assert found == given[::-1]


def test_lanes_exchange_registers(weft_device, weft_compute, weft_needs):
    """Every dtype, by every power of two within a warp; two rows of work items."""
    weft_needs(Feature.WARP_REDUCE)
    warp = weft_compute.warp_size
    assert warp > 1 and warp & (warp - 1) == 0, "warp_size is the number of lanes, a power of two"
    known = sorted(weft_compute.dtypes, key=lambda dtype: dtype.name)
    count, b = 2 * warp, Builder()
    column, row = b.special("lidx0", warp), b.special("lidx1", 2)
    item = b.add(row * warp + column)
    steps = [1 << bit for bit in range(warp.bit_length() - 1)]
    for number, dtype in enumerate(known):
        out = b.argument(number, dtype, count * warp)
        held = b.load(b.argument(len(known) + number, dtype, count), item)
        for step in steps:
            b.store(out, item * warp + step, b.add(UOp(Ops.SHUFFLE, dtype, (held,), step)))
    given = [
        [n % 2 == 0 if dtype is dtypes.bool else truncate(n, dtype) for n in range(count)]
        for dtype in known
    ]
    outputs = [(dtype, count * warp) for dtype in known]
    results = run(weft_device, b, outputs, list(zip(known, given)))
    for dtype, values, found in zip(known, given, results):
        for n in range(count):
            wanted = [values[n ^ step] for step in steps]
            assert [found[n * warp + step] for step in steps] == wanted, dtype


def test_copies_that_arrive_later(weft_device, weft_compute, weft_needs):
    """Two batches on their way, behind a gate the second; each is waited for before it is read."""
    weft_needs(Feature.ASYNC_COPY)
    weft_needs(Feature.BARRIER)
    threads = min(weft_compute.limits.local_threads or 1, 32)
    b = Builder()
    out, data = b.argument(0, INT, 2 * threads), b.argument(1, INT, 2 * threads)
    tile = b.shared("tile", INT, 2 * threads)
    me = b.special("lidx0", threads)
    there = b.add(me < threads // 2)
    for batch, gate in enumerate(((), (there,))):
        at = b.add(me + batch * threads) if batch else me
        held = b.add(data.index(at, *gate).load(*(const(0) for _ in gate), dtype=INT))
        b.add(UOp(Ops.STORE, dtypes.void, (tile.index(at), held), ASYNC))
        b.add(UOp(Ops.COMMIT, dtypes.void, (), f"batch {batch}"))
    for batch, newer in enumerate((1, 0)):
        b.add(UOp(Ops.WAIT, dtypes.void, (), (newer, f"batch {batch}")))
        b.add(UOp(Ops.BARRIER, dtypes.void, (), f"batch {batch}"))
        other = b.add(const((batch + 1) * threads - 1) - me)
        b.store(out, b.add(me + batch * threads) if batch else me, b.load(tile, other))
    given = [n * n + 1 for n in range(2 * threads)]
    (found,) = run(weft_device, b, [(INT, 2 * threads)], [(INT, given)])
    late = given[threads : threads + threads // 2] + [0] * (threads - threads // 2)
    assert found == given[:threads][::-1] + late[::-1]
