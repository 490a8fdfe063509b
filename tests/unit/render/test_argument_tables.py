"""Languages whose kernels are given an argument table, and whose pointers name their memory."""

from weft.base.dtype import AddrSpace, dtypes
from weft.device import LinearProgram
from weft.render import CDialect, CStyleRenderer, VectorStyle
from weft.uop import Ops, UOp


def pointer(slot, dtype=dtypes.float32, size=16):
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)


def rendered(sink, **dialect):
    uops = [u for u in sink.toposort() if u is not sink]
    return CStyleRenderer(CDialect(**dialect)).render(LinearProgram.of("k", uops))


def scaled():
    n = UOp.variable("n", 0, 9)
    value = pointer(5).index(n).load() + pointer(5).index(n).load()
    return UOp.sink(pointer(2).index(n).store(value))


def test_places_count_from_zero_whatever_the_slots():
    text = rendered(scaled(), buffer_suffix=" [[place({place})]]")
    assert "data2 [[place(0)]]" in text and "data5 [[place(1)]]" in text
    assert "const int n)" in text


def test_variables_may_come_in_a_struct():
    text = rendered(
        scaled(), variable_parameter="", variable="all.{name}", extra_parameters=("Rest all",)
    )
    assert "const int n" not in text and "Rest all)" in text
    assert "data2[all.n]" in text


def test_own_arrays_and_values_of_vectors():
    zero = UOp.const(dtypes.int, 0)
    row = UOp(Ops.DEFINE_REG, dtypes.float32.ptr(8, AddrSpace.REG), (), 0)
    wide = dtypes.float32.vec(4)
    sink = UOp.sink(
        row.index(zero).store(pointer(1).index(zero).load(dtype=wide)),
        pointer(0).index(zero).store(row.index(zero).load(dtype=wide)),
    )
    vectors = VectorStyle(loaded="{type}({place})")
    text = rendered(sink, vectors=vectors, private_qualifier="own ", global_qualifier="far ")
    assert "*(own f32x4_m*)row0" in text and "f32x4(*(far const f32x4_m*)data1)" in text


def test_without_float64_wide_integers_round_once_by_way_of_float32():
    names = {d: n for d, n in CDialect().type_names.items() if d is not dtypes.float64}
    zero = UOp.const(dtypes.int, 0)
    value = pointer(1, dtypes.int64).index(zero).load().cast(dtypes.float16)
    sink = UOp.sink(pointer(0, dtypes.float16).index(zero).store(value))
    text = rendered(sink, type_names=names)
    assert "sticky_single_i64(" in text and "double" not in text
    assert "sticky_i64(" in rendered(sink)
