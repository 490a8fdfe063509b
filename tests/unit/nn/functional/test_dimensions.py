"""Functions of one, two and three spatial axes from one definition."""

import inspect

from weft import nn
from weft.nn.functional.dimensions import over_axes


def _scalednd(axes: int, /, x: int, factor: int = 2) -> int:
    """x over {axes}: ({sizes})."""
    return axes * x * factor


def test_each_passes_its_number_of_axes():
    assert [function(3, factor=5) for function in over_axes(_scalednd)] == [15, 30, 45]


def test_name_docstring_and_signature_are_of_each():
    two = over_axes(_scalednd)[1]
    assert two.__name__ == "scaled2d"
    assert two.__doc__ == "x over two axes: (height, width)."
    assert list(inspect.signature(two).parameters) == ["x", "factor"]


def test_public_functions_are_described():
    convolution = nn.functional.conv3d
    assert convolution.__module__ == "weft.nn.functional.convolution"
    assert "three axes" in convolution.__doc__
    assert list(inspect.signature(convolution).parameters)[0] == "input"
