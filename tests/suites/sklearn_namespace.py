"""pytest plugin: scikit-learn's array API checks with the namespace of weft alone."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")

NAMESPACE = "weft.array_api"


def _namespaces(include_numpy_namespaces: bool = True) -> Iterator[str]:
    yield NAMESPACE


def pytest_configure(config: pytest.Config) -> None:
    """Let scikit-learn list one namespace; its tests are parametrized by that list."""
    from sklearn.utils import _array_api

    _array_api.yield_namespaces = _namespaces


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of weft."""
    items[:] = [item for item in items if NAMESPACE in item.nodeid]
