"""A double of PyObjC's own module: pools, and what went wrong where nothing can be raised."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

depth = 0
"""How many pools are open."""
crashes: list[str] = []
"""What would have ended the process."""


@contextmanager
def autorelease_pool() -> Iterator[None]:
    """What is made in here is let go of at its end."""
    global depth
    depth += 1
    try:
        yield
    finally:
        depth -= 1
