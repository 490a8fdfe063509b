import pytest

from weft.base import trace
from weft.base.errors import SpecError
from weft.base.settings import settings
from weft.spec.passes import Pass, run_passes


def refuse(subject):
    raise SpecError("not like this")


def test_passes_run_in_order_with_the_context():
    passes = (Pass("add", lambda s, ctx: s + ctx), Pass("double", lambda s, ctx: s * 2))
    assert run_passes(passes, 3, 4) == 14


def test_what_a_pass_leaves_is_checked_only_where_asked_for():
    passes = (Pass("keep", lambda s, ctx: s), Pass("spoil", lambda s, ctx: s, leaves=refuse))
    with settings.override(SPEC=0):
        assert run_passes(passes, 1, None) == 1
    with settings.override(SPEC=1), pytest.raises(SpecError) as caught:
        run_passes(passes, 1, None)
    assert caught.value.__notes__ == ["while running pass 'spoil' (2 of 2)"]


def test_every_pass_is_published_to_whoever_listens():
    events = []
    stop = trace.subscribe(events.append)
    try:
        run_passes((Pass("add", lambda s, ctx: s + 1),), 1, None)
    finally:
        stop()
    (point,) = [e for e in events if e.name == "pass" and "before" in e.facts] or [
        e for e in events if "before" in e.facts
    ]
    assert (point.facts["before"], point.facts["after"]) == (1, 2)
