"""Provenance of kernels and of errors."""

import pytest

from weft import Tensor
from weft.base.errors import CapabilityError, ScheduleError


def test_kernels_know_the_methods_fused_in_them():
    x = Tensor.empty(4, device="REF")
    (item,) = ((x * 2).relu() + 1).schedule()
    assert [str(m) for m in item.metadata] == ["__mul__", "relu", "__add__"]
    assert item.metadata[0].where[0] == __file__


def test_errors_from_lazy_work_name_the_line_that_recorded_it(tmp_path):
    (tmp_path / "bytes").write_bytes(b"1234")
    lazy = Tensor.from_file(tmp_path / "bytes") + 1  # this line
    line = __import__("inspect").currentframe().f_lineno - 1
    with pytest.raises(CapabilityError) as caught:
        lazy.realize()
    assert f"test_metadata.py:{line}" in caught.value.asked


def test_an_assignment_over_itself_names_its_line():
    a = Tensor.empty(2, 2, device="REF")
    a += a.T
    with pytest.raises(ScheduleError) as caught:
        a.realize()
    assert "test_metadata.py" in caught.value.asked and ".contiguous()" in caught.value.try_
