"""The table of dtypes: names, numbers, questions, and what other libraries call them."""

from __future__ import annotations

import subprocess
import sys

import numpy
import pytest

from weft.base.dtype import DType, dtypes, element_dtype, to_dtype
from weft.base.errors import DTypeError, WeftError
from weft.base.settings import settings


def test_aliases_are_the_same_object() -> None:
    assert dtypes.float is dtypes.float32 and dtypes.half is dtypes.float16
    assert dtypes.char is dtypes.int8 and dtypes.ulong is dtypes.uint64
    assert repr(dtypes.int32) == "dtypes.int" and dtypes.uint8.name == "uchar"
    assert len(set(dtypes.all)) == len(dtypes.all) == 15


def test_an_unknown_name_is_answered_with_close_ones() -> None:
    with pytest.raises(AttributeError, match="float"):
        _ = dtypes.flaot
    assert not hasattr(dtypes, "__wrapped__")


@pytest.mark.parametrize("dtype", dtypes.ints, ids=repr)
def test_integer_limits_are_numpys(dtype: DType) -> None:
    limits = numpy.iinfo(f"{'u' if dtypes.is_unsigned(dtype) else ''}int{dtype.bitsize}")
    info = dtypes.iinfo(dtype)
    assert (dtype.min, dtype.max) == (info.min, info.max) == (limits.min, limits.max)
    assert info.bits == limits.bits and dtypes.is_int(dtype.vec(2)) and not dtypes.is_float(dtype)


@pytest.mark.parametrize("dtype", dtypes.floats, ids=repr)
def test_float_limits_are_those_of_other_libraries(dtype: DType) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes knows the short formats")
    other = {
        "fp8e4m3": "float8_e4m3fn", "fp8e5m2": "float8_e5m2", "half": numpy.float16,
        "bfloat16": "bfloat16", "float": numpy.float32, "double": numpy.float64,
    }[dtype.name]  # fmt: skip
    limits = ml_dtypes.finfo(other)
    info = dtypes.finfo(dtype)
    assert (info.max, info.min) == (float(limits.max), float(limits.min))
    assert info.smallest_normal == float(limits.smallest_normal)
    assert info.smallest_subnormal == float(limits.smallest_subnormal)
    assert (info.eps, info.bits, info.mantissa_bits) == (limits.eps, limits.bits, limits.nmant)
    assert (dtype.max, dtype.min) == ((float("inf"), float("-inf")) if info.has_infinity else
                                      (info.max, info.min))  # fmt: skip
    assert tuple(info) == (info.exponent_bits, info.mantissa_bits) and info[1] == tuple(info)[1]


def test_fields_are_the_names_of_the_table() -> None:
    fields = dtypes.fields()
    assert set(fields.values()) == set(dtypes.all)
    assert all(getattr(dtypes, name) is dtype for name, dtype in fields.items())
    assert fields["float32"] is fields["float"] and "void" not in fields
    assert all((dtypes.min(d), dtypes.max(d)) == (d.min, d.max) for d in fields.values())


def test_limits_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(DTypeError):
        dtypes.finfo(dtypes.int)
    with pytest.raises(DTypeError):
        dtypes.iinfo(dtypes.bool)


def test_priorities_order_the_kinds() -> None:
    ordered = sorted(dtypes.all, key=lambda d: d.priority)
    assert ordered[0] is dtypes.bool and tuple(ordered[-6:]) == dtypes.floats
    assert len({d.priority for d in dtypes.all}) == 15


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, dtypes.bool),
        (1, dtypes.int32),
        (1.5, dtypes.float32),
        ([1, [2.0, True]], dtypes.float32),
        ((True, [2]), dtypes.int32),
        ([], dtypes.float32),
    ],
)
def test_from_py(value: object, dtype: DType) -> None:
    assert dtypes.from_py(value) is dtype


@pytest.mark.parametrize("value", [None, "1", 1j, [1, "x"]])
def test_from_py_refuses_non_numbers(value: object) -> None:
    with pytest.raises(DTypeError):
        dtypes.from_py(value)


def test_the_default_float_follows_the_setting() -> None:
    with settings.override(DEFAULT_FLOAT="half"):
        assert dtypes.default_float is dtypes.half is dtypes.from_py(1.0) is to_dtype(float)
        dtypes.default_float = dtypes.double
        assert settings.DEFAULT_FLOAT == "double" and dtypes.default_float is dtypes.double


def test_as_const_gives_the_python_kind() -> None:
    for value, dtype, expected in (
        (3, dtypes.float, 3.0), (3.7, dtypes.int, 3), (2, dtypes.bool, True),
        ((1, 2), dtypes.half.vec(2), (1.0, 2.0)),
    ):  # fmt: skip
        got = dtypes.as_const(value, dtype)
        assert got == expected and type(got) is type(expected)
    with pytest.raises(DTypeError):
        dtypes.as_const((1, 2, 3), dtypes.int.vec(2))


def test_to_dtype_knows_names_python_types_and_numpy() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="its scalar types are named here")
    for given, dtype in (
        ("float32", dtypes.float), ("uchar", dtypes.uint8), ("dtypes.long", dtypes.int64),
        ("half", dtypes.float16), (bool, dtypes.bool), (int, dtypes.int), (float, dtypes.float),
        (dtypes.double, dtypes.double), (numpy.float16, dtypes.half), (numpy.bool_, dtypes.bool),
        (numpy.dtype("uint64"), dtypes.uint64), (ml_dtypes.bfloat16, dtypes.bfloat16),
        (numpy.dtype(ml_dtypes.float8_e4m3fn), dtypes.fp8e4m3),
        (ml_dtypes.float8_e5m2, dtypes.fp8e5m2), (numpy.longlong, dtypes.int64),
    ):  # fmt: skip
        assert to_dtype(given) is dtype, given


@pytest.mark.parametrize(
    "given",
    ["floof", "default_float", "all", None, 3, str, numpy.clongdouble, numpy.dtype(">i4"),
     numpy.dtype("U3"), [dtypes.int]],
    ids=str,
)  # fmt: skip
def test_to_dtype_refuses_the_rest(given: object) -> None:
    with pytest.raises(DTypeError) as caught:
        to_dtype(given)
    assert isinstance(caught.value, WeftError) and caught.value.try_


def test_elements_of_tensors_are_scalars_and_images() -> None:
    assert element_dtype("half") is dtypes.half and element_dtype(dtypes.bool) is dtypes.bool
    image = dtypes.imagef((2, 3, 4))
    assert element_dtype(image) is image
    for given in (dtypes.float.vec(2), dtypes.int.ptr(4), dtypes.void, image.vec(4)):
        with pytest.raises(DTypeError, match="are scalars"):
            element_dtype(given)


def test_the_lowest_layer_imports_nothing_heavy() -> None:
    code = (
        "import sys; import weft.base.scalars, weft.base.promotion, weft.base.trace;"
        "import weft.base.provenance, weft.base.text, weft.base.sequences, weft.base.intmath;"
        "assert not {'numpy', 'ctypes', 'sqlite3', 'pluggy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "given, name",
    [
        ("f4", "float32"), ("<f8", "float64"), ("e", "float16"), ("single", "float32"),
        ("b1", "bool"), ("i8", "int64"), ("u2", "uint16"), ("intc", "int32"),
        ("FLOAT32", "float32"), ("torch.bfloat16", "bfloat16"), ("numpy.uint8", "uint8"),
        ("dtypes.half", "float16"),
        ("float8_e4m3fn", "fp8e4m3"),
    ],
)  # fmt: skip
def test_names_as_others_write_them(given: str, name: str) -> None:
    assert dtypes.to_dtype(given) is dtypes.to_dtype(name)


@pytest.mark.parametrize("given", [">f4", "complex32", "S4", "", "float128"])
def test_names_of_no_dtype(given: str) -> None:
    with pytest.raises(DTypeError):
        dtypes.to_dtype(given)


def test_scalar_types_and_dtypes_of_other_libraries() -> None:
    assert dtypes.to_dtype(numpy.longlong) is dtypes.int64
    assert dtypes.to_dtype(numpy.dtype("i2")) is dtypes.int16
    for given in (numpy.generic, numpy.number, numpy.dtype(">f4"), numpy.longdouble):
        with pytest.raises(DTypeError):
            dtypes.to_dtype(given)
    torch = pytest.importorskip("torch", reason="PyTorch's dtypes are what is asked about")
    assert dtypes.to_dtype(torch.float8_e4m3fn) is dtypes.fp8e4m3
    assert dtypes.to_dtype(torch.long) is dtypes.int64


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_limits_of_floats_are_numpys(name: str) -> None:
    ours, theirs = dtypes.finfo(name), numpy.finfo(name)
    for word in (
        "bits", "eps", "epsneg", "max", "min", "tiny", "smallest_normal", "smallest_subnormal",
        "precision",
    ):  # fmt: skip
        assert getattr(ours, word) == float(getattr(theirs, word)), word
    assert ours.resolution == pytest.approx(float(theirs.resolution), rel=1e-3)
    assert dtypes.iinfo("u2").max == 65535 and dtypes.iinfo(int).bits == 32


def test_complex_dtypes():
    assert dtypes.complexes == (dtypes.complex64, dtypes.complex128)
    for dtype, part in zip(dtypes.complexes, (dtypes.float32, dtypes.float64)):
        assert dtypes.is_complex(dtype) and dtype.is_complex and not dtype.is_floating_point
        assert dtypes.real_dtype(dtype) is part and dtypes.complex_dtype(part) is dtype
        assert dtype.itemsize == 2 * part.itemsize and dtype.is_signed
        assert dtypes.to_dtype(dtype.name) is dtype is dtypes.to_dtype(numpy.dtype(dtype.name))
        with pytest.raises(DTypeError):
            dtypes.finfo(dtype)
    assert dtypes.to_dtype(complex) is dtypes.complex64
    assert dtypes.complex_dtype(dtypes.int8) is dtypes.complex64
