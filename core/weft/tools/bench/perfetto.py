"""Trace events: write the timeline as JSON for Perfetto (ui.perfetto.dev) and other viewers.

Every published span is one complete event (ph X) on the track of its thread; runs of kernels are on
the track of their device. A flow (ph s, then f) leads from the creation of a kernel to its first
run. Times are microseconds since the first event.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from weft.base.errors import FileError
from weft.base.interrupts import let_through
from weft.base.trace import Event
from weft.device import LinearProgram

EVENTS = ("realize", "kernelize", "kernel", "search", "lower", "compile", "run", "copy")
_PLAIN = (str, int, float, bool)


class Timeline:
    """`trace.subscribe(timeline, only=EVENTS)`, and in the end `timeline.write(path)`.

    most: how many events are kept; later ones are counted only.
    """

    def __init__(self, most: int = 500_000) -> None:
        self.most, self.dropped = most, 0
        self._events: list[Event] = []
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            if len(self._events) < self.most:
                self._events.append(event)
            else:
                self.dropped += 1

    def as_json(self) -> dict[str, Any]:
        """The trace, in plain types."""
        with self._lock:
            events = sorted(self._events, key=lambda event: event.start)
        began = events[0].start if events else 0
        tracks: dict[Any, int] = {}
        rows: list[dict[str, Any]] = []
        made: dict[str, dict[str, Any]] = {}  # kernels that have not run yet
        for event in events:
            track = _track(event)
            number = tracks.setdefault(track, len(tracks) + 1)
            row: dict[str, Any] = {
                "name": str(event.facts.get("name", event.name)),
                "cat": event.name,
                "ph": "X",
                "ts": round((event.start - began) / 1000, 3),
                "dur": round((event.end - event.start) / 1000, 3),
                "pid": 1,
                "tid": number,
                "args": _facts(event),
            }
            rows.append(row)
            if event.name == "kernel":
                made[row["name"]] = row
            elif event.name == "run" and row["name"] in made:
                rows += _flow(made.pop(row["name"]), row, len(rows))
        names = [_named("process_name", 0, "weft")]
        names += [_named("thread_name", number, track[1]) for track, number in tracks.items()]
        return {
            "traceEvents": names + rows,
            "displayTimeUnit": "ms",
            "otherData": {"dropped": self.dropped},
        }

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write it; where it is then. :raises FileError: if it cannot be written."""
        target = Path(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(self.as_json(), allow_nan=False), encoding="utf-8")
        except OSError as error:
            let_through(error)
            raise FileError.of(
                error, "the trace cannot be written", path=target, asked=str(target)
            ) from error
        return target


def _flow(made: dict[str, Any], ran: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """An arrow between two events; each end must lie within its event."""
    start = min(round(made["ts"] + made["dur"] / 2, 3), ran["ts"])
    common = {"name": "first run", "cat": "flow", "id": number, "pid": 1}
    return [
        {**common, "ph": "s", "ts": start, "tid": made["tid"]},
        {**common, "ph": "f", "bp": "e", "ts": ran["ts"], "tid": ran["tid"]},
    ]


def _track(event: Event) -> tuple[int, str]:
    if event.name == "run":
        return 0, f"{event.facts.get('device')} kernels"
    return event.thread, f"thread {event.thread}"


def _named(kind: str, track: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": 1, "tid": track, "args": {"name": name}}


def _facts(event: Event) -> dict[str, Any]:
    facts = {name: value for name, value in event.facts.items() if isinstance(value, _PLAIN)}
    program = event.facts.get("program")
    if isinstance(program, LinearProgram):
        estimates = program.estimates
        facts |= {"operations": str(estimates.ops), "bytes": str(estimates.bytes)}
        facts["opts"] = ", ".join(map(str, program.applied))
    made_of = event.facts.get("metadata")
    if made_of:
        facts["from"] = ", ".join(dict.fromkeys(map(str, made_of)))
    if event.error is not None:
        facts["error"] = event.error
    return {name: _finite(value) for name, value in facts.items()}


def _finite(value: Any) -> Any:
    """JSON has no infinity."""
    return str(value) if isinstance(value, float) and not abs(value) < float("inf") else value
