"""The converters, one module a subject. `register_all` imports them."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache


@cache
def register_all() -> None:
    """Import each module of this package: they register their converters."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
