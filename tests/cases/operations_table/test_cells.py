"""A cell of the table says how far an answer is off, and does not pass over what is wrong."""

import dataclasses

import numpy as np
import pytest

from weft import Tensor, dtypes

pytest.importorskip("ml_dtypes", reason="it gives NumPy the short floats of the table")

from cases.operations_table.cells import Cell, Check, Maker, Wrong, apart, round_to, run, unit_of

HALVES = Check(
    "halves", "none", lambda x: x * 0.5, lambda x: x * 0.5, lambda m: [m.line()], kinds="float"
)


def test_equal_answers():
    for dtype in (dtypes.float32, dtypes.float16, dtypes.bfloat16):
        assert run(HALVES, dtype, "REF") == Cell(0.0)
    assert Cell(0.0).text() == "=" and Cell(0.51).text() == "0.6" and Cell(12.2).text() == "13"
    assert Cell(2.0, loose=True).text() == "~2.0" and Cell(None, kinds="float").text() == "f"


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x: x * 0.5 + 1e-3, "units in the last place|not"),
        (lambda x: (x * 0.5)[1:], "shape"),
        (lambda x: (x * 0.5).cast(dtypes.float64), "answers in"),
        (lambda x: x.bitwise_and(1), "refused"),
        (lambda x: (x == 0).where(0.0, x * 0.5), "not -0.0"),
    ],
)
def test_mismatches_are_described(call, words):
    with pytest.raises(Wrong, match=words):
        run(dataclasses.replace(HALVES, call=call), dtypes.float32, "REF")


def test_a_refusal_has_to_be_announced_and_to_happen():
    whole = dataclasses.replace(HALVES, call=lambda x: x.bitwise_not(), kinds="whole")
    assert run(whole, dtypes.float32, "REF").units is None
    with pytest.raises(Wrong, match="where a refusal was announced"):
        run(dataclasses.replace(HALVES, kinds="whole"), dtypes.float32, "REF")


def test_units_are_those_of_the_dtype():
    one = np.array([1.0], np.longdouble)
    assert unit_of(one, dtypes.float32) == 2.0**-23
    assert unit_of(one, dtypes.float16) == 2.0**-10
    assert unit_of(one * 0, dtypes.float16) == 2.0**-24
    found = np.array([1.0 + 2.0**-22], np.float32)
    assert apart(found, one, dtypes.float32) == 2.0
    assert apart(found, one * np.longdouble(1 + 2.0**-22), dtypes.float32) == 0.0


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_rounding_is_numpys(name):
    random = np.random.default_rng(3)
    wide = (random.normal(0, 1, 4000) * 10.0 ** random.uniform(-9, 6, 4000)).astype(np.longdouble)
    with np.errstate(all="ignore"):
        theirs = wide.astype(name).astype(np.longdouble)
    assert (round_to(wide, dtypes.to_dtype(name)) == theirs).all()


def test_short_floats_without_infinity_round_to_nan_beyond_their_range():
    assert np.isnan(round_to(np.array([470.0]), dtypes.fp8e4m3))[0]
    assert round_to(np.array([460.0]), dtypes.fp8e4m3)[0] == 448
    assert np.isinf(round_to(np.array([1e6]), dtypes.float16))[0]


@pytest.mark.parametrize("dtype", dtypes.all, ids=lambda d: d.name)
def test_inputs_are_of_the_dtype_and_the_same_every_time(dtype):
    for make in (Maker.line, Maker.edges, lambda m: m.grid(3, 4), lambda m: m.apart(3, 4)):
        one, other = (make(Maker(dtype, "x")) for _ in range(2))
        assert Tensor(one).dtype is dtype and one.tobytes() == other.tobytes()
    if dtypes.is_int(dtype):
        assert dtypes.iinfo(dtype).min in Maker(dtype, "x").edges()
