import pytest

from weft.base.dtype import dtypes
from weft.base.errors import DeviceError
from weft.device import Buffer, registry, transfer


def test_it_is_the_staging_device():
    opened = registry.open(registry.staging())
    assert opened.family.staging and not opened.family.computes
    assert opened.capabilities.compute is None
    assert not opened.capabilities.memory.persistent


def test_python_memory_in_and_out_of_a_device():
    given = bytes(range(64))
    there = Buffer("REF", 16, dtypes.float32)
    assert transfer.copy(there, Buffer.wrap(given, dtypes.float32)) == "destination_window"
    back = bytearray(64)
    transfer.copy(Buffer.wrap(back), there)
    assert bytes(back) == given


def test_read_only_memory_is_not_written():
    with pytest.raises(DeviceError) as caught:
        Buffer.wrap(b"fixed").copy_in(b"other")
    assert "read-only" in caught.value.summary
    with pytest.raises(DeviceError):
        transfer.copy(Buffer.wrap(b"fixed"), Buffer("REF", 5, dtypes.uint8))
