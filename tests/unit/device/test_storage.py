import pytest

from weft.base.dtype import dtypes
from weft.base.errors import FileError
from weft.device import DeviceId, registry, storage
from weft.device.hookspecs import hookimpl
from weft.testing.fakes import RecordingAllocator, fake_plugin


class Holding(RecordingAllocator):
    def __init__(self, nbytes):
        super().__init__()
        self.nbytes = nbytes

    def capacity(self):
        return self.nbytes


def register(nbytes):
    module = fake_plugin("FILES", allocator=Holding(nbytes), canonical=lambda locator: locator)

    @hookimpl
    def weft_locate(source):
        return DeviceId("FILES", source)

    module.weft_locate = weft_locate
    registry.register(module, "FILES")


def test_stored_bytes_as_a_buffer(fresh_registry):
    register(12)
    buffer = storage.stored("/x")
    assert (buffer.device, buffer.size, buffer.dtype) == ("FILES:/x", 12, dtypes.uint8)
    assert not buffer.is_allocated
    assert storage.stored_size("FILES:/y") == 12


def test_an_empty_file_is_a_file(fresh_registry):
    register(0)
    assert storage.stored("/x").size == 0


def test_nothing_stored(fresh_registry):
    register(None)
    with pytest.raises(FileError) as caught:
        storage.stored("/x")
    assert caught.value.asked == "/x"
