"""Image storage: store values as images where a cast requests it and the device supports it.

In a tensor graph `cast(x, image)` requests that x is stored as an image. Readers see its base
dtype. The base dtype is used for storage where the device has no images, where the value does not
fit into one, or where the setting IMAGE is off.

in:  spec.tensor with casts to images
out: spec.tensor; images only as CONTIGUOUS, in memory

Source: OpenCL API specification, image objects.
"""

from __future__ import annotations

from weft.base.dtype import DType, ImageDType, PtrDType
from weft.base.sequences import prod
from weft.base.settings import settings
from weft.schedule.context import ScheduleContext
from weft.uop import GroupOp, Ops, PatternMatcher, UOp, UPat

images = PatternMatcher("images")

# channels of a pixel: they are loaded and stored together
_CHANNELS = 4
_IN_MEMORY = frozenset({Ops.CONTIGUOUS, Ops.BUFFER, Ops.ASSIGN})


def pointer_to(memory: UOp) -> PtrDType:
    """The dtype of a kernel's argument for stored elements of a node; an image is one by itself."""
    dtype = memory.dtype
    return dtype if isinstance(dtype, ImageDType) else dtype.ptr(int(memory.size))


def read_dtype(dtype: DType) -> DType:
    """The dtype in which memory of `dtype` is read and written."""
    return dtype.base if isinstance(dtype, ImageDType) else dtype


def fits(image: ImageDType, value: UOp, ctx: ScheduleContext) -> bool:
    """Whether `value` can be stored as this image where it is."""
    if not settings.IMAGE or not isinstance(value.device, str):
        return False
    most = ctx.image_size(value.device)
    if most is None or image.shape[1] > most[0] or image.shape[0] > most[1]:
        return False
    if not value.shape:
        return False
    last = value.shape[-1]
    return isinstance(last, int) and last % _CHANNELS == 0 and prod(value.shape) == image.size


@images.rule(UPat(Ops.CAST, name="node"))
def casts_to_images(node: UOp, ctx: ScheduleContext) -> UOp | None:
    """cast(x, image) -> contiguous(x) as an image   where it fits, else -> cast(x, base)

    Of an image it is another storage of the same value; of the same image it is that image.
    """
    image, value = node.dtype, node.src[0]
    if not isinstance(image, ImageDType):
        return None
    if value.dtype is image:
        return value
    if value.op is Ops.CONTIGUOUS and isinstance(value.dtype, ImageDType) and value.arg is None:
        value = value.src[0]
    value = value.cast(image.base)
    return UOp(Ops.CONTIGUOUS, image, (value,)) if fits(image, value, ctx) else value


@images.rule(UPat(Ops.CONTIGUOUS, src=(UPat(name="value"),), name="node"))
def contiguous_images(node: UOp, value: UOp, ctx: ScheduleContext) -> UOp | None:
    """contiguous(image) -> image; contiguous(x) as an image that it does not fit -> of x"""
    if not isinstance(node.dtype, ImageDType):
        return None
    if isinstance(value.dtype, ImageDType):
        return value if value.op in _IN_MEMORY else None
    if fits(node.dtype, value, ctx):
        return None
    return UOp(Ops.CONTIGUOUS, value.dtype, (value,), node.arg)


@images.rule(UPat(GroupOp.Movement, name="node"))
def movement_without_image(node: UOp) -> UOp | None:
    """Movement takes the dtype of its source."""
    value = node.src[0]
    if isinstance(node.dtype, ImageDType) and not isinstance(value.dtype, ImageDType):
        return UOp(node.op, value.dtype, (value,), node.arg)
    return None


@images.rule(UPat(Ops.COPY, name="node"))
def copies_of_images(node: UOp) -> UOp | None:
    """copy(image) -> copy(cast(image, base)): images stay on their device"""
    if not isinstance(node.dtype, ImageDType):
        return None
    return UOp(Ops.COPY, node.dtype.base, (node.src[0].cast(node.dtype.base), *node.src[1:]))


@images.rule(UPat(Ops.CAST, name="node"))
def casts_from_images(node: UOp) -> UOp | None:
    """cast(x, its own dtype) -> x; cast(image, other than its base) -> cast(cast(image, base))"""
    value = node.src[0]
    if value.dtype is node.dtype:
        return value
    if isinstance(value.dtype, ImageDType) and node.dtype is not value.dtype.base:
        return value.cast(value.dtype.base).cast(node.dtype)
    return None
