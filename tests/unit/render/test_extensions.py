"""Languages with an argument table, and with pointers that name their memory."""

import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.base.errors import CapabilityError
from weft.device import LinearProgram
from weft.render import CDialect, CStyleRenderer, MaskedLoad, VectorStyle
from weft.uop import Ops, UOp


def pointer(slot, dtype=dtypes.float32, size=16):
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)


class Tables(CStyleRenderer):
    def buffer_name(self, name, position):
        return f"{name} [[place({position})]]"

    def variable_parameter(self, kind, name):
        return ""

    def variable(self, name):
        return f"all.{name}"

    def extra_parameters(self, program):
        return ("Rest all",)

    def array(self, element, name, size):
        return f"own {element} {name}[{size}];"

    def pointer_qualifier(self, space):
        return "own " if space is AddrSpace.REG else super().pointer_qualifier(space)

    def vector_load(self, kind, count, place, pointer):
        return f"{kind}({place})"


def rendered(sink, renderer=CStyleRenderer, **dialect):
    uops = [u for u in sink.toposort() if u is not sink]
    return renderer(CDialect(**dialect)).render(LinearProgram.of("k", uops))


def scaled():
    n = UOp.variable("n", 0, 9)
    value = pointer(5).index(n).load() + pointer(5).index(n).load()
    return UOp.sink(pointer(2).index(n).store(value))


def test_positions_count_from_zero_for_any_slots():
    text = rendered(scaled(), Tables)
    assert "data2 [[place(0)]]" in text and "data5 [[place(1)]]" in text
    assert "const int n)" in rendered(scaled())


def test_variables_may_come_in_a_struct():
    text = rendered(scaled(), Tables)
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
    text = rendered(sink, Tables, vectors=VectorStyle(), global_qualifier="far ")
    assert "own float row0[8];" in text
    assert "*(own f32x4_m*)row0" in text and "f32x4(*(far const f32x4_m*)data1)" in text


def test_without_float64_wide_integers_round_once_by_way_of_float32():
    names = {d: n for d, n in CDialect().type_names.items() if d is not dtypes.float64}
    zero = UOp.const(dtypes.int, 0)
    value = pointer(1, dtypes.int64).index(zero).load().cast(dtypes.float16)
    sink = UOp.sink(pointer(0, dtypes.float16).index(zero).store(value))
    text = rendered(sink, type_names=names)
    assert "sticky_single_i64(" in text and "double" not in text
    assert "sticky_i64(" in rendered(sink)


def test_masked_loads_that_are_not_implemented_are_refused():
    load = MaskedLoad("f8", "float", 8, 4, "char", "bits", "data1", "at", 0, "zero")
    with pytest.raises(CapabilityError, match="masked loads"):
        Tables(CDialect()).masked_load(load)
