"""pytest plugin: SciPy's array API tests with the namespace of weft.

SciPy's conftest lists the namespaces that it knows. This plugin lets it list `weft.array_api` in
the place of array-api-strict, under that name: the tests' own marks for it apply.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("WEFT_DEFAULT_FLOAT", "float64")

REPLACED = "array_api_strict"

_param = pytest.param


def _with_weft(*values: Any, **options: Any) -> Any:
    if options.get("id") == REPLACED:
        import weft.array_api

        values = (weft.array_api,)
    return _param(*values, **options)


def pytest_configure(config: pytest.Config) -> None:
    """Import SciPy's conftest with the other list."""
    pytest.param = _with_weft  # type: ignore[assignment]
    try:
        import scipy.conftest  # noqa: F401
    finally:
        pytest.param = _param  # type: ignore[assignment]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of weft."""
    items[:] = [item for item in items if REPLACED in item.nodeid]
