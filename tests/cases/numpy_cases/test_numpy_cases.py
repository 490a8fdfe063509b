"""Programs are the same for the same number, and a difference is found."""

import numpy as np
import pytest

from cases.numpy_cases import (
    FAMILIES,
    Draw,
    Mismatch,
    arithmetic,
    check,
    family,
    indexing,
    numpy_name,
    reductions,
    rounded,
)
from weft import dtypes


def texts(name, seed):
    draw = Draw(seed, "REF")
    with np.errstate(all="ignore"):
        FAMILIES[name](draw)
    return [(q.text, q.want.tolist()) for q in draw.questions]


def test_a_number_says_all():
    for name in ("movement", "integers", "writing"):
        assert texts(name, 7) == texts(name, 7) != texts(name, 8)


@pytest.mark.parametrize(
    "layout", ["plain", "chosen", "transposed", "flipped", "window", "strided", "joined"]
)
@pytest.mark.parametrize("kind", ["bool", "uint16", "bfloat16", "float64"])
def test_a_tensor_holds_its_array_however_it_lies(layout, kind):
    draw = Draw(3, "REF")
    array = draw.array((3, 4), kind, "few")
    x = draw.tensor(array, kind, layout)
    assert numpy_name(x.dtype) == kind
    np.testing.assert_array_equal(x.cast("float64").numpy(), array.astype("float64"))


@pytest.fixture
def asked(monkeypatch):
    """Check one question, as the only one of a family."""

    def ask(got, want, *rest, **named):
        monkeypatch.setitem(FAMILIES, "mine", lambda d: d.ask("this", got(d), want, *rest, **named))
        check("mine", 0, "REF")

    return ask


def test_wrong_values_dtypes_and_shapes_are_found(asked):
    one = np.float32([1, np.nan, -0.0, np.inf])
    asked(lambda draw: draw.tensor(one), one)
    for other, told in (
        (one + 1, "elements"), (np.abs(one), "-0.0"), (one.astype("float64"), "float32 instead"),
        (one[:3], "shape"), (np.float32([1, 2, -0.0, np.inf]), "nan"),
    ):  # fmt: skip
        with pytest.raises(Mismatch, match=told):
            asked(lambda draw: draw.tensor(one), other)


def test_tolerance(asked):
    off = np.float32([1 + 2**-22, 0.0])
    asked(lambda draw: draw.tensor(off), np.float32([1, -0.0]), near=2)
    with pytest.raises(Mismatch):
        asked(lambda draw: draw.tensor(off), np.float32([1, -0.0]), near=1)
    asked(lambda draw: draw.tensor(off), np.float32([1, -0.0]), near=1, size=np.float64([2, 1]))
    with pytest.raises(Mismatch):  # nothing is infinite but what should be
        asked(lambda draw: draw.tensor(off * np.inf), np.float32([1, np.nan]), near=9)


def test_families_have_the_names_of_functions(monkeypatch):
    monkeypatch.setattr("cases.numpy_cases.FAMILIES", {})

    def nothing(draw):
        pass

    assert family(nothing) is nothing


def test_mixes_are_those_of_the_standard():
    mix = arithmetic.promoted
    assert mix("int8", "uint8") == mix("uint8", "int8") == "int16"
    assert mix("int64", "uint64") == "float32" and mix("bool", "uint8") == "uint8"
    assert mix("float16", "bfloat16") == "float32" and mix("int64", "float16") == "float16"
    assert mix("uint32", "int32") == "int64" and arithmetic.weak("bool", 2) == "int32"


def test_indices_are_numpys():
    draw = Draw(0)
    array = np.arange(120).reshape(4, 5, 6)
    for _ in range(200):
        array[indexing.an_index(draw, array.shape)]


def test_sort_order_of_nan():
    values, places = reductions.ordered(np.float32([np.nan, 1, -0.0, 0, np.nan]), 0, False)
    assert places.tolist() == [2, 3, 1, 0, 4] and np.isnan(values[3:]).all()
    assert reductions.ordered(np.array([1, 2, 1]), 0, True)[1].tolist() == [1, 0, 2]


def test_bfloat16_is_rounded_to_the_nearest_even():
    kept = rounded([1.0, 1.00390625, 1.01171875, float("inf")], "bfloat16").tolist()
    assert kept == [1.0, 1.0, 1.015625, float("inf")]
    assert numpy_name(dtypes.bfloat16) == "bfloat16"
    assert np.isnan(rounded(float("nan"), "bfloat16"))


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint64"])
def test_bfloat16_is_rounded_once(dtype):
    tie = 2**40 + 2**32
    values = np.array([tie - 1, tie, tie + 1], dtype)
    assert (rounded(values, "bfloat16") - 2.0**40).tolist() == [0.0, 0.0, 2.0**33]
    assert rounded(np.float64([1e300, -1e300, -0.0]), "bfloat16").tolist() == [np.inf, -np.inf, 0.0]
    assert np.signbit(rounded(-0.0, "bfloat16"))
