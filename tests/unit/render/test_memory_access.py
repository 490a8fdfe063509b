"""Memory: buffers, vectors, gates, registers, booleans."""

from __future__ import annotations

import math

import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.base.errors import CapabilityError, SpecError
from weft.render import CDialect, CStyleRenderer, VectorStyle
from weft.uop import Ops, UOp

CLANG = CStyleRenderer(CDialect(vectors=VectorStyle()))
ZERO = UOp.const(dtypes.int, 0)


def test_gates_guard_reads_and_writes(write):
    loop = UOp.range(64, 0)
    gate = loop.alu(Ops.CMPLT, UOp.const(dtypes.int, 50))
    loaded = write.buffer(1, dtypes.float).index(loop, gate).load(UOp.const(dtypes.float, 2.0))
    store = write.buffer(0, dtypes.float).index(loop, gate).store(loaded)
    source = CLANG.render(write.program(store, loops=[loop]))
    assert "alu0 = ridx0 < 50;" in source
    assert "if (alu0) data0[ridx0] = alu0 ? data1[ridx0] : 2.0f;" in source


def test_vectors_go_through_an_unaligned_type(write):
    loop = UOp.range(16, 0)
    at = loop * 4
    loaded = write.buffer(1, dtypes.float).index(at).load(dtype=dtypes.float.vec(4))
    store = write.buffer(0, dtypes.float).index(at).store(loaded)
    source = CLANG.render(write.program(store, loops=[loop]))
    assert "aligned(4), may_alias" in source
    assert "*(const f32x4_m*)(data1 + ridx0 * 4)" in source or "*(const f32x4_m*)(data1 +" in source


@pytest.mark.parametrize("less", [32, -32])
def test_a_pointer_never_leaves_its_array_on_the_way(less, write):
    """data + (-32) + n would point before the array for a moment, which C does not allow."""
    loop = UOp.range(16, 0)
    at = loop * 4 + UOp.const(dtypes.int, -less) + UOp.const(dtypes.int, less)
    loaded = write.buffer(1, dtypes.float).index(at).load(dtype=dtypes.float.vec(4))
    store = write.buffer(0, dtypes.float).index(loop * 4).store(loaded)
    source = CLANG.render(write.program(store, loops=[loop]))
    assert "(data1 + (" in source and "(data0 + (" not in source


class Fetching(CStyleRenderer):
    def vector_load(self, kind, count, place, pointer):
        return f"fetch{count}({pointer})"

    def vector_store(self, count, place, pointer, value):
        return f"put{count}({pointer}, {value})"


def test_vectors_may_go_through_functions(write):
    style = Fetching(CDialect(vectors=VectorStyle(lane="{vector}.s{lane}")))
    loop = UOp.range(16, 0)
    loaded = write.buffer(1, dtypes.float).index(loop * 4).load(dtype=dtypes.float.vec(4))
    store = write.buffer(0, dtypes.float).index(ZERO).store(loaded)
    source = style.render(write.program(store, loops=[loop]))
    assert "fetch4(data1 + " in source and "put4(data0, " in source
    assert "*(" not in source, "no pointer to vectors"
    three = write.buffer(1, dtypes.float).index(ZERO).load(dtype=dtypes.float.vec(3))
    source = style.render(write.program(write.buffer(0, dtypes.float).index(ZERO).store(three)))
    assert ".s2;" in source and "fetch" not in source


def test_vectors_of_three_go_lane_by_lane(write):
    loaded = write.buffer(1, dtypes.float).index(ZERO).load(dtype=dtypes.float.vec(3))
    store = write.buffer(0, dtypes.float).index(ZERO).store(loaded)
    source = CLANG.render(write.program(store))
    assert "f32x3_m" not in source
    assert source.count("data0[0 + ") == 3


def test_booleans_are_bytes_in_memory_and_masks_outside(write):
    kind = dtypes.bool.vec(4)
    loaded = write.buffer(1, dtypes.bool).index(ZERO).load(dtype=kind)
    store = write.buffer(0, dtypes.bool).index(ZERO).store(loaded)
    source = CLANG.render(write.program(store))
    assert "const unsigned char* restrict data1" in source
    assert "u8x4_m" in source and "& (u8x4)(1)" in source


def test_registers_are_names_and_arrays(write):
    one = UOp(Ops.DEFINE_REG, dtypes.float.ptr(1, AddrSpace.REG), (), 0)
    many = UOp(Ops.DEFINE_REG, dtypes.float.vec(4).ptr(3, AddrSpace.REG), (), 1)
    two = UOp.const(dtypes.int, 2)
    first = one.index(ZERO).store(UOp.const(dtypes.float, 1.0))
    second = many.index(two).store(UOp.const(dtypes.float, 1.0).broadcast(4))
    source = CLANG.render(write.program(first, second))
    assert "float acc0;" in source and "acc0 = 1.0f;" in source
    assert "f32x4 row1[3] __attribute__((aligned(64)));" in source
    assert "row1[2] = (f32x4)(1.0f);" in source


def test_images_are_refused(write):
    image = UOp(Ops.DEFINE_GLOBAL, dtypes.imagef((4, 4, 4)), (), 0)
    with pytest.raises(CapabilityError):
        CLANG.render(write.program(image.index(ZERO).store(UOp.const(dtypes.float, 1.0))))


class Painting(CStyleRenderer):
    images = True

    def image_type(self, is_written):
        return "out_image" if is_written else "in_image"

    def image_load(self, image, at):
        return f"pixel({image}, {at})"

    def image_store(self, image, at, value):
        return f"paint({image}, {at}, {value})"


def test_pixels_are_read_and_written_as_the_language_says(write):
    renderer = Painting(CDialect(vectors=VectorStyle()))
    target, source = (UOp(Ops.DEFINE_GLOBAL, dtypes.imagef((4, 4, 4)), (), slot) for slot in (0, 1))
    loop = UOp.range(4, 0)
    at = UOp(Ops.VECTORIZE, dtypes.int.vec(2), (loop, ZERO))
    gate = loop.alu(Ops.CMPLT, UOp.const(dtypes.int, 3))
    four = dtypes.float.vec(4)
    pixel = source.index(at, gate).load(UOp.const(dtypes.float, 1.0).broadcast(4), dtype=four)
    text = renderer.render(write.program(target.index(at).store(pixel), loops=[loop]))
    assert "(out_image data0, in_image data1)" in text
    assert "alu0 = (i32x2){ridx0, 0};" in text
    assert "paint(data0, alu0, (ridx0 < 3) ? pixel(data1, alu0) : (f32x4)(1.0f));" in text


def test_an_access_of_another_dtype_is_refused(write):
    store = write.buffer(0, dtypes.int).index(ZERO).store(UOp.const(dtypes.float, 1.0))
    with pytest.raises(SpecError):
        CLANG.render(write.program(store))


class Masked(CStyleRenderer):
    masked_loads = True

    def masked_load(self, load):
        return (
            f"picked(({load.type}*)0, {load.count}, {load.bits}, (unsigned {load.word}*){load.name}"
            f", {load.at}, {load.start}, {load.other})"
        )


PICKED = Masked(CDialect(vectors=VectorStyle()))


def lanes_under_conditions(
    write,
    other: float,
    apart: int = 1,
    missing: int = -1,
    last: float | None = None,
    twice: int = -1,
):
    """data0[...8] = data1[loop + apart * lane] where loop + lane > 2, and `other` elsewhere; `last`
    at the last lane. twice: the lane that has what the lane before it has."""
    loop, otherwise = UOp.range(16, 0), UOp.const(dtypes.float, other)
    lanes = []
    for lane in range(8):
        at = loop + UOp.const(dtypes.int, apart * lane) if lane else loop
        gate = UOp.const(dtypes.int, 2 - lane).alu(Ops.CMPLT, loop) if lane < 2 else None
        where = (at,) if gate is None else (at, gate)
        given = () if gate is None else (otherwise,)
        lanes.append(write.buffer(1, dtypes.float).index(*where).load(*given, dtype=dtypes.float))
    if missing >= 0:
        lanes[missing] = UOp.const(dtypes.float, 0.0)
    if twice >= 0:
        lanes[twice] = lanes[twice - 1]
    if last is not None:
        lanes[-1] = UOp.const(dtypes.float, last)
    value = UOp(Ops.VECTORIZE, dtypes.float.vec(8), tuple(lanes))
    store = write.buffer(0, dtypes.float).index(ZERO).store(value)
    return write.program(store, loops=[loop])


def picked(program):
    """The source in one line."""
    return " ".join(PICKED.render(program).split())


def test_lanes_that_are_read_under_conditions_are_one_read_where_there_is_one(write):
    source = picked(lanes_under_conditions(write, 0.0))
    assert "picked((f32x8*)0, 8, (-(unsigned)(" in source
    assert "& 0x1u)" in source and "& 0x2u)" in source and "0xfcu" in source
    assert "(unsigned char*)data1, ridx0, 0, (f32x8)(0.0f))" in source
    missing = picked(lanes_under_conditions(write, 0.0, missing=0))
    assert "& 0x1u)" not in missing and "0xfcu" in missing
    assert "(ridx0 + 1), -1, " in missing, "the first lane's place, from that of the second"


def test_every_other_place_is_read_as_half_of_a_row(write):
    source = picked(lanes_under_conditions(write, 0.0, apart=2))
    assert "= even_f32x16(picked((f32x16*)0, 16, (-(unsigned)(" in source
    assert "& 0x1u)" in source and "& 0x4u)" in source and "0x5550u" in source
    assert "(unsigned short*)data1, ridx0, 0, (f32x16)(0.0f)))" in source
    assert "return __builtin_shufflevector(x, x, 0, 2, 4, 6, 8, 10, 12, 14);" in source
    missing = picked(lanes_under_conditions(write, 0.0, apart=2, missing=0))
    assert "(ridx0 + 2), -2, " in missing


@pytest.mark.parametrize(
    ("other", "written"), [(1.0, "1.0f"), (-0.0, "-0.0f"), (-math.inf, "-__builtin_inff()")]
)
def test_the_fill_value_of_masked_lanes(other, written, write):
    for apart, kind in ((1, "f32x8"), (2, "f32x16")):
        source = picked(lanes_under_conditions(write, other, apart, last=other))
        assert f"ridx0, 0, ({kind})({written}))" in source


@pytest.mark.parametrize(
    "facts",
    [
        {"other": 0.0, "apart": 3},
        {"other": 0.0, "apart": -1},
        {"other": 1.0, "missing": 0},
        {"other": -0.0, "missing": 3},
        {"other": 0.0, "last": 1.0},
        {"other": 0.0, "twice": 1},
        {"other": 0.0, "twice": 7},
        {"other": 0.0, "apart": 2, "twice": 4},
    ],
)
def test_other_lanes_are_read_one_by_one(facts, write):
    assert "picked" not in PICKED.render(lanes_under_conditions(write, **facts))
    assert "picked" not in CLANG.render(lanes_under_conditions(write, 0.0))
