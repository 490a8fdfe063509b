"""Image accesses: address images by pixel coordinates (x, y) instead of by element.

An image of shape (height, width, 4) is read and written by whole pixels of four elements. The
scheduler sees flat memory. Two passes, before and after the strategy, form pixels:

`channels`   in: spec.lowered
             out: spec.lowered in which the innermost four iterations of every loop along an image
             are an unrolled loop of their own
`pixels`     in: spec.lowered after expansion
             out: the same; the INDEX of an image is (x, y), a vector of two ints, and each LOAD and
             STORE of it has four lanes

A load of a known channel extracts a lane of its pixel; otherwise it selects one of four lanes. The
channels of a store must be known, so the loop of a store has a multiple of four iterations.

Source: OpenCL C specification, read_imagef and write_imagef.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from weft.base.dtype import ImageDType, any_images, dtypes
from weft.base.errors import CapabilityError
from weft.base.scalars import is_positive_zero
from weft.codegen.analysis.affine import affine, from_affine, innermost_loop_order
from weft.codegen.analysis.axes import Access
from weft.codegen.analysis.folding import vector_of
from weft.codegen.analysis.ranges import alternative_of, extent_of, loops_of
from weft.codegen.analysis.substitution import substitute_ranges
from weft.codegen.analysis.traversal import nodes_of, rewrite_once
from weft.codegen.thresholds import IMAGE_LOOPS
from weft.uop import AxisKind, Ops, UOp

CHANNELS = 4


def has_images(sink: UOp) -> bool:
    """Whether a kernel has an image argument."""
    return any_images() and any(
        node.op is Ops.DEFINE_GLOBAL and isinstance(node.dtype, ImageDType)
        for node in nodes_of(sink)
    )


def reads_images(accesses: Iterable[Access]) -> bool:
    """Whether any access is to an image."""
    return any_images() and any(isinstance(one.node.src[0].dtype, ImageDType) for one in accesses)


# ---- before the optimisations ------------------------------------------------------------------


def channels(sink: UOp) -> UOp:
    """The kernel with unrolled loops over the four channels of the images it reads and writes.

    :raises CapabilityError: if a STORE to an image does not write whole pixels.
    """
    if not has_images(sink):
        return sink
    nodes = list(sink.toposort())
    number = max((n.arg.id for n in nodes if n.op is Ops.RANGE), default=-1) + 1
    values: dict[UOp, UOp] = {}
    loops: dict[UOp, list[UOp]] = {}
    for loop in _channel_loops(sink, nodes):
        extent = extent_of(loop)
        assert isinstance(extent, int)  # _pixel_loop checks it
        reduced = loop.arg.kind is AxisKind.REDUCE
        kind = AxisKind.UNROLL if reduced else AxisKind.UPCAST
        inner = UOp.range(CHANNELS, number, kind, loop.dtype)
        number += 1
        values[loop], loops[loop] = inner, [inner]
        if extent > CHANNELS:
            outer = UOp.range(extent // CHANNELS, loop.arg.id, loop.arg.kind, loop.dtype)
            values[loop] = outer * outer.const_like(CHANNELS) + inner
            loops[loop] = [outer, inner]
    return substitute_ranges(nodes, values, loops)


def _channel_loops(sink: UOp, nodes: list[UOp]) -> list[UOp]:
    """The contiguous loops of all STOREs to images, and of the first LOADs from images."""
    found: dict[UOp, None] = {}
    for store in sink.src:
        index = store.src[0]
        if isinstance(index.dtype, ImageDType):
            loop = _pixel_loop(index)
            if loop is None or affine(index.src[1])[1] % CHANNELS or len(index.src) > 2:
                raise _not_by_pixels(index)
            found[loop] = None
    filling = {loop for node in nodes if node.op is Ops.FILL for loop in loops_of(node)}
    for node in nodes:
        if node.op is Ops.LOAD and isinstance(node.src[0].dtype, ImageDType):
            loop = _pixel_loop(node.src[0])
            if loop is not None and loop not in filling and len(found) < IMAGE_LOOPS:
                found[loop] = None
    return list(found)


def _pixel_loop(index: UOp) -> UOp | None:
    """The contiguous loop along an image, if every fourth iteration starts a pixel."""
    terms, _ = affine(index.src[1])
    unit = [term for term, factor in terms.items() if factor == 1 and term.op is Ops.RANGE]
    aligned = all(factor % CHANNELS == 0 for term, factor in terms.items() if term not in unit)
    extent = extent_of(unit[0]) if len(unit) == 1 and aligned else None
    return unit[0] if isinstance(extent, int) and extent % CHANNELS == 0 else None


# ---- after expansion ---------------------------------------------------------------------------


def pixels(sink: UOp) -> UOp:
    """The kernel with accesses of whole pixels by (x, y).

    :raises CapabilityError: if it writes parts of pixels, or reads the image that it writes.
    """
    if not has_images(sink):
        return sink
    written = {s.src[0].src[0] for s in sink.src if isinstance(s.src[0].dtype, ImageDType)}

    def load_pixels(node: UOp, load: UOp) -> UOp | None:
        if not isinstance(node.src[0].dtype, ImageDType):
            return None
        if node.src[0].src[0] in written:
            raise CapabilityError(
                "a kernel cannot both read and write an image",
                asked=f"a kernel in place on {node.src[0].dtype!r}",
                try_="compute the new value first, `new = f(x).realize()`, then assign it",
            )
        return _pixel_lanes(UOp(Ops.LOAD, load.dtype, load.src))

    def store_pixels(node: UOp, new: UOp) -> UOp | None:
        return UOp.sink(*_pixel_stores(new.src), arg=new.arg) if node is sink else None

    return rewrite_once(sink.toposort(), {Ops.LOAD: load_pixels, Ops.SINK: store_pixels})[sink]


def _pixel_lanes(load: UOp) -> UOp:
    """A load of consecutive elements, each extracted from its pixel."""
    index, other = load.src[0], alternative_of(load)
    lanes: list[UOp] = []
    for lane in range(load.dtype.count):
        place = _PixelAddress.of(index, lane)
        gate = index.src[2:]
        at = UOp(Ops.INDEX, index.dtype, (index.src[0], place.position(), *gate))
        pixel_dtype = load.dtype.scalar().vec(CHANNELS)
        alternatives = tuple(UOp.const(pixel_dtype, 0) for _ in gate)
        found = _extract(UOp(Ops.LOAD, pixel_dtype, (at, *alternatives)), place.channel)
        if other is not None:
            mine = _lane(other, lane)
            if not (mine.op is Ops.CONST and is_positive_zero(mine.arg)):
                found = UOp(Ops.WHERE, found.dtype, (gate[0], found, mine))
        lanes.append(found)
    return lanes[0] if len(lanes) == 1 else UOp(Ops.VECTORIZE, load.dtype, tuple(lanes))


def _lane(value: UOp, lane: int) -> UOp:
    if value.op is Ops.VECTORIZE:
        return value.src[lane]
    return value if value.dtype.count == 1 else value.gep(lane)


def _extract(pixel: UOp, channel: UOp | int) -> UOp:
    """One channel of a pixel."""
    if isinstance(channel, int):
        return pixel.gep(channel)
    found = pixel.gep(CHANNELS - 1)
    for number in reversed(range(CHANNELS - 1)):
        other = UOp(Ops.CMPNE, dtypes.bool, (channel, channel.const_like(number)))
        found = UOp(Ops.WHERE, found.dtype, (other, found, pixel.gep(number)))
    return found


def _pixel_stores(stores: tuple[UOp, ...]) -> list[UOp]:
    """The stores, with those to images merged to whole pixels of four lanes."""
    plain: list[UOp] = []
    found: dict[tuple[UOp, ...], dict[int, UOp]] = {}
    for store in stores:
        index, value = store.src
        if not isinstance(index.dtype, ImageDType):
            plain.append(store)
            continue
        for lane in range(value.dtype.count):
            place = _PixelAddress.of(index, lane)
            if not isinstance(place.channel, int):
                raise _not_by_pixels(index)
            key = (index.src[0], place.position(), *index.src[2:])
            found.setdefault(key, {})[place.channel] = _lane(value, lane)
    for key, parts in found.items():
        image, *at = key
        if len(parts) != CHANNELS:
            raise _not_by_pixels(image)
        value = vector_of(parts[0].dtype.vec(CHANNELS), tuple(parts[c] for c in range(CHANNELS)))
        where = UOp(Ops.INDEX, image.dtype, (image, *at))
        plain.append(UOp(Ops.STORE, dtypes.void, (where, value)))
    return plain


class _PixelAddress(NamedTuple):
    """The row-major number of a pixel, and a channel of it."""

    image: ImageDType
    pixel: UOp
    channel: UOp | int

    @classmethod
    def of(cls, index: UOp, lane: int) -> _PixelAddress:
        """The address of the element `lane` after that of `index`."""
        image = index.src[0].dtype
        assert isinstance(image, ImageDType)  # callers check it
        at = index.src[1]
        terms, constant = affine(at)
        constant += lane
        if all(factor % CHANNELS == 0 for factor in terms.values()):
            rest = {term: factor // CHANNELS for term, factor in terms.items()}
            pixel = from_affine(rest, constant // CHANNELS, innermost_loop_order, at.dtype)
            return cls(image, pixel, constant % CHANNELS)
        at = (at + at.const_like(lane)) if lane else at
        four = at.const_like(CHANNELS)
        return cls(image, at // four, (at % four).simplify())

    def position(self) -> UOp:
        """The vector (x, y)."""
        width = self.pixel.const_like(self.image.shape[1])
        both = (self.pixel % width, self.pixel // width)
        x, y = ((part.simplify()).cast(dtypes.int) for part in both)
        return UOp(Ops.VECTORIZE, dtypes.int.vec(2), (x, y))


def _not_by_pixels(index: UOp) -> CapabilityError:
    return CapabilityError(
        "an image is written by whole pixels",
        asked=f"a write to {index.dtype!r}",
        because="the kernel does not store all four channels of a pixel together",
        try_="WEFT_IMAGE=0 keeps all values in plain buffers",
    )
