"""Attribute suggestions: which names are near."""

import pytest

from weft.base.suggestions import missing_name, nearest

NAMES = [
    "arange", "softmax", "log_softmax", "matmul", "mm", "to", "lt", "gt", "Linear", "LazyLinear",
    "reshape", "max", "min", "mod",
]  # fmt: skip


@pytest.mark.parametrize(
    "name, found",
    [
        ("arnge", "arange"), ("aragne", "arange"), ("Arange", "arange"), ("softmx", "softmax"),
        ("soft_max", "softmax"), ("logsoftmax", "log_softmax"), ("matmull", "matmul"),
        ("linear", "Linear"), ("linaer", "Linear"), ("rehsape", "reshape"), ("maxx", "max"),
    ],
)  # fmt: skip
def test_a_slip_of_the_keys_is_near(name: str, found: str) -> None:
    assert nearest(name, NAMES)[0] == found


@pytest.mark.parametrize("name", ["t", "qqqqqqq", "erfinv", "ta", "storage", "", "cuda"])
def test_names_of_other_meanings_are_not(name: str) -> None:
    assert nearest(name, NAMES) == []


def test_the_nearest_come_first_and_few_are_given() -> None:
    assert nearest("mak", ["min", "max", "mask", "mark"]) == ["max", "mark", "mask"]
    assert nearest("aaaa", [f"aaa{letter}" for letter in "bcdef"]) == ["aaab", "aaac", "aaad"]
    assert nearest("max", ["fmax", "amax", "maxx"])[0] == "maxx", "the first letter is mostly right"


def test_the_error_names_the_nearest_or_the_equivalent() -> None:
    error = missing_name("weft", "arnge", NAMES, {"arnge_": "no"})
    assert error.summary == "weft has no attribute 'arnge'; did you mean 'arange'?"
    assert error.asked == "weft.arnge" and error.try_ == "weft.arange"
    error = missing_name("weft", "reshap", NAMES, {"reshap": "x.view(2)"})
    assert "did you mean" not in error.summary and error.try_ == "x.view(2)"
    assert error.asked == "weft.reshap"
    assert missing_name("weft", "qqqqq", NAMES, {}).try_ == "dir(weft) lists what it has"
    assert missing_name("weft", "qqqqq", NAMES, {}, fallback="none").try_ == "none"
