"""Image accesses: address images by pixel coordinates (x, y) instead of by element.

An image of shape (height, width, 4) is read and written by whole pixels, four neighbours of what
the schedule takes for flat memory. Two passes see to it, around the choice of optimisations:

`channels`   in: spec.lowered      out: spec.lowered in which the innermost four turns of every
             loop that an image is written or read along are a loop of their own, which is
             written out
`pixels`     in: spec.lowered after expansion      out: the same; an INDEX into an image is over
             (x, y), as a vector of two ints, and every LOAD and STORE of it has four lanes

A load whose channel is known takes a lane of its pixel; otherwise it chooses among all four.
A store has to know its channels: what it is written along is always a multiple of four.

Source: none known; sound because each pixel holds four consecutive elements.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from weft.base.dtype import DType, ImageDType, any_images, dtypes
from weft.base.errors import CapabilityError
from weft.base.scalars import is_positive_zero
from weft.codegen.analysis.affine import affine, from_affine
from weft.codegen.analysis.ranges import alternative_of, extent_of, loop_order, loops_of, ranges_of
from weft.codegen.analysis.substitution import substitute_ranges
from weft.uop.args import AxisKind
from weft.uop.node import UOp
from weft.uop.ops import Ops

if TYPE_CHECKING:
    from weft.codegen.opt.kernel import Access

CHANNELS = 4
MOST_LOOPS = 3  # are cut for channels: 64 values side by side


def has_images(sink: UOp) -> bool:
    """Whether a kernel is given any image."""
    return any_images() and any(
        node.op is Ops.DEFINE_GLOBAL and isinstance(node.dtype, ImageDType)
        for node in sink.toposort()
    )


def reads_images(accesses: Iterable[Access]) -> bool:
    """Whether any of the accesses of a kernel is of an image."""
    return any_images() and any(isinstance(one.node.src[0].dtype, ImageDType) for one in accesses)


# ---- before the optimisations ------------------------------------------------------------------


def channels(sink: UOp) -> UOp:
    """The kernel with loops of four turns, written out, for channels of what it draws and reads.

    :raises CapabilityError: if an image would be written to otherwise than pixel after pixel.
    """
    if not has_images(sink):
        return sink
    nodes = list(sink.toposort())
    number = max((n.arg.id for n in nodes if n.op is Ops.RANGE), default=-1) + 1
    values: dict[UOp, UOp] = {}
    loops: dict[UOp, list[UOp]] = {}
    for loop in _loops_of_channels(sink, nodes):
        extent = extent_of(loop)
        assert isinstance(extent, int)  # _along has seen to it
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


def _loops_of_channels(sink: UOp, nodes: list[UOp]) -> list[UOp]:
    """Those along which images are written, and the first of those along which they are read."""
    found: dict[UOp, None] = {}
    for store in sink.src:
        index = store.src[0]
        if isinstance(index.dtype, ImageDType):
            loop = _along(index)
            if loop is None or affine(index.src[1])[1] % CHANNELS or len(index.src) > 2:
                raise _not_by_pixels(index)
            found[loop] = None
    kept = {loop for node in nodes if node.op is Ops.FILL for loop in loops_of(node)}
    for node in nodes:
        if node.op is Ops.LOAD and isinstance(node.src[0].dtype, ImageDType):
            loop = _along(node.src[0])
            if loop is not None and loop not in kept and len(found) < MOST_LOOPS:
                found[loop] = None
    return list(found)


def _along(index: UOp) -> UOp | None:
    """The loop whose turns are neighbours in an image, every fourth at the start of a pixel."""
    terms, _ = affine(index.src[1])
    near = [term for term, factor in terms.items() if factor == 1 and term.op is Ops.RANGE]
    whole = all(factor % CHANNELS == 0 for term, factor in terms.items() if term not in near)
    extent = extent_of(near[0]) if len(near) == 1 and whole else None
    return near[0] if isinstance(extent, int) and extent % CHANNELS == 0 else None


# ---- after expansion ---------------------------------------------------------------------------


def pixels(sink: UOp) -> UOp:
    """The kernel with its accesses of images as those of pixels.

    :raises CapabilityError: if it writes to parts of pixels, or reads the image that it writes.
    """
    if not has_images(sink):
        return sink
    drawn = {s.src[0].src[0] for s in sink.src if isinstance(s.src[0].dtype, ImageDType)}
    made: dict[UOp, UOp] = {}
    for node in sink.toposort():
        src = tuple([made[source] for source in node.src])
        if node.op is Ops.LOAD and isinstance(node.src[0].dtype, ImageDType):
            if node.src[0].src[0] in drawn:
                raise _both_ways(node.src[0].src[0])
            made[node] = _lanes(UOp(Ops.LOAD, node.dtype, src))
        elif node is sink:
            made[node] = UOp.sink(*_whole_pixels(src), arg=node.arg)
        else:
            made[node] = node if src == node.src else UOp(node.op, node.dtype, src, node.arg)
    return made[sink]


def _lanes(load: UOp) -> UOp:
    """A load of any number of neighbours, each taken from its pixel."""
    index, other = load.src[0], alternative_of(load)
    lanes = []
    for lane in range(load.dtype.count):
        place = _Place.of(index, lane)
        gate = index.src[2:]
        at = UOp(Ops.INDEX, index.dtype, (index.src[0], place.position(), *gate))
        pixel_dtype = load.dtype.scalar().vec(CHANNELS)
        alternatives = tuple(UOp.const(pixel_dtype, 0) for _ in gate)
        found = _channel(UOp(Ops.LOAD, pixel_dtype, (at, *alternatives)), place.channel)
        if other is not None:
            mine = _lane(other, lane)
            if not _is_zero(mine):
                found = UOp(Ops.WHERE, found.dtype, (gate[0], found, mine))
        lanes.append(found)
    return lanes[0] if len(lanes) == 1 else UOp(Ops.VECTORIZE, load.dtype, tuple(lanes))


def _lane(value: UOp, lane: int) -> UOp:
    if value.op is Ops.VECTORIZE:
        return value.src[lane]
    return value if value.dtype.count == 1 else value.gep(lane)


def _channel(pixel: UOp, channel: UOp | int) -> UOp:
    if isinstance(channel, int):
        return pixel.gep(channel)
    found = pixel.gep(CHANNELS - 1)
    for number in reversed(range(CHANNELS - 1)):
        other = UOp(Ops.CMPNE, dtypes.bool, (channel, channel.const_like(number)))
        found = UOp(Ops.WHERE, found.dtype, (other, found, pixel.gep(number)))
    return found


def _whole_pixels(stores: tuple[UOp, ...]) -> list[UOp]:
    """Stores to images of four lanes each, put together from whatever they were split into."""
    plain: list[UOp] = []
    found: dict[tuple[UOp, ...], dict[int, UOp]] = {}
    for store in stores:
        index, value = store.src
        if not isinstance(index.dtype, ImageDType):
            plain.append(store)
            continue
        for lane in range(value.dtype.count):
            place = _Place.of(index, lane)
            if not isinstance(place.channel, int):
                raise _not_by_pixels(index)
            key = (index.src[0], place.position(), *index.src[2:])
            found.setdefault(key, {})[place.channel] = _lane(value, lane)
    for key, parts in found.items():
        image, *at = key
        if len(parts) != CHANNELS:
            raise _not_by_pixels(image)
        value = _gathered(tuple(parts[channel] for channel in range(CHANNELS)))
        where = UOp(Ops.INDEX, image.dtype, (image, *at))
        plain.append(UOp(Ops.STORE, dtypes.void, (where, value)))
    return plain


def _gathered(parts: tuple[UOp, ...]) -> UOp:
    """A vector of these lanes: the one that they are all lanes of, where there is one."""
    dtype: DType = parts[0].dtype.vec(CHANNELS)
    whole = parts[0].src[0] if parts[0].op is Ops.GEP else parts[0]
    if whole.dtype is dtype and parts == tuple(whole.gep(lane) for lane in range(CHANNELS)):
        return whole
    return UOp(Ops.VECTORIZE, dtype, parts)


class _Place(NamedTuple):
    """Which pixel, in reading order, and which channel of it."""

    image: ImageDType
    pixel: UOp
    channel: UOp | int

    @classmethod
    def of(cls, index: UOp, lane: int) -> _Place:
        """Of the element `lane` after the one that `index` is of."""
        image = index.src[0].dtype
        assert isinstance(image, ImageDType)  # the callers ask for nothing else
        at = index.src[1]
        terms, constant = affine(at)
        constant += lane
        if all(factor % CHANNELS == 0 for factor in terms.values()):
            rest = {term: factor // CHANNELS for term, factor in terms.items()}
            pixel = from_affine(rest, constant // CHANNELS, _outermost_first, at.dtype)
            return cls(image, pixel, constant % CHANNELS)
        at = (at + at.const_like(lane)) if lane else at
        four = at.const_like(CHANNELS)
        return cls(image, at // four, (at % four).simplify())

    def position(self) -> UOp:
        """(x, y)"""
        width = self.pixel.const_like(self.image.shape[1])
        both = (self.pixel % width, self.pixel // width)
        x, y = ((part.simplify()).cast(dtypes.int) for part in both)
        return UOp(Ops.VECTORIZE, dtypes.int.vec(2), (x, y))


def _outermost_first(term: UOp) -> tuple[object, ...]:
    ranges = ranges_of(term)
    key = max((loop_order(loop) for loop in ranges), default=(-1, -1))
    return (*key, term.op, str(term.arg))


def _is_zero(value: UOp) -> bool:
    return value.op is Ops.CONST and is_positive_zero(value.arg)


def _not_by_pixels(index: UOp) -> CapabilityError:
    return CapabilityError(
        "an image is written by whole pixels",
        asked=f"a write to {index.dtype!r}",
        because="four neighbours do not come together here",
        try_="WEFT_IMAGE=0 keeps all values in plain buffers",
    )


def _both_ways(image: UOp) -> CapabilityError:
    return CapabilityError(
        "a kernel reads an image or writes it, and not both",
        asked=f"a kernel in place on {image.dtype!r}",
        try_="make the new value first, `new = f(x).realize()`, and assign that",
    )
