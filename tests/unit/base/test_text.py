"""Words and numbers for people."""

from __future__ import annotations

import pytest

from weft.base.errors import ArgumentError, WeftError
from weft.base.text import (
    colour,
    cut,
    failure_text,
    human_count,
    human_size,
    human_time,
    identifiers,
    pad,
    plural,
    strip_colour,
    width,
)


def test_colours_take_no_columns() -> None:
    red = colour("abc", "red")
    assert red != "abc" and strip_colour(red) == "abc" and width(red + "d") == 4
    assert red != colour("abc", "red", bright=True)
    assert colour("abc", None) == "abc" == colour("abc", "red", enabled=False)
    with pytest.raises(ArgumentError):
        colour("abc", "mauve")


def test_padding_counts_visible_characters() -> None:
    red = colour("abc", "red")
    assert pad(red, 5) == red + "  " and pad("abc", 5, right=True) == "  abc"
    assert pad("abcdef", 3) == "abcdef"


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (999_999, "1.00 MB"), (12_345_678, "12.3 MB"),
     (-1500, "-1.50 kB"), (10**18 * 5, "5000 PB"),
     (10**400, "over 1e300 B"), (-(10**400), "below -1e300 B")],
)  # fmt: skip
def test_sizes(nbytes: int, text: str) -> None:
    assert human_size(nbytes) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.00 ns"), (850e-9, "850 ns"), (1.2e-6, "1.20 us"), (999.9e-6, "1.00 ms"),
     (0.04567, "45.7 ms"), (0.9999, "1.00 s"), (12, "12.0 s"), (119, "119.0 s"), (320, "5m 20s")],
)  # fmt: skip
def test_times(seconds: float, text: str) -> None:
    assert human_time(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(7, "7"), (950.0, "950"), (1500, "1.50k"), (12.3e6, "12.3M"), (4e9, "4.00G")],
)
def test_counts(value: float, text: str) -> None:
    assert human_count(value) == text


def test_plurals() -> None:
    assert [plural(n, "kernel") for n in (0, 1, 2)] == ["0 kernels", "1 kernel", "2 kernels"]
    assert plural(2, "entry", "entries") == "2 entries"


def test_identifiers_are_words_of_no_language_and_differ() -> None:
    assert identifiers(["n", "start_pos", "N"]) == ["n", "start_pos", "N"]
    assert identifiers(["my n", "for", "alu0", "1n", "", "__x"]) == [
        "my_n", "for_", "alu0_", "v_1n", "v_", "x_",
    ]  # fmt: skip
    made = identifiers(["n", "n", "n ", "n_", "Float", "\u00e9", "\u00e8"])
    assert len(set(made)) == len(made) and all(name.isidentifier() for name in made)


def test_long_texts_are_cut():
    assert cut("as long", 7) == "as long"
    assert cut("too long", 7) == "too ..."


def test_failures_in_a_line() -> None:
    assert failure_text(ImportError("no libfoo\nand more")) == "ImportError: no libfoo"
    assert failure_text(SystemExit()) == "SystemExit"
    error = WeftError("short", because="a long reason")
    assert failure_text(error) == "WeftError: short: a long reason"
