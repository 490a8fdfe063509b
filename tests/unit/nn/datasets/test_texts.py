"""Texts that come with Python."""

import contextlib
import io

import pytest

from weft.base.errors import ArgumentError
from weft.nn.datasets import load_text, texts


@pytest.mark.parametrize("name", ["topics", "sources"])
def test_texts_are_long_and_the_same_each_time(name):
    text = load_text(name)
    assert len(text) > 100_000 and text == load_text(name)
    assert len(set(text)) > 60


def test_the_zen_is_not_printed():
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        text = load_text("zen")
    assert said.getvalue() == "" and "Beautiful is better than ugly." in text


def test_other_names_are_refused():
    assert texts() == ["sources", "topics", "zen"]
    with pytest.raises(ArgumentError, match="'topics'"):
        load_text("shakespeare")
