"""The table of operators: versions, signatures, domains."""

import pytest

from weft.base.errors import ArgumentError
from weft.onnx import registry


@pytest.fixture(autouse=True)
def tables(monkeypatch):
    """Operators that a test registers are gone afterwards."""
    monkeypatch.setattr(registry, "_operators", {})
    monkeypatch.setattr(registry, "_host_operators", {})


def test_the_newest_version_that_is_not_newer_than_the_opset_is_found():
    for since in (13, 1, 8):
        registry.operator("Op", since=since)(lambda node, x: x)
    found = [registry.find("", "Op", opset) for opset in (1, 7, 8, 12, 13, 99)]
    assert [each.since for each in found] == [1, 1, 8, 8, 13, 13]
    assert registry.versions("", "Op") == [1, 8, 13]
    registry.operator("Late", since=9)(lambda node, x: x)
    assert registry.find("", "Late", 8) is None


def test_the_default_domain_has_two_names():
    registry.operator("Op", domain="ai.onnx")(lambda node, x: x)
    assert registry.find("", "Op", 1) is registry.find("ai.onnx", "Op", 1)
    assert registry.find("other", "Op", 1) is None


def test_signatures_are_read():
    @registry.operator("Op", host_inputs=["axes"])
    def op(node, x, axes=None, *rest, to, axis=0):
        """Do nothing."""

    found = registry.find("", "Op", 1)
    assert found.inputs == ("x", "axes")
    assert found.variadic and found.needs_inputs == 1
    assert found.attributes == {"to", "axis"} and found.required == {"to"}


def test_a_second_function_of_one_version_replaces_the_first():
    registry.register("com.example", "Op")(lambda node, x: 1)
    registry.register("com.example", "Op")(lambda node, x: 2)
    assert registry.find("com.example", "Op", 1).function(None, None) == 2
    assert registry.names("com.example") == ["Op"]


def test_unexpected_signatures_are_refused():
    with pytest.raises(ArgumentError, match="unexpected signature"):
        registry.operator("Op")(lambda: None)
    with pytest.raises(ArgumentError, match="axes"):
        registry.operator("Op", host_inputs=["axes"])(lambda node, x: x)


def test_arrays_of_the_host_have_their_own_table():
    registry.host_operator("Op")(lambda node, x: x)
    assert registry.find("", "Op", 1) is None
    assert registry.find_host("", "Op", 1).name == "Op"
