"""Arguments: what is taken, and how what is not is refused."""

import math
from typing import Any

import numpy
import pytest

from weft.base.arguments import choice, index_of, no_tensor, real, shown, text, whole
from weft.base.errors import ArgumentError, OutOfRange


@pytest.mark.parametrize("value", [3, True, numpy.int8(3), numpy.array(3)])
def test_whole_numbers_of_any_make(value: Any) -> None:
    assert type(whole(value, "size")) is int
    assert whole(value, "size") == int(value) == index_of(value)


@pytest.mark.parametrize("value", [3.0, "3", None, [3], numpy.array([1, 2]), 1j])
def test_non_integers_are_refused(value: Any) -> None:
    assert index_of(value) is None
    with pytest.raises(ArgumentError, match="size is a whole number") as caught:
        whole(value, "size")
    assert caught.value.asked == f"size={shown(value)}"
    assert (caught.value.try_ == "size=3") is (value == 3.0 if isinstance(value, float) else False)


def test_whole_numbers_have_a_least_one() -> None:
    assert whole(0, "count", least=0) == 0
    with pytest.raises(ArgumentError, match="count is at least 0"):
        whole(-1, "count", least=0)


NUMBERS = [3, 2.5, True, numpy.float32(2.5), numpy.array(2.5), numpy.bool_(True), math.inf]


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers_of_any_make(value: Any) -> None:
    assert real(value, "rate") == value
    assert type(real(value, "rate")) in (bool, int, float)


@pytest.mark.parametrize("value", ["3", None, [3], numpy.array([1.0]), numpy.array("a"), 1j, {}])
def test_non_numbers_are_refused(value: Any) -> None:
    with pytest.raises(ArgumentError, match="rate is a number"):
        real(value, "rate")


@pytest.mark.parametrize("value", [10**400, -(10**400), 2**1024])
def test_ints_beyond_all_floats_are_refused(value: int) -> None:
    with pytest.raises(OutOfRange, match="a float can represent") as caught:
        real(value, "rate")
    assert "rate=" in caught.value.asked and len(caught.value.asked) < 80
    assert real(10**308, "rate") == 10**308


def test_texts() -> None:
    assert text("ij", "formula", '"ij->i"') == "ij"
    with pytest.raises(ArgumentError, match="formula is a text") as caught:
        text(3, "formula", '"ij->i"')
    assert caught.value.try_ == '"ij->i"'


@pytest.mark.parametrize("value", ["median", None, 3, [], numpy.array([1, 2])])
def test_words_to_choose_from(value: Any) -> None:
    assert choice("mean", "reduction", ("mean", "sum")) == "mean"
    with pytest.raises(ArgumentError, match="there is no reduction") as caught:
        choice(value, "reduction", ("mean", "sum", "none"))
    assert caught.value.try_ == "'mean', 'sum' or 'none'"


def test_an_input_that_is_no_tensor() -> None:
    told = str(no_tensor("linalg.solve", ([1.0], 2)))
    assert told.startswith("the input of linalg.solve is a tensor")
    assert "weft.linalg.solve([1.0], 2)" in told and "that is a list" in told
    assert "weft.linalg.solve(Tensor(x))" in told
    assert "there is none" in str(no_tensor("exp", ()))


def test_quoted_values_are_one_short_line() -> None:
    assert shown([1, 2]) == "[1, 2]"
    assert len(shown("x" * 1000)) == 60
    assert "\n" not in shown(numpy.zeros((9, 9)))
