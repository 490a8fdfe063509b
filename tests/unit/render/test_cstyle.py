"""Whole kernels, as reviewers read them, and what the renderer refuses."""

from __future__ import annotations

import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.base.errors import CapabilityError, SpecError
from weft.device.program import LinearProgram
from weft.render import CDialect, CStyleRenderer, VectorStyle
from weft.uop import Ops, UOp, graph_rewrite

PLAIN = CStyleRenderer()
CLANG = CStyleRenderer(
    CDialect(vectors=VectorStyle(), native_ops=CDialect().native_ops | {Ops.MULACC})
)


class Grid(CStyleRenderer):
    function_prefix = ""

    def extra_parameters(self, program):
        return ("uint3 where",)


GRID = Grid(
    CDialect(
        language="grid",
        kernel_prefix="__kernel void",
        global_qualifier="__global ",
        shared_qualifier="__shared_memory ",
        barrier="wait_for_group();",
        index={
            "gidx": ("group(0)", "group(1)", "group(2)"),
            "lidx": ("item(0)", "item(1)", "item(2)"),
        },
    )
)
ZERO = UOp.const(dtypes.int, 0)


def matrix_vector() -> LinearProgram:
    """data0[i] = sum over j of data1[i, j] * data2[j], eight lanes at a time."""
    vec = dtypes.float.vec(8)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(32), (), 0)
    matrix = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(32 * 64), (), 1)
    vector = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), (), 2)
    acc = UOp(Ops.DEFINE_REG, vec.ptr(1, AddrSpace.REG), (), 0).index(ZERO)
    row, column = UOp.range(32, 0), UOp.range(8, 1)
    begin = acc.store(UOp.const(dtypes.float, 0.0).broadcast(8))
    at = column * 8
    a = matrix.index(row * 64 + at).load(dtype=vec)
    b = vector.index(at).load(dtype=vec)
    step = acc.store(UOp(Ops.MULACC, vec, (a, b, acc.load(dtype=vec))))
    total = UOp(Ops.LOAD, vec, (acc,), "after")  # another node than the read in the loop
    lanes = [total.gep(i) for i in range(8)]
    while len(lanes) > 1:
        lanes = [x + y for x, y in zip(lanes[::2], lanes[1::2])]
    store = out.index(row).store(lanes[0])
    end_row, end_column = (UOp(Ops.ENDRANGE, dtypes.void, (r,)) for r in (row, column))
    before = row.toposort() | begin.toposort() | step.toposort()
    after = [u for u in store.toposort() if u not in before]
    return LinearProgram.of("r_32_64", [*before, end_column, *after, end_row])


def test_matrix_vector(golden):
    assert CLANG.render(matrix_vector()) == golden.file("render/matrix_vector.c")


def test_elementwise_with_mask(write, golden):
    loop = UOp.range(4, 0)
    at = loop * 16
    vec = dtypes.float.vec(16)
    x = write.buffer(1, dtypes.float).index(at).load(dtype=vec)
    keep = write.buffer(2, dtypes.bool).index(at).load(dtype=dtypes.bool.vec(16))
    small = x.alu(Ops.CMPLT, UOp.const(vec, 1.0))
    value = keep.alu(Ops.AND, small).alu(Ops.WHERE, x * x, UOp.const(vec, 0.0))
    biggest = value.alu(Ops.MAX, UOp.const(vec, 0.25))
    stores = (
        write.buffer(0, dtypes.float).index(at).store(biggest),
        write.buffer(3, dtypes.bool).index(at).store(small),
    )
    program = write.program(*stores, name="E_4_16", loops=[loop])
    assert CLANG.render(program) == golden.file("render/elementwise_with_mask.c")


def test_plain_c(write, golden):
    n = UOp.variable("n", 1, 64)
    loop = UOp.range(n, 0)
    x = write.buffer(1, dtypes.double).index(loop).load()
    y = write.buffer(2, dtypes.int).index(loop).load()
    stores = (
        write.buffer(0, dtypes.half).index(loop).store((x.sqrt() + 0.5).cast(dtypes.half)),
        write.buffer(3, dtypes.char).index(loop).store(x.cast(dtypes.char)),
        write.buffer(4, dtypes.int).index(loop).store((y // n) % y),
        write.buffer(5, dtypes.bool).index(loop).store(y.cast(dtypes.bool)),
        write.buffer(6, dtypes.uint).index(loop).store(x.cast(dtypes.float).bitcast(dtypes.uint)),
    )
    program = write.program(*stores, name="E_n", loops=[loop])
    sink = graph_rewrite(UOp.sink(*stores), PLAIN.rules)
    program = write.program(*sink.src, name="E_n", loops=[loop])
    assert PLAIN.render(program) == golden.file("render/plain.c")


def test_launch_grid(write, golden):
    group = UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 16),), "gidx0")
    item = UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 4),), "lidx0")
    shared = UOp(Ops.DEFINE_LOCAL, dtypes.float.ptr(4, AddrSpace.LOCAL), (), "shared0")
    value = write.buffer(1, dtypes.float).index(group * 4 + item).load()
    put = shared.index(item).store(value)
    barrier = UOp(Ops.BARRIER, dtypes.void, (put,))
    first = item.alu(Ops.CMPLT, UOp.const(dtypes.int, 1))
    test = UOp(Ops.IF, dtypes.void, (first,))
    sums = shared.index(ZERO).load() + shared.index(UOp.const(dtypes.int, 1)).load()
    store = write.buffer(0, dtypes.float).index(group).store(sums)
    uops = {**barrier.toposort(), **test.toposort(), **store.toposort()}
    end = UOp(Ops.ENDIF, dtypes.void, (test,))
    assert GRID.render(LinearProgram.of("r_16_4", [*uops, end])) == golden.file("render/grid.c")


@pytest.mark.parametrize("part", ["special", "local", "barrier"])
def test_plain_c_has_no_grid(write, part):
    one = UOp.const(dtypes.int, 1)
    made = {
        "special": UOp(Ops.SPECIAL, dtypes.int, (one,), "gidx0"),
        "local": UOp(Ops.DEFINE_LOCAL, dtypes.float.ptr(4, AddrSpace.LOCAL), (), "shared0"),
        "barrier": UOp(Ops.BARRIER),
    }[part]
    with pytest.raises(CapabilityError) as caught:
        PLAIN.render(LinearProgram.of("k", [one, made]))
    assert "CDialect" in caught.value.because


def test_blocks_must_close():
    loop = UOp.range(4, 0)
    with pytest.raises(SpecError):
        PLAIN.render(LinearProgram.of("k", [loop.src[0], loop]))
    with pytest.raises(SpecError):
        PLAIN.render(LinearProgram.of("k", [loop.src[0], UOp(Ops.ENDRANGE, dtypes.void, (loop,))]))


def test_tensor_cores_are_the_dialects_own(write):
    call = UOp(Ops.WMMA, dtypes.float, (ZERO, ZERO, ZERO), "m16n8k16")
    with pytest.raises(CapabilityError):
        PLAIN.render(write.program(write.buffer(0, dtypes.float).index(ZERO).store(call)))


def test_exchanging_registers_is_the_dialects_own(write):
    call = UOp(Ops.SHUFFLE, dtypes.float, (write.buffer(1, dtypes.float).index(ZERO).load(),), 1)
    store = write.buffer(0, dtypes.float).index(ZERO).store(call)
    with pytest.raises(CapabilityError) as caught:
        PLAIN.render(write.program(store))
    assert "WARP_REDUCE" in caught.value.try_


def test_inputs_are_const_and_outputs_are_not(write):
    a, b = write.buffer(0, dtypes.float), write.buffer(1, dtypes.float)
    store = a.index(ZERO).store(a.index(ZERO).load() + b.index(ZERO).load())
    source = PLAIN.render(write.program(store))
    assert "void k(float* restrict data0, const float* restrict data1) {" in source


def test_custom_text(write):
    one = UOp.const(dtypes.float, 1.0)
    value = UOp(Ops.CUSTOMI, dtypes.float, (one,), "fancy({0})")
    statement = UOp(Ops.CUSTOM, dtypes.void, (one,), "prefetch({0});")
    store = write.buffer(0, dtypes.float).index(ZERO).store(value)
    sink = UOp.sink(statement, store)
    uops = [u for u in sink.toposort() if u is not sink]
    source = PLAIN.render(LinearProgram.of("k", uops))
    assert "prefetch(1.0f);" in source and "= fancy(1.0f);" in source


def test_lines_stay_readable(write):
    loop = UOp.range(2, 0)
    lanes = tuple(write.buffer(1, dtypes.float).index(loop * 16 + i).load() for i in range(16))
    vector = UOp(Ops.VECTORIZE, dtypes.float.vec(16), lanes)
    store = write.buffer(0, dtypes.float).index(loop * 16).store(vector)
    source = CLANG.render(write.program(store, loops=[loop]))
    assert max(map(len, source.splitlines())) < 160


@pytest.mark.parametrize("whole", [False, True])
def test_lanes_of_two_vectors_are_picked_at_once(whole):
    """Without the vector of both, unless that is wanted for itself."""
    four, data = dtypes.float.vec(4), UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), (), 1)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), (), 0)
    x, y = (data.index(ZERO + at).load(dtype=four) for at in (0, 32))
    both = UOp(Ops.CAT, dtypes.float.vec(8), (x, y))
    parts = [both.gep((0, 4, 1, 5)), both.gep((2, 6, 3, 7)), *([both] if whole else [])]
    stores = [out.index(ZERO + 8 * at).store(part) for at, part in enumerate(parts)]
    uops = [u for u in UOp.sink(*stores).toposort() if u.op is not Ops.SINK]
    source = " ".join(CLANG.render(LinearProgram.of("k", uops)).split())
    joined = source.count("0, 1, 2, 3, 4, 5, 6, 7)")
    assert joined == whole and source.count("__builtin_shufflevector(") == 2 + whole
    assert whole or "__builtin_shufflevector(val0, val1, 0, 4, 1, 5)" in source
