"""Helper functions are written once, with the types they need before them."""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.render.dialect import PLAIN_C, CDialect, VectorStyle
from weft.render.helpers import Helpers


def test_each_function_once():
    helpers = Helpers(PLAIN_C)
    assert helpers.divide(dtypes.int) == helpers.divide(dtypes.int) == "div_i32"
    assert list(helpers.texts) == ["div_i32"]


def test_types_are_declared_before_the_types_made_of_them():
    helpers = Helpers(CDialect(vectors=VectorStyle()))
    helpers.memory_type(dtypes.float.vec(8))
    assert list(helpers.types) == ["f32x8", "f32x8_m"]
    assert "aligned(4)" in helpers.types["f32x8_m"]


def test_names_differ_by_dtype_and_lanes():
    helpers = Helpers(CDialect(vectors=VectorStyle()))
    names = {
        helpers.maximum(dtypes.float), helpers.maximum(dtypes.float.vec(4)),
        helpers.maximum(dtypes.double), helpers.remainder(dtypes.uint),
        helpers.float_to_int(dtypes.float, dtypes.int),
        helpers.float_to_int(dtypes.double, dtypes.int),
        helpers.narrow(dtypes.double), helpers.sticky(dtypes.long),
    }  # fmt: skip
    assert len(names) == len(helpers.texts) - sum("bits_" in n for n in helpers.texts) == 8


def test_unsigned_division_needs_no_care_for_minus_one():
    helpers = Helpers(PLAIN_C)
    helpers.divide(dtypes.uint)
    assert "-a" not in helpers.texts["div_u32"]


def test_lanes_of_narrow_integers_are_divided_as_floats_where_that_is_asked_for():
    helpers = Helpers(CDialect(vectors=VectorStyle()), float_quotients=True)
    for dtype, real in ((dtypes.int16, "f32x4"), (dtypes.uint32, "f64x4"), (dtypes.int64, "")):
        for name in (helpers.divide(dtype.vec(4)), helpers.remainder(dtype.vec(4))):
            assert (real or "a ") in helpers.texts[name]
            assert ("f64" in helpers.texts[name]) == (dtype is dtypes.uint32)
    assert "f" not in helpers.texts[helpers.divide(dtypes.int16)].split("(", 1)[1]
    plain = Helpers(CDialect(vectors=VectorStyle()))
    assert "a / (" in plain.texts[plain.divide(dtypes.int16.vec(4))]


def test_splat_by_lanes_where_there_is_no_splat():
    helpers = Helpers(CDialect(vectors=VectorStyle(splat="", literal="({type})({lanes})")))
    assert helpers.const(1.0, dtypes.float.vec(2)) == "(f32x2)(1.0f, 1.0f)"
