import json

import pytest

from weft import Tensor
from weft.base import trace
from weft.base.errors import FileError
from weft.engine import forget_programs
from weft.tools.bench.perfetto import EVENTS, Timeline

DEVICE = "REF"


@pytest.fixture
def timeline():
    forget_programs()
    timeline = Timeline()
    stop = trace.subscribe(timeline, only=EVENTS)
    x = Tensor([1.0, 2.0, 3.5], device=DEVICE)
    for _ in range(3):
        (x * 1.25 + 0.5).sum().realize()
    stop()
    return timeline


def test_format_of_perfetto(timeline, tmp_path):
    data = json.loads(timeline.write(tmp_path / "new" / "trace.json").read_text())
    assert data["displayTimeUnit"] == "ms" and data["otherData"] == {"dropped": 0}
    events = data["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert {event["ph"] for event in events} == {"X", "M", "s", "f"}
    for event in spans:
        assert isinstance(event["name"], str) and event["cat"] in EVENTS
        assert event["ts"] >= 0 and event["dur"] >= 0
        assert event["pid"] == 1 and isinstance(event["tid"], int)
    assert min(event["ts"] for event in spans) == 0


def test_spans_on_one_track_lie_inside_each_other_or_apart(timeline):
    spans = [event for event in timeline.as_json()["traceEvents"] if event["ph"] == "X"]
    for one in spans:
        for other in spans:
            if one["tid"] == other["tid"] and one["ts"] < other["ts"]:
                end, last = one["ts"] + one["dur"], other["ts"] + other["dur"]
                assert other["ts"] >= end - 0.002 or last <= end + 0.002


def test_an_arrow_leads_from_the_making_of_a_kernel_to_its_first_run(timeline):
    events = timeline.as_json()["traceEvents"]
    (start,) = (event for event in events if event["ph"] == "s")
    (end,) = (event for event in events if event["ph"] == "f")
    assert start["id"] == end["id"] and start["name"] == end["name"] and end["bp"] == "e"

    def around(flow, kind):
        return [
            event
            for event in events
            if event.get("cat") == kind
            and event["tid"] == flow["tid"]
            and event["ts"] <= flow["ts"] <= event["ts"] + event["dur"]
        ]

    (made,), (ran,) = around(start, "kernel"), around(end, "run")
    assert made["name"] == ran["name"]
    first = min(event["ts"] for event in events if event["name"] == made["name"] != made["cat"])
    assert first <= ran["ts"] and "from" in ran["args"]


def test_kernels_have_a_track_of_their_device_and_facts(timeline):
    events = timeline.as_json()["traceEvents"]
    tracks = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
    runs = [e for e in events if e["cat" if "cat" in e else "ph"] == "run" and "opts" in e["args"]]
    assert len(runs) == 3
    assert {run["tid"] for run in runs} == {tracks[f"{DEVICE} kernels"]}
    assert runs[0]["args"]["operations"].isdigit() and runs[0]["args"]["bytes"] == "16"


def test_later_events_are_counted_only(timeline):
    short = Timeline(most=1)
    for event in timeline._events:
        short(event)
    data = short.as_json()
    assert sum(event["ph"] == "X" for event in data["traceEvents"]) == 1
    assert data["otherData"]["dropped"] == len(timeline._events) - 1


def test_facts_that_json_has_not_become_text(timeline):
    event = trace.Event("span", "run", {"name": "k", "seconds": float("inf")}, 0, 1, 1)
    odd = Timeline()
    odd(event)
    (row,) = [e for e in odd.as_json()["traceEvents"] if e["ph"] == "X"]
    assert row["args"]["seconds"] == "inf"


def test_unwritable_files(timeline, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        timeline.write(tmp_path / "file" / "trace.json")
