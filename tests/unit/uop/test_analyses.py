"""Facts about nodes that other floors provide."""

import pytest

from weft import Tensor, dtypes
from weft.base.errors import SpecError
from weft.uop import UOp, analyses


def test_a_missing_analysis_is_named(monkeypatch):
    monkeypatch.delitem(analyses._PROVIDED, "shape")
    with pytest.raises(SpecError, match="'shape'") as caught:
        _ = UOp.unique().shape
    assert caught.value.asked == "UOp.shape"


def test_a_provided_analysis_is_cached_on_the_node():
    node = Tensor.empty(2, 3, device="REF").uop
    assert node.shape == (2, 3) and node.size == 6 and node.device == "REF"
    assert node._shape is node.shape and not node.is_realized and node.realized is None


def test_bounds_and_infix_form():
    n = UOp.variable("n", 1, 8)
    assert ((n + 1).vmin, (n + 1).vmax) == (2, 9)
    assert (n + 0).render() == "n" and (n + 0).render(simplify=False) == "(n+0)"


def test_reading_the_values_of_variables_is_reported(monkeypatch):
    told = []
    monkeypatch.setitem(analyses._PROVIDED, "values_read", told.append)
    bound = UOp.variable("n", 1, 8).bind(3)
    assert int(bound + 1) == 4 and told == [[bound]]
    analyses.report_values_read([])
    assert told == [[bound]] and UOp.const(dtypes.int, 3).vmin == 3
