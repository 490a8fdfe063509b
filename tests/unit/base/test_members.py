"""Classes of named members: what they share with `enum`."""

import copy
import pickle
from enum import auto

import pytest

from weft.base.members import Member


class Colour(Member, int):
    """Numbers with names."""

    RED = auto()
    GREEN = auto()
    BLUE = 7
    VIOLET = auto()

    def darker(self):
        return Colour(self.value - 1)


class Side(Member):
    """Names alone."""

    LEFT = "left"
    RIGHT = "right"


def test_members_are_found_by_name_and_by_value():
    assert [(one.name, one.value, int(one)) for one in Colour] == [
        ("RED", 1, 1), ("GREEN", 2, 2), ("BLUE", 7, 7), ("VIOLET", 8, 8)
    ]  # fmt: skip
    assert Colour["GREEN"] is Colour(2) is Colour.GREEN
    assert Side("right") is Side["RIGHT"] is Side.RIGHT
    assert Colour.VIOLET.darker() is Colour.BLUE
    assert len(Colour) == 4 and len(Side) == 2 and Colour and Side
    assert Colour.RED in Colour and Side.LEFT not in Colour and 1 not in Colour


@pytest.mark.parametrize("wrong", [0, 99, "RED", None, [1]])
def test_invalid_values_are_refused(wrong):
    with pytest.raises(ValueError, match="is not a valid Colour"):
        Colour(wrong)
    with pytest.raises(KeyError):
        Side["left"]


@pytest.mark.parametrize("member", [*Colour, *Side])
def test_there_is_one_of_each(member):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(member, protocol)) is member
    assert copy.copy(member) is member
    assert copy.deepcopy([member])[0] is member
    assert {member: 1}[type(member)(member.value)] == 1


def test_how_they_are_written():
    assert (str(Colour.BLUE), f"{Colour.BLUE}", f"{Colour.BLUE:>3}") == (
        "Colour.BLUE", "Colour.BLUE", "  7"
    )  # fmt: skip
    assert (repr(Colour.BLUE), repr(Side.LEFT)) == ("<Colour.BLUE: 7>", "<Side.LEFT: 'left'>")
    assert f"{Side.LEFT:>10}" == " Side.LEFT"


def test_numbers_are_ordered_and_names_are_not():
    assert sorted(Colour, reverse=True)[0] is Colour.VIOLET
    assert Side.LEFT != Side.RIGHT and Side.LEFT != "left"
    with pytest.raises(TypeError):
        sorted(Side)


def test_members_cannot_be_reassigned():
    with pytest.raises(AttributeError, match="cannot reassign member 'RED'"):
        Colour.RED = 3
    assert Colour.RED.value == 1
