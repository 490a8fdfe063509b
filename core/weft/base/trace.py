"""What happens, told to whoever listens; nothing at all where nobody does.

The house publishes spans (something with a beginning and an end) and points (something that
happened); viewers, recorders and profilers subscribe from above. Nothing here knows them.

    with trace.span("pass", name="limit_buffers") as span:
        ...
        span.note(rewrites=12)
    if trace.enabled():
        trace.point("rewrite", rule="add_zero", before=str(node))

Without subscribers a span is one check of a global and a shared object. Facts that cost something
to build belong behind `enabled()`. What a subscriber raises is not caught: it reaches the code that
published, so that a checking subscriber can stop what it checks.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True)
class Event:
    """One thing that happened. Times are `time.perf_counter_ns()`; a point's are equal.

    number   running number in the order of beginnings; a span is published when it ends
    parent   number of the innermost span around it in the same thread or task, or None
    error    class name of the exception that left the span, or None
    """

    kind: Literal["span", "point"]
    name: str
    facts: dict[str, Any]
    start: int
    end: int
    number: int
    parent: int | None = None
    error: str | None = None
    thread: int = field(default_factory=threading.get_ident)

    @property
    def seconds(self) -> float:
        return (self.end - self.start) * 1e-9


Subscriber: TypeAlias = Callable[[Event], None]

_subscribers: tuple[Subscriber, ...] = ()
_lock = threading.Lock()
_numbers = itertools.count(1)
_around: ContextVar[int | None] = ContextVar("weft_trace_span", default=None)


def enabled() -> bool:
    """True where somebody listens."""
    return bool(_subscribers)


def subscribe(subscriber: Subscriber) -> Callable[[], None]:
    """Have `subscriber(event)` called for every event; the answer is called to end that.

    Events come in the thread that published them. Ending twice does nothing.
    """
    global _subscribers

    # A wrapper of its own for each subscription: the same function may subscribe twice, and each
    # ending ends its own.
    def deliver(event: Event) -> None:
        subscriber(event)

    def unsubscribe() -> None:
        global _subscribers
        with _lock:
            _subscribers = tuple(known for known in _subscribers if known is not deliver)

    with _lock:
        _subscribers = (*_subscribers, deliver)
    return unsubscribe


class _Silent:
    """The span that nobody listens to."""

    __slots__ = ()

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def note(self, **facts: Any) -> None:
        """Nobody listens."""


class Span:
    """A running span; `note` adds facts that are known only on the way."""

    __slots__ = ("_parent", "_token", "facts", "name", "number", "start")

    def __init__(self, name: str, facts: dict[str, Any]) -> None:
        self.name = name
        self.facts = facts
        self.number = 0
        self.start = 0
        self._parent: int | None = None
        self._token: Token[int | None] | None = None

    def note(self, **facts: Any) -> None:
        """Add facts; a fact of the same name is replaced."""
        self.facts.update(facts)

    def __enter__(self) -> Span:
        self.number = next(_numbers)
        self._parent = _around.get()
        self._token = _around.set(self.number)
        self.start = time.perf_counter_ns()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        end = time.perf_counter_ns()
        if self._token is not None:
            _around.reset(self._token)
        failed = kind.__name__ if kind is not None else None
        _publish(
            Event("span", self.name, self.facts, self.start, end, self.number, self._parent, failed)
        )


_SILENT = _Silent()


def span(name: str, /, **facts: Any) -> Span | _Silent:
    """A with-block that is published, with its facts and times, when it is left."""
    if not _subscribers:
        return _SILENT
    return Span(name, facts)


def point(name: str, /, **facts: Any) -> None:
    """Publish something that happens now."""
    if not _subscribers:
        return
    now = time.perf_counter_ns()
    _publish(Event("point", name, facts, now, now, next(_numbers), _around.get()))


def _publish(event: Event) -> None:
    for subscriber in _subscribers:
        subscriber(event)
