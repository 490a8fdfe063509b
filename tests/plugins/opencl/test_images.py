"""Images of the driver's: allocation, copies, and how kernels spell them."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.settings import settings
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.plugin import BufferHints, CapabilityError, OutOfMemory
from weft.tools.dry_run import dry_run
from weft.uop import Ops
from weft_opencl.allocator import BufferAllocator


@pytest.fixture
def allocator(device):
    if device.facts.image_size is None:
        pytest.skip("this device has no images")
    return BufferAllocator(device)


@pytest.mark.parametrize("make", [dtypes.imagef, dtypes.imageh])
@pytest.mark.parametrize("shape", [(1, 1, 4), (3, 7, 4), (33, 1, 4)])
def test_bytes_there_and_back(allocator, make, shape):
    kind = make(shape)
    nbytes = kind.size * kind.itemsize
    data = np.arange(kind.size).astype(np.float16 if kind.itemsize == 2 else np.float32).tobytes()
    memory = allocator.allocate(nbytes, BufferHints(image=kind))
    allocator.copy_in(memory, memoryview(data))
    out = bytearray(nbytes)
    allocator.copy_out(memoryview(out), memory)
    assert bytes(out) == data and memory.region == (shape[1], shape[0])
    assert allocator.map_host(memory) is None
    allocator.free(memory, nbytes)


def test_images_have_no_windows(allocator):
    kind = dtypes.imagef((2, 2, 4))
    memory = allocator.allocate(64, BufferHints(image=kind))
    with pytest.raises(CapabilityError, match="no windows"):
        allocator.view(memory, 16, 16)


def test_an_image_beyond_all_memory_is_said(allocator, device):
    width, height = device.facts.image_size
    kind = dtypes.imagef((height, width, 4))
    if kind.size * kind.itemsize <= device.handle.max_mem_alloc_size:
        pytest.skip("its largest image fits into one allocation")
    with pytest.raises(OutOfMemory):
        allocator.allocate(kind.size * kind.itemsize, BufferHints(image=kind))


def empty(*shape):
    return Tensor.empty(*shape, device="OPENCL")


def sources(make):
    own, plan = dry_run("OPENCL", "pocl")
    with registry.use(own), settings.override(IMAGE=1):
        made = make()
        return [
            plan.offline.renderer.render(lower(item.ast, plan.offline.target))
            for item in made.schedule()
            if item.ast.op is Ops.SINK
        ]


def test_the_source_of_a_product():
    texts = sources(lambda: empty(8, 8) @ empty(8, 8))
    assert len(texts) == 3
    assert all("write_only image2d_t data0" in text for text in texts[:2])
    assert all("write_imagef(data0, (int2)(" in text for text in texts[:2])
    assert texts[2].count("read_only image2d_t") == 2
    assert "read_imagef(data1, (int2)(" in texts[2] and "restrict data0" in texts[2]
