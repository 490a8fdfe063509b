"""The outermost public method and the user's line."""

from __future__ import annotations

import inspect
import threading
from pathlib import Path

import pytest

import weft
from weft.base import provenance
from weft.base.provenance import Metadata, current, current_metadata, describe, method, scope
from weft.base.settings import settings


@method
def inner() -> tuple[str, provenance.Where | None] | None:
    """The inner one."""
    return current()


@method
def outer(fails: bool = False) -> tuple[str, provenance.Where | None] | None:
    if fails:
        raise KeyError
    return inner()


@pytest.fixture(autouse=True)
def traced():
    with settings.override(TRACEMETA=1):
        yield


def test_the_outermost_method_wins() -> None:
    for function in (outer, inner):
        line = inspect.currentframe().f_lineno + 1
        found = function()
        assert found == (
            function.__name__,
            (__file__, line, "test_the_outermost_method_wins"),
        )
    assert current() is None and current_metadata() is None


def test_an_exception_ends_the_method() -> None:
    with pytest.raises(KeyError):
        outer(fails=True)
    assert current() is None


def test_the_mark_keeps_what_the_function_says_of_itself() -> None:
    assert (inner.__name__, inner.__doc__) == ("inner", "The inner one.")
    assert list(inspect.signature(outer).parameters) == ["fails"]


def test_it_can_be_turned_off() -> None:
    with settings.override(TRACEMETA=0):
        assert outer() is None
        with scope("x"):
            assert current() is None


def test_frames_of_the_package_are_passed_over() -> None:
    inside = Path(weft.__file__).parent / "tensor" / "made_up.py"
    namespace = {"method": method, "inner": inner}
    code = "def entry():\n    return helper()\ndef helper():\n    return inner()\n"
    exec(compile(code, str(inside), "exec"), namespace)
    name, where = namespace["entry"]()
    assert name == "inner" and where is not None and where[0] == __file__
    beside = str(Path(weft.__file__).parent) + "_other/x.py"
    exec(compile("def entry():\n    return inner()\n", beside, "exec"), namespace)
    assert namespace["entry"]()[1] == (beside, 2, "entry")


def test_scope_names_the_backward_pass_over_what_is_around() -> None:
    @method
    def backward() -> Metadata | None:
        with scope("softmax", ("f.py", 3, "g"), backward=True):
            inner()
            return current_metadata()

    assert backward() == Metadata("softmax", ("f.py", 3, "g"), backward=True)
    assert current() is None


def test_metadata_of_one_call_is_one_object() -> None:
    with scope("relu", ("f.py", 1, "g")):
        first = current_metadata()
        assert first is current_metadata() and str(first) == "relu" and not first.backward


def test_another_thread_has_its_own() -> None:
    seen: list[object] = []
    with scope("relu"):
        worker = threading.Thread(target=lambda: seen.append(current()))
        worker.start()
        worker.join()
    assert seen == [None]


def test_words_for_places() -> None:
    here = provenance.here()
    assert here is not None and here[2] == "test_words_for_places"
    assert provenance.source_line(here) == "here = provenance.here()"
    assert describe(("/a/train.py", 41, "forward")) == "train.py:41 in forward"
    assert describe(("/a/train.py", 41, "<module>")) == "train.py:41"
    assert describe(None) == "an unknown place" and provenance.source_line(None) == ""
    assert provenance.source_line(("/no/such/file.py", 1, "f")) == ""
    assert provenance.here(10_000) is None
