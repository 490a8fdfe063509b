"""What type checkers are told of parameter aliases and in-place variants matches the tables."""

from pathlib import Path

from helpers.stubs import tensor_stub
from weft.tensor.ops import overloads
from weft.testing.golden import Golden


def test_the_stub_is_what_the_tables_say(request):
    path = Path(overloads.__file__).with_suffix(".pyi")
    assert tensor_stub() == Golden(path, request.config.getoption("--update-golden"))


def test_declarations_are_for_checkers_alone():
    public = [name for name in vars(overloads.OverloadsMixin) if name[0] != "_"]
    assert public == []
