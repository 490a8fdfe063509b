"""Which operation of the public interface, and which line of the user's, made a node.

Methods of the public interface are marked with `method`. While one runs, `current()` names the
outermost of them, because that is the one the user wrote: a softmax is a softmax, whatever it is
made of. The user's line is the innermost frame outside the package. Both are kept as small tuples;
words are made of them only when somebody reads them. `settings.TRACEMETA = 0` turns it all off.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ParamSpec, TypeAlias, TypeVar

from weft.base.settings import settings

P = ParamSpec("P")
R = TypeVar("R")

# Name of the file, number of the line, name of the function.
Where: TypeAlias = tuple[str, int, str]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass(frozen=True)
class Metadata:
    """The provenance of a node: the public operation, its line, and whether in a backward pass."""

    name: str
    where: Where | None = None
    backward: bool = False

    def __str__(self) -> str:
        return self.name


# What the outermost method is, as the arguments of a Metadata, or None outside of all.
_outermost: ContextVar[tuple[str, Where | None, bool] | None] = ContextVar(
    "weft_provenance", default=None
)


def here(depth: int = 1) -> Where | None:
    """The innermost frame outside the package, `depth` frames up at least; None if there is none.

    A depth of 1 begins at the caller.
    """
    try:
        frame = sys._getframe(depth)
    except ValueError:  # the stack is not that deep
        return None
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            return (code.co_filename, frame.f_lineno, code.co_name)
        frame = frame.f_back
    return None


def method(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function of the public interface: while it runs it may be what `current()` names."""
    name = function.__name__
    get, put, reset = _outermost.get, _outermost.set, _outermost.reset

    @functools.wraps(function)
    def marked(*args: P.args, **kwargs: P.kwargs) -> R:
        if get() is not None or not settings.TRACEMETA:
            return function(*args, **kwargs)
        token = put((name, here(2), False))
        try:
            return function(*args, **kwargs)
        finally:
            reset(token)

    return marked


@contextmanager
def scope(name: str, where: Where | None = None, *, backward: bool = False) -> Iterator[None]:
    """Say what the nodes made in this block are from, whatever runs around it.

    A backward pass uses it: the nodes of a gradient are from the method of the node they derive.
    """
    token = _outermost.set((name, where, backward) if settings.TRACEMETA else None)
    try:
        yield
    finally:
        _outermost.reset(token)


def current() -> tuple[str, Where | None] | None:
    """Name and line of the outermost marked method that is running, or None."""
    known = _outermost.get()
    return None if known is None else known[:2]


def current_metadata() -> Metadata | None:
    """What to keep with a node that is made now; the same object for the same call site."""
    known = _outermost.get()
    return None if known is None else _metadata(known)


@functools.lru_cache(maxsize=4096)
def _metadata(known: tuple[str, Where | None, bool]) -> Metadata:
    return Metadata(*known)


def describe(where: Where | None) -> str:
    """The place in words: `train.py:41 in forward`; `an unknown place` for None."""
    if where is None:
        return "an unknown place"
    filename, line, function = where
    outside = "" if function == "<module>" else f" in {function}"
    return f"{os.path.basename(filename)}:{line}{outside}"


def source_line(where: Where | None) -> str:
    """The text of the line, without its indentation; empty where the file is not to be had."""
    return linecache.getline(where[0], where[1]).strip() if where is not None else ""
