import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.device.capabilities import Capabilities
from weft.device.identity import DeviceId
from weft.device.parts import NO_HINTS, Allocator, BufferHints, Device


class Least(Allocator[bytearray]):
    """Implements what must be implemented."""

    def allocate(self, nbytes, hints):
        return bytearray(nbytes)

    def copy_in(self, dst, src):
        dst[:] = src

    def copy_out(self, dst, src):
        dst[:] = src


def test_the_defaults_of_an_allocator_offer_nothing():
    least = Least()
    handle = least.allocate(4, NO_HINTS)
    assert least.free(handle, 4) is None
    assert least.map_host(handle) is None
    assert least.wrap(memoryview(b"")) is None
    assert least.stream_out(handle, 2) is None
    assert least.capacity() is None
    assert least.link_copy(handle, handle, Device(DeviceId("A"), Capabilities()), 4) is False
    with pytest.raises(CapabilityError):
        least.view(handle, 0, 2)


def test_an_allocator_must_give_and_copy():
    class Incomplete(Allocator[bytearray]):
        def allocate(self, nbytes, hints):
            return bytearray(nbytes)

    with pytest.raises(TypeError):
        Incomplete()


def test_hints_are_values():
    image = dtypes.imagef((2, 4, 4))
    assert BufferHints() == NO_HINTS != BufferHints(image=image) == BufferHints(image=image)
    assert hash(BufferHints(image=image)) == hash(BufferHints(image=image))


def test_a_device_shows_its_name():
    device = Device(DeviceId("A", "3"), Capabilities())
    assert repr(device) == "<Device A:3>"
    assert device.synchronize() is None and device.close() is None
