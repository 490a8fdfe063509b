"""Events reach the subscribers, in order, with their parents."""

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


def test_exceptions_of_a_subscriber_are_reported_once(
    events: list[trace.Event], capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(event: trace.Event) -> None:
        raise LookupError(f"no {event.name}")

    end = trace.subscribe(refuse)
    try:
        trace.point("first")
        with trace.span("second") as span:
            span.note(done=True)
    finally:
        end()
    assert [e.name for e in events] == ["first", "second"]
    told = capsys.readouterr().err
    assert told.count("LookupError") == 1 and "LookupError: no first" in told and "refuse" in told


def test_a_subscriber_gets_only_the_events_that_it_names() -> None:
    if trace.enabled():
        pytest.skip("something else of this process is listening")
    heard: list[trace.Event] = []
    end = trace.subscribe(heard.append, only=("run", "source"))
    try:
        assert trace.enabled("run") and trace.enabled() and not trace.enabled("pass")
        assert trace.span("pass") is trace.span("lower")
        with trace.span("pass"), trace.span("run", name="k"):
            trace.point("rule")
            trace.point("source")
    finally:
        end()
    assert [e.name for e in heard] == ["source", "run"] and heard[1].parent is None
    assert not trace.enabled("run")


def test_one_listener_wants_all_and_another_little() -> None:
    few: list[trace.Event] = []
    everything: list[trace.Event] = []
    stop_few = trace.subscribe(few.append, only=("a",))
    stop_all = trace.subscribe(everything.append)
    trace.point("a")
    trace.point("b")
    stop_all()
    trace.point("c")
    stop_few()
    assert [e.name for e in few] == ["a"] and [e.name for e in everything] == ["a", "b"]
