"""SIMD strategy: code generation for one processor with vector registers and caches.

A device states it in one line, and needs no compiler of this distribution for it::

    from weft_simd import choose, passes

    Device(id, capabilities, passes=passes, choose=choose)

The device has no launch grid. `pipeline.py` is the list of passes, `choice/strategy.py` the choice
of loop transformations. Both are imported when the first kernel is lowered: a process whose kernels
are all in the cache imports neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.plugin import Kernel, Opt, Pass


def passes() -> tuple[Pass, ...]:
    """The generic passes with those for one processor among them, in their order."""
    listed: tuple[Pass, ...] = _module("pipeline").PASSES
    return listed


def choose(kernel: Kernel) -> Sequence[Opt]:
    """The loop transformations of a kernel, in the order in which they are to be applied."""
    chosen: Sequence[Opt] = _module("choice.strategy").choose(kernel)
    return chosen


def _module(name: str) -> Any:
    return import_module(f"weft_simd.{name}")
