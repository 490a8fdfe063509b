"""Images are read and written by whole pixels."""

from __future__ import annotations

import numpy as np
import pytest

from weft.base.dtype import ImageDType, dtypes
from weft.base.errors import CapabilityError
from weft.base.settings import settings
from weft.codegen.indexing import images
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, KernelLimits, Target
from weft.shape.tracker import ShapeTracker
from weft.testing.reference.run import run_program
from weft.uop import GroupOp, Ops, UOp

LIMITS = KernelLimits(global_size=(64, 64, 64), local_size=(8, 8, 8), local_threads=8)
DRAWS = Target(
    ComputeCaps(limits=LIMITS, vector_widths={dtypes.float: (4, 2)}), GroupOp.ALU, None, "py", "i"
)
FLOAT, HALF = dtypes.imagef((3, 2, 4)), dtypes.imageh((3, 2, 4))


def place(slot, dtype, *extents, movement=None):
    kind = dtype if isinstance(dtype, ImageDType) else dtype.ptr(int(np.prod(extents)))
    tracker = ShapeTracker.from_shape(extents)
    return UOp(Ops.DEFINE_GLOBAL, kind, (), slot).view(movement(tracker) if movement else tracker)


def moved(slot, dtype, extents, movement):
    return place(slot, dtype, *extents, movement=movement).load()


def accesses(program):
    found = [u for u in program.uops if u.op in (Ops.LOAD, Ops.STORE)]
    return [u for u in found if isinstance(u.src[0].dtype, ImageDType)]


def computed(program, out, *given):
    """Run it on arrays, slot 0 first."""
    run_program(program, (out, *given))
    return out


@pytest.mark.parametrize("options", [{}, {"NOOPT": 1}], ids=["heuristic", "plain"])
@pytest.mark.parametrize("image,kind", [(FLOAT, np.float32), (HALF, np.float16)])
def test_stores_write_whole_pixels(image, kind, options):
    values = np.arange(24, dtype=np.float32).reshape(6, 4)
    read = moved(1, dtypes.float, (4, 6), lambda st: st.permute((1, 0)))
    with settings.override(**options):
        program = lower(UOp.sink(place(0, image, 6, 4).store(read)), DRAWS)
    (store,) = accesses(program)
    assert store.src[1].dtype.count == 4 and store.src[0].src[1].dtype is dtypes.int.vec(2)
    given = np.ascontiguousarray(values.reshape(4, 6))
    out = computed(program, np.zeros(24, kind), given)
    np.testing.assert_array_equal(out.reshape(6, 4), given.T)


READS = {
    "along pixels": ((6, 4), lambda st: st),
    "across them": ((6, 4), lambda st: st.permute((1, 0))),
    "within them": ((6, 4), lambda st: st.shrink(((1, 4), (1, 3)))),
    "padded": ((6, 4), lambda st: st.pad(((1, 0), (2, 3)))),
    "backwards": ((6, 4), lambda st: st.flip((False, True))),
    "over rows of six": ((4, 6), lambda st: st.permute((1, 0))),
}


@pytest.mark.parametrize("options", [{}, {"NOOPT": 1}], ids=["heuristic", "plain"])
@pytest.mark.parametrize("name", READS)
def test_loads_read_whole_pixels(name, options):
    extents, movement = READS[name]
    value = UOp(Ops.VALID, dtypes.bool, (), movement(ShapeTracker.from_shape(extents)))
    read = moved(1, FLOAT, extents, movement)
    if name == "padded":  # what is not there is five
        read = UOp(Ops.WHERE, dtypes.float, (value, read, UOp.const(dtypes.float, 5.0)))
    shape = movement(ShapeTracker.from_shape(extents)).shape
    with settings.override(**options):
        program = lower(UOp.sink(place(0, dtypes.float, *shape).store(read)), DRAWS)
    loads = accesses(program)
    assert loads and all(load.dtype is dtypes.float.vec(4) for load in loads)
    given = np.arange(1, 25, dtype=np.float32)
    out = computed(program, np.zeros(int(np.prod(shape)), np.float32), given).reshape(shape)
    pixels = given.reshape(extents)
    wanted = {
        "along pixels": lambda: pixels,
        "across them": lambda: pixels.T,
        "within them": lambda: pixels[1:4, 1:3],
        "padded": lambda: np.pad(pixels, ((1, 0), (2, 3)), constant_values=5),
        "backwards": lambda: pixels[:, ::-1],
        "over rows of six": lambda: pixels.T,
    }
    np.testing.assert_array_equal(out, wanted[name]())


def test_sums_over_channels_need_no_select():
    """Four terms come with one pixel, and each is a lane that is known beforehand."""
    total = moved(1, FLOAT, (6, 4), lambda st: st).reduce(Ops.ADD, (1,))
    program = lower(UOp.sink(place(0, dtypes.float, 6, 1).store(total)), DRAWS)
    assert len(accesses(program)) == 1
    assert not any(u.op is Ops.WHERE for u in program.uops)
    given = np.arange(24, dtype=np.float32)
    out = computed(program, np.zeros(6, np.float32), given)
    np.testing.assert_array_equal(out, given.reshape(6, 4).sum(1))


def test_kernels_without_images_do_not_change():
    plain = UOp.sink(place(0, dtypes.float, 8).store(place(1, dtypes.float, 8).load()))
    assert not images.has_images(plain)
    assert images.channels(plain) is plain and images.pixels(plain) is plain


def test_parts_of_pixels_are_refused():
    three = moved(1, dtypes.float, (6, 3), lambda st: st)
    store = place(0, FLOAT, 6, 4, movement=lambda st: st.shrink(((0, 6), (0, 3)))).store(three)
    with pytest.raises(CapabilityError, match="whole pixels"):
        lower(UOp.sink(store), DRAWS)


def test_an_image_is_not_both_read_and_written():
    both = place(0, FLOAT, 6, 4)
    value = both.load().alu(Ops.ADD, UOp.const(dtypes.float, 1.0))
    with pytest.raises(CapabilityError, match="not both"):
        lower(UOp.sink(both.store(value)), DRAWS)
