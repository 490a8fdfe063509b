"""What the scheduler asks of devices."""

from helpers.graphs import STORES, buffer, lookup
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.device import binding
from weft.device.capabilities import Capabilities, ComputeCaps, Feature, KernelLimits
from weft.device.packed_dot import PairDot
from weft.schedule.buffer_versions import version_of
from weft.uop import UOp


def test_capabilities_answer_by_device():
    limited = Capabilities(compute=ComputeCaps(limits=KernelLimits(max_buffers=8)))
    ctx = lookup(S=STORES, L=limited)
    assert ctx.computes("X") and not ctx.computes("S")
    assert (ctx.max_buffers("X"), ctx.max_buffers("S"), ctx.max_buffers("L")) == (None, None, 8)
    assert ctx.alignment("X") == 1


def test_the_setting_overrides_the_limit():
    limited = Capabilities(compute=ComputeCaps(limits=KernelLimits(max_buffers=8)))
    with settings.override(MAX_KERNEL_BUFFERS=5):
        assert lookup(L=limited).max_buffers("L") == 5


def test_parallel_devices_have_a_launch_grid_or_threads():
    grid = Capabilities(compute=ComputeCaps(limits=KernelLimits(global_size=(8, 8, 8))))
    threads = Capabilities(compute=ComputeCaps(features=frozenset({Feature.THREADS})))
    ctx = lookup(S=STORES, G=grid, T=threads)
    assert [ctx.is_parallel(name) for name in "XSGT"] == [False, False, True, True]
    assert [ctx.has_grid(name) for name in "XSGT"] == [False, False, True, False]


def test_images_are_a_limit():
    paints = Capabilities(compute=ComputeCaps(limits=KernelLimits(image_size=(64, 32))))
    ctx = lookup(S=STORES, P=paints)
    assert [ctx.image_size(name) for name in "XSP"] == [None, None, (64, 32)]


def test_shared_memory_that_outlives_the_process_is_written_through():
    ctx = lookup(S=STORES)
    for device, shared in (("X", True), ("S", False)):
        whole, window = buffer(4, device=device), buffer(2, device=device)
        assert not ctx.is_shared(whole)
        binding.share(window, whole)
        assert ctx.is_shared(whole) is ctx.is_shared(window) is shared


def test_overwritten_buffers_of_a_graph():
    a = buffer()
    write = a.assign(a + 1)
    assert lookup().written == frozenset()
    assert lookup().for_graph(UOp.sink(write)).written == {version_of(a)}


def test_narrow_numbers_stay_narrow_where_there_is_a_unit_for_their_products():
    units = (
        PairDot(dtypes.bfloat16, dtypes.float32, (16,)),
        PairDot(dtypes.int16, dtypes.int32, (16,)),
    )
    grid = Capabilities(compute=ComputeCaps(limits=KernelLimits(global_size=(8, 8, 8))))
    ctx = lookup(S=STORES, G=grid, P=Capabilities(compute=ComputeCaps(pair_dots=units)))
    brain, single = dtypes.bfloat16, dtypes.float32
    assert [ctx.prefers_narrow(name, brain, single) for name in "XSGP"] == [
        False,
        False,
        True,
        True,
    ]
    assert ctx.prefers_narrow("P", dtypes.uint8, dtypes.int32)
    assert not ctx.prefers_narrow("P", dtypes.uint16, dtypes.int32)
    assert not ctx.prefers_narrow("P", dtypes.fp8e4m3, single)
    assert not ctx.prefers_narrow("P", dtypes.int8, dtypes.int64)
