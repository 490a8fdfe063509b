"""Windows of memory, and devices that only store."""

import numpy as np
import pytest

from helpers.graphs import STORES, buffer, kernels, lookup
from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.uop import BufferView, Ops


def test_windows_of_storage_devices_are_buffer_views():
    ctx = lookup(S=STORES)
    file = buffer(64, dtypes.uint8, "S")
    window = file.shrink(((8, 24),)).bitcast(dtypes.float)
    asts = kernels(window.copy_to_device("X"), ctx=ctx)
    assert [a.op for a in asts] == [Ops.BUFFER_VIEW, Ops.COPY]
    assert asts[0].arg == BufferView(4, 2)


def test_an_unaligned_window_is_copied_as_bytes_first():
    ctx = lookup(S=STORES)
    window = buffer(64, dtypes.uint8, "S").shrink(((3, 19),)).bitcast(dtypes.float)
    asts = kernels(window.copy_to_device("X") + 1, ctx=ctx)
    assert [a.op for a in asts][:2] == [Ops.BUFFER_VIEW, Ops.COPY]
    assert asts[0].dtype is dtypes.uint8


def test_computing_on_storage_devices_is_refused():
    with pytest.raises(CapabilityError) as caught:
        kernels(buffer(4, device="S") + 1, ctx=lookup(S=STORES))
    assert "ADD" in caught.value.asked and "S declares" in caught.value.because
    assert "x.to(Device.DEFAULT)" in caught.value.try_


@pytest.mark.parametrize("op", ["CAST", "a view that is not a contiguous window"])
def test_the_error_names_the_operation_to_compute(op):
    x = Tensor(np.arange(8, dtype=np.uint8), device="HOST")
    what = x.cast("int16") if op == "CAST" else x[::2]
    with pytest.raises(CapabilityError) as caught:
        what.bitcast("int32").realize()  # a view, whose bytes have to be there
    assert caught.value.asked.startswith(op)
    assert what.to("REF").bitcast("int32").tolist()
