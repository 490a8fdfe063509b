import pytest

from weft.base.providers import PROVIDED, provide, provided


def test_provided_functions_are_found(monkeypatch):
    monkeypatch.setattr("weft.base.providers.PROVIDED", {})
    provide("double", lambda x: 2 * x)
    assert provided("double")(4) == 8
    with pytest.raises(KeyError):
        provided("triple")


def test_the_package_enters_the_array_namespace():
    import weft

    assert "array_namespace" in PROVIDED
    assert weft.Tensor([1]).__array_namespace__() is weft.array_api
