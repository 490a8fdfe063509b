"""The family of errors: fields, message, built-in parents, pickling."""

from __future__ import annotations

import pickle

import pytest

from weft.base import errors
from weft.base.errors import CompileError, FileError, FormatError, ShapeError, WeftError

FAMILY = {
    "ShapeError": (WeftError, ValueError, RuntimeError),
    "DTypeError": (WeftError, TypeError, RuntimeError),
    "UnknownDType": (errors.DTypeError, AttributeError),
    "IndexingError": (WeftError, IndexError),
    "ArgumentError": (WeftError, ValueError, RuntimeError),
    "MissingName": (WeftError, AttributeError),
    "UnknownChoice": (errors.ArgumentError, NotImplementedError),
    "WrongKind": (errors.ArgumentError, TypeError),
    "DeviceError": (WeftError, RuntimeError),
    "DeviceUnavailable": (errors.DeviceError,),
    "UnknownDevice": (errors.DeviceError,),
    "PluginError": (errors.DeviceError,),
    "CapabilityError": (errors.DeviceError,),
    "CompileError": (errors.DeviceError,),
    "OutOfMemory": (errors.DeviceError,),
    "SpecError": (WeftError, RuntimeError),
    "ScheduleError": (WeftError, RuntimeError),
    "GradientError": (WeftError, RuntimeError),
    "FileError": (WeftError, OSError),
    "FormatError": (errors.FileError, ValueError),
}


@pytest.mark.parametrize("name", FAMILY)
def test_every_member_has_its_parents_message_and_survives_pickling(name: str) -> None:
    kind = getattr(errors, name)
    error = kind("it does not fit", asked="a\nb", because="c", try_="d")
    assert all(issubclass(kind, parent) for parent in FAMILY[name])
    assert (error.summary, error.asked, error.because, error.try_) == (
        "it does not fit", "a\nb", "c", "d",
    )  # fmt: skip
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and str(again) == str(error) and vars(again) == vars(error)


def test_the_message_has_a_line_for_each_answer_that_is_there() -> None:
    error = ShapeError("no", asked="reshape\nto (3,)", try_="(4,)")
    assert str(error).splitlines() == [
        "no",
        "  asked:   reshape",
        "           to (3,)",
        "  try:     (4,)",
    ]
    assert str(ShapeError("only this")) == "only this"
    assert str(ShapeError(because="so")) == "  because: so"


def test_fields_set_later_are_in_the_message() -> None:
    error = WeftError("no")
    error.try_ = "this"
    assert "try:     this" in str(error)


def test_a_compile_error_keeps_source_and_log() -> None:
    error = CompileError("refused", source="int x", log="line 1: ;", because="syntax")
    again = pickle.loads(pickle.dumps(error))
    assert (again.source, again.log, again.because) == ("int x", "line 1: ;", "syntax")


def test_file_errors_do_not_print_as_errno() -> None:
    assert str(FileError("gone", asked="x.bin")).startswith("gone\n  asked:")
    with pytest.raises(ValueError):
        raise FormatError("bad header")
