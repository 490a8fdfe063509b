"""Dequantization: the values of block-quantised storage as an expression over its bytes.

The expression has views, shifts and masks only. So it is fused into the kernel that reads the
values, and the memory holds the bytes alone. `storage_of` finds the bytes behind such a tensor.

Source: T. Dettmers et al., "LLM.int8()" (NeurIPS 2022): dequantization at the reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from weft.base.arguments import kind_of, shown
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, FormatError, WrongKind
from weft.base.sequences import prod
from weft.quantization.expression_templates import from_template
from weft.quantization.formats import FORMATS, Axis, BitField, BlockFormat, PackedIntegers
from weft.tensor import Tensor
from weft.uop import GroupOp, Ops, UOp


class BlockStorage(NamedTuple):
    """Block-quantised storage: its format, its bytes (uint8, (n,)) and the shape of the values."""

    format: BlockFormat
    data: Tensor
    shape: tuple[int, ...]


def block_format(name: str | BlockFormat) -> BlockFormat:
    """The block format of a name, in any case. ArgumentError where there is none."""
    if isinstance(name, BlockFormat):
        return name
    found = FORMATS.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise ArgumentError(
            "there is no such block format",
            asked=f"the block format {shown(name)}",
            try_="one of " + ", ".join(FORMATS),
        )
    return found


def dequantize(data: Tensor, format: str | BlockFormat, shape: Sequence[int]) -> Tensor:
    """The values of block-quantised storage, float32 of `shape`, computed where they are read.

    data: the bytes of the blocks, uint8 of shape (n,). format: a `BlockFormat` or its name. The
    blocks follow one another along the last axis. The result is lazy and stays so: kernels read the
    bytes, also under `jit`. No gradient flows into the bytes.

    :raises ArgumentError: for a format that is not known.
    :raises FormatError: if the bytes do not hold so many elements.

    >>> from weft.quantization import dequantize
    >>> block = Tensor([0, 60, *range(32)], dtype="uint8")  # the scale is 1.0 as float16
    >>> dequantize(block, "q8_0", (32,))[:4].tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    layout, shape = block_format(format), tuple(shape)
    if not isinstance(data, Tensor) or len(data.shape) != 1 or data.dtype is not dtypes.uint8:
        raise WrongKind(
            "the bytes of blocks are a tensor of uint8, shape (n,)",
            asked=f"dequantize({shown(data)}, ...)",
            because=None if isinstance(data, Tensor) else f"that is {kind_of(data)}",
            try_="Tensor(raw_bytes)",
        )
    count = prod(shape)
    nbytes = count // layout.length * layout.nbytes
    if count % layout.length or nbytes != data.shape[0]:
        raise FormatError(
            f"these bytes do not hold so many elements of {layout.name}",
            asked=f"{count} elements from {data.shape[0]} bytes",
            because=f"a block of {layout.length} elements takes {layout.nbytes} bytes",
            try_="the whole blocks of one tensor",
        )
    return from_template(_values, (data,), (layout, shape))


def _values(data: Tensor, layout: BlockFormat, shape: tuple[int, ...]) -> Tensor:
    """The values of the blocks as an expression that other results do not store."""
    values = block_values(data, layout).reshape(shape)
    return Tensor.from_uop(UOp(Ops.FUSE, values.dtype, (values.uop,), arg=layout.name))


def storage_of(tensor: Tensor) -> BlockStorage | None:
    """The block-quantised storage behind a tensor; None where there is none, and for views.

    >>> from weft.quantization import dequantize, storage_of
    >>> weight = dequantize(Tensor([0] * 34, dtype="uint8"), "q8_0", (1, 32))
    >>> storage_of(weight).format.name
    'q8_0'
    """
    node = tensor.uop
    if node.op is not Ops.FUSE or node.arg not in FORMATS:
        return None
    layout = FORMATS[node.arg]
    nbytes = prod(node.shape) // layout.length * layout.nbytes
    for found in node.toposort(gate=lambda u: not _is_bytes(u, nbytes)):
        if _is_bytes(found, nbytes):
            return BlockStorage(layout, Tensor.from_uop(found), tuple(node.shape))
    return None


def _is_bytes(node: UOp, nbytes: int) -> bool:
    """Whether a node is the bytes that the expression reads."""
    if node.dtype is not dtypes.uint8 or node.op in GroupOp.ALU:
        return False
    return node.shape == (nbytes,)


# ---- fields to values; data is uint8 of shape (bytes,) -------------------------------------------


def block_values(data: Tensor, layout: BlockFormat) -> Tensor:
    """The values of all blocks, shape (blocks, ...) with the axes of the format's grid."""
    grid = grid_of(layout)
    values = codes_of(data, layout, grid)
    scale, minimum = scales_of(data, layout, grid)
    values = values.cast(dtypes.float32) * scale
    if minimum is None:
        return values
    return values + minimum if layout.is_offset else values - minimum


def grid_of(layout: BlockFormat, *more: int) -> tuple[int, ...]:
    """The coarsest axes of a block on which every field is affine, outermost first.

    more: strides, in elements, at which the axes are split in addition.
    """
    strides = {1, layout.length, *more}
    for integers in (layout.codes, layout.scales, layout.minima):
        for field in () if integers is None else integers.fields:
            stride = layout.length // prod(field.extents)
            for extent in (*reversed(field.extents), 1):
                strides.add(stride)
                stride *= extent
    ordered = sorted(strides, reverse=True)
    return tuple(one // next_one for one, next_one in pairwise(ordered))


def codes_of(data: Tensor, layout: BlockFormat, grid: Sequence[int]) -> Tensor:
    """The integers of all elements, int8 or uint8, shape (blocks, *grid)."""
    codes = integers_of(data, layout.nbytes, layout.codes, grid)
    if layout.table is None:
        return codes
    return looked_up(codes, layout.table, layout.codes.bits, dtypes.int8)


def scales_of(
    data: Tensor, layout: BlockFormat, grid: Sequence[int]
) -> tuple[Tensor, Tensor | None]:
    """The scale and the minimum of all elements, float32, shape (blocks, *grid) or 1 along axes."""
    ones = (1,) * len(grid)
    scale = _powers(data, layout, ones) if layout.exponent_scale else None
    if scale is None:
        scale = _half(data, layout.nbytes, layout.scale, ones)
    if layout.scales is not None:
        numbers = integers_of(data, layout.nbytes, layout.scales, grid)
        scale = scale * numbers.cast(dtypes.float32)
    if layout.minimum is None:
        return scale, None
    minimum = _half(data, layout.nbytes, layout.minimum, ones)
    if layout.minima is not None:
        numbers = integers_of(data, layout.nbytes, layout.minima, grid)
        minimum = minimum * numbers.cast(dtypes.float32)
    return scale, minimum


def integers_of(data: Tensor, nbytes: int, integers: PackedIntegers, grid: Sequence[int]) -> Tensor:
    """Packed integers as int8 or uint8, shape (blocks, *grid), 1 along axes that they lack."""
    blocks = data.reshape(-1, nbytes)
    value: Tensor | None = None
    for field in integers.fields:
        part = _bits(blocks, field, axes_of(field, grid))
        part = part << field.place if field.place else part
        value = part if value is None else value | part
    assert value is not None
    if integers.signed:
        return value.bitcast(dtypes.int8)
    return value.cast(dtypes.int8) - integers.zero if integers.zero else value


def axes_of(field: BitField, grid: Sequence[int]) -> list[Axis]:
    """The axes of a field, split to those of the grid; trailing ones have extent 1."""
    left = list(field.axes)
    found: list[Axis] = []
    for extent in grid:
        if not left:
            found.append((1, 0, 0))
            continue
        whole, nbytes, bits = left.pop(0)
        rest = whole // extent
        found.append((extent, nbytes * rest, bits * rest))
        if rest > 1:
            left.insert(0, (rest, nbytes, bits))
    return found


def _bits(blocks: Tensor, field: BitField, axes: Sequence[Axis]) -> Tensor:
    """The bits of a field as uint8, shape (blocks, ...), by views, one shift and one mask."""
    view = blocks[:, field.at :]
    shape: list[int] = [int(blocks.shape[0])]
    for extent, nbytes, _ in axes:
        if nbytes:
            view = _strided(view, extent, nbytes)
        shape.append(extent if nbytes else 1)
    view = view[..., 0].reshape(shape)
    shifts = _shifts(field, axes, blocks)
    value = view if shifts is None else view >> shifts
    return value & ((1 << field.bits) - 1) if field.bits < 8 else value


def _strided(view: Tensor, extent: int, step: int) -> Tensor:
    """The last axis as two: `extent` parts, `step` elements apart, and what is left of each."""
    there = int(view.shape[-1])
    if there < extent * step:  # the last part is shorter than the distance of the parts
        view = view.pad((0, extent * step - there))
    else:
        view = view[..., : extent * step]
    return view.reshape(*view.shape[:-1], extent, step)


def _shifts(field: BitField, axes: Sequence[Axis], blocks: Tensor) -> Tensor | int | None:
    """By how many bits to shift each element; None if there is nothing to shift."""
    total: Tensor | None = None
    for number, (extent, _, bits) in enumerate(axes):
        if bits and extent > 1:
            shape = [1] * (1 + len(axes))
            shape[1 + number] = extent
            counter = Tensor.arange(extent, dtype=dtypes.uint8, device=blocks.device) * bits
            counter = counter.reshape(shape)
            total = counter if total is None else total + counter
    if total is None:
        return field.shift or None
    return total + field.shift if field.shift else total


def _half(data: Tensor, nbytes: int, at: int, ones: tuple[int, ...]) -> Tensor:
    """The float16 at byte `at` of every block, as float32 of shape (blocks, 1, ...)."""
    halves = data.bitcast(dtypes.float16).reshape(-1, nbytes // 2)
    return halves[:, at // 2].cast(dtypes.float32).reshape(-1, *ones)


def _powers(data: Tensor, layout: BlockFormat, ones: tuple[int, ...]) -> Tensor:
    """``2 ** (byte - 128)`` of the byte at the scale of every block; subnormal for 0 and 1."""
    byte = data.reshape(-1, layout.nbytes)[:, layout.scale].cast(dtypes.int32)
    bits = (byte < 2).where((byte + 1) << 21, (byte - 1) << 23)
    return bits.bitcast(dtypes.float32).reshape(-1, *ones)


def looked_up(codes: Tensor, table: Sequence[int], bits: int, dtype: DType) -> Tensor:
    """The table's number for each code, by a binary tree of selects."""

    def as_tensor(value: Tensor | int) -> Tensor:
        is_made = isinstance(value, Tensor)
        return value if is_made else Tensor(value, dtype=dtype, device=codes.device)

    level: list[Tensor | int] = list(table)
    for bit in range(bits):
        is_set = (codes & (1 << bit)) != 0
        pairs = zip(level[::2], level[1::2])
        level = [is_set.where(as_tensor(high), as_tensor(low)) for low, high in pairs]
    (found,) = level
    return as_tensor(found)
