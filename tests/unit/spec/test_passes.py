import gc

import pytest

from weft.base import trace
from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.base.settings import settings
from weft.spec.passes import Pass, Picture, run_passes
from weft.uop import UOp


def refuse(subject):
    raise SpecError("not like this")


def test_passes_run_in_order_with_the_context():
    passes = (Pass("add", lambda s, ctx: s + ctx), Pass("double", lambda s, ctx: s * 2))
    assert run_passes(passes, 3, 4) == 14


def test_results_are_verified_only_with_the_setting():
    passes = (Pass("keep", lambda s, ctx: s), Pass("spoil", lambda s, ctx: s, leaves=refuse))
    with settings.override(SPEC=0):
        assert run_passes(passes, 1, None) == 1
    with settings.override(SPEC=1), pytest.raises(SpecError) as caught:
        run_passes(passes, 1, None)
    assert caught.value.__notes__ == ["while running pass 'spoil' (2 of 2)"]


def test_every_pass_is_published_to_subscribers():
    events = []
    stop = trace.subscribe(events.append)
    try:
        run_passes((Pass("add", lambda s, ctx: s + 1),), 1, None)
    finally:
        stop()
    (span,) = events
    assert span.name == "pass" and span.kind == "span"
    assert span.facts == {"name": "add", "before": 1, "after": 2}


class Growing:
    """A subject that a pass changes in place, with a picture of itself."""

    def __init__(self):
        self.size = 0

    def picture(self):
        return Picture(UOp.const(dtypes.int, self.size), {})


def grow(subject, ctx):
    subject.size += 1
    return subject


def test_a_subject_that_is_changed_in_place_is_pictured_before_and_after():
    events = []
    stop = trace.subscribe(events.append)
    try:
        run_passes((Pass("grow", grow), Pass("fail", lambda s, ctx: refuse(s))), Growing(), None)
    except SpecError:
        pass
    finally:
        stop()
    grown, failed = events
    assert (grown.facts["before"].graph.arg, grown.facts["after"].graph.arg) == (0, 1)
    assert failed.error == "SpecError" and "after" not in failed.facts


def test_garbage_is_not_searched_for_meanwhile_and_is_again_afterwards():
    seen = []
    watch = Pass("watch", lambda s, ctx: seen.append(gc.isenabled()))
    assert gc.isenabled()
    run_passes((watch,), None, None)
    with pytest.raises(SpecError):
        run_passes((watch, Pass("fail", lambda s, ctx: refuse(s))), None, None)
    assert seen == [False, False] and gc.isenabled()
    gc.disable()
    try:
        run_passes((watch,), None, None)
        assert not gc.isenabled()  # a caller has switched it off
    finally:
        gc.enable()
