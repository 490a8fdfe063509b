"""Values stored as images, on a device that exists on paper only."""

import pytest

from helpers.graph_passes import change, cleaned, memory
from helpers.graphs import COMPUTES, kernels, lookup, ops_of
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.device.capabilities import Capabilities, ComputeCaps, KernelLimits
from weft.schedule.images import images
from weft.uop import GroupOp, Ops

PAINTS = lookup(X=Capabilities(compute=ComputeCaps(limits=KernelLimits(image_size=(64, 32)))))
IMAGE = dtypes.imagef((2, 3, 4))
HALF = dtypes.imageh((2, 3, 4))


@pytest.fixture(autouse=True)
def _images_on():
    with settings.override(IMAGE=1):
        yield


CASES = {
    "cast_is_stored_as_an_image": lambda: memory(0, 6, 4).cast(IMAGE),
    "half_is_widened_first": lambda: memory(0, 6, 4, dtype=dtypes.half).cast(HALF),
    "image_to_image_folds": lambda: (memory(0, 6, 4) + 1.0).cast(HALF).cast(IMAGE),
    "contiguous_image_vanishes": lambda: (
        memory(0, 6, 4).cast(IMAGE).contiguous().cast(dtypes.float) + 1.0
    ),
    "cast_of_memory_of_that_image": lambda: (
        memory(0, 24, dtype=IMAGE).cast(IMAGE).cast(dtypes.half)
    ),
    "copies_leave_the_image": lambda: memory(0, 6, 4).cast(IMAGE).copy_to_device("Y"),
}


@pytest.mark.parametrize("name", CASES)
def test_rule(name, golden):
    before = CASES[name]()
    after = cleaned(before, PAINTS)
    assert change(before, after) == golden.file(f"passes/images/{name}.uop")


def falls_back(node, ctx=PAINTS):
    after = cleaned(node, ctx)
    return after.dtype is dtypes.float and not any(
        getattr(u.dtype, "shape", None) for u in after.toposort()
    )


def test_unsupported_images_fall_back_to_their_base():
    image = memory(0, 6, 4).cast(IMAGE)
    assert cleaned(image, PAINTS).dtype is IMAGE
    assert falls_back(image, lookup(X=COMPUTES))  # the device has none
    assert falls_back(memory(0, 4, 6).cast(IMAGE))  # pixels are four elements of the last axis
    assert falls_back(memory(0, 6, 4).cast(dtypes.imagef((1, 3, 4))))  # another size
    assert falls_back(memory(0, 65, 4).cast(dtypes.imagef((1, 65, 4))))  # too wide
    assert falls_back(memory(0, 33, 4).cast(dtypes.imagef((33, 1, 4))))  # too high
    with settings.override(IMAGE=0):
        assert falls_back(image)


def test_values_of_a_fallback_have_its_dtype():
    moved = memory(0, 2, 2, 6).cast(IMAGE).permute((1, 0, 2)).contiguous()
    after = cleaned(moved, PAINTS)
    assert [u.dtype for u in after.toposort() if u.op in GroupOp.Movement] == [dtypes.float] * 2
    assert after.dtype is dtypes.float


def test_kernels_write_and_read_images_as_floats():
    image = (memory(0, 6, 4) * 2.0).cast(IMAGE)
    first, second = kernels(image.cast(dtypes.float).reduce(Ops.ADD, (0,)), image, ctx=PAINTS)[:2]
    target = first.src[0].src[0].base
    assert target.op is Ops.DEFINE_GLOBAL and target.dtype is IMAGE
    assert first.src[0].src[1].dtype is dtypes.float
    loads = [u for u in second.toposort() if u.op is Ops.LOAD]
    assert [u.dtype for u in loads] == [dtypes.float]
    assert loads[0].src[0].base.dtype is IMAGE and Ops.REDUCE_AXIS in ops_of(second)


def test_an_image_is_stored_for_any_reader():
    """Neither is it computed in passing, nor its floats stored in its place."""
    image = (memory(0, 6, 4) * 2.0).cast(IMAGE)
    read = image.cast(dtypes.float)
    once = kernels(read + 1.0, ctx=PAINTS)
    many = kernels(read.reshape((6, 1, 4)).expand((6, 5, 4)) * 3.0, ctx=PAINTS)
    for found in (once, many):
        targets = [ast.src[0].src[0].base.dtype for ast in found]
        assert IMAGE in targets and len(found) == 2
        assert not any(Ops.CAST in ops_of(ast) for ast in found)


def test_every_rule_says_its_law():
    assert all(function.__doc__ for _, function in images.patterns)
