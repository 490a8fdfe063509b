"""`pytest --doctest-modules core/weft` runs the examples in docstrings: the names they use."""

import math
from importlib.util import find_spec
from typing import Any

import pytest

import weft
from weft.shape import ShapeTracker, View
from weft.uop import Ops

# they import the package torch
collect_ignore_glob = [] if find_spec("torch") else ["core/weft/torch/*"]


@pytest.fixture(autouse=True)
def _names_of_docstrings(request: pytest.FixtureRequest) -> None:
    """What a person would have imported, in a folder for the files that an example writes."""
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
        names: dict[str, Any] = request.getfixturevalue("doctest_namespace")
        names |= {name: getattr(weft, name) for name in weft.__all__}
        names |= {
            "weft": weft,
            "ShapeTracker": ShapeTracker,
            "View": View,
            "Ops": Ops,
            "math": math,
        }
