"""Dynamic quantisation: products of block-quantised weights and activations in int8 or int16.

in:  activations, float32; weights that `dequantize` gave
out: their product; the activations are rounded to integers with a scale for each 32 of them

Each block is an integer sum of products of 8-bit numbers, which a target adds four at a time. The
sum is scaled by both scales. A constant zero point and the minimum of a block multiply sums of
activations alone, which are computed once for all rows of the weights:

    sum((u - zero) * scale * x - minimum * x)
        = scale * (sum(u * x) - zero * sum(x)) - minimum * sum(x)

An activation of 16 bits is two digits of 8 bits, which are two integer sums of the same codes:

    sum(u * x) = 256 * sum(u * high) + sum(u * low)

Source: B. Jacob et al., "Quantization and training of neural networks for efficient
integer-arithmetic-only inference" (CVPR 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from math import gcd
from typing import NamedTuple

from weft.base.dtype import dtypes
from weft.base.errors import ShapeError, WrongKind
from weft.base.sequences import prod
from weft.quantization.dequantization import (
    axes_of,
    grid_of,
    integers_of,
    looked_up,
    scales_of,
    storage_of,
)
from weft.quantization.expression_templates import from_template
from weft.quantization.formats import BlockFormat
from weft.tensor import Tensor

MOST_ROWS = 8
"""Rows of activations up to which the product reads the blocks. With more of them, it is faster to
dequantise once and to multiply panels."""
_WORD = 4
_GROUP = 32
_REGISTER = 64
"""Bytes of the widest vector registers. Narrower ones read parts of as many adjacent bytes."""
_DIGIT = 256
_LARGEST = {1: 127.0, 2: 127.0 * _DIGIT + 127.0}
"""The largest integer of one digit and of two: no digit is above 127 or below -128."""


class _Activations(NamedTuple):
    """Activations as integers. All but `digits` have extent 1 along the axes that they lack.

    digits: int8, shape (rows, 1, *axes), the highest first. scale: float32. sums: of the
    activations of each sub-block of weights, float32, not stored.
    """

    digits: list[Tensor]
    scale: Tensor
    sums: Tensor


def linear_int8(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x @ weight.T + bias`` with the activations rounded to int8 for each 32 of them.

    x: float, shape (..., k). weight: what `dequantize` gave, shape (n, k). The result is float32,
    shape (..., n). The rounding of an activation is at most 1/254 of the largest one of its 32. For
    more than 8 rows, and for formats whose codes are no words of bytes (Q5_0, Q5_1), nothing is
    rounded: the product is that of the dequantised weights.

    :raises WrongKind: if the weight is no block-quantised tensor.
    :raises ShapeError: if the shapes do not fit.

    >>> from weft.quantization import dequantize, linear_int8
    >>> weight = dequantize(Tensor([0, 60, *[1] * 32], dtype="uint8"), "q8_0", (1, 32))
    >>> linear_int8(Tensor.ones(1, 32), weight).tolist()
    [[32.0]]
    """
    return _linear(x, weight, bias, 1)


def linear_int16(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``x @ weight.T + bias`` with the activations rounded to int16 for each 32 of them.

    As `linear_int8`, with twice as many integer dot products. The rounding of an activation is at
    most 1/65278 of the largest one of its 32.

    :raises WrongKind: if the weight is no block-quantised tensor.
    :raises ShapeError: if the shapes do not fit.

    >>> from weft.quantization import dequantize, linear_int16
    >>> weight = dequantize(Tensor([0, 60, *[1] * 32], dtype="uint8"), "q8_0", (1, 32))
    >>> linear_int16(Tensor.ones(1, 32), weight).tolist()
    [[32.0]]
    """
    return _linear(x, weight, bias, 2)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None, digits: int) -> Tensor:
    storage = storage_of(weight)
    if storage is None:
        raise WrongKind(
            "the weight is not block-quantised",
            asked=f"linear_int{8 * digits} of a weight of shape {weight.shape}",
            try_="weft.quantization.quantize(weight, 'q8_0'), or x @ weight.T",
        )
    if len(storage.shape) != 2 or x.shape[-1] != storage.shape[1]:
        raise ShapeError(
            "the last axis of the activations is as long as that of the weight",
            asked=f"linear_int{8 * digits} of {x.shape} and {storage.shape}",
            try_="activations of shape (..., k) and a weight of shape (n, k)",
        )
    rows = x.reshape(-1, x.shape[-1])
    if not isinstance(rows.shape[0], int) or not 0 < rows.shape[0] <= MOST_ROWS:
        made = x @ weight.transpose(0, 1)
    elif not has_words(storage.format):
        made = x @ weight.transpose(0, 1)
    else:
        settings = storage.format, storage.shape, digits
        made = from_template(_product, (rows, storage.data), settings)
        made = made.reshape(*x.shape[:-1], storage.shape[0])
    return made if bias is None else made + bias


def has_words(layout: BlockFormat) -> bool:
    """Whether four neighbouring codes are the same bits of four neighbouring bytes, and at least
    four such words are neighbours."""
    grid = grid_of(layout, _WORD)
    if len(grid) < 2 or grid[-1] != _WORD or grid[-2] < _WORD:
        return False
    fields = (axes_of(field, grid) for field in layout.codes.fields)
    return all(axes[-1][1:] == (1, 0) and axes[-2][1:] == (_WORD, 0) for axes in fields)


class _Axes(NamedTuple):
    """The axes of the product: (rows, n, blocks / pack, pack, *grid).

    shape: of the last ones, from the blocks on. order: of them in the memory of activations.
    """

    blocks: int
    pack: int
    grid: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.blocks // self.pack, self.pack, *self.grid)

    def of_weights(self, values: Tensor, count: int) -> Tensor:
        """Values of shape (blocks of all rows, *grid) along these axes."""
        return values.reshape(1, count, *self.shape[:2], *values.shape[1:])

    def stored(self, values: Tensor, order: Sequence[int] | None = None) -> Tensor:
        """Values of the activations, computed and stored: blocks, then rows, then the other axes.

        All rows read one place of memory at a time. order: of the axes; as they are by default.
        """
        _, *inner = range(len(self.shape)) if order is None else order
        places = (1, 2, 0, *(2 + axis for axis in inner))
        back = tuple(places.index(axis) for axis in range(len(places)))
        return values.permute(places).contiguous().permute(back)


def _axes(layout: BlockFormat, blocks: int) -> _Axes:
    """The axes whose codes are the same bits of other bytes are next to the words in memory.

    So the activations of one vector register of codes are adjacent.
    """
    grid = grid_of(layout, _WORD)
    fields = [axes_of(field, grid) for field in layout.codes.fields]
    nbytes = grid[-1] * grid[-2]
    packed: list[int] = []
    for axis in reversed(range(len(grid) - 2)):
        same_bits = all(axes[axis][2] == 0 for axes in fields)
        if same_bits and grid[axis] > 1 and nbytes * grid[axis] <= _REGISTER:
            packed.insert(0, 2 + axis)
            nbytes *= grid[axis]
    pack = gcd(blocks, max(1, _REGISTER // nbytes))
    last = (1, *packed, len(grid), len(grid) + 1)
    rest = tuple(axis for axis in range(2 + len(grid)) if axis not in last)
    return _Axes(blocks, pack, grid, (*rest, *last))


def _product(
    rows: Tensor, data: Tensor, layout: BlockFormat, shape: tuple[int, int], digits: int
) -> Tensor:
    """The product of at most MOST_ROWS rows and a weight of this shape, shape (rows, n), in one
    kernel."""
    count, length = shape
    axes = _axes(layout, length // layout.length)
    codes, zero = _unsigned_codes(data, layout, axes.grid)
    scale, minimum = scales_of(data, layout, axes.grid)
    scale = axes.of_weights(scale, count).fuse()
    inner = tuple(4 + place for place in _unscaled_axes(scale.shape[4:], axes.grid))
    given = _quantized(rows, axes, inner, digits)
    factor = axes.of_weights(codes, count).fuse().cast(dtypes.int32)
    # several products may read the activations: each widens the bytes that are stored
    sums = [
        (factor * digit.cast(dtypes.int32).fuse()).sum(
            (*inner, -1), keepdim=True, dtype=dtypes.int32
        )
        for digit in given.digits
    ]
    terms = reduce(lambda high, low: high * _DIGIT + low, sums)
    values = terms.cast(dtypes.float32) * (scale * given.scale)
    # the sums of activations do not depend on the lane: each lane of words adds its share
    offset = scale * axes.stored(given.sums * (-zero / axes.grid[-2])) if zero else None
    if minimum is not None:
        share = (1 if layout.is_offset else -1) / axes.grid[-2]
        offset = axes.of_weights(minimum, count).fuse() * axes.stored(given.sums * share)
    if offset is not None:
        values = values + offset
    return values.sum(tuple(range(2, values.ndim))).fuse()


def _unscaled_axes(scale: tuple[int, ...], grid: tuple[int, ...]) -> list[int]:
    """The axes that the integer sum adds besides that of a word and that of the words."""
    first = max((place + 1 for place, extent in enumerate(scale) if extent > 1), default=0)
    return list(range(first, len(grid) - 2))


def _unsigned_codes(data: Tensor, layout: BlockFormat, grid: tuple[int, ...]) -> tuple[Tensor, int]:
    """The codes as uint8, and the zero point that makes them so."""
    packed = layout.codes
    bits = integers_of(data, layout.nbytes, replace(packed, zero=0, signed=False), grid)
    if layout.table is not None:
        table = tuple(value + 128 for value in layout.table)
        return looked_up(bits, table, packed.bits, dtypes.uint8), 128
    return (bits ^ 128, 128) if packed.signed else (bits, packed.zero)


def _quantized(rows: Tensor, axes: _Axes, inner: tuple[int, ...], digits: int) -> _Activations:
    """Activations as integers with a scale for each 32, in the axes of the weights."""
    many, length = (int(extent) for extent in rows.shape)
    groups = rows.cast(dtypes.float32).reshape(many, length // _GROUP, _GROUP)
    largest = groups.abs().max(-1, keepdim=True)
    outer = 2 + _outer_axes(axes.grid)
    ones = (1,) * (len(axes.shape) - outer)
    scale = axes.stored(
        (largest * (1 / _LARGEST[digits])).reshape(many, 1, *axes.shape[:outer], *ones)
    )
    inverse = (scale == 0).where(0.0, 1.0 / scale).reshape(largest.shape)
    rounded = (groups * inverse).round()
    rounded = rounded.reshape(many, 1, *axes.shape)
    # exact in float32, and the digits stay the only integers that are stored
    total = rounded.sum((*inner, -2, -1), keepdim=True)
    stored = [axes.stored(each, axes.order) for each in _digits(rounded, digits)]
    return _Activations(stored, scale, total * scale)


def _digits(rounded: Tensor, digits: int) -> list[Tensor]:
    """Whole numbers in float32 as signed digits in int8, the highest first."""
    if digits == 1:
        return [rounded.cast(dtypes.int8)]
    high = ((rounded + _DIGIT / 2) * (1 / _DIGIT)).floor()
    return [high.cast(dtypes.int8), (rounded - high * _DIGIT).cast(dtypes.int8)]


def _outer_axes(grid: tuple[int, ...]) -> int:
    """How many axes of the grid number the groups of 32 in a block."""
    return next(n for n in range(len(grid)) if prod(grid[n:]) <= _GROUP)
