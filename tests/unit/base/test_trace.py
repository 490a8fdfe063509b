"""Events reach those who listen, in order, with their parents; and nobody else."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from weft.base import trace


@pytest.fixture
def events() -> Iterator[list[trace.Event]]:
    heard: list[trace.Event] = []
    end = trace.subscribe(heard.append)
    yield heard
    end()


def test_without_listeners_spans_are_one_shared_object() -> None:
    if trace.enabled():
        pytest.skip("something else of this process is listening")
    first = trace.span("a", fact=1)
    with first as inside:
        inside.note(more=2)
        trace.point("b")
    assert first is trace.span("c") is inside


def test_spans_nest_and_are_published_when_they_end(events: list[trace.Event]) -> None:
    with trace.span("outer", name="x", kind=1) as outer:
        with trace.span("inner"):
            trace.point("here", rule="r")
        outer.note(count=3)
    point, inner, whole = events
    assert [e.name for e in events] == ["here", "inner", "outer"]
    assert [e.kind for e in events] == ["point", "span", "span"]
    assert whole.facts == {"name": "x", "kind": 1, "count": 3} and whole.parent is None
    assert (point.parent, inner.parent) == (inner.number, whole.number)
    assert whole.number < inner.number < point.number
    assert whole.start <= inner.start <= point.start == point.end <= inner.end <= whole.end
    assert whole.seconds >= 0 and whole.error is None


def test_a_span_left_by_an_exception_says_so(events: list[trace.Event]) -> None:
    with pytest.raises(KeyError), trace.span("broken"):
        raise KeyError
    trace.point("after")
    assert events[0].error == "KeyError" and events[1].parent is None


def test_unsubscribing_ends_only_its_own() -> None:
    heard: list[trace.Event] = []
    first, second = trace.subscribe(heard.append), trace.subscribe(heard.append)
    trace.point("two")
    first()
    first()
    trace.point("one")
    second()
    trace.point("none")
    assert [e.name for e in heard] == ["two", "two", "one"]


def test_spans_of_threads_are_no_parents_of_each_other(events: list[trace.Event]) -> None:
    with trace.span("main"):
        worker = threading.Thread(target=lambda: trace.point("worker"))
        worker.start()
        worker.join()
    assert events[0].parent is None and events[0].thread != events[1].thread


def test_what_a_listener_raises_reaches_the_publisher() -> None:
    def refuse(event: trace.Event) -> None:
        raise LookupError(event.name)

    end = trace.subscribe(refuse)
    try:
        with pytest.raises(LookupError, match="stop"):
            trace.point("stop")
    finally:
        end()
