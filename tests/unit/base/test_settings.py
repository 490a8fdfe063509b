"""The table of settings: reading, overriding, parsing the environment."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import get_type_hints

import pytest

from weft.base.errors import ArgumentError
from weft.base.settings import TABLE, Setting, Settings, SettingValues, settings


def test_table_matches_attributes() -> None:
    names = [row.name for row in settings.table()]
    assert len(set(names)) == len(names)
    for row in TABLE:
        assert isinstance(getattr(settings, row.name), row.type)
        assert row.env == "WEFT_" + row.name and row.doc
    declared = [n for n in Settings.__dict__ if n.isupper()]
    assert sorted(declared) == sorted(names)
    assert get_type_hints(SettingValues) == {row.name: row.type for row in TABLE}


def test_override_nests_and_restores_after_an_exception() -> None:
    before = settings.DEBUG, settings.NOOPT
    with pytest.raises(KeyError), settings.override(DEBUG=41, NOOPT=True):
        assert (settings.DEBUG, settings.NOOPT) == (41, 1)
        with settings.override(DEBUG=42):
            assert (settings.DEBUG, settings.NOOPT) == (42, 1)
        assert settings.DEBUG == 41
        raise KeyError
    assert (settings.DEBUG, settings.NOOPT) == before


def test_override_decorates_recursive_functions_and_is_entered_twice() -> None:
    before = settings.BEAM

    @settings.override(BEAM=7)
    def down(depth: int) -> int:
        return settings.BEAM if depth == 0 else down(depth - 1)

    assert down(3) == 7 and settings.BEAM == before
    both = settings.override(BEAM=8)
    with both, both:
        assert settings.BEAM == 8
    assert settings.BEAM == before


def test_the_stamp_is_the_same_while_nothing_was_set() -> None:
    before, known = settings.stamp(), settings.DEBUG
    assert settings.stamp() is before
    with settings.override(DEBUG=41):
        inside = settings.stamp()
        assert inside is not before
        with settings.override(NOOPT=1):
            assert settings.stamp() not in (before, inside)
        assert settings.stamp() is inside
    assert settings.stamp() is before
    with settings.override(DEBUG=41):
        settings.NOOPT = settings.NOOPT
    assert settings.stamp() is not before and settings.DEBUG == known


def test_a_getter_equals_the_attribute() -> None:
    debug = settings.getter("DEBUG")
    assert debug() == settings.DEBUG
    with settings.override(DEBUG=3):
        assert debug() == 3
    with pytest.raises(ArgumentError, match="no setting 'DEBGU'"):
        settings.getter("DEBGU")


def test_the_stamp_distinguishes_the_order_of_overrides() -> None:
    first, second = settings.override(DEBUG=41), settings.override(NOOPT=1)
    seen = {id(before := settings.stamp())}
    kept = [before]
    for change in (first.__enter__, second.__enter__, first.__exit__, second.__exit__):
        change()
        kept.append(settings.stamp())
        seen.add(id(kept[-1]))
    assert len(seen) == len(kept)


def test_an_override_is_not_seen_by_another_thread() -> None:
    seen: list[int] = []
    before = settings.DEBUG
    with settings.override(DEBUG=before + 1):
        worker = threading.Thread(target=lambda: seen.append(settings.DEBUG))
        worker.start()
        worker.join()
    assert seen == [before]


@pytest.mark.parametrize(
    "changes",
    [{"DEBUGG": 1}, {"DEBUG": "2"}, {"DEVICE": 3}, {"DEFAULT_FLOAT": "int"}, {"DEBUG": 1.5}],
)
def test_a_wrong_name_or_value_is_refused_before_anything_changes(changes: dict) -> None:
    before = repr(settings)
    with pytest.raises(ArgumentError):
        settings.override(NOOPT=1, **changes)
    assert repr(settings) == before


def test_unknown_names_are_answered_with_close_ones() -> None:
    with pytest.raises(AttributeError, match="NOOPT"):
        _ = settings.NO_OPT
    with pytest.raises(ArgumentError):
        settings.DEBUGG = 1


def test_assigning_holds_until_an_enclosing_override_ends() -> None:
    before = settings.BEAM
    with settings.override(BEAM=before):
        settings.BEAM = before + 5
        assert before + 5 == settings.BEAM
    assert before == settings.BEAM


def test_the_environment_for_another_process_has_the_settings_in_it() -> None:
    made = settings.environment(VIZ="a page.html", DEBUG=3)
    assert (made["WEFT_VIZ"], made["WEFT_DEBUG"]) == ("a page.html", "3")
    assert made["PATH"] == os.environ["PATH"] and "WEFT_VIZ" not in os.environ
    with pytest.raises(ArgumentError):
        settings.environment(VIEW=1)


@pytest.mark.parametrize(("text", "value"), [("3", 3), (" -1 ", -1), ("0x10", 16)])
def test_integers_parse(text: str, value: int) -> None:
    assert Setting("X", 0, "a number").parse(text) == value


@pytest.mark.parametrize("text", ["yes", "1.5", "010", "1 2"])
def test_a_malformed_integer_names_its_variable(text: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        Setting("X", 0, "a number").parse(text)
    assert "WEFT_X" in caught.value.summary and text in str(caught.value.asked)


def _python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {n: v for n, v in os.environ.items() if not n.startswith("WEFT_")}
    clean["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run(
        [sys.executable, "-c", code], env=clean | environment, text=True, capture_output=True
    )


def test_the_environment_is_read_and_empty_counts_as_unset() -> None:
    code = (
        "from weft.base.settings import settings as s; from weft.base.dtype import dtypes;"
        "print(s.DEBUG, s.DEVICE, s.JIT, dtypes.default_float)"
    )
    done = _python(
        code, WEFT_DEBUG="3", WEFT_DEVICE="X:1", WEFT_JIT="", WEFT_DEFAULT_FLOAT="bfloat16"
    )
    assert done.stdout.split() == ["3", "X:1", "1", "dtypes.bfloat16"], done.stderr


def test_a_malformed_variable_is_named_at_import() -> None:
    done = _python("import weft.base.settings", WEFT_BEAM="wide")
    assert done.returncode != 0
    assert "ArgumentError" in done.stderr and "WEFT_BEAM" in done.stderr
