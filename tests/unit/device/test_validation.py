from dataclasses import dataclass
from typing import Any

import pytest

from weft.base.errors import ArgumentError
from weft.device.validation import check, each, freeze, one, sizes, whole


@dataclass(frozen=True)
class Record:
    field: Any


@pytest.mark.parametrize(
    "kind,good,bad",
    [
        (whole(1), [1, 1 << 40], [0, True, "3", 2.0, None]),
        (whole(0, optional=True), [0, None], [-1, "none"]),
        (sizes(2), [(1, 2), None], [(1,), (0, 1), [1, 2], 3, ("1", "2")]),
        (one(str), ["", "x"], [None, b"x"]),
        (one(str, optional=True), [None, "x"], [0]),
        (each(str.isupper, "upper case"), [(), ("A",)], [("A", "b")]),
    ],
)
def test_kinds(kind, good, bad):
    for value in good:
        check(Record(value), field=kind)
    for value in bad:
        with pytest.raises(ArgumentError) as caught:
            check(Record(value), field=kind)
        assert caught.value.summary == f"field of Record is {kind.words}"
        assert caught.value.asked.startswith("Record(field=")


def test_the_element_that_is_wrong_is_named():
    with pytest.raises(ArgumentError) as caught:
        check(Record(("A", "b", "c")), field=each(str.isupper, "upper case"))
    assert caught.value.because == "'b' is a str"


def test_freezing():
    record = Record([1, 2])
    freeze(record, field=tuple)
    assert record.field == (1, 2)
    with pytest.raises(ArgumentError, match="'int' object is not iterable"):
        freeze(Record(3), field=tuple)
