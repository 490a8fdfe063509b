"""Quantisation: from values to blocks, each with the scale and the minimum that fit its elements.

in:  a tensor of floats      out: the same values, rounded, as block-quantised storage

Without a minimum, the value with the largest magnitude becomes the lowest code. With one, the
lowest value becomes code 0 and the highest one the last. The scales and minima of sub-blocks are
rounded to integers themselves. The codes are those nearest under the rounded scales. Super blocks
try several scales for each sub-block and keep that with the smallest squared error.

Source: S. P. Lloyd, "Least squares quantization in PCM" (1982): nearest codes, then the best scale.
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.base.sequences import prod
from weft.quantization.dequantization import block_format, dequantize
from weft.quantization.formats import BitField, BlockFormat, PackedIntegers
from weft.tensor import Tensor

Array = Any
_TRIED = tuple(0.7 + 0.025 * step for step in range(21))
"""Scales that a sub-block tries, relative to the one that reaches its extreme."""
_TINY = 1e-30


def quantize(values: Tensor, format: str | BlockFormat) -> Tensor:
    """The values, rounded to a block format: a lazy float32 tensor over the bytes of the blocks.

    values: float, the last axis a whole number of blocks. The result is what `dequantize` gives:
    its memory is the blocks alone, on the device of `values`.

    :raises ArgumentError: for a format that is not known, and for values that are not finite.
    :raises ShapeError: if the last axis is no whole number of blocks.

    >>> from weft.quantization import quantize
    >>> quantize(Tensor([float(n) for n in range(-16, 16)]), "q8_0")[0].item()
    -16.0
    """
    layout = block_format(format)
    if values.ndim < 1 or values.shape[-1] % layout.length:
        raise ShapeError(
            "the last axis is a whole number of blocks",
            asked=f"{layout.name} of shape {values.shape}",
            because=f"a block has {layout.length} elements",
            try_="a format with shorter blocks, such as 'q8_0' with 32",
        )
    data = quantized_bytes(values.detach().cast(dtypes.float32).numpy(), layout)
    return dequantize(Tensor(data, device=values.device), layout, values.shape)


def quantized_bytes(values: Array, layout: BlockFormat) -> Array:
    """The bytes of the blocks of a float32 array, uint8 of shape (n,)."""
    import numpy as np

    if not np.isfinite(values).all():
        raise ArgumentError(
            "only finite values can be quantised",
            asked=f"{layout.name} of values with infinities or NaN",
            try_="values.nan_to_num()",
        )
    groups = values.reshape(-1, layout.length // layout.sub_block, layout.sub_block)
    raw = np.zeros((len(groups), layout.nbytes), np.uint8)
    scale, minimum = _best_scales(groups, layout)
    scale = _stored_factors(raw, scale, layout.scale, layout.scales, layout)
    if layout.minimum is not None:
        minimum = _stored_factors(raw, minimum, layout.minimum, layout.minima, layout)
    codes = _codes(groups, scale[..., None], minimum[..., None], layout)
    _pack(raw, codes.reshape(len(groups), -1), layout.codes)
    return raw.reshape(-1)


# ---- scales, shape (blocks, sub-blocks) ----------------------------------------------------------


def _best_scales(groups: Array, layout: BlockFormat) -> tuple[Array, Array]:
    """The scale and the minimum of each sub-block."""
    import numpy as np

    first, minimum = _extreme_scales(groups, layout)
    if layout.scales is None and layout.table is None:
        return first, minimum
    best, least = first, np.full(first.shape, np.inf, np.float32)
    for factor in _TRIED:
        scale = first * np.float32(factor)
        parts = scale[..., None], minimum[..., None]
        error = ((_values(_codes(groups, *parts, layout), *parts, layout) - groups) ** 2).sum(-1)
        best, least = np.where(error < least, scale, best), np.minimum(error, least)
    return best, minimum


def _extreme_scales(groups: Array, layout: BlockFormat) -> tuple[Array, Array]:
    """The scale with which the codes reach the extremes of each sub-block, and the minimum."""
    import numpy as np

    low, high = _code_bounds(layout)
    if layout.minimum is None:
        places = np.abs(groups).argmax(-1)[..., None]
        extreme = np.take_along_axis(groups, places, -1)[..., 0]
        symmetric = layout.codes.signed or layout.table is not None
        scale = np.abs(extreme) / np.float32(high) if symmetric else extreme / np.float32(low)
        return scale.astype(np.float32), np.zeros_like(extreme)
    least = groups.min(-1) if layout.is_offset else np.minimum(groups.min(-1), 0)
    scale = (groups.max(-1) - least) / np.float32(high)
    return scale, least if layout.is_offset else -least


def _code_bounds(layout: BlockFormat) -> tuple[int, int]:
    """The lowest and the highest number that a code stands for."""
    if layout.table is not None:
        return min(layout.table), max(map(abs, layout.table))
    return _integer_bounds(layout.codes, symmetric=True)


def _integer_bounds(packed: PackedIntegers, symmetric: bool = False) -> tuple[int, int]:
    if packed.signed:
        return (-127 if symmetric else -128), 127
    return -packed.zero, (1 << packed.bits) - 1 - packed.zero


def _stored_factors(
    raw: Array, factors: Array, at: int, packed: PackedIntegers | None, layout: BlockFormat
) -> Array:
    """Write scales or minima into the blocks, and return them as they are read again."""
    import numpy as np

    if layout.exponent_scale:
        power = np.ceil(np.log2(np.maximum(factors[:, 0], _TINY))).clip(-126, 126)
        raw[:, at] = (power + 128).astype(np.uint8)
        return np.exp2(power).astype(np.float32)[:, None]
    if packed is None:
        return _stored_half(raw, at, factors[:, :1])
    low, high = _integer_bounds(packed)
    places = np.abs(factors).argmax(-1)[:, None]
    extreme = np.take_along_axis(factors, places, -1)
    unit = _stored_half(raw, at, extreme / np.float32(low if low < 0 else high))
    numbers = np.rint(_quotient(factors, unit)).clip(low, high).astype(np.int32)
    _pack(raw, numbers, packed)
    return numbers.astype(np.float32) * unit


def _stored_half(raw: Array, at: int, numbers: Array) -> Array:
    """Write one float16 into each block, and return them as float32, shape (blocks, 1)."""
    import numpy as np

    with np.errstate(over="ignore"):
        half = numbers.astype(np.float16)
    if not np.isfinite(half).all():
        raise ArgumentError(
            "a scale is too large for float16",
            asked=f"quantise values up to {np.abs(numbers).max():g} times the largest code",
            try_="divide the values by a constant, and multiply by it after the product",
        )
    raw[:, at : at + 2] = half.view(np.uint8).reshape(-1, 2)
    return half.astype(np.float32)


# ---- codes, shape (blocks, sub-blocks, elements) -------------------------------------------------


def _codes(groups: Array, scale: Array, minimum: Array, layout: BlockFormat) -> Array:
    """The nearest codes: what they stand for, or their place in the table."""
    import numpy as np

    shifted = groups - minimum if layout.is_offset else groups + minimum
    wanted = _quotient(shifted, scale)
    if layout.table is None:
        low, high = _integer_bounds(layout.codes)
        return np.rint(wanted).clip(low, high).astype(np.int32)
    order = np.argsort(np.array(layout.table), kind="stable")
    numbers = np.array(layout.table, np.float32)[order]
    middles = (numbers[1:] + numbers[:-1]) / 2
    return order[np.searchsorted(middles, wanted)].astype(np.int32)


def _values(codes: Array, scale: Array, minimum: Array, layout: BlockFormat) -> Array:
    """What codes stand for under these scales."""
    import numpy as np

    numbers = codes if layout.table is None else np.array(layout.table)[codes]
    scaled = numbers.astype(np.float32) * scale
    return scaled + minimum if layout.is_offset else scaled - minimum


def _quotient(above: Array, below: Array) -> Array:
    """The quotient; 0 where the divisor is 0."""
    import numpy as np

    inverse = np.where(below == 0, 0, 1 / np.where(below == 0, 1, below)).astype(np.float32)
    return above * inverse


# ---- bits ----------------------------------------------------------------------------------------


def _pack(raw: Array, numbers: Array, packed: PackedIntegers) -> None:
    """Write integers, shape (blocks, n), into the bit fields of blocks that hold 0 there."""
    import numpy as np

    bits = (numbers + packed.zero).astype(np.uint8)
    for field in packed.fields:
        mask = np.uint8((1 << field.bits) - 1)
        part = (bits >> np.uint8(field.place)) & mask
        at, shift = _places(field)
        for one in np.unique(shift):  # elements with the same shift are in different bytes
            mine = shift == one
            raw[:, at[mine]] |= part[:, mine] << np.uint8(one)


def _places(field: BitField) -> tuple[Array, Array]:
    """The byte and the lowest bit of each element of a field."""
    import numpy as np

    index = np.indices(field.extents).reshape(len(field.axes), prod(field.extents))
    at = field.at + sum(place * axis[1] for place, axis in zip(index, field.axes))
    return at, field.shift + sum(place * axis[2] for place, axis in zip(index, field.axes))
