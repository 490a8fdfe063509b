"""Tracing: publish events to subscribers; without subscribers it costs almost nothing.

The compiler publishes spans (events with a duration) and points (single events). Viewers, recorders
and profilers of higher layers subscribe to them.

    with trace.span("pass", name="limit_buffers") as span:
        ...
        span.note(rewrites=12)
    if trace.enabled():
        trace.point("rewrite", rule="add_zero", before=str(node))

Without subscribers a span is one check of a global and a shared object. Facts that cost something
to build belong behind `enabled(name)`. A subscriber may name the events that it wants; others are
not made. An exception of a subscriber is reported once on stderr and not propagated.

Events by name (spans unless marked as points):

    realize, kernelize      a requested computation; the scheduling of its graph
    schedule (point)        the input and the result of `kernelize`
    pass                    one pass: its name, before and after
    rewrite (point)         one graph_rewrite that changed something, before and after
    rule (point)            one rewrite rule that fired: its set, before and after
    kernel, lower, compile  one kernel from its AST to a binary, and the two long parts of that
    search                  the search for one kernel's optimisations, before it is lowered
    source (point)          the source of a kernel, with its AST and linear program
    arenas (point)          the arenas that the intermediates of a schedule share, and their bytes
    run, copy               one step of a schedule; one copy between devices
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar, Token
from dataclasses import field
from typing import Any, Literal, TypeAlias

from weft.base.deferred_dataclass import dataclass
from weft.base.interrupts import let_through
from weft.base.locks import lock


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

_subscribers: tuple[_Subscription, ...] = ()
_wanted: frozenset[str] | None = frozenset()  # None: some subscriber wants everything
_lock = lock()
_numbers = itertools.count(1)
_around: ContextVar[int | None] = ContextVar("weft_trace_span", default=None)


def enabled(name: str | None = None) -> bool:
    """Whether there is a subscriber; with a name, a subscriber to that event."""
    if not _subscribers:
        return False
    return name is None or _wanted is None or name in _wanted


class _Subscription:
    """One subscriber, the names that it wants (None: all), and whether it failed before."""

    __slots__ = ("_deliver", "_failed", "only")

    def __init__(self, deliver: Subscriber, only: frozenset[str] | None) -> None:
        self._deliver = deliver
        self._failed = False
        self.only = only

    def __call__(self, event: Event) -> None:
        if self.only is not None and event.name not in self.only:
            return
        try:
            self._deliver(event)
        except Exception as error:
            let_through(error)
            if self._failed:
                return
            self._failed = True
            # stderr, not a warning: where warnings are errors, it would break what is watched
            called = getattr(self._deliver, "__qualname__", repr(self._deliver))
            print(
                f"weft: {called}, which listens to the trace, failed at {event.name!r}: "
                f"{type(error).__name__}: {error}\n(the computation is not affected; further "
                "failures of this listener are not printed)",
                file=sys.stderr,
            )


def _listen_to(subscriptions: tuple[_Subscription, ...]) -> None:
    """Called with the lock held."""
    global _subscribers, _wanted
    names = [known.only for known in subscriptions]
    every = frozenset[str]().union(*(each for each in names if each is not None))
    _wanted = None if None in names else every
    _subscribers = subscriptions


def subscribe(subscriber: Subscriber, only: Iterable[str] | None = None) -> Callable[[], None]:
    """Have `subscriber(event)` called for every event; the answer is called to end that.

    only: names of the events that it is called for; None: all. Events come in the thread that
    published them. Ending twice does nothing.
    """
    # An object of its own for each subscription: the same function may subscribe twice, and each
    # ending ends its own.
    mine = _Subscription(subscriber, None if only is None else frozenset(only))

    def unsubscribe() -> None:
        with _lock:
            _listen_to(tuple(known for known in _subscribers if known is not mine))

    with _lock:
        _listen_to((*_subscribers, mine))
    return unsubscribe


class _Silent:
    """The span without subscribers."""

    __slots__ = ()

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def note(self, **facts: Any) -> None:
        """Ignored."""


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

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
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
    if not _subscribers or not enabled(name):
        return _SILENT
    return Span(name, facts)


def point(name: str, /, **facts: Any) -> None:
    """Publish something that happens now."""
    if not _subscribers or not enabled(name):
        return
    now = time.perf_counter_ns()
    _publish(Event("point", name, facts, now, now, next(_numbers), _around.get()))


def _publish(event: Event) -> None:
    for subscriber in _subscribers:
        subscriber(event)
