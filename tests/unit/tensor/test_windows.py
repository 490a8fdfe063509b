"""Windows of memory cost no kernel, and no write to either side is seen through them."""

import pytest

from weft import Tensor
from weft.device import binding
from weft.engine import stats
from weft.uop import Ops


@pytest.fixture
def x():
    return Tensor([1, 2, 3, 4, 5, 6], dtype="int", device="REF").realize()


def kinds(*tensors):
    return [item.ast.op for item in Tensor.schedule(*tensors)]


def test_a_contiguous_window_is_a_view_of_its_memory(x):
    window = x[2:5].contiguous()
    before = stats.kernels
    window.realize()
    assert stats.kernels == before
    memory = binding.buffer_behind(window.uop)
    assert memory.base is binding.buffer_behind(x.uop) and memory.offset == 8
    assert window.tolist() == [3, 4, 5]


def test_rows_of_a_matrix_and_bitcasts_are_windows(x):
    assert kinds(x.reshape(3, 2)[1:].contiguous()) == [Ops.BUFFER_VIEW]
    assert kinds(x[2:4].bitcast("uchar")) == [Ops.BUFFER_VIEW]
    assert x[2:4].bitcast("uchar").tolist() == [3, 0, 0, 0, 4, 0, 0, 0]


def test_other_views_are_computed(x):
    assert kinds(x[::2].contiguous()) == [Ops.SINK]
    assert kinds(x.reshape(3, 2)[:, 1:].contiguous()) == [Ops.SINK]
    assert kinds(x.flip(0).contiguous()) == [Ops.SINK]


def test_a_clone_of_a_window_is_a_copy(x):
    assert kinds(x[2:5].clone()) == [Ops.SINK]


def test_windows_are_copied_to_other_devices_without_a_kernel(x):
    assert kinds(x[2:5].to("REF:vector")) == [Ops.BUFFER_VIEW, Ops.COPY]
    assert x[2:5].to("REF:vector").tolist() == [3, 4, 5]


def test_a_write_to_the_memory_does_not_change_the_window(x):
    window, bits = x[2:5].contiguous().realize(), x.bitcast("uint").contiguous().realize()
    x.assign(x * 10).realize()
    assert window.tolist() == [3, 4, 5] and bits.tolist() == [1, 2, 3, 4, 5, 6]
    assert x.tolist() == [10, 20, 30, 40, 50, 60]


def test_a_write_to_a_part_of_the_memory_does_not_change_the_window(x):
    window = x[2:5].contiguous().realize()
    x[3] = 0
    assert x.tolist() == [1, 2, 3, 0, 5, 6] and window.tolist() == [3, 4, 5]


def test_a_write_to_the_window_does_not_change_the_memory(x):
    window = x[2:5].contiguous().realize()
    window[1] = 0
    other = x[0:2].contiguous().realize()
    other.assign(other + 1).realize()
    assert (window.tolist(), other.tolist()) == ([3, 0, 5], [2, 3])
    assert x.tolist() == [1, 2, 3, 4, 5, 6]


def test_windows_of_a_window_are_apart_as_well(x):
    outer = x[1:].contiguous().realize()
    inner = outer[1:3].contiguous().realize()
    outer.assign(outer * 0).realize()
    assert inner.tolist() == [3, 4] and x.tolist() == [1, 2, 3, 4, 5, 6]
    del x, outer
    rest = inner[1:].contiguous().realize()
    inner.assign(inner * 0).realize()
    assert rest.tolist() == [4]


def test_a_window_that_waits_for_the_write_reads_the_old_value(x):
    window, bits = x[2:5].contiguous(), x.bitcast("short").bitcast("int") + 1
    x.assign(x * 10)
    Tensor.realize(x, window, bits)
    assert window.tolist() == [3, 4, 5] and bits.tolist() == [2, 3, 4, 5, 6, 7]
    assert x.tolist() == [10, 20, 30, 40, 50, 60]


def test_a_window_that_was_only_kernelized_reads_the_old_value(x):
    window = x[2:5].contiguous().kernelize()
    x.assign(x * 10).realize()
    assert window.tolist() == [3, 4, 5]


def test_a_window_of_just_written_memory_reads_the_new_value(x):
    x.assign(x * 10)
    window = x[2:5].contiguous().realize()
    x.assign(x + 1).realize()
    assert window.tolist() == [30, 40, 50] and x.tolist() == [11, 21, 31, 41, 51, 61]


def test_memory_without_other_readers_is_written_in_place(x):
    memory = binding.buffer_behind(x.uop)
    window = x[2:5].contiguous().realize()
    del window
    x.assign(x * 10).realize()
    assert binding.buffer_behind(x.uop) is memory
