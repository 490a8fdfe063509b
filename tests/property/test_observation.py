"""Watching changes no result, and what was captured of random programs is made again the same."""

import gc
import json
from contextlib import contextmanager

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.example_counts import examples
from weft import settings as weft_settings
from weft.base import trace
from weft.engine import forget_programs
from weft.testing.programs import EVERYTHING, Drawn, Refused, run_program
from weft.tools.replay import Capture, compare, record
from weft.tools.replay.capture import EVENTS as CAPTURED
from weft.tools.viz.recorder import EVENTS as RECORDED
from weft.tools.viz.recorder import Recorder


@contextmanager
def listening(listener, only):
    failures = []

    def hear(event):
        try:
            listener(event)
        except Exception as error:  # the trace would tell it on stderr, and go on
            failures.append(error)
            raise

    stop = trace.subscribe(hear, only)
    try:
        yield
    finally:
        stop()
    assert failures == []


def run(data):
    # run_program compares every value with NumPy's
    try:
        run_program(Drawn(data.draw), EVERYTHING)
    except Refused:
        pass  # a write from elsewhere in the same memory may be refused, with advice


@settings(max_examples=examples(10))
@given(data=st.data())
def test_recording_changes_no_result(data):
    recorder = Recorder()
    with listening(recorder, RECORDED):
        run(data)
    made = recorder.as_json()
    json.dumps(made, allow_nan=False)
    assert made["notes"] == []
    known = {step[0] for step in made["steps"]} | {0}
    assert all(parent in known for _, parent, *_ in made["steps"])


def test_captured_programs_are_reproduced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captured")

    # never fewer than 25: the first examples are the simplest, and some run no kernel
    @settings(max_examples=max(25, examples(25)))
    @given(data=st.data())
    def captured(data):
        forget_programs()
        with listening(Capture(folder), CAPTURED):
            run(data)

    captured()
    gc.collect()
    said = []
    report = compare(folder, said.append)
    assert report.same, "\n".join(said)[:5000]
    assert min(report.counts.values()) >= 10
    assert weft_settings.NOOPT == 0
    assert record.KINDS == tuple(report.counts)
