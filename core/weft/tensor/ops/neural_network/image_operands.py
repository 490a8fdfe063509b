"""Operands of convolutions and matrix products as images, where the device reads images quickly.

With the setting IMAGE, and on devices that have images, what is summed over lies in the channels of
pixels: four neighbours of it are read at once. Anywhere else operands stay as they are.
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import ImageDType, dtypes
from weft.base.intmath import round_up
from weft.base.sequences import prod
from weft.base.settings import settings
from weft.device import registry
from weft.tensor.protocol import TensorT
from weft.uop import sint

CHANNELS = 4
KINDS = {dtypes.float32: dtypes.imagef, dtypes.float16: dtypes.imageh}


def image_for(shape: tuple[sint, ...], dtype: Any, device: Any) -> ImageDType | None:
    """The image that holds a value of `shape`, the last axis in its channels; None: there is none.

    It is as square as the axes allow.
    """
    if not settings.IMAGE or dtype not in KINDS or not isinstance(device, str):
        return None
    if not shape or not all(isinstance(s, int) and s > 0 for s in shape):
        return None
    compute = registry.capabilities(device).compute
    most = None if compute is None else compute.limits.image_size
    if most is None or shape[-1] % CHANNELS:
        return None
    sizes = [int(s) for s in shape]
    sizes[-1] //= CHANNELS
    cuts = [(prod(sizes[:cut]), prod(sizes[cut:])) for cut in range(len(sizes) + 1)]
    height, width = min(cuts, key=max)
    if width > most[0] or height > most[1]:
        return None
    return KINDS[dtype]((height, width, CHANNELS))


def drawn(
    x: TensorT, w: TensorT, axis: int, other: int, groups: int = 1
) -> tuple[TensorT, TensorT]:
    """Both factors of a sum of products, read from images where that can be.

    axis, other: the axis of `x` and of `w` that is summed over; that of `x` in `groups` parts, each
    as long as that of `w`. It may come out longer, filled up with zeros on both sides. Halves come
    as the floats that are read of them.
    """
    if not settings.IMAGE:
        return x, w
    terms = w.shape[other]
    if not isinstance(terms, int) or terms < 1:
        return x, w
    more = round_up(terms, CHANNELS) - terms
    found: list[Any] = []
    for value, where, parts in ((x, axis, groups), (w, other, 1)):
        where %= len(value.shape)
        before, after = value.shape[:where], value.shape[where + 1 :]
        last = (*before, *after, parts * (terms + more))
        image = image_for(last, value.dtype, value.device)
        if image is None:
            return x, w
        value = value.reshape((*before, parts, terms, *after))
        widths = ((0, 0),) * (where + 1) + ((0, more),) + ((0, 0),) * len(after)
        value = value.pad(widths).reshape((*before, parts * (terms + more), *after))
        order = (*(i for i in range(len(value.shape)) if i != where), where)
        value = value.permute(order).cast(image).cast(image.base)
        last_axis, between = len(order) - 1, range(where, len(order) - 1)
        found.append(value.permute((*range(where), last_axis, *between)))
    return found[0], found[1]
