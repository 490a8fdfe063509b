import pytest

from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.spec.check import verify
from weft.uop import UOp

ONE, TWO = UOp.const(dtypes.int, 1), UOp.const(dtypes.int, 2)


def test_the_first_node_that_is_not_allowed_is_named():
    with pytest.raises(SpecError) as caught:
        verify((ONE + TWO).toposort(), lambda u: None if u.src == () else "it has sources", "flat")
    error = caught.value
    assert "spec.flat" in error.summary
    assert error.asked.startswith("node 2: ADD") and "CONST" in error.asked
    assert error.because == "it has sources"


def test_nothing_to_object_to():
    verify((ONE + TWO).toposort(), lambda u: None, "anything")
