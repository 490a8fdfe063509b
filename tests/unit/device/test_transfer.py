import pytest

from weft.base import trace
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, CapabilityError, PluginError
from weft.device import Buffer, Capabilities, MemoryCaps, transfer
from weft.testing.fakes import CrashingAllocator, RecordingAllocator, fake_plugin

DATA = bytes(range(100))


class Methods(RecordingAllocator):
    """Has the given capabilities, and records which are used."""

    def __init__(self, *, window=False, link=False, streams=False):
        super().__init__(window)
        self.link, self.streams = link, streams

    def copy_in(self, dst, src):
        self.log.append(("copy_in", src.nbytes))
        super().copy_in(dst, src)

    def copy_out(self, dst, src):
        self.log.append(("copy_out", dst.nbytes))
        super().copy_out(dst, src)

    def link_copy(self, dst, src, source, nbytes):
        if self.link:
            self.log.append(("link", str(source.id)))
            dst[:] = src
        return self.link

    def stream_out(self, src, chunk):
        if not self.streams:
            return None
        return (src[start : start + chunk] for start in range(0, len(src), chunk))


@pytest.fixture
def device(fresh_registry):
    def made(family, *, memory=MemoryCaps(), **methods):
        allocator = Methods(**methods)
        caps = Capabilities(memory)
        fresh_registry.register(fake_plugin(family, allocator=allocator, capabilities=caps), family)
        return allocator

    return made


def copied(source="A", to="B", method=None):
    src = Buffer(source, 100, dtypes.uint8).copy_in(DATA)
    dst = Buffer(to, 100, dtypes.uint8).copy_in(bytes(100))
    taken = transfer.copy(dst, src, method)
    assert bytes(dst.copy_out()) == DATA
    return taken


def test_the_first_available_method_is_taken(device):
    linked = MemoryCaps(link_group="bus")
    device("A", memory=linked, window=True, streams=True)
    device("B", memory=linked, window=True, link=True)
    device("C", window=True)
    device("D", streams=True)
    device("E")
    assert copied("A", "B") == "link"
    assert copied("A", "C") == "destination_window"
    assert copied("C", "E") == "source_window"
    assert copied("D", "E") == "stream"
    assert copied("E", "D") == "bounce"


def test_links_are_asked_only_within_a_group(device):
    device("A", memory=MemoryCaps(link_group="one"))
    other = device("B", memory=MemoryCaps(link_group="two"), link=True)
    assert copied("A", "B") == "bounce"
    assert ("link", "A") not in other.log


def test_a_link_that_declines_leaves_the_other_methods(device):
    for family in "AB":
        device(family, memory=MemoryCaps(link_group="bus"))
    assert copied("A", "B") == "bounce"


def test_stored_bytes_are_read_and_written_but_not_mapped(device):
    stored = MemoryCaps(persistent=True, resident=False)
    device("A", memory=stored, window=True)
    device("B", memory=stored, window=True)
    device("C", window=True)
    assert copied("A", "B") == "bounce"
    assert copied("C", "B") == "source_window", "written by copy_in"
    assert copied("A", "C") == "destination_window", "read by copy_out"


@pytest.mark.parametrize("method", transfer.METHODS)
def test_each_method_can_be_forced(device, method):
    linked = MemoryCaps(link_group="bus")
    device("A", memory=linked, window=True, streams=True)
    device("B", memory=linked, window=True, link=True)
    assert copied("A", "B", method) == method


@pytest.mark.parametrize("method", ["link", "destination_window", "source_window", "stream"])
def test_a_missing_method_raises(device, method):
    device("A"), device("B")
    with pytest.raises(CapabilityError) as caught:
        copied("A", "B", method)
    assert method in caught.value.asked


@pytest.mark.parametrize("method", ["stream", "bounce"])
def test_large_copies_go_piece_by_piece(device, method, monkeypatch):
    monkeypatch.setattr(transfer, "CHUNK", 30)
    device("A", streams=True)
    to = device("B")
    copied("A", "B", method)
    assert [size for what, size in to.log if what == "copy_in"] == [100, 30, 30, 30, 10]


def test_without_windows_a_large_copy_goes_in_one(device, monkeypatch):
    monkeypatch.setattr(transfer, "CHUNK", 30)
    device("A", streams=True)
    device("B", memory=MemoryCaps(alignment=None))
    assert copied("A", "B") == "bounce"


def test_sizes_must_agree(device):
    device("A")
    with pytest.raises(ArgumentError):
        transfer.copy(Buffer("A", 1, dtypes.uint8), Buffer("A", 2, dtypes.uint8))


def test_nothing_to_copy(device):
    device("A")
    empty = Buffer("A", 0, dtypes.int32)
    assert transfer.copy(empty, Buffer("A", 0, dtypes.uint8)) == "nothing to do"


def test_copies_are_traced(device):
    device("A"), device("B")
    events = []
    stop = trace.subscribe(events.append)
    try:
        copied("A", "B")
    finally:
        stop()
    (event,) = [event for event in events if event.name == "copy"]
    assert event.facts["source"] == "A" and event.facts["nbytes"] == 100
    assert event.facts["method"] == "bounce"


@pytest.mark.parametrize("guilty,call", [("A", "copy_out"), ("B", "copy_in"), ("B", "map_host")])
def test_a_crash_on_the_way_is_a_plugins_fault(fresh_registry, guilty, call):
    for family in "AB":
        allocator = CrashingAllocator(*[call] * (family == guilty))
        fresh_registry.register(fake_plugin(family, allocator=allocator), family)
    buffers = [Buffer(family, 100, dtypes.uint8).allocate() for family in "BA"]
    with pytest.raises(PluginError, match="copying 100 B from A to B failed") as caught:
        transfer.copy(*buffers, method="bounce" if call != "map_host" else None)
    assert isinstance(caught.value.__cause__, KeyError)
