"""What the device would do if it declared something else: refusals, and other code."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.settings import settings
from weft.device import Registry, registry
from weft.engine.programs import program_for
from weft.plugin import CapabilityError
from weft.uop import Ops
from weft_opencl import driver
from weft_opencl.facts import read


@pytest.fixture
def declaring(device, monkeypatch):
    """``declaring(double=False)``: the family again, whose devices say this of themselves."""
    entered = []

    def declare(**changes):
        monkeypatch.setattr(driver, "read", lambda handle: replace(read(handle), **changes))
        entered.append(registry.use(Registry()))
        entered[-1].__enter__()

    yield declare
    for one in reversed(entered):
        one.__exit__(None, None, None)


def numbers(*shape):
    return np.random.default_rng(2).integers(-4, 5, shape).astype(np.float32)


def on(array, **options):
    return Tensor(array, device="OPENCL", **options)


def sources(tensor):
    items = [item for item in tensor.schedule() if item.ast.op is Ops.SINK]
    return [program_for(item.ast, "OPENCL").p.src for item in items]


def test_without_doubles_they_are_refused(declaring):
    declaring(double=False)
    x = on([1.5, 2.5], dtype=dtypes.float64)
    with pytest.raises(CapabilityError, match="double"):
        (x * 2).realize()
    assert (on([1.5]) * 2).tolist() == [3.0]
    with pytest.raises(CapabilityError, match="double"):
        on([1.5]).cast(dtypes.float64).realize()


def test_halves_are_stored_where_they_are_not_computed_with(declaring):
    declaring(half=False)
    values = numbers(33) / 8
    x = on(values).half().realize()
    assert x.dtype is dtypes.half and x.nbytes() == 66
    np.testing.assert_array_equal((x + x).numpy(), (values + values).astype(np.float16))


def test_as_a_graphics_processor_groups_share_tiles(declaring):
    declaring(processor=False)
    a, b = numbers(64, 64), numbers(64, 64)
    with settings.override(CACHE=0):
        (source,) = sources(on(a).realize() @ on(b).realize())
        assert "__local float" in source and "barrier(CLK_LOCAL_MEM_FENCE);" in source
        np.testing.assert_array_equal((on(a) @ on(b)).numpy(), a @ b)
        rows = numbers(3, 1000)
        np.testing.assert_array_equal(on(rows).sum(1).numpy(), rows.sum(1))
        wanted = np.exp(rows) / np.exp(rows).sum(1, keepdims=True)
        np.testing.assert_allclose(on(rows).softmax(1).numpy(), wanted, rtol=1e-5)


def test_without_images_nothing_is_one(declaring):
    declaring(image_size=None)
    with settings.override(IMAGE=1):
        x = on(numbers(6, 4)).cast(dtypes.imagef((2, 3, 4))).realize()
        assert x.dtype is dtypes.float32
        assert not any("image2d_t" in one for one in sources(on(numbers(8, 8)) @ on(numbers(8, 8))))


def test_without_memory_that_the_host_sees(declaring):
    declaring(windows=False)
    values = numbers(5, 7)
    x = on(values) + 1
    np.testing.assert_array_equal(x.numpy(), values + 1)
    np.testing.assert_array_equal(x[1:3, 2:].contiguous().numpy(), (values + 1)[1:3, 2:])
    x[2] = 9
    assert x.numpy()[2].tolist() == [9.0] * 7
