"""Block formats: where the scale, the minimum and the codes of each block lie among its bytes.

A block holds `length` elements in `nbytes` bytes. The value of an element is
``(code - zero) * scale - minimum``. A super block has one scale and one minimum for all of its
elements, and small integers that multiply them for each sub-block. All integers are bit fields.
The byte and the bit of a field are affine functions of the index of its element, so one description
serves every layout. Reading a format needs no code of its own.

Source: G. Gerganov, ggml: the block formats of GGUF; OCP Microscaling Formats (MX) 1.0.
"""

from __future__ import annotations

from dataclasses import dataclass

Axis = tuple[int, int, int]
"""(extent, bytes, bits): one step along this axis advances a field by so many bytes and bits."""


@dataclass(frozen=True)
class BitField:
    """`bits` neighbouring bits for each element, inside one byte.

    :param at: the byte of the first element.
    :param bits: how many bits an element has here.
    :param axes: the index of an element, outermost axis first.
    :param shift: the lowest bit of the first element in its byte.
    :param place: the place of the lowest bit in the integer.
    """

    at: int
    bits: int
    axes: tuple[Axis, ...]
    shift: int = 0
    place: int = 0

    @property
    def extents(self) -> tuple[int, ...]:
        """The extent of each axis."""
        return tuple(extent for extent, _, _ in self.axes)


@dataclass(frozen=True)
class PackedIntegers:
    """Integers of at most 8 bits, each made of one or more bit fields.

    :param fields: at most two fields with the same number of elements.
    :param zero: what is subtracted from the bits.
    :param signed: whether the 8 bits are a two's complement number.
    """

    fields: tuple[BitField, ...]
    zero: int = 0
    signed: bool = False

    @property
    def bits(self) -> int:
        """How many bits an integer has."""
        return sum(field.bits for field in self.fields)


@dataclass(frozen=True)
class BlockFormat:
    """One layout of blocks.

    :param name: its name in lower case.
    :param length: elements of a block.
    :param nbytes: bytes of a block.
    :param codes: the integers of all elements.
    :param scale: the byte of the scale, a float16; with `exponent_scale` one byte.
    :param minimum: the byte of the minimum, a float16; None where there is none.
    :param scales: of a super block, the integers that multiply `scale`, one for each sub-block.
    :param minima: of a super block, the integers that multiply `minimum`.
    :param is_offset: whether the minimum is added instead of subtracted.
    :param table: the numbers that the codes stand for; None: the codes themselves.
    :param exponent_scale: whether the scale is ``2 ** (byte - 128)``.
    """

    name: str
    length: int
    nbytes: int
    codes: PackedIntegers
    scale: int
    minimum: int | None = None
    scales: PackedIntegers | None = None
    minima: PackedIntegers | None = None
    is_offset: bool = False
    table: tuple[int, ...] | None = None
    exponent_scale: bool = False

    @property
    def bits_per_element(self) -> float:
        """The bits of storage for each element."""
        return 8 * self.nbytes / self.length

    @property
    def sub_block(self) -> int:
        """The number of neighbouring elements with the same scale."""
        count = 1
        if self.scales is not None:
            for extent in self.scales.fields[0].extents:
                count *= extent
        return self.length // count


def _integers(*fields: BitField, zero: int = 0, signed: bool = False) -> PackedIntegers:
    return PackedIntegers(fields, zero, signed)


def _halves(at: int, *, zero: int = 0) -> PackedIntegers:
    """32 codes of 4 bits in 16 bytes: the low halves of all bytes, then the high halves."""
    return _integers(BitField(at, 4, ((2, 0, 4), (16, 1, 0))), zero=zero)


def _fifth_bits(high: int, at: int, *, zero: int = 0) -> PackedIntegers:
    """As `_halves`, and a fifth bit each in the 32 bits from `high` on."""
    low = BitField(at, 4, ((2, 0, 4), (16, 1, 0)))
    return _integers(low, BitField(high, 1, ((4, 1, 0), (8, 0, 1)), place=4), zero=zero)


def _bytes(at: int, count: int) -> PackedIntegers:
    return _integers(BitField(at, 8, ((count, 1, 0),)), signed=True)


# Eight 6-bit scales and eight 6-bit minima in bytes 4 to 15. Of the first four, the 6 bits are the
# low ones of bytes 4-7 and 8-11. Of the last four, the low 4 bits are in bytes 12-15 and the high 2
# bits are the high ones of bytes 4-11.
_SIX_BIT_SCALES = _integers(
    BitField(4, 4, ((2, 8, 0), (4, 1, 0))),
    BitField(4, 2, ((2, 0, 2), (4, 1, 0)), shift=4, place=4),
)
_SIX_BIT_MINIMA = _integers(
    BitField(8, 4, ((2, 4, 4), (4, 1, 0))),
    BitField(8, 2, ((2, 0, 2), (4, 1, 0)), shift=4, place=4),
)
# 256 codes of 4 bits: of every 32 bytes the low halves, then the high halves
_BY_64 = ((4, 32, 0), (2, 0, 4), (32, 1, 0))
# 256 pairs of bits: of every 32 bytes the lowest pairs, then the next ones
_BY_128 = ((2, 32, 0), (4, 0, 2), (32, 1, 0))
# one bit of each of 32 bytes for every 32 elements
_BIT_PLANES = ((8, 0, 1), (32, 1, 0))

_ALL = (
    BlockFormat("q4_0", 32, 18, _halves(2, zero=8), 0),
    BlockFormat("q4_1", 32, 20, _halves(4), 0, 2, is_offset=True),
    BlockFormat("q5_0", 32, 22, _fifth_bits(2, 6, zero=16), 0),
    BlockFormat("q5_1", 32, 24, _fifth_bits(4, 8), 0, 2, is_offset=True),
    BlockFormat("q8_0", 32, 34, _bytes(2, 32), 0),
    BlockFormat(
        "q2_k", 256, 84, _integers(BitField(16, 2, _BY_128)), 80, 82,
        scales=_integers(BitField(0, 4, ((16, 1, 0),))),
        minima=_integers(BitField(0, 4, ((16, 1, 0),), shift=4)),
    ),
    BlockFormat(
        "q3_k", 256, 110,
        _integers(BitField(32, 2, _BY_128), BitField(0, 1, _BIT_PLANES, place=2), zero=4), 108,
        scales=_integers(
            BitField(96, 4, ((2, 0, 4), (8, 1, 0))),
            BitField(104, 2, ((4, 0, 2), (4, 1, 0)), place=4), zero=32,
        ),
    ),
    BlockFormat(
        "q4_k", 256, 144, _integers(BitField(16, 4, _BY_64)), 0, 2,
        scales=_SIX_BIT_SCALES, minima=_SIX_BIT_MINIMA,
    ),
    BlockFormat(
        "q5_k", 256, 176,
        _integers(BitField(48, 4, _BY_64), BitField(16, 1, _BIT_PLANES, place=4)), 0, 2,
        scales=_SIX_BIT_SCALES, minima=_SIX_BIT_MINIMA,
    ),
    BlockFormat(
        "q6_k", 256, 210,
        _integers(
            BitField(0, 4, ((2, 64, 0), (2, 0, 4), (64, 1, 0))),
            BitField(128, 2, _BY_128, place=4), zero=32,
        ),
        208, scales=_bytes(192, 16),
    ),
    BlockFormat(
        "iq4_nl", 32, 18, _halves(2), 0,
        table=(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113),
    ),
    BlockFormat(
        "mxfp4", 32, 17, _halves(1), 0, exponent_scale=True,
        table=(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12),
    ),
)  # fmt: skip

FORMATS: dict[str, BlockFormat] = {format.name: format for format in _ALL}
"""Every block format, by its name in lower case."""
